//! What a release consists of, byte by byte: nothing in it depends on the data beyond what was
//! paid for.

use std::fs;

use super::Session;

const SCHEMA: &str = "name = 'mine'\n[table]\nfiles = [{ name = 'mine.csv' }]\n\
                      [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n";

/// As many records of each of the two values, of one attribute: MST then makes a single draw, so
/// that its ledger does not depend on the noise.
fn rows(xs: usize, ys: usize) -> String {
    format!("a\n{}{}", "x\n".repeat(xs), "y\n".repeat(ys))
}

/// The files of a release of these records, with 100 synthetic ones, and what the program printed.
struct Released {
    facts: String,
    csv: String,
    session: Session,
}

fn release(rows: &str, more: &[&str]) -> Released {
    let session = Session::new();
    session.file("schema.toml", SCHEMA);
    session.file("mine.csv", rows);
    fs::create_dir(session.path("out")).unwrap();
    let words = ["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6", "--mechanism=mst"];
    let more = ["--records=100", "--out=out/new.csv"].into_iter().chain(more.iter().copied());
    session.run(words.into_iter().chain(more)).works();
    let mut files: Vec<String> = fs::read_dir(session.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["new.csv", "new.release.json"], "a release is these two files");
    let read = |name: &str| fs::read_to_string(session.path(name)).unwrap();
    Released { facts: read("out/new.release.json"), csv: read("out/new.csv"), session }
}

impl Released {
    /// The facts without the line with the checksum of the synthetic records, which is checked.
    fn facts_but_for_the_checksum(&self) -> String {
        let expected = format!("\"{}\"", blake3::hash(self.csv.as_bytes()).to_hex());
        let (checksum, others): (Vec<&str>, Vec<&str>) =
            self.facts.lines().partition(|line| line.contains("\"records_blake3\""));
        assert!(checksum.len() == 1 && checksum[0].contains(&expected), "{checksum:?}");
        others.join("\n")
    }
}

#[test]
fn the_facts_of_neighbours_are_the_same_bytes() {
    // Neighbours, and tables that agree in nothing but what is public: the number of records when
    // one is replaced, and not even that when one is added.
    let public_number = [rows(30, 20), rows(29, 21), rows(0, 50)];
    let private_number = [rows(30, 20), rows(30, 21), rows(2000, 0)];
    for (tables, more) in [(public_number, &[][..]), (private_number, &["--add-remove"])] {
        let released = tables.each_ref().map(|rows| release(rows, more));
        let facts = released.each_ref().map(Released::facts_but_for_the_checksum);
        assert_eq!(facts[0], facts[1]);
        assert_eq!(facts[0], facts[2]);
        for Released { csv, .. } in &released {
            let mut lines = csv.split_terminator('\n');
            assert_eq!(lines.next(), Some("a"));
            assert_eq!(lines.clone().count(), 100);
            assert!(lines.all(|line| ["x", "y"].contains(&line)), "{csv}");
        }
    }
}

#[test]
fn neither_paths_nor_times_nor_checksums_of_the_data_are_released() {
    let data = rows(30, 20);
    let Released { facts, csv, session } = release(&data, &[]);
    let folder = session.path("");
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let mut secrets = vec![folder.to_string(), "mine.csv".into(), "schema.toml".into()];
    secrets.push(blake3::hash(data.as_bytes()).to_hex().to_string());
    secrets.push(blake3::hash(SCHEMA.as_bytes()).to_hex().to_string());
    let codes: Vec<u8> = [0u8; 30].into_iter().chain([1; 20]).collect();
    secrets.push(blake3::hash(&codes).to_hex().to_string());
    for secret in secrets {
        assert!(!facts.contains(&secret) && !csv.contains(&secret), "{secret}");
    }
    // Every number of the facts is one of the request, of the ledger or of the synthetic records.
    let told: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let mut keys = Vec::new();
    paths_of_numbers(&told, "", &mut keys);
    keys.sort();
    keys.dedup();
    let expected = [
        ".delta",
        ".epsilon",
        ".ledger[].cost.rho",
        ".ledger[].granted.rho",
        ".ledger[].running_total.rho",
        ".ledger[].scale",
        ".ledger[].sensitivity",
        ".ledger[].spacing",
        ".ledger[].values",
        ".records",
    ];
    assert_eq!(keys, expected);
}

/// The places of all numbers, with `[]` for any element of a list.
fn paths_of_numbers(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Number(_) => found.push(path.into()),
        serde_json::Value::Array(list) => {
            list.iter().for_each(|item| paths_of_numbers(item, &format!("{path}[]"), found));
        }
        serde_json::Value::Object(map) => {
            map.iter()
                .for_each(|(key, item)| paths_of_numbers(item, &format!("{path}.{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn a_budget_file_leaves_no_trace_in_a_release() {
    let without = release(&rows(30, 20), &[]);
    let session = Session::new();
    session.file("schema.toml", SCHEMA);
    session.file("mine.csv", rows(30, 20));
    let create = ["budget", "create", "mine.budget", "--dataset", "./schema.toml"];
    session.run(create.into_iter().chain(["--epsilon", "9", "--delta", "1e-3"])).succeeds();
    let words = ["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6", "--mechanism=mst"];
    let more = ["--records=100", "--out=new.csv", "--budget=mine.budget"];
    session.run(words.into_iter().chain(more)).works();
    let read = |name: &str| fs::read_to_string(session.path(name)).unwrap();
    let (facts, csv) = (read("new.release.json"), read("new.csv"));
    let with = Released { facts, csv, session };
    assert_eq!(with.facts_but_for_the_checksum(), without.facts_but_for_the_checksum());
}

/// Whoever can place a link where a release will be must not choose which file it replaces.
#[cfg(unix)]
#[test]
fn a_release_follows_no_symbolic_link() {
    use std::os::unix::fs::symlink;
    for link in ["new.csv", "new.release.json"] {
        for target in ["other.csv", "missing.csv"] {
            for more in [&[][..], &["--force"]] {
                let session = Session::new();
                session.file("schema.toml", SCHEMA);
                session.file("mine.csv", rows(30, 20));
                session.file("other.csv", "of someone else\n");
                symlink(target, session.path(link)).unwrap();
                let words = ["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6"];
                let words = words.into_iter().chain(["--out=new.csv"]).chain(more.iter().copied());
                session.run(words).refuses(&["cannot write new.", "symbolic link"]);
                let other = fs::read_to_string(session.path("other.csv")).unwrap();
                assert_eq!(other, "of someone else\n");
                assert!(session.path(link).is_symlink() && !session.path("missing.csv").exists());
                let mut expected = ["mine.csv", "other.csv", "schema.toml", link];
                expected.sort_unstable();
                assert_eq!(session.files(), expected, "nothing is written");
            }
        }
    }
}
