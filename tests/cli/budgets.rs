//! Budgets that promise nothing, or that a mechanism cannot keep: refused before any data is read.

use std::fs;

use super::Session;

const EPSILONS: [&str; 7] = ["0", "-1", "-0.0", "NaN", "inf", "1e6", "1e400"];
const DELTAS: [&str; 5] = ["0", "1", "-1e-9", "NaN", "1.5"];

/// A schema whose data does not exist: a command that reads it fails with that error.
fn session() -> Session {
    let session = Session::new();
    let schema = "name = 'mine'\n[table]\nfiles = [{ name = 'missing.csv' }]\n\
                  [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n";
    session.file("schema.toml", schema);
    session
}

#[test]
fn commands_refuse_invalid_budgets() {
    let session = session();
    let commands: [&[&str]; 2] = [
        &["synthesize", "schema.toml", "--out", "out.csv"],
        &["audit", "gaussian", "--trials", "100"],
    ];
    for command in commands {
        let run = |epsilon: &str, delta: &str| {
            let budget = [format!("--epsilon={epsilon}"), format!("--delta={delta}")];
            session.run(command.iter().map(ToString::to_string).chain(budget))
        };
        for epsilon in EPSILONS {
            run(epsilon, "1e-6").complains(&["--epsilon", "epsilon"]);
        }
        for delta in DELTAS {
            run("1", delta).complains(&["--delta", "between 0 and 1"]);
        }
        run("one", "1e-6").complains(&["not a number"]);
    }
    // A valid budget gets as far as the missing data.
    let good = ["synthesize", "./schema.toml", "--out", "out.csv", "--epsilon=1", "--delta=1e-6"];
    session.run(good).complains(&["missing.csv"]);
    session
        .run(["synthesize", "./schema.toml", "--out", "x.csv", "--epsilon=1"])
        .complains(&["--delta"]);
    assert_eq!(session.files(), ["schema.toml"]);
}

#[test]
fn experiments_refuse_invalid_budgets() {
    let session = session();
    let config = |budget: &str, mechanism: &str| {
        format!(
            "name = \"mine\"\n{budget}\n\
             datasets = [{{ name = \"mine\", schema = \"schema.toml\" }}]\n\
             [workload]\nmarginals = [[\"a\"]]\n{mechanism}"
        )
    };
    let refused = |budget: &str, mechanism: &str, words: &[&str]| {
        session.file("mine.toml", config(budget, mechanism));
        for command in ["run", "plan"] {
            session.run([command, "mine.toml"]).complains(words);
        }
    };
    let laplace = "[[mechanism]]\nname = \"laplace\"\n";
    for epsilon in ["0", "-1.0", "nan", "inf", "1e6", "[1.0, 0.0]"] {
        refused(&format!("epsilon = {epsilon}"), laplace, &["mine.toml:2", "epsilon"]);
    }
    for delta in ["0", "1", "-1e-9", "nan"] {
        let budget = format!("epsilon = 1\ndelta = {delta}");
        refused(&budget, laplace, &["mine.toml:3", "delta"]);
    }
    // Guarantees that a mechanism cannot give, and parts that do not add up.
    for name in ["gaussian", "residual-planner", "mst", "dualquery", "pmw-delta"] {
        let mechanism = format!("[[mechanism]]\nname = \"{name}\"\n");
        refused("epsilon = 1", &mechanism, &["needs a delta"]);
    }
    for (name, parameter) in [
        ("mst", "weights = [1.0, 0.0, 1.0]"),
        ("mst", "weights = [1.0, -1.0, 1.0]"),
        ("mst", "weights = [1.0, 1.0]"),
        ("residual-planner", "objective = \"mean\""),
        ("residual-planner", "weights = [1.0]"),
        ("privbayes", "network_share = 1.0"),
        ("privbayes", "network_share = 1.5"),
        ("privbayes", "network_share = nan"),
        ("mwem", "rounds = 0"),
        ("pmw", "alpha = 0.0"),
        ("pmw", "alpha = 1.0"),
        ("pmw-delta", "alpha = \"tiny\""),
        ("pmw-delta", "beta = 0.0"),
    ] {
        let mechanism =
            format!("[[mechanism]]\nname = \"{name}\"\nparameters = {{ {parameter} }}\n");
        refused("epsilon = 1\ndelta = 1e-6", &mechanism, &["mine.toml"]);
    }
    // A valid budget gets as far as the missing data.
    refused("epsilon = 1", laplace, &["missing.csv"]);
    assert!(fs::read_dir(session.path("results")).is_err(), "nothing is left behind");
}
