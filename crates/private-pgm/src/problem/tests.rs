use proptest::prelude::*;

use super::*;
use crate::domain::{AttributeId, Clique};
use crate::factor::Factor;

const GOOD: &str = r#"{
  "name": "example", "optimum": {"anything": [null, {"deep": 1e3}]},
  "domain": {"age": 3, "sex": 2, "hrs": 4},
  "total": 800.0,
  "measurements": [
    {"attrs": ["age", "sex"], "query": ["prefix", "identity"],
     "y": [1, 2, 3, 4, 5, 6.5], "stddev": 2.0},
    {"attrs": ["hrs"], "query": [{"compress": [0, 0, 1, 1]}], "y": [7, 8], "stddev": 1},
    {"attrs": ["sex", "hrs"], "query": [{"evidence": 1}, {"moments": 2}], "y": [7, 8], "stddev": 1},
    {"attrs": ["age"], "query": ["ranges"], "y": [1, 2, 3, 4, 5, 6], "stddev": 1},
    {"attrs": ["age", "sex"], "query": {"matrix": [[1, 2, 3, 4, 5, 6]]}, "y": [9], "stddev": 1},
    {"attrs": ["age", "sex"], "query": {"sparse": {"columns": 6, "rows": [[[1, 2.5]], []]}},
     "y": [9, 0], "stddev": 1},
    {"attrs": ["hrs"], "query": [{"matrix": [[1, 0, 0, 1], [0, 1, 1, 0]]}],
     "y": [1, 2], "stddev": 1},
    {"attrs": ["hrs", "sex"], "query": ["total", {"evidence": [0, 1]}], "y": [3], "stddev": 1},
    {"attrs": [], "query": [], "y": [790], "stddev": 5}
  ],
  "zeros": [{"attrs": ["age", "sex"], "cells": [[2, 1], [0, 1], [2, 1]]}]
}"#;

fn good() -> Problem {
    Problem::from_json(GOOD).unwrap()
}

