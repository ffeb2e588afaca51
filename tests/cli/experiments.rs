//! Experiments from a configuration to results, and mistakes in configurations.

use std::fs;

use super::Session;

const CONFIG: &str = r#"name = "mine"
title = "Noisy marginals, and what a model makes of them"
trials = 2
epsilon = [0.5, 2.0]
datasets = ["titanic"]

[workload]
marginals = [["Sex", "Pclass"], ["Pclass", "Survived"]]
prefix = []

[estimation]
iterations = 30

[[mechanism]]
name = "laplace"
arms = ["own", "pgm"]

[[claim]]
says = "the model is better than the noisy answers"
paper = "better"
kind = "ratio"
dataset = "titanic"
mechanism = "laplace"
arm = "own"
against = "pgm"
epsilon = 0.5
at_least = 0.5
min_trials = 2
"#;

fn session() -> Session {
    let session = Session::new();
    session.file("mine.toml", CONFIG);
    session
}

fn rows(session: &Session) -> Vec<String> {
    let text = fs::read_to_string(session.path("results/mine/trials.csv")).unwrap();
    text.lines().skip(1).map(String::from).collect()
}

/// A row without its times, by the names of the columns.
fn timeless(header: &str, row: &str) -> String {
    let fields = header.split(',').zip(row.split(','));
    let kept = fields.filter(|(name, _)| !name.contains("seconds"));
    kept.map(|(_, field)| field).collect::<Vec<_>>().join(",")
}

#[test]
fn a_run_writes_all_of_its_files_and_prints_its_results() {
    let session = session();
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("laplace"), "{}", said.stdout);
    assert!(said.stdout.contains("the model is better"), "{}", said.stdout);
    assert!(said.stdout.contains("8 arms done"), "{}", said.stdout);
    for file in ["trials.csv", "manifest.json", "ledger.jsonl", "summary.csv", "claims.csv"] {
        let length = fs::metadata(session.path("results/mine").join(file)).unwrap().len();
        assert!(length > 0, "{file}");
    }
    let svg = fs::read_to_string(session.path("results/mine/figure.svg")).unwrap();
    assert!(svg.contains("Noisy marginals, and what a model makes of them"));
    assert!(fs::read(session.path("results/mine/figure.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(rows(&session).len(), 8);
}

#[test]
fn a_second_run_has_nothing_to_do_and_a_changed_one_has() {
    let session = session();
    session.run(["run", "mine.toml"]).works();
    let before = rows(&session);
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("8 there already"), "{}", said.stdout);
    assert_eq!(rows(&session), before);
    session.file("mine.toml", CONFIG.replace("iterations = 30", "iterations = 31"));
    session.run(["run", "mine.toml"]).works();
    assert_eq!(rows(&session).len(), 16, "stale rows stay, and new ones come");
    let summary = fs::read_to_string(session.path("results/mine/summary.csv")).unwrap();
    assert_eq!(summary.lines().count(), 1 + 4, "{summary}");
}

#[test]
fn numbers_do_not_depend_on_jobs_order_or_interruption() {
    let (one, two) = (session(), session());
    one.run(["run", "mine.toml", "--jobs", "1"]).works();
    two.run(["run", "mine.toml", "--only", "epsilon=2"]).works();
    two.run(["run", "mine.toml", "--only", "arm=pgm", "--jobs", "2"]).works();
    // A run that was killed while it wrote a row.
    let path = two.path("results/mine/trials.csv");
    let mut torn = fs::read_to_string(&path).unwrap();
    torn.truncate(torn.len() - 20);
    fs::write(&path, torn).unwrap();
    two.run(["run", "mine.toml", "--jobs", "2"]).works();
    let sorted = |session: &Session| {
        let text = fs::read_to_string(session.path("results/mine/trials.csv")).unwrap();
        let (header, rows) = text.split_once('\n').unwrap();
        let mut rows: Vec<String> = rows.lines().map(|row| timeless(header, row)).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&one), sorted(&two));
}

#[test]
fn a_figure_is_drawn_again_without_running() {
    let session = session();
    session.run(["run", "mine.toml"]).works();
    let drawn = fs::read(session.path("results/mine/figure.png")).unwrap();
    fs::remove_file(session.path("results/mine/figure.png")).unwrap();
    session.run(["plot", "mine"]).works();
    assert_eq!(fs::read(session.path("results/mine/figure.png")).unwrap(), drawn);
    session.run(["plot", "nothing"]).complains(&["there are no results", "nothing"]);
}

