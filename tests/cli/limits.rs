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

/// Small tables, and least squares over 1.1 billion cells, which the limit allows.
const LARGE: &str = r#"name = "large"
trials = 1
epsilon = 1
datasets = ["titanic"]

[limits]
memory = "100 GB"

[estimation]
iterations = 20

[workload]
marginals = [["Sex", "Pclass"], ["Pclass", "Survived"]]
prefix = []

[[mechanism]]
name = "laplace"
arms = ["lsmr", "own", "pgm"]
"#;

/// Runs the program with this many kB of address space at most.
#[cfg(target_os = "linux")]
pub(crate) fn with_little_memory(
    session: &Session,
    kilobytes: u64,
    command: &str,
) -> std::process::Output {
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" {command} --threads 2");
    std::process::Command::new("sh")
        .current_dir(session.path(""))
        .args(["-c", &script, env!("CARGO_BIN_EXE_pgmbench")])
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn an_arm_without_memory_fails_and_the_run_goes_on() {
    let session = Session::new();
    session.file("large.toml", LARGE);
    let output = with_little_memory(&session, 600_000, "run large.toml");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("internal error") && !said.contains("panicked"), "{said}");
    let rows = fs::read_to_string(session.path("results/large/trials.csv")).unwrap();
    let row = |arm: &str| rows.lines().find(|row| row.contains(arm)).unwrap();
    let lsmr = row(",laplace,lsmr,");
    assert!(lsmr.contains(",failed,estimate,") && lsmr.contains("out of memory"), "{lsmr}");
    assert!(row(",laplace,own,").contains(",done,,") && row(",laplace,pgm,").contains(",done,,"));
    // Failed for want of memory, it is tried again; the ledger has its release once.
    let ledger = || fs::read_to_string(session.path("results/large/ledger.jsonl")).unwrap();
    let before = ledger();
    with_little_memory(&session, 600_000, "run large.toml");
    assert_eq!(ledger(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn an_estimate_without_memory_says_so_and_leaves_nothing() {
    let session = Session::new();
    // 27 million cells, one answer.
    let problem = r#"{"domain": {"a": 300, "b": 300, "c": 300}, "total": 9, "measurements":
        [{"attrs": ["a", "b", "c"], "query": ["total", "total", {"evidence": 0}], "y": [5],
          "stddev": 1}]}"#;
    session.file("problem.json", problem);
    let command = "estimate problem.json --out model --memory-limit 100GB";
    for kilobytes in [1_500_000, 300_000] {
        let output = with_little_memory(&session, kilobytes, command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: ") && said.contains("out of memory"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(session.files(), ["problem.json"]);
    }
}
