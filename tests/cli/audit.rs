//! Attacks on mechanisms, from the command line.

use super::Session;

#[test]
fn an_audit_prints_claim_bound_and_evidence() {
    let session = Session::new();
    let said = session
        .run(["audit", "laplace", "--epsilon", "1", "--trials", "2000", "--seed", "3"])
        .succeeds();
    for words in
        ["claimed  epsilon = 1", "at least 0.", "95 % confidence", "of 1500 runs", "ledger", "pair"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(session.files().is_empty(), "an audit leaves nothing behind");
}

#[test]
fn an_audit_as_json_has_all_numbers_and_is_reproducible() {
    let session = Session::new();
    let audit = || {
        let words = ["audit", "mwem", "--epsilon", "2", "--trials", "400", "--json"];
        session.run(words).succeeds()
    };
    let reports: serde_json::Value = serde_json::from_str(&audit()).unwrap();
    let found = &reports[0];
    assert_eq!(found["mechanism"], "mwem");
    assert_eq!(found["refuted"], false);
    assert_eq!(found["randomness"], "seeded");
    assert_eq!(found["findings"].as_array().unwrap().len(), 1);
    for finding in found["findings"].as_array().unwrap() {
        let bound = finding["epsilon_lower_bound"].as_f64().unwrap();
        assert!((0.0..=2.0).contains(&bound), "{finding}");
        assert_eq!(finding["runs"], 300);
        assert!(finding["largest_loss"].as_f64().unwrap() <= 2.0 + 1e-9, "{finding}");
        assert_eq!(finding["impossible"], 0);
        assert_eq!(finding["spent"]["kind"], "pure");
    }
    assert_eq!(audit(), audit());
}

#[test]
fn an_audit_as_a_table_has_a_row_per_case() {
    let session = Session::new();
    let words = ["audit", "residual-planner", "--epsilon", "1", "--trials", "400", "--markdown"];
    let said = session.run(words).succeeds();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("| mechanism | case |"), "{said}");
    assert_eq!(lines.len(), 5, "{said}");
    for line in &lines[2..] {
        assert!(line.starts_with("| ResidualPlanner | "), "{said}");
    }
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let session = Session::new();
    let run = |words: &[&str]| session.run(words.iter().copied());
    run(&["audit", "laplce", "--epsilon", "1"]).refuses(&["no mechanism", "laplace", "mwem"]);
    run(&["audit", "laplace"]).complains(&["--epsilon"]);
    run(&["audit", "laplace", "--epsilon", "1", "--trials", "10"]).complains(&["--trials"]);
    run(&["audit", "dualquery", "--epsilon", "1", "--add-remove"])
        .refuses(&["dualquery", "number of records"]);
}
