//! `diff` and `archive`.

use std::fs;
use std::io::Read;

use super::Session;

const CONFIG: &str = r#"name = "mine"
trials = 5
epsilon = 1.0
datasets = ["titanic"]

[workload]
every = 1
prefix = []

[estimation]
iterations = 200

[[mechanism]]
name = "laplace"
arms = ["own", "pgm"]

[[claim]]
says = "PGM is not worse"
paper = "not worse"
kind = "ratio"
dataset = "titanic"
mechanism = "laplace"
arm = "own"
against = "pgm"
at_least = 0.9
"#;

/// Results of the file in `a/mine`.
fn session() -> Session {
    let session = Session::new();
    session.file("mine.toml", CONFIG);
    session.run(["run", "mine.toml", "--results", "a"]).works();
    session
}

#[test]
fn a_diff_finds_what_is_worse_and_the_same_results_are_the_same() {
    let session = session();
    session.run(["run", "mine.toml", "--results", "b"]).works();
    let said = session.run(["diff", "a/mine", "b/mine"]).succeeds();
    assert!(said.contains("2 arms compared: 0 worse, 0 better, 0 changed, 2 the same"), "{said}");

    // One iteration is far from converged.
    session.file("mine.toml", CONFIG.replace("iterations = 200", "iterations = 1"));
    session.run(["run", "mine.toml", "--results", "b", "--fresh"]).works();
    let said = session.run(["diff", "a/mine", "b/mine"]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert!(said.stderr.contains("error: b/mine is worse than a/mine"), "{}", said.stderr);
    assert!(said.stdout.contains("the configurations differ"), "{}", said.stdout);
    assert!(said.stdout.contains("\nworse:\n  titanic laplace pgm, epsilon 1: workload error"));
    assert!(said.stdout.contains("PGM is not worse: differs, was holds"), "{}", said.stdout);
    let said = session.run(["diff", "b/mine", "a/mine"]).works();
    assert!(said.stdout.contains("0 worse, 1 better"), "{}", said.stdout);
    let said = session.run(["diff", "a/mine", "b/mine", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&report["worse"], &report["arms"][1]["pairs"]), (&true.into(), &5.into()));
    assert_eq!(report["arms"][1]["direction"], "worse");
    assert_eq!(report["same_keys"], 0, "settings are a part of every key");

    let other = CONFIG.replace("name = \"laplace\"", "name = \"laplace\"\nlabel = \"other\"");
    session.file("other.toml", other.split("[[claim]]").next().unwrap());
    session.run(["run", "other.toml", "--results", "c"]).works();
    let expected = ["no arm in common", "a/mine", "c/mine"];
    session.run(["diff", "a/mine", "c/mine"]).complains(&expected);
    session.run(["diff", "a/mine", "none"]).complains(&["there are no results", "none"]);
    let said = session.run(["diff", "a/mine", "b/mine", "--tolerance=-1"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
}

#[test]
fn an_archive_has_all_files_with_their_checksums_and_is_the_same_each_time() {
    let session = session();
    let said = session.run(["archive", "a/mine"]).succeeds();
    assert!(said.contains("in mine.zip"), "{said}");
    let bytes = fs::read(session.path("mine.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
    let mut text = |name: &str| {
        let mut text = String::new();
        archive.by_name(&format!("mine/{name}")).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(text("configuration.toml"), CONFIG);
    let trials = fs::read_to_string(session.path("a/mine/trials.csv")).unwrap();
    assert_eq!(text("trials.csv"), trials);
    let note = text("README.txt");
    assert!(note.contains("not for release") && note.contains("titanic: 1304 records"), "{note}");
    let sums = text("SHA256SUMS");
    let names: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert!(names.contains(&"figure.png") && names.contains(&"README.txt"), "{sums}");
    // The digest of the configuration, by another program's convention: lower-case hexadecimal.
    assert!(sums.lines().all(|line| line.find("  ") == Some(64)), "{sums}");
    assert_eq!(archive.len(), names.len() + 1);
    session.run(["archive", "a/mine", "--out", "again.zip"]).succeeds();
    assert_eq!(fs::read(session.path("again.zip")).unwrap(), bytes);

    session.run(["archive", "a/mine"]).complains(&["mine.zip", "--force"]);
    session.run(["archive", "a/mine", "--force"]).succeeds();
    session.run(["archive", "nothing"]).complains(&["there are no results", "nothing"]);
    let onto = ["archive", "a/mine", "--force", "--out", "a/mine/trials.csv"];
    session.run(onto).complains(&["it is also a file of the results"]);
    assert_eq!(fs::read_to_string(session.path("a/mine/trials.csv")).unwrap(), trials);
}