#[test]
fn mistakes_in_a_configuration_are_shown_at_their_place() {
    let session = session();
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(CONFIG.contains(from), "{from}");
        session.file("wrong.toml", CONFIG.replace(from, to));
        session.run(["run", "wrong.toml"]).complains(words);
        assert!(!session.path("results").exists(), "nothing is left behind");
    };
    refused("\ntrials = 2", "\ntrails = 2", &["wrong.toml:3", "trails", "trials"]);
    refused("\"titanic\"]", "\"titanc\"]", &["wrong.toml:5", "did you mean \"titanic\"?"]);
    refused("\"Survived\"", "\"Surived\"", &["wrong.toml:8", "did you mean \"Survived\"?"]);
    refused("\"laplace\"\narms", "\"laplce\"\narms", &["wrong.toml", "did you mean \"laplace\"?"]);
    refused("[\"own\", \"pgm\"]", "[\"own\", \"pmg\"]", &["wrong.toml", "did you mean \"pgm\"?"]);
    refused("name = \"laplace\"", "name = \"gaussian\"", &["wrong.toml", "needs a delta"]);
    refused("at_least", "at_leats", &["wrong.toml", "at_leats"]);
    refused(
        "arms = [\"own\", \"pgm\"]",
        "parameters = { restarts = 3 }",
        &["wrong.toml", "restarts", "no parameter of Laplace"],
    );
    session.run(["run", "mine.toml", "--only", "dataset=adult"]).complains(&["titanic"]);
    session.run(["run", "mien.toml"]).complains(&["mien.toml", "mine.toml"]);
}

#[test]
fn a_part_that_leaves_nothing_is_refused() {
    let session = session();
    session.file(
        "mine.toml",
        CONFIG.to_string() + "\n[[mechanism]]\nname = \"hdmm\"\narms = [\"lls\"]\n",
    );
    for command in ["run", "plan"] {
        session
            .run([command, "mine.toml", "--only", "arm=own,mechanism=hdmm"])
            .refuses(&["--only mechanism=hdmm,arm=own", "laplace with own, pgm; hdmm with lls"]);
    }
    assert!(!session.path("results").exists());
}

#[test]
fn a_quick_run_needs_a_table_named_quick() {
    let session = session();
    session.run(["plan", "mine.toml", "--quick"]).refuses(&["--quick", "mine.toml", "[quick]"]);
    session.file("mine.toml", CONFIG.to_string() + "\n[quick]\ntrials = 1\n");
    let said = session.run(["plan", "mine.toml", "--quick"]).works();
    assert!(said.stdout.contains("2 trials, 4 estimates"), "{}", said.stdout);
}

#[test]
fn a_plan_shows_what_would_be_done_and_does_nothing() {
    let session = session();
    let said = session.run(["plan", "mine.toml"]).works();
    for words in ["titanic", "1304", "4 trials, 8 estimates", "junction tree"] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    assert!(!session.path("results").exists());
}

#[test]
fn everything_that_experiments_can_use_is_listed() {
    let session = Session::new();
    let said = session.run(["list"]).works();
    for words in ["hdmm", "privbayes", "lls", "titanic", "stand-in", "bars"] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let said = session.run(["datasets", "describe", "titanic"]).works();
    assert!(said.stdout.contains("not for release"), "{}", said.stdout);
    session.run(["datasets", "describe", "titanc"]).complains(&["titanc", "titanic"]);
}

#[test]
fn synthetic_records_come_with_their_guarantee_and_take_no_seed() {
    let session = Session::new();
    let release =
        ["synthesize", "titanic", "--epsilon", "1", "--delta", "1e-6", "--out", "new.csv"];
    session.run(release).works();
    let records = fs::read_to_string(session.path("new.csv")).unwrap();
    assert_eq!(records.lines().count(), 1 + 1304);
    let facts = fs::read_to_string(session.path("new.release.json")).unwrap();
    for words in ["operating-system", "\"epsilon\": 1.0", "ledger", "replace"] {
        assert!(facts.contains(words), "{words}");
    }
    session.run(release.into_iter().chain(["--seed", "1"])).complains(&["--seed"]);
    for wrong in ["0", "-1", "NaN", "inf"] {
        let budget = ["synthesize", "titanic", "--delta", "1e-6", "--out", "no.csv"];
        let epsilon = format!("--epsilon={wrong}");
        session.run(budget.into_iter().chain([epsilon.as_str()])).complains(&["epsilon"]);
    }
    assert!(!session.path("no.csv").exists());
}

const CHAIN: &str = r#"name = "chain"
trials = 2
epsilon = 100.0
delta = 1e-6
datasets = [
    { name = "few", chain = { attributes = 5, records = 200 } },
    { name = "many", chain = { attributes = 5, records = 4000 } },
]

[workload]
every = 2

[limits]
memory = 300

[[mechanism]]
name = "pmw"
arms = ["own", "model"]
parameters = { alpha = 0.2 }

[[mechanism]]
name = "pmw-delta"
arms = ["own"]

[figure]
kind = "records"
"#;

