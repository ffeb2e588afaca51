//! Budgets across releases, drafts, and privacy that is too weak.

use std::fs;
use std::process::{Command, Stdio};

use super::{Said, Session};

const SCHEMA: &str = "name = 'mine'\n[table]\nfiles = [{ name = 'mine.csv' }]\n\
                      [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n\
                      [[attribute]]\nname = 'b'\nkind = 'categorical'\nvalues = ['x', 'y']\n";

fn session(total: &[&str]) -> Session {
    let session = Session::new();
    session.file("schema.toml", SCHEMA);
    session.file("mine.csv", "a,b\nx,y\ny,x\nx,x\n");
    let create = ["budget", "create", "mine.budget", "--dataset", "./schema.toml"];
    session.run(create.iter().chain(total)).works();
    session
}

fn release(session: &Session, out: &str, more: &[&str]) -> Said {
    let words = ["synthesize", "./schema.toml", "--delta=1e-6", "--out", out];
    session.run(words.into_iter().chain(more.iter().copied()))
}

fn shown(session: &Session) -> serde_json::Value {
    let said = session.run(["budget", "show", "mine.budget", "--json"]).succeeds();
    serde_json::from_str(&said).unwrap()
}

const TOTAL: [&str; 4] = ["--epsilon", "1", "--delta", "1e-5"];

