//! Model files that are refused by every command that reads one.

use std::fs;

use crate::Session;

#[track_caller]
fn refused(session: &Session, parts: &[&str]) {
    let before = session.files();
    let parts = [&["model: "], parts].concat();
    session.run(["query", "model", "--marginal", "age"]).refuses(&parts);
    session
        .run(["synth", "model", "--records", "3", "--seed", "1", "--out", "out"])
        .refuses(&parts);
    session
        .run(["estimate", "problem.json", "--out", "out", "--warm-start", "model"])
        .refuses(&parts);
    assert_eq!(session.files(), before);
}

/// A session whose model has been tampered with.
fn tampered(tamper: impl FnOnce(&mut Vec<u8>)) -> Session {
    let session = Session::with_model();
    let mut bytes = fs::read(session.path("model")).unwrap();
    tamper(&mut bytes);
    session.file("model", bytes);
    session
}

#[test]
fn a_model_of_another_version_is_refused() {
    refused(&tampered(|bytes| bytes[8] = 2), &["version 2", "this release reads version 1"]);
}

#[test]
fn a_model_with_a_changed_byte_is_refused() {
    refused(&tampered(|bytes| bytes[40] ^= 1), &["damaged", "checksum"]);
    refused(&tampered(|bytes| *bytes.last_mut().unwrap() ^= 128), &["damaged", "checksum"]);
}

#[test]
fn a_truncated_model_is_refused() {
    refused(&tampered(|bytes| bytes.truncate(bytes.len() - 1)), &["cut off"]);
    refused(&tampered(|bytes| bytes.truncate(10)), &["cut off"]);
    refused(&tampered(|bytes| bytes.clear()), &["cut off"]);
}

#[test]
fn a_model_with_trailing_bytes_is_refused() {
    refused(&tampered(|bytes| bytes.push(b'\n')), &["damaged"]);
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let session = Session::with_model();
    fs::copy(session.path("problem.json"), session.path("model")).unwrap();
    refused(&session, &["not a model file"]);
}

#[test]
fn a_missing_model_is_refused() {
    let session = Session::with_model();
    fs::remove_file(session.path("model")).unwrap();
    refused(&session, &["No such file"]);
}
