use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Availability, DataError, Registry};
use crate::atomic_file::Existing;
use private_pgm::model::Projectable;

const SCHEMA: &str = "
name = 'colours'
source = 'a paint shop'
[table]
files = [{ name = 'official.csv' }]
missing = ['', 'n/a']
ignore_lines = ['Notes']
[expected]
rows = 4
[[attribute]]
name = 'colour'
kind = 'categorical'
values = ['red', 'green']
missing = 'drop'
[[attribute]]
name = 'litres'
kind = 'numeric'
bins = 300
low = 0
below = 3
missing = 'code'
outside = 'missing'
strip_suffix = 'l'
";

const OFFICIAL: &str = "Notes\nid,colour,litres\n1,red,0.5 l\n2,n/a,1l\n3,green,7l\n4,red,\n";

/// A root folder with the schema in it, and a file elsewhere.
fn prepare(root: &Path) -> (Registry, PathBuf) {
    fs::create_dir_all(root.join("datasets/colours")).unwrap();
    fs::write(root.join("datasets/colours/schema.toml"), SCHEMA).unwrap();
    fs::write(root.join("download.csv"), OFFICIAL).unwrap();
    (Registry::new(root.join("datasets")), root.join("download.csv"))
}

#[test]
fn imported_data_is_found_by_name_from_then_on() {
    let root = tempfile::tempdir().unwrap();
    let (registry, file) = prepare(root.path());
    let names = registry.names().unwrap();
    assert!(names.contains(&"colours".into()) && names.contains(&"adult".into()), "{names:?}");
    assert!(names.is_sorted());
    let entry = registry.entry("colours").unwrap();
    assert_eq!(entry.availability(), Availability::NotImported);
    assert_eq!(
        entry.load().unwrap_err().to_string(),
        "the data of 'colours' is not here: get official.csv from a paint shop, \
         then import it with: pgmbench datasets import colours official.csv"
    );
    let import = entry.import(std::slice::from_ref(&file), Existing::Kept).unwrap();
    assert_eq!((import.manifest.rows, import.manifest.dropped), (4, 1));
    assert_eq!(import.as_expected, None);
    assert_eq!(entry.availability(), Availability::Imported);
    fs::remove_file(&file).unwrap();

    let dataset = registry.load("colours").unwrap();
    assert_eq!(dataset.fingerprint(), import.manifest.fingerprint);
    assert_eq!(dataset.provenance().sources, import.manifest.sources);
    assert_eq!(dataset.provenance().sources[0].name, "download.csv");
    assert_eq!(dataset.provenance().outside.get("litres"), Some(&1));
    let [colour, litres] = *dataset.domain().declared() else { panic!() };
    let codes = |id| (0..dataset.len()).map(|r| dataset.code(r, id)).collect::<Vec<_>>();
    assert_eq!((codes(colour), codes(litres)), (vec![0, 1, 0], vec![50, 300, 300]));
}

#[test]
fn imports_that_no_longer_fit_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (registry, file) = prepare(root.path());
    let folder = registry.entry("colours").unwrap().import(&[file], Existing::Kept).unwrap().folder;
    let refused = || match registry.load("colours").unwrap_err() {
        DataError::Stored { problem, .. } => problem,
        other => panic!("{other}"),
    };
    let schema = root.path().join("datasets/colours/schema.toml");
    fs::write(&schema, SCHEMA.replace("below = 3", "below = 4")).unwrap();
    assert_eq!(refused(), "the schema has changed since the import");
    fs::write(&schema, SCHEMA).unwrap();
    let manifest = fs::read_to_string(folder.join("manifest.toml")).unwrap();
    fs::write(folder.join("manifest.toml"), manifest.replace("records = 3", "records = 4"))
        .unwrap();
    assert_eq!(refused(), "the codes do not fit the schema");
    fs::write(folder.join("records.bin.gz"), b"others").unwrap();
    assert_eq!(refused(), "the checksum is not that of the manifest");
    fs::write(folder.join("manifest.toml"), "records = 3").unwrap();
    assert!(refused().contains("missing field"));
}

#[test]
fn a_failed_import_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let (registry, file) = prepare(root.path());
    let entry = registry.entry("colours").unwrap();
    fs::write(&file, OFFICIAL.replace("green", "blue")).unwrap();
    let refused =
        entry.import(std::slice::from_ref(&file), Existing::Kept).unwrap_err().to_string();
    assert!(refused.contains("line 5, column 'colour': 'blue' is not one of"), "{refused}");
    assert!(matches!(
        entry.import(&[file.clone(), file], Existing::Kept),
        Err(DataError::FileCount { expected: 1, found: 2, .. })
    ));
    assert_eq!(entry.availability(), Availability::NotImported);
}

#[test]
fn missing_data_has_a_stand_in_or_an_explanation() {
    let registry = Registry::new("no such folder");
    let stand_in = registry.load("stroke").unwrap();
    assert!(stand_in.provenance().stand_in, "a stand-in is used before the import");
    assert_eq!((stand_in.len(), stand_in.domain().len()), (19_435, 110));
    let message = registry.load("strok").unwrap_err().to_string();
    let known = registry.names().unwrap().join(", ");
    assert!(
        message.contains(&format!("there is no dataset 'strok' (known: {known})")),
        "{message}"
    );
    assert!(matches!(registry.load("./no/schema.toml"), Err(DataError::Io { .. })));
}

#[test]
fn a_schema_outside_the_registry_is_loaded_by_path() {
    let root = tempfile::tempdir().unwrap();
    let (_, file) = prepare(root.path());
    fs::rename(&file, root.path().join("official.csv")).unwrap();
    fs::write(root.path().join("schema.toml"), SCHEMA).unwrap();
    let registry = Registry::new("no such folder");
    let by_folder = registry.load(&format!("{}/", root.path().display())).unwrap();
    let by_file = registry.load(root.path().join("schema.toml").to_str().unwrap()).unwrap();
    assert_eq!(by_folder.fingerprint(), by_file.fingerprint());
}

#[test]
fn a_missing_file_of_a_users_schema_is_named() {
    let root = tempfile::tempdir().unwrap();
    prepare(root.path());
    let schema = root.path().join("schema.toml");
    fs::write(&schema, SCHEMA).unwrap();
    let refused = Registry::new("no such folder").load(schema.to_str().unwrap()).unwrap_err();
    let file = root.path().join("official.csv");
    let expected = format!("there is no file {}, which {} names", file.display(), schema.display());
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn broken_schemas_name_their_file() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("schema.toml");
    let registry = Registry::new("no such folder");
    for broken in [&b"name = 3"[..], b"\xff", b"name = 'x'\n[table]\nfiles = []"] {
        fs::write(&file, broken).unwrap();
        let message = registry.load(file.to_str().unwrap()).unwrap_err().to_string();
        assert!(message.starts_with(file.to_str().unwrap()), "{message}");
    }
}