#[test]
fn records_are_drawn_all_pairs_asked_and_rounds_written_down() {
    let session = Session::new();
    session.file("chain.toml", CHAIN);
    let said = session.run(["run", "chain.toml"]).works();
    assert!(said.stdout.contains("largest query error"), "{}", said.stdout);
    let text = fs::read_to_string(session.path("results/chain/trials.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), 12);
    for row in &rows {
        assert_eq!(row[place("status")], "done", "{row:?}");
        let number = |name: &str| row[place(name)].parse::<f64>().unwrap();
        assert!(number("max_error") < 0.8 && number("rounds") <= number("round_limit"));
        assert!(row[place("records")] == "200" || row[place("records")] == "4000");
        // floor(4 * 5 ln 2 / 0.04)
        assert!(row[place("mechanism")] != "pmw" || row[place("round_limit")] == "346");
    }
    assert!(session.path("results/chain/figure.png").exists());
    // A table of 32 cells takes 256 bytes.
    session.file(
        "less.toml",
        CHAIN.replace("memory = 300", "memory = 200").replace("\"chain\"\n", "\"less\"\n"),
    );
    session.run(["run", "less.toml"]).works();
    let text = fs::read_to_string(session.path("results/less/trials.csv")).unwrap();
    assert!(text.lines().skip(1).all(|row| row.contains(",infeasible,select,")), "{text}");
}

#[test]
fn more_sets_than_there_are_attributes_for_are_refused() {
    let session = Session::new();
    session.file("chain.toml", CHAIN.replace("every = 2", "every = 6"));
    session.run(["plan", "chain.toml"]).complains(&["chain.toml", "5 attributes", "sets of 6"]);
    session.file("nothing.toml", CHAIN.replace("every = 2", "prefix = []"));
    session.run(["plan", "nothing.toml"]).complains(&["nothing is asked", "every = 2"]);
}

#[test]
fn a_target_and_removed_attributes_restrict_the_workload() {
    let session = Session::new();
    let target = CHAIN.replace("every = 2", "every = 2\ntarget = \"x3\"");
    session.file("target.toml", &target);
    // Four pairs of binary attributes.
    let said = session.run(["plan", "target.toml"]).works();
    assert!(said.stdout.contains("4 cliques, 16 cells"), "{}", said.stdout);
    session.file("wrong.toml", target.replace("x3", "x7"));
    session.run(["plan", "wrong.toml"]).complains(&["wrong.toml", "x7", "no attribute"]);
    let titanic = "{ name = \"titanic\", without = [\"Fare\", \"Cabin\"] },\n]";
    let fewer =
        CHAIN.replace("    { name = \"many\"", "    # ").replace("\n]", &format!("\n{titanic}"));
    session.file("fewer.toml", &fewer);
    let said = session.run(["plan", "fewer.toml"]).works();
    assert!(said.stdout.contains("titanic"), "{}", said.stdout);
    session.file("wrong.toml", fewer.replace("Fare", "Fair"));
    session.run(["plan", "wrong.toml"]).complains(&["wrong.toml", "Fair", "Fare"]);
}

#[test]
fn claims_about_what_the_experiment_does_not_have_are_refused() {
    let session = session();
    for (right, wrong, what) in [
        ("arm = \"own\"", "arm = \"owm\"", "the arm owm"),
        ("against = \"pgm\"", "against = \"lls\"", "the arm lls"),
        ("epsilon = 0.5", "epsilon = 0.6", "epsilon 0.6"),
        ("mechanism = \"laplace\"", "mechanism = \"laplacian\"", "the mechanism laplacian"),
        ("dataset = \"titanic\"", "dataset = \"titanics\"", "the data titanics"),
    ] {
        session.file("wrong.toml", CONFIG.replace(right, wrong));
        session.run(["plan", "wrong.toml"]).complains(&["wrong.toml:18", what]);
    }
}

#[test]
fn marginals_of_more_attributes_than_there_are_cannot_be_public() {
    let session = session();
    session.file("wrong.toml", CONFIG.replace("\ntrials = 2", "\ntrials = 2\npublic = [0, 12]"));
    session.run(["plan", "wrong.toml"]).complains(&["titanic", "order 12", "from 0 to 9"]);
}

#[test]
fn mechanisms_that_need_the_number_of_records_are_refused_where_it_is_private() {
    let session = session();
    let hidden =
        CONFIG.replace("\ntrials = 2", "\ntrials = 2\ndelta = 0.001\nneighbours = \"add-remove\"");
    session.file("hidden.toml", &hidden);
    session.run(["plan", "hidden.toml"]).works();
    for name in ["privbayes", "dualquery"] {
        let wrong = hidden.replace("\"laplace\"", &format!("\"{name}\""));
        session.file("wrong.toml", wrong);
        session.run(["run", "wrong.toml"]).complains(&["wrong.toml:17:", "replace"]);
    }
}
