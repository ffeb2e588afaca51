//! Sweeps over one setting, and parts of datasets.

use std::fs;

use super::Session;

const CONFIG: &str = r#"name = "mine"
trials = 1
epsilon = 1.0
datasets = ["titanic"]
SWEEP

[workload]
every = 1
prefix = []

[estimation]
iterations = 20

[[mechanism]]
name = "gaussian"
delta = 1e-4
arms = ["own", "pgm"]
"#;

fn with(sweep: &str) -> Session {
    let session = Session::new();
    session.file("mine.toml", CONFIG.replace("SWEEP", sweep));
    session
}

/// The distinct values of a column, in the order of the rows.
fn column(session: &Session, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(session.path("results/mine/trials.csv")).unwrap();
    let place = reader.headers().unwrap().iter().position(|column| column == name).unwrap();
    let mut values: Vec<String> =
        reader.records().map(|row| row.unwrap()[place].to_string()).collect();
    values.sort();
    values.dedup();
    values
}

fn figure(session: &Session) -> String {
    fs::read_to_string(session.path("results/mine/figure.svg")).unwrap()
}

#[test]
fn a_sweep_repeats_arms_mechanisms_or_data_and_is_drawn() {
    let session = with("sweep = { parameter = \"iterations\", values = [5, 50] }");
    session.run(["run", "mine.toml"]).works();
    assert_eq!(column(&session, "arm"), ["own", "pgm (iterations 5)", "pgm (iterations 50)"]);
    // All arms estimate from the same release.
    assert_eq!(column(&session, "release").len(), 1);
    assert!(figure(&session).contains("iterations"), "the x axis has the name of the parameter");
    session.run(["verify", "mine", "--trials", "10"]).works();
    session.run(["report", "mine"]).works();
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("3 there already"), "{}", said.stdout);

    let session = with("sweep = { parameter = \"delta\", values = [1e-9, 0.001] }");
    session.run(["run", "mine.toml"]).works();
    let names = ["gaussian (delta 0.001)", "gaussian (delta 1e-9)"];
    assert_eq!(column(&session, "mechanism"), names);
    assert_eq!(column(&session, "delta"), ["0.001", "1e-9"]);

    let session = with("sweep = { parameter = \"records\", values = [100, 1000] }");
    session.run(["run", "mine.toml"]).works();
    assert_eq!(column(&session, "records"), ["100", "1000"]);
    assert!(figure(&session).contains("records"));

    let session = with("sweep = { parameter = \"attributes\", values = [2, 5] }");
    session.run(["run", "mine.toml"]).works();
    assert_eq!(column(&session, "attributes"), ["2", "5"]);
}

#[test]
fn a_sweep_over_words_has_no_axis_but_arms() {
    let session = with("sweep = { parameter = \"loss\", values = [\"l1\", \"l2\"] }");
    session.run(["run", "mine.toml"]).works();
    assert_eq!(column(&session, "arm"), ["own", "pgm (loss l1)", "pgm (loss l2)"]);
    session.run(["plan", "mine.toml"]).works();
    let text = CONFIG.replace("SWEEP", "sweep = { parameter = \"loss\", values = [\"l1\"] }");
    session.file("mine.toml", text + "[figure]\nkind = \"sweep\"\n");
    session.run(["plan", "mine.toml"]).complains(&["no sweep over positive numbers"]);
}

#[test]
fn a_parameter_of_a_mechanism_is_swept_where_it_exists() {
    let session = with("sweep = { parameter = \"restarts\", values = [1, 2] }");
    let hdmm = "[[mechanism]]\nname = \"hdmm\"\narms = [\"own\"]\n";
    let text = fs::read_to_string(session.path("mine.toml")).unwrap() + hdmm;
    session.file("mine.toml", text);
    session.run(["run", "mine.toml"]).works();
    let names = ["gaussian", "hdmm (restarts 1)", "hdmm (restarts 2)"];
    assert_eq!(column(&session, "mechanism"), names);
}