#[test]
fn numbers_that_python_writes_and_json_does_not_have_are_named() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        for (from, field) in [("2.0}", "measurements[0].stddev"), ("790", "measurements[8].y[0]")] {
            let tail = if from.ends_with('}') { "}" } else { "" };
            let text = GOOD.replace(from, &format!("{word}{tail}"));
            let error = Problem::from_json(&text).unwrap_err().to_string();
            let expected = format!("{field}: expected a finite number, found {word}, which JSON");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_skipped_and_an_empty_file_is_called_so() {
    assert_eq!(Problem::from_json(&format!("\u{feff}{GOOD}")).unwrap(), good());
    for nothing in ["", " \n", "\u{feff}"] {
        assert!(matches!(Problem::from_json(nothing), Err(ProblemError::Empty)), "{nothing:?}");
    }
    assert!(matches!(Problem::from_bytes(b"\xff\xfe{\0}\0"), Err(ProblemError::Utf16)));
}

/// The message for the valid file with one piece of text replaced.
fn message(piece: &str, replacement: &str) -> String {
    assert_eq!(GOOD.matches(piece).count(), 1, "{piece}");
    match Problem::from_json(&GOOD.replace(piece, replacement)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{replacement} was accepted"),
    }
}

#[test]
fn listed_orders_become_the_axis_order() {
    let problem = good();
    assert_eq!((problem.total, problem.total_is_estimated), (800.0, false));
    let (age, sex) = (problem.domain.id("age").unwrap(), problem.domain.id("sex").unwrap());
    let first = &problem.measurements[0];
    assert_eq!(first.clique, Clique::new([age, sex]));
    // sex is smaller, so it is the first axis.
    assert_eq!(first.y, [1.0, 3.0, 5.0, 2.0, 4.0, 6.5]);
    let table: Vec<f64> = vec![1.0, 10.0, 100.0, 1e3, 1e4, 1e5];
    let marginal = Factor::from_listed(&problem.domain, &[age, sex], &table).into_values();
    let answers = |index: usize| {
        let query = &problem.measurements[index].query;
        let mut answers = vec![0.0; query.rows()];
        query.apply(&marginal, &mut answers, &mut vec![0.0; query.scratch_len()]);
        answers
    };
    assert_eq!(answers(0), [1.0, 101.0, 10101.0, 10.0, 1010.0, 101010.0]);
    assert_eq!(answers(4), [654321.0]);
    assert_eq!(answers(5), [25.0, 0.0]);
    // (age 0, sex 1) and (age 2, sex 1), with sex first.
    assert_eq!(problem.zeros[0].cells, [3, 5]);
}

#[test]
fn a_problem_written_reads_as_itself() {
    let problem = good();
    assert_eq!(Problem::from_json(&problem.to_json()).unwrap(), problem);
    let estimated = Problem::from_json(&GOOD.replace("800.0", "null")).unwrap();
    assert!(estimated.total_is_estimated);
    assert_eq!(Problem::from_json(&estimated.to_json()).unwrap(), estimated);
    let declared: Vec<&str> =
        problem.domain.declared().iter().map(|&id| problem.domain.name(id)).collect();
    assert_eq!(declared, ["age", "sex", "hrs"]);
}

#[test]
fn a_missing_total_is_estimated_or_asked_for() {
    let file = |measurements: &str| {
        Problem::from_json(&format!(
            r#"{{"domain": {{"a": 3}}, "measurements": [{measurements}]}}"#
        ))
    };
    let sure = r#"{"attrs": ["a"], "query": ["identity"], "y": [1, 2, 3], "stddev": 1}"#;
    let vague = r#"{"attrs": ["a"], "query": [{"evidence": 1}], "y": [2], "stddev": 1}"#;
    let negative = r#"{"attrs": [], "query": [], "y": [-2], "stddev": 1}"#;
    let problem = file(&[sure, vague].join(",")).unwrap();
    assert_eq!((problem.total, problem.total_is_estimated), (6.0, true));
    assert_eq!(
        file(vague).unwrap_err().to_string(),
        "total: expected a positive number, or measurements that determine it, \
         found no number, and no measurement whose queries determine it"
    );
    let error = file(negative).unwrap_err().to_string();
    assert!(error.ends_with("measurements that estimate -2"), "{error}");
}

#[test]
fn mistakes_are_named_by_field_with_what_was_expected() {
    for (piece, replacement, expected) in [
        (
            "4, 5, 6.5]",
            "4, 5]",
            "measurements[0].y: expected 6 numbers (3 prefix x 2 identity), found 5",
        ),
        ("[790]", "[]", "measurements[8].y: expected 1 number (the total), found 0"),
        (
            "[9, 0]",
            "[9]",
            "measurements[5].y: expected 2 numbers (the rows of the matrix), found 1",
        ),
        ("\"stddev\": 2.0", "\"stddev\": 0", "measurements[0].stddev: expected a positive"),
        ("\"stddev\": 2.0", "\"stddev\": -1", "measurements[0].stddev: expected a positive"),
        (
            ", \"stddev\": 5",
            "",
            "measurements[8].stddev: expected a positive number, found nothing",
        ),
        (
            "\"stddev\": 5",
            "\"stddev\": null",
            "measurements[8].stddev: invalid type: null, expected a finite number (line ",
        ),
        (
            "6.5",
            "null",
            "measurements[0].y[5]: invalid type: null, expected a finite number (line 7, column ",
        ),
        ("6.5", "NaN", "measurements[0].y[5]: expected a finite number, found NaN"),
        ("6.5", "-Infinity", "measurements[0].y[5]: expected a finite number, found -Infinity"),
        ("6.5", "1e999", "measurements[0].y[5]: number out of range (line 7, column "),
        (
            "6.5",
            "\"6.5\"",
            "measurements[0].y[5]: invalid type: string \"6.5\", expected a finite number",
        ),
        ("800.0", "0", "total: expected a positive number, found 0"),
        ("800.0", "-1e-3", "total: expected a positive number, found -0.001"),
        ("800.0", "\"many\"", "total: invalid type: string \"many\", expected a finite number"),
        (
            "\"attrs\": [\"sex\", \"hrs\"]",
            "\"attrs\": [\"sex\", \"income\"]",
            "measurements[2].attrs[1]: expected an attribute of the domain, found \"income\"",
        ),
        (
            "\"attrs\": [\"sex\", \"hrs\"]",
            "\"attrs\": [\"sex\", \"sex\"]",
            "measurements[2].attrs[1]: expected every attribute once, found \"sex\" again",
        ),
        ("\"hrs\": 4", "\"age\": 4", "domain.age: expected every attribute once, found it again"),
        ("\"hrs\": 4", "\"hrs\": 0", "domain.hrs: expected at least one value, found 0"),
        (
            "\"hrs\": 4",
            "\"hrs\": -4",
            "domain.hrs: invalid value: integer `-4`, expected a whole number",
        ),
        (
            "\"hrs\": 4",
            "\"hrs\": 4.5",
            "domain.hrs: invalid value: floating point `4.5`, expected a whole number",
        ),
        ("\"hrs\": 4", "\"hrs\": 1e300", "domain.hrs: invalid value: floating point"),
        (
            "{\"age\": 3, \"sex\": 2, \"hrs\": 4}",
            "{}",
            "domain: expected at least one attribute, found none",
        ),
        (
            "[\"ranges\"]",
            "[\"range\"]",
            "measurements[3].query[0]: invalid value: string \"range\", expected \"identity\", \
             \"prefix\"",
        ),
        (
            "[\"ranges\"]",
            "[]",
            "measurements[3].query: expected one factor per attribute, 1 in all, found 0",
        ),
        (
            "[\"ranges\"]",
            "\"ranges\"",
            "measurements[3].query: invalid type: string \"ranges\", expected a list",
        ),
        (
            "[\"ranges\"]",
            "{\"moments\": 1}",
            "measurements[3].query: expected matrix or sparse over the whole",
        ),
        ("[\"ranges\"]", "[{\"moment\": 1}]", "compress or moments; did you mean moments?"),
        (
            "[\"ranges\"]",
            "[{\"moments\": 1, \"evidence\": 0}]",
            "measurements[3].query[0].evidence: expected one kind",
        ),
        ("[\"ranges\"]", "[{}]", "measurements[3].query[0]: expected one of matrix"),
        (
            "[[1, 0, 0, 1], [0, 1, 1, 0]]",
            "[[1, 0, 0, 1], [0, 1, 1]]",
            "measurements[6].query[0].matrix[1]: expected 4 numbers as in row 0, found 3",
        ),
        (
            "[[1, 0, 0, 1], [0, 1, 1, 0]]",
            "[[1, 0, 0], [0, 1, 1]]",
            "measurements[6].query[0]: expected 4 columns, one per cell, found 3",
        ),
        (
            "[[1, 0, 0, 1], [0, 1, 1, 0]]",
            "[]",
            "measurements[6].query[0].matrix: expected at least one row and one column",
        ),
        (
            "[[1, 0, 0, 1], [0, 1, 1, 0]]",
            "[[], []]",
            "measurements[6].query[0].matrix: expected at least one row and one column",
        ),
        (
            "[[1, 2, 3, 4, 5, 6]]",
            "[[1, 2, 3, 4, 5]]",
            "measurements[4].query: expected 6 columns, one per cell, found 5",
        ),
        (
            "[[1, 2.5]]",
            "[[6, 2.5]]",
            "measurements[5].query.sparse.rows[0]: expected columns below 6, found 6",
        ),
        ("[[1, 2.5]]", "[[1, 2.5, 0]]", "measurements[5].query.sparse.rows[0][0]: expected a pair"),
        (
            "{\"compress\": [0, 0, 1, 1]}",
            "{\"compress\": [0, 1]}",
            "measurements[1].query[0]: expected 4 groups",
        ),
        (
            "{\"evidence\": 1}",
            "{\"evidence\": 2}",
            "measurements[2].query[0]: expected values below 2, found 2",
        ),
        (
            "\"y\": [790]",
            "\"y\": [790], \"weight\": 1",
            "measurements[8].weight: unknown field, expected attrs",
        ),
        ("\"y\": [790]", "\"y\": [790], \"y\": [790]", "measurements[8].y: given twice"),
        ("\"y\": [790], ", "", "measurements[8].y: expected a list of numbers, found nothing"),
        (
            "\"cells\": [[2, 1], ",
            "\"cells\": [[3, 1], ",
            "zeros[0].cells[0][0]: expected a value of \"age\" below 3, found 3",
        ),
        (
            "\"cells\": [[2, 1], ",
            "\"cells\": [[2], ",
            "zeros[0].cells[0]: expected 2 values, one per attribute, found 1",
        ),
        (
            "\"cells\": [[2, 1], ",
            "\"cell\": [[2, 1], ",
            "zeros[0].cell: unknown field, expected attrs or cells; did you mean cells?",
        ),
        (
            "[[2, 1], [0, 1], [2, 1]]",
            "[[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]",
            "zeros[0].cells: expected some combination left possible",
        ),
        (
            "\"measurements\": [\n",
            "\"measurements\": 3, \"rest\": [\n",
            "measurements: invalid type: integer `3`, expected a list",
        ),
        ("\"measurements\": [\n", "\"more\": [\n", "measurements: expected a list, found nothing"),
        ("\"name\": \"example\"", "\"name\": example", "name: expected value (line 2, column "),
    ] {
        let message = message(piece, replacement);
        assert!(message.starts_with(expected), "\n{replacement}\n{message}\n{expected}");
    }
    let error = |text: &str| Problem::from_json(text).unwrap_err().to_string();
    assert_eq!(error(""), "the file is empty; expected JSON");
    assert!(error("[]").starts_with("invalid type: sequence, expected an object with domain"));
    let end = GOOD.lines().count();
    assert_eq!(error(&format!("{GOOD}]")), format!("trailing characters (line {end}, column 2)"));
}

#[test]
fn huge_sizes_are_fine_until_they_are_measured() {
    let file = |attrs: &str, query: &str, total: &str| {
        Problem::from_json(&format!(
            r#"{{"domain": {{"a": 1000000000000000000, "b": 1e18, "c": 2000000000, "d": 2}},
            "total": {total}, "measurements":
            [{{"attrs": {attrs}, "query": {query}, "y": [1], "stddev": 1}}]}}"#
        ))
    };
    assert_eq!(file("[]", "[]", "5").unwrap().domain.size(AttributeId(3)), 10usize.pow(18));
    let error = file(r#"["a", "b", "d"]"#, r#"["total", "total", "total"]"#, "5").unwrap_err();
    assert_eq!(
        error.to_string(),
        "measurements[0].query: expected a marginal of at most 2147483648 cells, found 2.0000e36"
    );
    // One answer about 2e9 values: no table of that size is allocated.
    assert!(file(r#"["c"]"#, r#"["total"]"#, "null").is_ok());
    let sparse = r#"{"sparse": {"columns": 2000000000, "rows": [[[1999999999, 1]]]}}"#;
    assert!(file(r#"["c"]"#, sparse, "5").is_ok());
    assert!(file(r#"["c"]"#, sparse, "null").is_err());
    for query in [
        r#"["identity"]"#,
        r#"["ranges"]"#,
        r#"[{"moments": 1000000000000000000}]"#,
        r#"[{"matrix": [[1]]}]"#,
        r#"[{"evidence": 18446744073709551615}]"#,
        r#"[{"compress": [18446744073709551615]}]"#,
    ] {
        assert!(file(r#"["c"]"#, query, "null").is_err(), "{query}");
        assert!(file(r#"["d"]"#, query, "null").is_err(), "{query}");
    }
    let zeros = r#"{"domain": {"a": 1e18, "b": 1e18}, "total": 1, "measurements": [],
        "zeros": [{"attrs": ["a", "b"], "cells": [[1, 1]]}]}"#;
    let error = Problem::from_json(zeros).unwrap_err().to_string();
    assert!(error.starts_with("zeros[0].attrs: expected attributes with at most"), "{error}");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    for end in 0..GOOD.len() {
        let error = Problem::from_json(&GOOD[..end]).unwrap_err();
        let is_json = matches!(error, ProblemError::Json { .. });
        assert!(is_json || end == 0 && error.to_string().contains("empty"), "{end}: {error}");
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Problem::from_bytes(&bytes).is_err());
    }

    #[test]
    fn mutations_of_a_good_file_never_panic(
        edits in prop::collection::vec((0..GOOD.len(), 0usize..6, any::<u8>()), 1..6),
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, kind, byte) in edits {
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                3 => bytes[at] = b"0123456789-.e\"[]{},:n"[usize::from(byte) % 21],
                4 => bytes.insert(at, b"0123456789-.e\"[]{},:n"[usize::from(byte) % 21]),
                _ => bytes.swap(at, usize::from(byte)),
            }
        }
        if let Ok(problem) = Problem::from_bytes(&bytes) {
            // Every accepted problem survives writing and reading.
            prop_assert_eq!(Problem::from_json(&problem.to_json()).unwrap(), problem);
        }
    }
}
