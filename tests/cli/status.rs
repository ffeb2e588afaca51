//! `status` and `verify`, and the provenance in the manifest.

use std::fs;

use super::survive::{MANY, MINE, session};

#[test]
fn a_status_lists_arms_that_are_done_that_ended_otherwise_and_that_remain() {
    let config = MANY
        .replace("[\"own\", \"lls\", \"pgm\"]", "[\"own\", \"lls\", \"pgm\", \"lsmr\"]")
        + "[limits]\nmemory = \"1 MB\"\n";
    let session = session(&config);
    session.run(["status", MINE]).complains(&["there are no results"]);
    session.run(["run", "many.toml", "--only", "epsilon=2", "--quiet"]).succeeds();
    let said = session.run(["status", "many"]).succeeds();
    for words in [
        "24 of 72 arms have a row",
        "done           20",
        "infeasible     4",
        "4 x titanic laplace lsmr (estimate): ",
        "left: 48",
        "titanic gaussian pgm: 8, less than 1 s each",
        "from the times seen so far",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = session.run(["status", MINE, "--json"]).succeeds();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["done"], &said["arms"]), (&20.into(), &72.into()));
    assert_eq!(said["left"].as_array().unwrap().len(), 48);
    session.run(["run", "many.toml", "--quiet"]).succeeds();
    let said = session.run(["status", MINE]).succeeds();
    assert!(said.contains("nothing is left to do"), "{said}");
}

#[test]
fn results_with_the_summary_alone_are_reported_as_such() {
    let session = session(MANY);
    session.run(["run", "many.toml", "--only", "epsilon=2", "--quiet"]).succeeds();
    for file in ["trials.csv", "traces.csv", "ledger.jsonl"] {
        fs::remove_file(session.path(MINE).join(file)).unwrap();
    }
    for command in ["status", "plot", "verify"] {
        let said = session.run([command, MINE]);
        said.refuses(&["the rows of the trials are not kept", "pgmbench report results/many"]);
    }
}

#[test]
fn a_damaged_manifest_is_reported_as_such() {
    let session = session(MANY);
    session.run(["run", "many.toml", "--only", "epsilon=2", "--quiet"]).succeeds();
    fs::write(session.path(MINE).join("manifest.json"), "{").unwrap();
    for command in ["status", "plot", "verify"] {
        session
            .run([command, MINE])
            .refuses(&["error: results/many/manifest.json: not a manifest"]);
    }
}

#[test]
fn a_part_that_is_run_again_does_not_hide_the_rest() {
    let session = session(MANY);
    session.run(["run", "many.toml", "--quiet"]).succeeds();
    let summary = || fs::read_to_string(session.path("results/many/summary.csv")).unwrap();
    let before = summary();
    assert_eq!(before.lines().count(), 1 + 15);
    session.run(["run", "many.toml", "--only", "epsilon=2,arm=pgm", "--quiet"]).succeeds();
    assert_eq!(summary(), before);
}

#[test]
fn arms_are_reproduced_exactly_and_changed_numbers_are_found() {
    let session = session(MANY);
    session.run(["verify", MINE]).complains(&["there are no results"]);
    session.run(["run", "many.toml", "--quiet", "--iterations", "20"]).succeeds();
    // The file may change; the manifest knows what was run.
    fs::remove_file(session.path("many.toml")).unwrap();
    let said = session.run(["verify", MINE, "--trials", "5", "--seed", "1"]).succeeds();
    assert_eq!(said.matches(": the same\n").count(), 5, "{said}");
    assert!(said.contains("5 arms, all the same"), "{said}");
    assert_eq!(session.run(["verify", MINE, "--trials", "5", "--seed", "1"]).succeeds(), said);
    assert_ne!(session.run(["verify", MINE, "--trials", "5", "--seed", "2"]).succeeds(), said);
    // The last digit of one number in each file.
    let change = |file: &str, from: &str, to: &str, arms: usize| {
        let path = session.path(MINE).join(file);
        let text = fs::read_to_string(&path).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{file}");
        fs::write(&path, changed).unwrap();
        let said = session.run(["verify", MINE, "--trials", "1000"]);
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        let different = format!("{arms} of 60 arms came out different");
        assert!(said.stderr.contains(&different), "{}", said.stderr);
        fs::write(&path, text).unwrap();
        said.stdout
    };
    let said = change("trials.csv", ",done,,0.", ",done,,0.0", 1);
    assert!(said.contains("workload_error was 0.0"), "{said}");
    // The first release is that of a trial with three arms.
    let said = change("ledger.jsonl", "\"sensitivity\":", "\"sensitivity\":1", 3);
    assert!(said.contains("the ledger is another"), "{said}");
    let said = change("traces.csv", ",pgm,0.5,", ",pgm,0.25,", 1);
    assert!(said.contains(" iterations was 0.25 and is 0.5"), "{said}");
}

#[test]
fn a_manifest_has_everything_that_reproduces_the_numbers() {
    let session = session(MANY);
    session.run(["run", "many.toml", "--threads", "2", "--quiet"]).succeeds();
    let text = fs::read_to_string(session.path("results/many/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let there = |path: &str| manifest.pointer(path).unwrap_or_else(|| panic!("no {path}: {text}"));
    let run = "/runs/0";
    assert_eq!(there(&format!("{run}/build/version")), env!("CARGO_PKG_VERSION"));
    assert_eq!(there(&format!("{run}/build/cargo_lock_blake3")).as_str().unwrap().len(), 64);
    assert!(there(&format!("{run}/build/rustc")).as_str().unwrap().starts_with("rustc "));
    there(&format!("{run}/build/commit"));
    for fact in ["machine/cpu", "machine/cpu_features", "machine/os", "start", "end"] {
        assert!(!there(&format!("{run}/{fact}")).is_null(), "{fact}");
    }
    assert_eq!(there(&format!("{run}/threads")), 2);
    assert_eq!(there(&format!("{run}/memory_limit")), 4u64 << 30);
    assert_eq!(there(&format!("{run}/command_line/2")), "many.toml");
    // A default that the file does not name.
    assert_eq!(there("/experiment/neighbours"), "replace");
    assert_eq!(there("/datasets/0/blake3").as_str().unwrap().len(), 64);
    assert_eq!(there("/datasets/0/standin"), false);
}
