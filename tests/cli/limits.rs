//! Limits on memory and time, and arms that exceed them.

use std::fs;
use std::time::{Duration, Instant};

use super::Session;

const CONFIG: &str = r#"name = "limits"
trials = 1
epsilon = 1
datasets = ["adult"]

[limits]
seconds = 0.3
memory = "200 MB"

[estimation]
iterations = 100000000
gap = 0.0

[[mechanism]]
name = "mwem"
parameters = { rounds = 2000 }
arms = ["pgm"]

[[mechanism]]
name = "laplace"
arms = ["own", "pgm", "lsmr"]
"#;

#[test]
fn arms_that_exceed_a_limit_end_and_the_others_continue() {
    let session = Session::new();
    session.file("limits.toml", CONFIG);
    let began = Instant::now();
    session.run(["run", "limits.toml"]).works();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let rows = fs::read_to_string(session.path("results/limits/trials.csv")).unwrap();
    let ended = |arm: &str, how: &str| {
        let row = rows.lines().find(|row| row.contains(arm)).unwrap_or_else(|| panic!("{rows}"));
        assert!(row.contains(how), "{how}: {row}");
    };
    // In the rounds of the mechanism itself.
    ended(",mwem,pgm,", ",timeout,select,");
    ended(",laplace,pgm,", ",timeout,estimate,");
    ended(",laplace,own,", ",done,,");
    ended(",laplace,lsmr,", ",infeasible,estimate,");
}

#[test]
fn a_plan_predicts_time_as_well_as_memory() {
    let session = Session::new();
    session.file("limits.toml", CONFIG);
    let said = session.run(["plan", "limits.toml"]).succeeds();
    assert!(said.contains("on one core, predicted from the sizes of the models"), "{said}");
    assert!(said.contains("cells in the junction tree"), "{said}");
}
