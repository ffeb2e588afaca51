//! The fingerprints in the schemas are checksums of the paper's discretised tables, which may not
//! be distributed. With these tables the comparison can be repeated record by record:
//!
//! ```text
//! PGMBENCH_PAPER_TABLES=folder cargo test paper_tables -- --ignored
//! ```
//!
//! The folder contains, for each dataset, `paper-discretisation/<name>_*.csv` (codes under a header
//! with the names of the attributes) and, for loans and stroke, the file to import (`loans_*.csv`,
//! `stroke_*.csv`). All of them may be compressed.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::source::Source;
use super::super::{Availability, Dataset, Provenance, Registry};
use crate::atomic_file::Existing;
use private_pgm::domain::Domain;
use private_pgm::model::Projectable;

fn folder() -> PathBuf {
    std::env::var_os("PGMBENCH_PAPER_TABLES").expect("PGMBENCH_PAPER_TABLES names a folder").into()
}

/// The file in `folder` with the data of `name`.
fn table(folder: &Path, name: &str) -> PathBuf {
    let is_table = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        file.starts_with(name) && (file.ends_with(".csv") || file.ends_with(".csv.gz"))
    };
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).find(is_table).unwrap()
}

/// The codes of a discretised table by record, in the declared order of `domain`.
fn paper_records(domain: &Domain, file: &Path) -> Vec<Vec<u32>> {
    let content = Source::open(file).unwrap().read_all(u64::MAX).unwrap();
    let mut reader = csv::Reader::from_reader(&content[..]);
    let header = reader.headers().unwrap().clone();
    let column = |name| header.iter().position(|column| column == name).unwrap();
    let columns: Vec<usize> = domain.declared().iter().map(|&id| column(domain.name(id))).collect();
    assert_eq!(header.len(), columns.len());
    let record =
        |record: csv::StringRecord| columns.iter().map(|&c| record[c].parse().unwrap()).collect();
    reader.records().map(|line| record(line.unwrap())).collect()
}

fn records(dataset: &Dataset) -> Vec<Vec<u32>> {
    let declared = dataset.domain().declared();
    let record = |r| declared.iter().map(|&id| dataset.code(r, id)).collect();
    (0..dataset.len()).map(record).collect()
}

#[test]
#[ignore = "needs tables that may not be distributed"]
fn discretised_records_are_those_of_the_papers_tables() {
    let imports = tempfile::tempdir().unwrap();
    let registry = Registry::new(imports.path());
    let mut differences = Vec::new();
    for name in ["titanic", "adult", "loans", "stroke"] {
        let entry = registry.entry(name).unwrap();
        if entry.availability() == Availability::NotImported {
            let import = entry.import(&[table(&folder(), name)], Existing::Kept).unwrap();
            assert_eq!(import.manifest.records, entry.load().unwrap().len());
        }
        let ours = entry.load().unwrap();
        let domain = ours.domain();
        let theirs = paper_records(domain, &table(&folder().join("paper-discretisation"), name));
        let columns: Vec<Vec<u32>> =
            (0..domain.len()).map(|i| theirs.iter().map(|record| record[i]).collect()).collect();
        let paper = Dataset::from_codes(name, domain, &columns, Provenance::default()).unwrap();
        if sorted(records(&ours)) != sorted(theirs) {
            differences.push(format!("{name}: the records differ"));
        }
        if Some(paper.fingerprint()) != entry.schema().expected.fingerprint {
            let (fingerprint, provenance) = (paper.fingerprint(), ours.provenance());
            differences.push(format!("{name}: the fingerprint is {fingerprint}; {provenance:?}"));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// LendingClub's file has a note above the header, additional columns, quotes, a line between two
/// groups of loans, and totals at the end. The copy in the folder does not.
#[test]
#[ignore = "needs tables that may not be distributed"]
fn loans_are_imported_from_the_file_of_lendingclub() {
    let plain = Source::open(&table(&folder(), "loans")).unwrap().read_all(u64::MAX).unwrap();
    let mut official = String::from("Notes offered by Prospectus (https://example.org)\n");
    for (row, line) in
        csv::ReaderBuilder::new().has_headers(false).from_reader(&plain[..]).records().enumerate()
    {
        let fields: Vec<String> =
            line.unwrap().iter().map(|field| format!("\"{field}\"")).collect();
        let id = if row == 0 { "id".into() } else { row.to_string() };
        official.push_str(&format!("\"{id}\",{},\"desc, {row}\"\n", fields.join(",")));
        if row == 40_000 {
            official.push_str("\nLoans that do not meet the credit policy,,,\n");
        }
    }
    official.push_str("\nTotal amount funded in policy code 1: 460296150,,\n");
    official.push_str("Total amount funded in policy code 2: 0,,\n");
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("LoanStats3a.csv");
    fs::write(&file, official.replace("desc, 0", "desc")).unwrap();
    let import =
        Registry::new(root.path()).entry("loans").unwrap().import(&[file], Existing::Kept).unwrap();
    assert_eq!(import.as_expected, Some(true));
}

fn sorted(mut records: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    records.sort();
    records
}
