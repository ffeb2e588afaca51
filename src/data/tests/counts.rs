use std::fs;

use super::super::{Availability, DataError, Registry, Schema, SchemaError};
use crate::atomic_file::Existing;
use private_pgm::model::Projectable;

fn binary() -> Registry {
    Registry::new("no such folder")
}

/// The counts of all cells, in lexicographic order of the attributes as declared.
fn counts(name: &str) -> Vec<f64> {
    let data = binary().load(name).unwrap();
    let domain = data.domain();
    data.project(&domain.everything()).unwrap().values_as_listed(domain.declared())
}

fn share_of_zeros(counts: &[f64]) -> f64 {
    counts.iter().filter(|&&count| count == 0.0).count() as f64 / counts.len() as f64
}

#[test]
fn contingency_tables_are_those_of_table_2() {
    for (name, cells, total, zeros) in [
        ("edwards", 64, 70.0, 0.656),
        ("czech", 64, 1841.0, 0.015),
        ("rochdale", 256, 665.0, 0.644),
    ] {
        let counts = counts(name);
        assert_eq!((counts.len(), counts.iter().sum::<f64>()), (cells, total), "{name}");
        assert!((share_of_zeros(&counts) - zeros).abs() < 0.001, "{name}");
        assert!(!binary().load(name).unwrap().provenance().stand_in);
    }
    assert_eq!(counts("czech")[..4], [44.0, 40.0, 112.0, 67.0]);
    assert_eq!(counts("rochdale")[..5], [5.0, 0.0, 2.0, 1.0, 5.0]);
}

#[test]
fn generated_stand_ins_have_the_figures_of_table_3() {
    // Zeros: those of the originals, which round to the shares of Table 3.
    for (name, bins, total, maximum, zeros, share) in [
        ("search-logs", 32_768, 335_889.0, 496.0, 17_082, 0.521),
        ("nettrace", 65_536, 25_714.0, 1423.0, 63_318, 0.966),
        ("social-network", 11_342, 674_708.0, 1678.0, 0, 0.0),
    ] {
        assert_eq!(binary().entry(name).unwrap().availability(), Availability::StandIn);
        let counts = counts(name);
        let largest = counts.iter().copied().fold(0.0, f64::max);
        assert_eq!((counts.len(), counts.iter().sum::<f64>(), largest), (bins, total, maximum));
        assert_eq!(counts.iter().filter(|&&count| count == 0.0).count(), zeros, "{name}");
        assert!((share_of_zeros(&counts) - share).abs() < 0.0005, "{name}");
        let data = binary().load(name).unwrap();
        assert!(data.provenance().stand_in);
        assert_eq!(data.fingerprint(), binary().load(name).unwrap().fingerprint());
    }
    assert!(counts("social-network").is_sorted_by(|a, b| a >= b));
    // Bursts: a filled bin has filled neighbours far more often than half of the time.
    let logs = counts("search-logs");
    let filled = |bin: usize| logs[bin] > 0.0;
    let both = (1..logs.len()).filter(|&bin| filled(bin) && filled(bin - 1)).count();
    assert!(both as f64 > 0.8 * logs.iter().filter(|&&count| count > 0.0).count() as f64);
}

const SCHEMA: &str = "name = 'h'\n[table]\nform = 'counts'\nfiles = [{ name = 'h.txt' }]\n\
    [[attribute]]\nname = 'bin'\nkind = 'numeric'\nlow = 0\nbelow = 4\nbins = 4\n";

#[test]
fn invalid_counts_are_refused_with_their_line() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("h");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("schema.toml"), SCHEMA).unwrap();
    let registry = Registry::new(root.path());
    let load = |text: &str| {
        fs::write(folder.join("h.txt"), text).unwrap();
        registry.load("h")
    };
    assert_eq!(load("3\n0\n1\n2\n").unwrap().len(), 6);
    for (text, wrong) in [("3\n-1\n0\n0\n", "-1"), ("3\n0.5\n0\n0\n", "0.5"), ("3\nx\n0\n0\n", "x")]
    {
        let error = load(text).unwrap_err();
        assert!(
            matches!(&error, DataError::NotACount { line: 2, text, .. } if text == wrong),
            "{error}"
        );
    }
    assert!(matches!(load("1\n2\n3\n"), Err(DataError::CellCount { expected: 4, found: 3, .. })));
    assert!(matches!(load("0\n0\n0\n0\n"), Err(DataError::NoRecords { .. })));
}

#[test]
fn a_file_with_the_wrong_checksum_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("h");
    fs::create_dir_all(&folder).unwrap();
    // SHA-256 of "3\n0\n1\n2\n".
    let right = "eaad3a2f70ee8a3f1eb73940351b981e6fdda8543c214c6d6d75fb02fc7c3b18";
    for (sum, fits) in [(right, true), (&right.replace('0', "1"), false)] {
        let files = format!("{{ name = 'h.txt', sha256 = '{sum}' }}");
        let schema = SCHEMA.replace("{ name = 'h.txt' }", &files);
        fs::write(folder.join("schema.toml"), schema).unwrap();
        fs::write(root.path().join("given.txt"), "3\n0\n1\n2\n").unwrap();
        let entry = Registry::new(root.path()).entry("h").unwrap();
        let imported = entry.import(&[root.path().join("given.txt")], Existing::Replaced);
        match imported {
            Ok(import) => assert!(fits && import.manifest.records == 6),
            Err(error) => {
                assert!(!fits && matches!(error, DataError::Checksum { kind: "SHA-256", .. }));
            }
        }
    }
}

#[test]
fn generators_that_no_histogram_satisfies_are_refused() {
    let with = |generator: &str, expected: &str| {
        Schema::parse(&format!(
            "{SCHEMA}[expected]\n{expected}\n[generator]\nseed = 1\n{generator}"
        ))
    };
    let sparse = "shape = 'sparse'\nmaximum = 5\nzeros = 2";
    assert!(with(sparse, "records = 8").is_ok());
    for (generator, expected) in [
        (sparse, ""),
        (sparse, "records = 5"),
        (sparse, "records = 11"),
        ("shape = 'sparse'\nmaximum = 5\nzeros = 4", "records = 8"),
    ] {
        assert!(matches!(with(generator, expected), Err(SchemaError::Generator(_))), "{generator}");
    }
}
