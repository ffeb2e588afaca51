//! No command overwrites its inputs or a release, nor another file without `--force`.

use std::fs;
use std::process::{Command, Stdio};

use crate::{GOOD, Said, Session};

const SCHEMA: &str = "name = 'mine'\n[table]\nfiles = [{ name = 'mine.csv' }]\n\
                      [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n\
                      [[attribute]]\nname = 'b'\nkind = 'categorical'\nvalues = ['x', 'y']\n";

const ROWS: &str = "a,b\nx,y\ny,x\nx,x\n";

/// A table with its schema and its budget file.
fn session() -> Session {
    let session = Session::new();
    session.file("schema.toml", SCHEMA);
    session.file("mine.csv", ROWS);
    let create = ["budget", "create", "mine.budget", "--dataset", "./schema.toml"];
    session.run(create.into_iter().chain(["--epsilon", "9", "--delta", "1e-3"])).succeeds();
    session
}

fn synthesize(session: &Session, out: &str, more: &[&str]) -> Said {
    let words = ["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6"];
    let more = ["--budget=mine.budget", "--out", out].into_iter().chain(more.iter().copied());
    session.run(words.into_iter().chain(more))
}

/// All files with their content.
fn contents(session: &Session) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let content = fs::read(session.path(&name)).unwrap_or_default();
        (name, content)
    };
    session.files().into_iter().map(read).collect()
}

#[test]
fn a_release_never_overwrites_its_inputs() {
    let session = session();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("mine.csv", session.path("soft.csv")).unwrap();
        fs::hard_link(session.path("mine.csv"), session.path("hard.csv")).unwrap();
    }
    let before = contents(&session);
    let mut places = vec![
        ("mine.csv", "it is also a file with the data"),
        ("./mine.csv", "it is also a file with the data"),
        ("schema.toml", "it is also the schema"),
        ("mine.budget", "it is also the budget file"),
    ];
    if cfg!(unix) {
        places.extend(["soft.csv", "hard.csv"].map(|link| (link, "a file with the data")));
    }
    for (place, why) in places {
        for more in [&[][..], &["--force"]] {
            synthesize(&session, place, more).refuses(&[place, why]);
        }
    }
    assert!(contents(&session) == before, "nothing is charged, and nothing is changed");
}

#[test]
fn a_release_and_its_facts_are_never_replaced() {
    let session = session();
    synthesize(&session, "new.csv", &[]).works();
    let before = contents(&session);
    let never = ["never replaced", "choose another name", "move"];
    session.file("problem.json", GOOD);
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    for more in [&[][..], &["--force"]] {
        synthesize(&session, "new.csv", more).refuses(&never);
        let words = ["synth", "model", "--seed=1", "--records=3", "--out", "new.csv"];
        session.run(words.iter().chain(more)).refuses(&never);
        for place in ["new.csv", "new.release.json"] {
            let words = ["estimate", "problem.json", "--out", place];
            session.run(words.iter().chain(more)).refuses(&never);
            let words = ["datasets", "infer", "mine.csv", "--out", place];
            session.run(words.iter().chain(more)).refuses(&never);
        }
    }
    // Nor are records written next to the facts of another release.
    fs::rename(session.path("new.csv"), session.path("moved.csv")).unwrap();
    synthesize(&session, "new.csv", &["--force"]).refuses(&never);
    fs::rename(session.path("moved.csv"), session.path("new.csv")).unwrap();
    let after: Vec<_> = contents(&session)
        .into_iter()
        .filter(|(name, _)| name != "problem.json" && name != "model")
        .collect();
    assert!(after == before, "nothing is charged, and nothing is changed");
    synthesize(&session, "other.csv", &[]).works();
}

#[test]
fn a_budget_file_is_never_replaced() {
    let session = session();
    let before = contents(&session);
    let words = ["datasets", "infer", "mine.csv", "--out", "mine.budget", "--force"];
    session.run(words).refuses(&["mine.budget", "never replaced"]);
    assert!(contents(&session) == before);
}

