//! Problems that are refused: exit code 2, the field's name in the message, and no file.

use crate::{GOOD, Session};

#[track_caller]
fn refused(problem: &str, parts: &[&str]) {
    let session = Session::new();
    session.file("problem.json", problem);
    session.run(["estimate", "problem.json", "--out", "model"]).refuses(parts);
    assert_eq!(session.files(), ["problem.json"]);
}

/// The good problem with one change.
#[track_caller]
fn changed(from: &str, to: &str, parts: &[&str]) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    refused(&GOOD.replace(from, to), &[&["problem.json: "], parts].concat());
}

#[test]
fn an_unknown_attribute_is_refused() {
    changed(r#"["hrs"]"#, r#"["hours"]"#, &["measurements[1].attrs[0]", "\"hours\""]);
}

#[test]
fn a_duplicated_attribute_is_refused() {
    changed(r#"["age", "sex"]"#, r#"["age", "age"]"#, &["measurements[0].attrs[1]", "once"]);
    changed(r#""hrs": 4"#, r#""age": 4"#, &["domain.age", "once"]);
}

#[test]
fn an_attribute_without_values_is_refused() {
    changed(r#""hrs": 4"#, r#""hrs": 0"#, &["domain.hrs", "at least one value"]);
}

#[test]
fn invalid_sizes_are_refused() {
    for size in ["-4", "3.5", "\"4\"", "null"] {
        changed(r#""hrs": 4"#, &format!("\"hrs\": {size}"), &["domain.hrs"]);
    }
}

#[test]
fn a_domain_without_attributes_is_refused() {
    changed(r#"{"age": 3, "sex": 2, "hrs": 4}"#, "{}", &["domain", "at least one attribute"]);
}

#[test]
fn a_wrong_number_of_answers_is_refused() {
    changed("31, 44, 61]", "31, 44]", &["measurements[1].y", "expected 4 numbers", "found 3"]);
    changed("31, 44, 61]", "31, 44, 61, 70]", &["measurements[1].y", "found 5"]);
    changed("[14, 31, 44, 61]", "[]", &["measurements[1].y", "found 0"]);
}

#[test]
fn answers_that_are_not_finite_are_refused() {
    changed("31, 44", "NaN, 44", &["measurements[1].y[1]", "a finite number", "NaN", "line 7"]);
    changed("31, 44", "1e999, 44", &["measurements[1].y[1]"]);
    changed("31, 44", "null, 44", &["measurements[1].y[1]"]);
    changed("31, 44", "\"31\", 44", &["measurements[1].y[1]"]);
}

#[test]
fn a_standard_deviation_that_is_not_positive_is_refused() {
    for stddev in ["0", "0.0", "-2.0", "1e-200", "1e200"] {
        let changed_to = format!("\"stddev\": {stddev}");
        changed(r#""stddev": 2.0"#, &changed_to, &["measurements[1].stddev"]);
    }
    changed(r#", "stddev": 2.0"#, "", &["measurements[1].stddev", "nothing"]);
}

#[test]
fn a_total_that_is_not_positive_is_refused() {
    for total in ["0", "-60", "1e999", "\"60\""] {
        changed(r#""total": 60.0"#, &format!("\"total\": {total}"), &["total"]);
    }
}

#[test]
fn a_total_that_nothing_determines_is_refused() {
    let problem = r#"{"domain": {"a": 2}, "measurements": [
        {"attrs": ["a"], "query": [{"evidence": 0}], "y": [3], "stddev": 1}]}"#;
    refused(problem, &["total", "determine"]);
}

#[test]
fn queries_that_do_not_fit_are_refused() {
    changed(r#"["prefix"]"#, r#"["prefix", "prefix"]"#, &["measurements[1].query", "found 2"]);
    changed(r#"["prefix"]"#, r#"["sums"]"#, &["measurements[1].query[0]", "\"sums\""]);
    changed(r#"["prefix"]"#, r#"[{"evidence": 4}]"#, &["measurements[1].query[0]", "below 4"]);
    changed(
        r#"["prefix"]"#,
        r#"[{"matrix": [[1, 0, 1]]}]"#,
        &["measurements[1].query[0]", "4 col"],
    );
    changed(r#"["prefix"]"#, r#"{"matrix": [[1, 0, 1]]}"#, &["measurements[1].query", "4 columns"]);
    changed(
        r#"["prefix"]"#,
        r#"[{"compress": [0, 1]}]"#,
        &["measurements[1].query[0]", "4 groups"],
    );
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    let without_answers =
        r#"{"domain": {"a": 2}, "measurements": [{"attrs": ["a"], "stddev": 1}]}"#;
    refused(without_answers, &["measurements[0].y"]);
    changed(r#""stddev": 2.0"#, r#""stddev": 2.0, "sigma": 1"#, &["measurements[1].sigma"]);
    changed(r#""total""#, r#""totl""#, &["totl: unknown field", "did you mean total?"]);
    changed(r#"["prefix"]"#, r#"[{"matix": [[1, 0, 1, 1]]}]"#, &["did you mean matrix?"]);
    refused(r#"{"domain": {"a": 2}}"#, &["measurements"]);
    refused(r#"{"measurements": []}"#, &["domain"]);
}

#[test]
fn zeros_that_do_not_fit_are_refused() {
    let with = |zeros: &str, parts: &[&str]| {
        changed(r#""total": 60.0,"#, &format!("\"total\": 60.0, \"zeros\": {zeros},"), parts);
    };
    with(r#"[{"attrs": ["height"], "cells": [[0]]}]"#, &["zeros[0].attrs[0]", "\"height\""]);
    with(r#"[{"attrs": [], "cells": []}]"#, &["zeros[0].attrs"]);
    with(r#"[{"attrs": ["sex"], "cells": [[2]]}]"#, &["zeros[0].cells[0][0]", "below 2"]);
    with(r#"[{"attrs": ["sex"], "cells": [[0, 1]]}]"#, &["zeros[0].cells[0]", "one per attribute"]);
    with(r#"[{"attrs": ["sex"]}]"#, &["zeros[0].cells"]);
    with(r#"[{"attrs": ["sex"], "cells": [[0], [1]]}]"#, &["zeros[0].cells", "left possible"]);
}

#[test]
fn zeros_that_exclude_every_record_are_refused() {
    let problem = r#"{"domain": {"a": 2, "b": 2}, "total": 10,
        "measurements": [{"attrs": ["a", "b"], "query": ["total", "total"], "y": [9], "stddev": 1}],
        "zeros": [
            {"attrs": ["a"], "cells": [[0]]},
            {"attrs": ["a", "b"], "cells": [[1, 0], [1, 1]]}
        ]}"#;
    refused(problem, &["problem.json: ", "zeros"]);
}

#[test]
fn a_truncated_file_is_refused() {
    for length in 1..GOOD.len() - 1 {
        if GOOD.is_char_boundary(length) && length % 37 == 0 {
            refused(&GOOD[..length], &["problem.json: ", "line "]);
        }
    }
}

#[test]
fn a_file_that_is_no_problem_is_refused() {
    refused("", &["problem.json: the file is empty"]);
    refused("[1, 2]", &["problem.json: ", "domain"]);
    let session = Session::new();
    session.file("problem.json", [0xff, 0xfe, 0x00, 0x01]);
    session
        .run(["estimate", "problem.json", "--out", "model"])
        .refuses(&["problem.json: ", "UTF-16"]);
}

#[test]
fn a_missing_file_is_refused() {
    let session = Session::new();
    let said = session.run(["estimate", "nowhere.json", "--out", "model"]);
    said.refuses(&["cannot read nowhere.json: "]);
    assert!(session.files().is_empty());
}
