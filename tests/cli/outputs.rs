//! Output paths that are refused, and output that cannot be written.

use std::fs;
use std::process::{Command, Stdio};

use crate::{GOOD, Session};

#[test]
fn paths_that_cannot_be_written_are_refused_first() {
    let session = Session::with_model();
    fs::create_dir(session.path("folder")).unwrap();
    let before = session.files();
    let commands: [(&[&str], &str); 2] = [
        (&["estimate", "problem.json"], "it is also the problem file"),
        (&["synth", "model", "--records", "5", "--seed", "1"], "it is also"),
    ];
    for (command, also) in commands {
        let out = |path| session.run(command.iter().chain(&["--out", path]));
        out("folder").refuses(&["cannot write folder", "is a folder"]);
        out("nowhere/out").refuses(&["cannot write nowhere/out", "there is no folder nowhere"]);
        out(command[1]).refuses(&[command[1], also]);
    }
    session
        .run(["estimate", "problem.json", "--out", "new", "--trace", "folder"])
        .refuses(&["cannot write folder"]);
    session
        .run(["estimate", "problem.json", "--out", "new", "--trace", "./new"])
        .refuses(&["cannot write ./new: it is also the model of --out"]);
    assert_eq!(session.files(), before);
}

#[test]
fn a_path_is_checked_before_the_problem_is_read() {
    let session = Session::new();
    session.file("problem.json", "not even JSON");
    session
        .run(["estimate", "problem.json", "--out", "nowhere/model"])
        .refuses(&["there is no folder nowhere"]);
}

#[test]
fn an_existing_file_is_replaced_with_force_and_kept_by_failure() {
    let session = Session::new();
    session.file("problem.json", GOOD);
    session.file("model", "something else");
    session.file("bad.json", "{}");
    session.run(["estimate", "bad.json", "--out", "model", "--force"]).refuses(&["bad.json"]);
    assert_eq!(fs::read(session.path("model")).unwrap(), b"something else");
    session.run(["estimate", "problem.json", "--out", "model"]).refuses(&["model", "--force"]);
    session.run(["estimate", "problem.json", "--out", "model", "--force"]).succeeds();
    session.run(["query", "model", "--marginal", "sex"]).succeeds();
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let session = Session::with_model();
    ends_quietly_without_a_reader(&session, &["query", "model", "--marginal", "age,sex,hrs"]);
}

#[cfg(unix)]
fn ends_quietly_without_a_reader(session: &Session, args: &[&str]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pgmbench"))
        .current_dir(session.path(""))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_closes_during_a_long_table_is_no_error() {
    let session = Session::new();
    let problem = serde_json::json!({
        "domain": {"a": 300, "b": 300}, "total": 100.0,
        "measurements": [{"attrs": [], "query": [], "y": [100.0], "stddev": 1.0}],
    });
    session.file("problem.json", problem.to_string());
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    for format in ["csv", "json"] {
        let args = ["query", "model", "--marginal", "a,b", "--format", format];
        ends_quietly_without_a_reader(&session, &args);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let session = Session::with_model();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pgmbench"))
        .current_dir(session.path(""))
        .args(["query", "model", "--marginal", "age"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: cannot write to the standard output: "), "{message}");
}