#[test]
fn other_files_are_replaced_with_force() {
    let session = session();
    session.file("new.csv", "something");
    session.file("problem.json", GOOD);
    session.file("model", "something");
    let exists = ["the file exists", "--force"];
    synthesize(&session, "new.csv", &[]).refuses(&exists);
    let commands: [&[&str]; 4] = [
        &["estimate", "problem.json", "--out", "model"],
        &["synth", "model", "--seed=1", "--out", "new.csv"],
        &["synth", "model", "--release", "--out", "new.csv"],
        &["datasets", "infer", "mine.csv", "--out", "new.csv"],
    ];
    session.run(commands[0]).refuses(&exists);
    session.run(commands[0].iter().chain(&["--force"])).succeeds();
    for command in &commands[1..] {
        session.run(*command).refuses(&exists);
        assert_eq!(fs::read(session.path("new.csv")).unwrap(), b"something");
    }
    synthesize(&session, "new.csv", &["--force"]).works();
    assert!(fs::read_to_string(session.path("new.csv")).unwrap().starts_with("a,b\n"));
}

#[test]
fn of_two_simultaneous_releases_to_one_name_one_fails() {
    let session = session();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_pgmbench"))
            .current_dir(session.path(""))
            .args(["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6", "--out=new.csv"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children = [start(), start(), start()];
    let codes = children.map(|mut child| child.wait().unwrap().code());
    assert_eq!(codes.iter().filter(|&&code| code == Some(0)).count(), 1, "{codes:?}");
    let csv = fs::read(session.path("new.csv")).unwrap();
    let facts = fs::read_to_string(session.path("new.release.json")).unwrap();
    assert!(facts.contains(blake3::hash(&csv).to_hex().as_str()), "the facts are of these records");
    let expected = ["mine.budget", "mine.csv", "new.csv", "new.release.json", "schema.toml"];
    assert_eq!(session.files(), expected, "nothing else is left");
}

#[test]
fn an_existing_stand_in_is_kept() {
    let session = session();
    let words = ["synthesize", "./schema.toml", "--epsilon=1", "--delta=1e-6", "--stand-in"];
    session.run(words).works();
    let stored = session.path("stand-in/records.bin.gz");
    let before = fs::read(&stored).unwrap();
    session.run(words).complains(&["stand-in", "never replaced", "move"]);
    session.run(words.into_iter().chain(["--force"])).complains(&["never replaced"]);
    assert_eq!(fs::read(&stored).unwrap(), before);
}

#[test]
fn an_import_is_replaced_only_with_force() {
    let session = session();
    session.file("again.csv", "a,b\ny,y\ny,y\n");
    session.run(["datasets", "import", "./schema.toml", "mine.csv"]).succeeds();
    let stored = session.path("imported/records.bin.gz");
    let before = fs::read(&stored).unwrap();
    let again = ["datasets", "import", "./schema.toml", "again.csv"];
    session.run(again).refuses(&["the file exists; --force replaces the earlier import"]);
    assert_eq!(fs::read(&stored).unwrap(), before);
    session.run(again.into_iter().chain(["--force"])).succeeds();
    assert_ne!(fs::read(&stored).unwrap(), before);
    let own = ["datasets", "import", "./schema.toml", "imported/records.bin.gz", "--force"];
    session.run(own).refuses(&["it is also a file to import"]);
}

#[test]
fn an_estimate_does_not_overwrite_the_model_that_it_starts_from() {
    let session = Session::with_model();
    let words = ["estimate", "problem.json", "--out", "model", "--warm-start", "model", "--force"];
    session.run(words).refuses(&["it is also the model to start from"]);
}

#[test]
fn files_that_are_no_manual_pages_of_the_program_are_kept() {
    let session = Session::new();
    session.run(["man", "--out", "man1"]).succeeds();
    session.run(["man", "--out", "man1"]).succeeds();
    session.file("man1/pgmbench-run.1", "mine");
    session.run(["man", "--out", "man1"]).refuses(&["pgmbench-run.1", "--force"]);
    assert_eq!(fs::read(session.path("man1/pgmbench-run.1")).unwrap(), b"mine");
    session.run(["man", "--out", "man1", "--force"]).succeeds();
}

#[test]
fn files_that_slurm_submit_did_not_write_are_kept() {
    let session = super::survive::session(super::survive::MANY);
    fs::create_dir_all(session.path("results/many/slurm")).unwrap();
    session.file("results/many/slurm/array.sh", "something");
    let said = session.run(["slurm", "submit", "many.toml", "--tasks", "2"]);
    assert!(!said.stderr.contains("--force"), "the command has no such option: {}", said.stderr);
    said.refuses(&["results/many/slurm/array.sh", "the file exists", "move it elsewhere"]);
    assert_eq!(fs::read(session.path("results/many/slurm/array.sh")).unwrap(), b"something");
}
