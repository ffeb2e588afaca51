use std::fs;
use std::path::Path;

use super::super::shipped::SHIPPED;
use super::super::{Availability, Entry, Registry};
use private_pgm::model::Projectable;

/// Without folders, so that the datasets come from the binary.
fn binary() -> Registry {
    Registry::new("no such folder")
}

#[test]
fn shipped_datasets_are_those_of_the_papers_table() {
    for (name, records, attributes) in [("titanic", 1304, 9), ("adult", 48842, 15)] {
        let entry = binary().entry(name).unwrap();
        assert_eq!(entry.availability(), Availability::Here);
        let dataset = entry.load().unwrap();
        assert_eq!((dataset.len(), dataset.domain().len()), (records, attributes));
        // The fingerprint in the schema is that of the paper's table (see paper_tables).
        assert_eq!(Some(dataset.fingerprint()), entry.schema().expected.fingerprint);
    }
}

#[test]
fn domain_sizes_are_those_of_table_1() {
    // Section 6, Table 1: 3e8, 1e19, 5e80, 4e104, in more digits.
    for (name, size) in
        [("titanic", 2.79e8), ("adult", 1.03e19), ("loans", 5.19e80), ("stroke", 3.64e104)]
    {
        let entry = binary().entry(name).unwrap();
        let domain = entry.schema().domain();
        let found = domain.cells_f64(&domain.everything());
        assert!((found / size - 1.0).abs() < 0.005, "{name}: {found:e}");
    }
}

/// McKenna, Mullins, Sheldon and Miklau, PVLDB 15(11), 2022, Table 2: records, attributes, smallest
/// and largest number of values, possible records to one digit.
#[test]
fn domains_are_those_of_the_aim_paper() {
    for (name, records, attributes, sizes, domain) in [
        ("salary", 135_727, 9, [3, 501], 1e13),
        ("msnbc", 989_818, 16, [18, 18], 1e20),
        ("fire", 305_119, 15, [2, 46], 4e15),
        ("nltcs", 21_574, 16, [2, 2], 7e4),
    ] {
        let entry = binary().entry(name).unwrap();
        let (schema, found) = (entry.schema(), entry.schema().domain());
        assert_eq!((schema.expected.records, found.len()), (Some(records), attributes), "{name}");
        let all: Vec<usize> = found.ids().map(|id| found.size(id)).collect();
        assert_eq!([*all.iter().min().unwrap(), *all.iter().max().unwrap()], sizes, "{name}");
        let cells = found.cells_f64(&found.everything());
        let digit = 10f64.powf(cells.log10().floor());
        assert!(((cells / digit).round() * digit / domain - 1.0).abs() < 1e-9, "{name}: {cells:e}");
    }
}

#[test]
fn workloads_have_the_number_of_queries_of_table_1() {
    for (name, queries) in
        [("titanic", 4851), ("adult", 62876), ("loans", 362201), ("stroke", 17716)]
    {
        let entry = binary().entry(name).unwrap();
        let workload = entry.schema().workload.as_ref().unwrap();
        assert_eq!(workload.triples.len(), 15);
        assert_eq!(workload.query_count(entry.schema().domain()), queries, "{name}");
    }
}

#[test]
fn titanic_is_described() {
    let titanic = binary().entry("titanic").unwrap().describe().unwrap();
    assert_eq!(
        (titanic.records, titanic.provenance.rows, titanic.provenance.dropped),
        (1304, 1309, 5)
    );
    assert!((titanic.log10_domain_size - 2.79e8f64.log10()).abs() < 0.01);
    assert!(!titanic.provenance.stand_in);
    let survived = &titanic.attributes[0];
    assert_eq!((survived.name.as_str(), survived.kind, survived.bins), ("Survived", "numeric", 2));
    assert_eq!(survived.labels, ["0", "1", "missing"]);
    assert_eq!(survived.counts, [549, 340, 415]);
    assert_eq!(survived.missing_records, Some(415));
    let parch = titanic.attributes.iter().find(|attribute| attribute.name == "Parch").unwrap();
    assert_eq!((parch.outside, parch.missing_records), (2, None));
}

#[test]
fn the_binary_contains_the_same_datasets_as_the_folders() {
    let registry = Registry::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets"));
    for shipped in SHIPPED {
        let (folder, embedded) =
            (registry.entry(shipped.name).unwrap(), binary().entry(shipped.name).unwrap());
        let here = |entry: &Entry| entry.availability() == Availability::Here;
        assert_eq!(here(&folder), here(&embedded), "{}", shipped.name);
    }
}

#[test]
fn every_folder_is_a_dataset_with_a_licence_and_a_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets");
    let registry = Registry::new(&root);
    for folder in fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path()) {
        if folder.is_dir() {
            let name = folder.file_name().unwrap().to_str().unwrap();
            let entry = registry.entry(name).unwrap();
            let schema = entry.schema();
            assert_eq!(schema.name, name);
            assert!(schema.licence.is_some() && schema.source.is_some(), "{name}");
        }
    }
}
