//! Releases: randomness of the operating system, and files that say so.

use std::fs;

use super::Session;

fn facts(session: &Session, name: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(session.path(name)).unwrap()).unwrap()
}

#[test]
fn records_of_a_release_take_no_seed_and_their_facts_name_the_randomness() {
    let session = Session::with_model();
    let release = ["synth", "model", "--release", "--out", "new.csv"];
    let said = session.run(release).succeeds();
    assert!(said.contains("from the operating system, as recorded in new.release.json"), "{said}");
    assert!(!said.contains("seed"), "{said}");
    let told = facts(&session, "new.release.json");
    assert_eq!(told["randomness"], "operating-system");
    let csv = fs::read(session.path("new.csv")).unwrap();
    assert_eq!(told["records_blake3"], blake3::hash(&csv).to_hex().as_str());
    assert_eq!(told["records"], 60);
    session.run(release.into_iter().chain(["--seed", "1"])).complains(&["--seed", "--release"]);
    session.run(["synth", "model", "--release", "--out", "newer.csv"]).succeeds();
    assert_ne!(fs::read(session.path("newer.csv")).unwrap(), csv, "no two releases are alike");
}

#[test]
fn without_a_release_the_seed_is_printed_and_no_facts_are_written() {
    let session = Session::with_model();
    let said = session.run(["synth", "model", "--out", "new.csv"]).succeeds();
    assert!(said.contains("draws the same records"), "{said}");
    assert_eq!(session.files(), ["model", "new.csv", "problem.json"]);
}

#[test]
fn a_release_of_private_data_names_neighbours_randomness_and_its_own_records_only() {
    let session = Session::new();
    let words = ["synthesize", "titanic", "--epsilon", "1", "--delta", "1e-6", "--out", "new.csv"];
    session.run(words.into_iter().chain(["--add-remove"])).works();
    assert_eq!(session.files(), ["new.csv", "new.release.json"]);
    let told = facts(&session, "new.release.json");
    assert_eq!(told["neighbours"], "add-remove");
    assert_eq!(told["randomness"], "operating-system");
    let ledger = told["ledger"].as_array().unwrap();
    assert!(ledger.iter().all(|line| line.to_string().contains("operating-system")));
    let csv = fs::read(session.path("new.csv")).unwrap();
    assert_eq!(told["records_blake3"], blake3::hash(&csv).to_hex().as_str());
    // The number of records is a noisy count.
    let lines = csv.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(told["records"], lines - 1);
    // A bound for each of the attributes and pairs, from the release alone.
    let bars = told["error_bars"]["marginals"].as_array().unwrap();
    let attributes = bars.iter().filter(|bar| bar["attributes"].as_array().unwrap().len() == 1);
    assert!(bars.iter().all(|bar| bar["l1_at_most"].as_f64().unwrap() > 0.0));
    assert!(attributes.count() > 5 && bars.len() > 20, "{bars:?}");
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    let expected = [
        "dataset",
        "delta",
        "epsilon",
        "error_bars",
        "ledger",
        "made_by",
        "mechanism",
        "neighbours",
        "randomness",
        "records",
        "records_blake3",
    ];
    assert_eq!(keys, expected, "all facts about the data are listed here");
}

#[test]
fn the_quality_page_compares_with_the_noisy_answers_and_replaces_nothing() {
    let session = Session::new();
    session.file("there.html", "mine");
    let run = |out: &str, quality: &str| {
        let privacy = ["--epsilon=1", "--delta=1e-6"];
        let words = ["synthesize", "titanic", "--out", out, "--quality", quality];
        session.run(words.into_iter().chain(privacy))
    };
    run("new.csv", "new.html").works();
    let page = fs::read_to_string(session.path("new.html")).unwrap();
    assert!(page.contains("without true records") && page.contains("the noisy answers"), "{page}");
    assert!(page.contains("<th class=\"number\">noise</th>") && !page.contains("Workload error"));
    // All of these are refused before any noise is drawn.
    run("other.csv", "there.html").refuses(&["there.html", "--force"]);
    run("other.csv", "other.csv").refuses(&["other.csv", "the file with the records"]);
    run("other.csv", "other.release.json").refuses(&["the file with the facts"]);
    assert_eq!(session.files(), ["new.csv", "new.html", "new.release.json", "there.html"]);
}

#[test]
fn experiments_say_that_they_are_not_for_release() {
    let session = Session::new();
    let config = "name = \"mine\"\ntrials = 1\nepsilon = 1\ndatasets = [\"titanic\"]\n\
                  [workload]\nmarginals = [[\"Sex\"]]\nprefix = []\n\
                  [[mechanism]]\nname = \"laplace\"\narms = [\"own\"]\n";
    session.file("mine.toml", config);
    session.run(["run", "mine.toml"]).works();
    let notice = facts(&session, "results/mine/manifest.json")["notice"].to_string();
    assert!(notice.contains("not for release") && notice.contains("seeded"), "{notice}");
    session.run(["run", "mine.toml", "--release"]).complains(&["--release"]);
}

#[test]
fn the_note_on_dropped_records_depends_on_the_schema_alone() {
    let session = Session::new();
    let schema = "name = 'mine'\n[table]\nfiles = [{ name = 'mine.csv' }]\n\
                  [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n\
                  missing = 'drop'\n[[attribute]]\nname = 'b'\nkind = 'categorical'\n\
                  values = ['x', 'y']\n";
    session.file("schema.toml", schema);
    let run = |out: String, more: &[&str]| {
        let budget = ["--epsilon=1", "--delta=1e-6", "--out", &out];
        let words = ["synthesize", "./schema.toml"].into_iter().chain(budget);
        session.run(words.chain(more.iter().copied())).works()
    };
    for (i, rows) in ["a,b\nx,y\ny,x\nx,x\n", "a,b\nx,y\n,x\nx,x\n"].into_iter().enumerate() {
        session.file("mine.csv", rows);
        assert!(run(format!("{i}.csv"), &[]).stderr.contains("becomes public"));
        let said = run(format!("{i}-private.csv"), &["--add-remove"]);
        assert!(!said.stderr.contains("becomes public"), "{}", said.stderr);
    }
}