#[test]
fn mistakes_in_a_sweep_are_shown_where_they_are() {
    let cases = [
        ("sweep = { parameter = \"speed\", values = [1] }", "nothing here has a setting \"speed\""),
        ("sweep = { parameter = \"iterations\", values = [] }", "`values` is empty"),
        ("sweep = { parameter = \"iterations\", values = [5, 5] }", "twice"),
        ("sweep = { parameter = \"iterations\", values = [0] }", "out of range"),
        ("sweep = { parameter = \"iterations\", values = [\"many\"] }", "a whole number"),
        ("sweep = { parameter = \"loss\", values = [\"l3\"] }", "l3"),
        ("sweep = { parameter = \"delta\", values = [2] }", "a delta is out of range"),
        ("sweep = { parameter = \"records\", values = [0.5] }", "a whole number of at least 1"),
        ("sweep = { parameter = \"records\", values = [99999] }", "there are 1304 records"),
        ("sweep = { parameter = \"attributes\", values = [99] }", "there are 9 attributes"),
        ("sweep = { parameter = \"iterations\" }", "`values` is missing"),
        ("sweep = [\"iterations\", [5]]", "expected a table, but found a list"),
        ("limits = [\"2 GB\", 5]", "expected a table, but found a list"),
    ];
    for (sweep, expected) in cases {
        with(sweep).run(["plan", "mine.toml"]).complains(&["mine.toml", expected]);
    }
}

#[test]
fn data_may_be_a_part_of_a_dataset_under_a_name_of_its_own() {
    let two = "datasets = [\"titanic\", { name = \"titanic\", label = \"small\", records = 50, \
               only = [\"Sex\", \"Age\", \"Pclass\"], without = [\"Age\"] }]";
    let session = Session::new();
    let config = CONFIG.replace("datasets = [\"titanic\"]", two).replace("SWEEP", "");
    session.file("mine.toml", config.clone());
    session.run(["run", "mine.toml"]).works();
    assert_eq!(column(&session, "dataset"), ["small", "titanic"]);
    assert_eq!(column(&session, "attributes"), ["2", "9"]);
    assert_eq!(column(&session, "records"), ["1304", "50"]);
    let cases = [
        ("label = \"small\", ", "", "twice"),
        ("\"small\"", "\"My data\"", "cannot be a label"),
        ("\"Pclass\"]", "\"Class\"]", "has no attribute \"Class\""),
        ("records = 50", "records = 0", "out of range"),
    ];
    for (from, to, expected) in cases {
        session.file("mine.toml", config.replacen(from, to, 1));
        session.run(["plan", "mine.toml"]).complains(&["mine.toml", expected]);
    }
}

#[test]
fn a_figure_without_anything_to_show_is_refused() {
    let session = Session::new();
    let plan = |arms: &str, kind: &str, more: &str| {
        let text = CONFIG.replace("SWEEP", "").replace("arms = [\"own\", \"pgm\"]", arms);
        session.file("mine.toml", format!("{text}[figure]\nkind = \"{kind}\"\n{more}"));
        session.run(["plan", "mine.toml"])
    };
    let claim = "[[claim]]\nsays = \"so\"\npaper = 3.0\nkind = \"ratio\"\ndataset = \"titanic\"\n\
                 mechanism = \"gaussian\"\narm = \"lls\"\nagainst = \"pgm\"\n";
    let lls = "arms = [\"lls\"]\nestimation = { trace = 5 }";
    for (arms, kind, expected) in [
        ("arms = [\"pgm\"]", "sizes", "no queries have a size"),
        ("arms = [\"pgm\"]", "records", "same number"),
        ("arms = [\"pgm\"]", "rounds", "none of the mechanisms works in rounds"),
        ("arms = [\"pgm\"]", "ratios", "no claim compares two arms"),
        (lls, "traces", "estimate without iterations"),
    ] {
        plan(arms, kind, "").complains(&["nothing to show", kind, expected]);
    }
    plan("arms = [\"lls\", \"pgm\"]", "ratios", claim).works();
    plan("arms = [\"lls\", \"pgm\"]\nestimation = { trace = 5 }", "traces", "").works();
}
