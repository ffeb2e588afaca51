//! What `synth` writes.

use std::fs;

use crate::Session;

fn synth(session: &Session, extra: &[&str]) -> String {
    let args = ["synth", "model", "--out", "out.csv", "--force"];
    session.run(args.iter().chain(extra)).succeeds();
    fs::read_to_string(session.path("out.csv")).unwrap()
}

#[test]
fn records_have_a_header_in_declared_order_and_values_within_the_domain() {
    let session = Session::with_model();
    for method in ["independent", "rounded"] {
        let text = synth(&session, &["--records", "50", "--seed", "7", "--method", method]);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("age,sex,hrs"));
        let records: Vec<Vec<usize>> =
            lines.map(|line| line.split(',').map(|code| code.parse().unwrap()).collect()).collect();
        assert_eq!(records.len(), 50);
        let fits = |record: &Vec<usize>| record.iter().zip([3, 2, 4]).all(|(&code, n)| code < n);
        assert!(records.iter().all(fits), "{text}");
    }
}

#[test]
fn attributes_without_measurements_may_have_any_number_of_values() {
    let session = Session::new();
    let problem = |size: u64| {
        format!(
            r#"{{"domain": {{"zip": {size}, "b": 2}}, "total": 50,
                "measurements": [
                    {{"attrs": ["b"], "query": ["identity"], "y": [20, 30], "stddev": 1}}
                ]}}"#
        )
    };
    session.file("large.json", problem(4_000_000_000));
    session.run(["estimate", "large.json", "--out", "model"]).works();
    for method in ["independent", "rounded"] {
        let text = synth(&session, &["--seed", "1", "--method", method]);
        let zips =
            text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap());
        let zips: Vec<u64> = zips.collect();
        assert_eq!(zips.len(), 50);
        assert!(zips.iter().all(|&zip| zip < 4_000_000_000));
        assert!(zips.iter().any(|&zip| zip > 2_000_000_000));
    }
    session.file("larger.json", problem(10_000_000_000));
    session.run(["estimate", "larger.json", "--out", "model", "--force"]).works();
    session.run(["synth", "model", "--out", "no.csv"]).refuses(&["model: ", "10000000000"]);
    assert!(!session.path("no.csv").exists());
}

#[test]
fn a_seed_draws_the_same_again_and_another_one_does_not() {
    let session = Session::with_model();
    for method in ["independent", "rounded"] {
        let draw =
            |seed| synth(&session, &["--records", "200", "--seed", seed, "--method", method]);
        assert_eq!(draw("1"), draw("1"));
        assert_ne!(draw("1"), draw("2"));
    }
}

#[test]
fn without_a_seed_the_one_from_the_system_is_printed_and_repeats_the_draw() {
    let session = Session::with_model();
    let said = session.run(["synth", "model", "--out", "one.csv"]).succeeds();
    assert!(said.contains("operating system"), "{said}");
    let line = said.lines().find(|line| line.starts_with("seed")).unwrap();
    let seed = line.split_whitespace().nth(1).unwrap();
    session.run(["synth", "model", "--out", "two.csv", "--seed", seed]).succeeds();
    let read = |name| fs::read_to_string(session.path(name)).unwrap();
    assert_eq!(read("one.csv"), read("two.csv"));
    // The total of the model is 60.
    assert_eq!(read("one.csv").lines().count(), 61);
}

#[test]
fn no_records_are_a_header() {
    let session = Session::with_model();
    assert_eq!(synth(&session, &["--records", "0", "--seed", "1"]), "age,sex,hrs\n");
}

#[test]
fn invalid_numbers_of_records_are_refused() {
    let session = Session::with_model();
    for records in ["-1", "many", "1.5", "900000000000000"] {
        let said = session.run(["synth", "model", "--out", "out.csv", "--records", records]);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
    }
    assert_eq!(session.files(), ["model", "problem.json"]);
}
