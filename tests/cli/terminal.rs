//! Output formats, help, completions and manual pages.

use std::fs;

use super::Session;
use super::survive::{MANY, MINE, session};

#[test]
fn a_quiet_run_prints_nothing_and_does_everything() {
    let session = session(MANY);
    assert_eq!(session.run(["run", "many.toml", "--quiet"]).succeeds(), "");
    assert!(session.path(MINE).join("figure.svg").exists());
    session.run(["run", "nothing.toml", "--quiet"]).complains(&["nothing.toml"]);
}

#[test]
fn a_run_with_json_prints_one_event_per_line() {
    let session = session(MANY);
    let said = session.run(["run", "many.toml", "--json"]).succeeds();
    let events: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!([named("start"), named("trial"), named("arm"), named("end")], [1, 24, 60, 1]);
    assert_eq!(events.len(), 86);
    assert_eq!(events[0]["arms"], 60);
    let arm = events.iter().find(|event| event["event"] == "arm").unwrap();
    assert!(arm["workload_error"].is_number() && arm["key"].is_string(), "{arm}");
    assert_eq!(events[85]["done"], 60);
}

#[test]
fn a_pipe_gets_no_colours() {
    let session = session(MANY);
    let said = session.run(["run", "many.toml"]).works();
    assert!(!said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'));
    let said = session.run(["--help"]).succeeds();
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn the_help_has_examples_and_exit_codes() {
    let session = Session::new();
    let said = session.run(["--help"]).succeeds();
    for words in ["Examples:", "Exit codes:", "0    all done", "130  interrupted"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    for command in ["run", "status", "verify", "collect", "plan", "plot", "completions", "man"] {
        let said = session.run([command, "--help"]).succeeds();
        assert!(said.contains("Example"), "{command}: {said}");
    }
}

#[test]
fn completions_and_manual_pages_have_all_commands() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = session.run(["completions", shell]).succeeds();
        for words in ["pgmbench", "verify", "collect", "shard"] {
            assert!(said.contains(words), "{shell}: {words}");
        }
    }
    session.run(["man", "--out", "pages/man1"]).succeeds();
    for page in ["pgmbench.1", "pgmbench-run.1", "pgmbench-slurm-submit.1"] {
        let text = fs::read_to_string(session.path("pages/man1").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}