#[test]
fn releases_are_charged_until_the_total_is_spent() {
    let session = session(&TOTAL);
    let half = ["--epsilon=0.5", "--budget=mine.budget"];
    // Nothing is said about the budget. The noise on three records is worth a warning.
    let said = release(&session, "one.csv", &half).works().stderr;
    assert!(said.starts_with("warning: with this epsilon") && said.lines().count() == 1, "{said}");
    let slightly_more = ["--epsilon=0.5000000000000001", "--budget=mine.budget"];
    release(&session, "no.csv", &slightly_more).refuses(&["mine.budget", "0.5", "no noise"]);
    release(&session, "two.csv", &half).works();
    release(&session, "no.csv", &["--epsilon=1e-9", "--budget=mine.budget"]).refuses(&[
        "mine.budget",
        "overspent",
        "nothing was charged",
    ]);
    assert!(!session.path("no.csv").exists() && !session.path("no.release.json").exists());
    let shown = shown(&session);
    assert_eq!(shown["spent"]["epsilon"], 1.0);
    let releases = shown["releases"].as_array().unwrap();
    let names: Vec<&str> =
        releases.iter().map(|release| release["charge"]["release"].as_str().unwrap()).collect();
    assert_eq!(names, ["one.csv", "two.csv"]);
    let csv = fs::read(session.path("two.csv")).unwrap();
    let checksum = &releases[1]["completed"]["records_blake3"];
    assert_eq!(checksum, blake3::hash(&csv).to_hex().as_str());
    let said = session.run(["budget", "show", "mine.budget"]).succeeds();
    for words in ["total    epsilon = 1", "left     nothing", "one.csv", "confidential"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A release does not mention the budget file.
    let facts = fs::read_to_string(session.path("two.release.json")).unwrap();
    assert!(!facts.contains("mine.budget") && !facts.contains("one.csv"), "{facts}");
}

#[test]
fn a_budget_that_the_schema_declares_cannot_be_bypassed() {
    let session = session(&TOTAL);
    session.file("schema.toml", format!("budget = 'mine.budget'\n{SCHEMA}"));
    release(&session, "one.csv", &["--epsilon=1"]).works();
    assert_eq!(shown(&session)["spent"]["epsilon"], 1.0);
    release(&session, "two.csv", &["--epsilon=1"]).refuses(&["mine.budget", "overspent"]);
    let create = ["budget", "create", "other.budget", "--dataset", "./schema.toml"];
    session.run(create.iter().chain(&TOTAL)).succeeds();
    release(&session, "two.csv", &["--epsilon=1", "--budget=other.budget"]).refuses(&[
        "other.budget",
        "the schema declares",
        "mine.budget",
    ]);
    fs::remove_file(session.path("mine.budget")).unwrap();
    release(&session, "two.csv", &["--epsilon=1"]).refuses(&["mine.budget"]);
}

#[test]
fn without_a_budget_file_a_note_says_that_releases_are_not_added() {
    let session = session(&TOTAL);
    let said = release(&session, "one.csv", &["--epsilon=1"]).works();
    assert!(
        said.stderr.contains("no budget file, so this release is not added"),
        "{}",
        said.stderr
    );
    assert_eq!(shown(&session)["lines"], 1);
}

#[test]
fn a_total_in_rho_pays_for_more_releases() {
    // (1, 1e-6) costs some rho; as many fit as the sum of rhos allows, and no more.
    let session = session(&["--rho", "0.1"]);
    let one = ["--epsilon=1", "--budget=mine.budget"];
    let mut paid = 0;
    while release(&session, &format!("{paid}.csv"), &one).code == Some(0) {
        paid += 1;
        assert!(paid < 20);
    }
    let shown = shown(&session);
    let rho = shown["releases"][0]["charge"]["cost"]["rho"].as_f64().unwrap();
    assert_eq!(paid, (0.1 / rho).floor() as usize);
    assert!(paid > 1 && shown["spent"]["rho"].as_f64().unwrap() <= 0.1);
}

#[test]
fn what_cannot_be_added_up_is_refused_before_anything_is_charged() {
    let session = session(&TOTAL);
    let half = ["--epsilon=0.5", "--budget=mine.budget"];
    let add_remove: Vec<&str> = half.into_iter().chain(["--add-remove"]).collect();
    release(&session, "no.csv", &add_remove).refuses(&["mine.budget", "added or removed"]);
    session.file("schema.toml", SCHEMA.replace("'mine'", "'others'"));
    release(&session, "no.csv", &half).refuses(&["mine.budget", "'mine'", "'others'"]);
    session.file("schema.toml", SCHEMA);
    session.file("mine.csv", "a,b\nx,z\n");
    release(&session, "no.csv", &half).complains(&["mine.csv"]);
    session.run(["budget", "create", "pure", "--dataset=./schema.toml", "--epsilon=9"]).works();
    session.file("mine.csv", "a,b\nx,x\n");
    release(&session, "no.csv", &["--epsilon=1", "--budget=pure"]).refuses(&["cannot be paid"]);
    assert_eq!(shown(&session)["lines"], 1);
}

#[test]
fn a_damaged_budget_pays_for_nothing_and_the_line_is_named() {
    let session = session(&TOTAL);
    let tenth = ["--epsilon=0.1", "--budget=mine.budget"];
    release(&session, "one.csv", &tenth).works();
    let good = fs::read_to_string(session.path("mine.budget")).unwrap();
    for (bad, words) in [
        (good.replacen("\"epsilon\":1.0", "\"epsilon\":2.0", 1), "line 1"),
        (good.replacen("\"epsilon\":0.1", "\"epsilon\":0.01", 1), "line 2"),
        (good[..good.len() - 20].to_string(), "line 3 is incomplete"),
        ("a,b\n".to_string(), "not a budget file"),
    ] {
        session.file("mine.budget", &bad);
        release(&session, "no.csv", &tenth).refuses(&["mine.budget", words]);
        session.run(["budget", "show", "mine.budget"]).refuses(&["mine.budget", words]);
        assert_eq!(fs::read_to_string(session.path("mine.budget")).unwrap(), bad);
    }
    let create = ["budget", "create", "mine.budget", "--dataset", "./schema.toml"];
    session.run(create.iter().chain(&TOTAL)).refuses(&["mine.budget", "already"]);
}

#[test]
fn of_two_releases_at_once_only_one_gets_the_last_of_the_budget() {
    let session = session(&TOTAL);
    let start = |out: &str| {
        Command::new(env!("CARGO_BIN_EXE_pgmbench"))
            .current_dir(session.path(""))
            .args(["synthesize", "./schema.toml", "--epsilon=0.75", "--delta=1e-6", "--out", out])
            .args(["--budget", "mine.budget"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children = ["one.csv", "two.csv", "three.csv"].map(start);
    let codes = children.map(|mut child| child.wait().unwrap().code());
    assert_eq!(codes.iter().filter(|&&code| code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(shown(&session)["spent"]["epsilon"], 0.75);
    let csvs = session.files().into_iter().filter(|name| name.ends_with(".release.json"));
    assert_eq!(csvs.count(), 1);
}

#[test]
fn a_draft_is_marked_and_not_released_from_until_the_mark_is_removed() {
    let session = session(&TOTAL);
    session.run(["datasets", "infer", "mine.csv", "--out", "draft.toml"]).works();
    let text = fs::read_to_string(session.path("draft.toml")).unwrap();
    assert!(text.contains("\ndraft = true\n") && text.contains("code book"), "{text}");
    let words = ["synthesize", "./draft.toml", "--epsilon=1", "--delta=1e-6", "--out=new.csv"];
    session.run(words).refuses(&["draft.toml", "bounds", "public knowledge", "draft = true"]);
    assert!(!session.path("new.csv").exists());
    let config = "name = \"mine\"\ntrials = 1\nepsilon = 1\n\
                  datasets = [{ name = \"mine\", schema = \"draft.toml\" }]\n\
                  [workload]\nmarginals = [[\"a\"]]\nprefix = []\n\
                  [[mechanism]]\nname = \"laplace\"\narms = [\"own\"]\n";
    session.file("mine.toml", config);
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stderr.contains("note: mine: the schema is a draft"), "{}", said.stderr);
    session.file("draft.toml", text.replace("draft = true\n", ""));
    session.run(words).works();
}

#[test]
fn weak_privacy_needs_an_option() {
    let session = session(&TOTAL);
    let run = |epsilon: &str, delta: &str, more: &[&str]| {
        let budget = [format!("--epsilon={epsilon}"), format!("--delta={delta}")];
        let words = ["synthesize", "./schema.toml", "--out", "new.csv"].map(String::from);
        let more = more.iter().map(ToString::to_string);
        session.run(words.into_iter().chain(budget).chain(more))
    };
    run("20.5", "1e-6", &[]).refuses(&["20.5", "--allow-weak-privacy"]);
    for more in [&[][..], &["--add-remove"]] {
        let words = ["1/n", "3 records", "1e-9", "--allow-weak-privacy"];
        run("1", "0.34", more).refuses(&words);
    }
    assert!(!session.path("new.csv").exists());
    run("1", "0.33", &[]).works();
    fs::rename(session.path("new.csv"), session.path("old.csv")).unwrap();
    fs::rename(session.path("new.release.json"), session.path("old.release.json")).unwrap();
    run("25", "0.34", &["--allow-weak-privacy"]).works();
}
