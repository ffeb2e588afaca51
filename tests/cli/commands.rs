//! Mechanisms and estimators that are commands of the user. They are shell scripts here, so that
//! the tests need no other language.

use std::fs;

use serde_json::Value;

use super::Session;

const CONFIG: &str = r#"name = "mine"
trials = 1
epsilon = 1.0
datasets = [{ name = "bits", chain = { attributes = 3, records = 200 } }]

[workload]
every = 2

[limits]
seconds = 20

[[mechanism]]
name = "shell"
command = ["sh", "mechanism.sh"]
parameters = { noise = 2.0 }
arms = ["lls", "fixed", "drawn"]

[[estimator]]
name = "fixed"
command = ["sh", "fixed.sh"]

[[estimator]]
name = "drawn"
command = ["sh", "-c", "echo '{\"records\": [[0, 0, 0], [0, 0, 1]], \"message\": \"two\"}'"]
"#;

/// A problem over the three bits.
const PROBLEM: &str = r#"{"domain": {"x0": 2, "x1": 2, "x2": 2}, "measurements": [
    {"attrs": ["x0", "x1"], "y": [160, 20, 15, 5], "stddev": 2.0},
    {"attrs": ["x0", "x2"], "y": [150, 30, 15, 5], "stddev": 2.0},
    {"attrs": ["x1", "x2"], "y": [150, 30, 15, 5], "stddev": 2.0}]}"#;

const MARGINALS: &str = r#"{"iterations": 7, "marginals": [
    {"attrs": ["x1", "x0"], "values": [160, 20, 15, 5]},
    {"attrs": ["x0", "x2"], "values": [160, 20, 15, 5]},
    {"attrs": ["x2", "x1"], "values": [160, 20, 15, 5]}]}"#;

fn session() -> Session {
    let session = Session::new();
    session.file("mine.toml", CONFIG);
    session.file("problem.json", PROBLEM);
    session.file("marginals.json", MARGINALS);
    session.file("mechanism.sh", "cat > task.json; cat problem.json");
    session.file("fixed.sh", "cat > estimate.json; cat marginals.json");
    session
}

/// With another answer of the mechanism or of an estimator.
fn with(name: &str, script: &str) -> Session {
    let session = session();
    session.file(name, script);
    session
}

fn read(session: &Session, name: &str) -> String {
    fs::read_to_string(session.path(name)).unwrap()
}

/// The field of the only row of an arm.
fn field(session: &Session, arm: &str, name: &str) -> String {
    let mut reader = csv::Reader::from_path(session.path("results/mine/trials.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // Of rows with the same key the last one counts.
    let row = rows.iter().rfind(|row| &row[place("arm")] == arm).unwrap();
    row[place(name)].to_string()
}

#[test]
fn a_command_gets_a_task_and_its_answer_is_measured_against_the_data() {
    let session = session();
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stderr.contains("shell: `sh mechanism.sh` claims its guarantee"));
    assert!(said.stdout.contains("3 arms done"), "{}", said.stdout);
    let task: Value = serde_json::from_str(&read(&session, "task.json")).unwrap();
    assert_eq!(task["domain"], serde_json::json!({"x0": 2, "x1": 2, "x2": 2}));
    assert_eq!(task["budget"], serde_json::json!({"kind": "pure", "epsilon": 1.0}));
    assert_eq!((&task["records"], &task["neighbours"]), (&200.into(), &"replace".into()));
    assert_eq!(task["parameters"]["noise"], 2.0);
    assert_eq!(task["workload"][2]["attrs"], serde_json::json!(["x1", "x2"]));
    assert_eq!(task["workload"][2]["query"], serde_json::json!(["identity", "identity"]));
    assert!(task["seconds"].as_f64().unwrap() > 10.0);
    let data = task["data"].as_str().unwrap();
    assert!(!fs::exists(data).unwrap(), "the records are left behind in {data}");
    let estimate: Value = serde_json::from_str(&read(&session, "estimate.json")).unwrap();
    assert_eq!(estimate["problem"]["total"], 200.0);
    assert_eq!(estimate["marginals"][0], serde_json::json!(["x0", "x1"]));
    assert_eq!(field(&session, "fixed", "iterations"), "7");
    assert_eq!(field(&session, "drawn", "message"), "two");
    let ledger = read(&session, "results/mine/ledger.jsonl");
    assert_eq!(ledger.lines().count(), 1);
    assert!(ledger.contains("claimed by `sh mechanism.sh`, not verified"), "{ledger}");
    assert!(ledger.contains(r#""mechanism":"claimed""#) && ledger.contains(r#""values":12"#));
    session.run(["report", "mine"]).works();
    assert!(read(&session, "report.html").contains("claimed, not verified"));
    session.run(["verify", "mine", "--config-dir", "."]).works();
}

#[test]
fn the_cells_of_an_answer_are_in_the_order_of_its_attributes() {
    let session = session();
    session.run(["run", "mine.toml"]).works();
    let first = field(&session, "fixed", "workload_error");
    // The same table with its attributes listed the other way round.
    let turned = MARGINALS.replace(
        r#"["x1", "x0"], "values": [160, 20, 15, 5]"#,
        r#"["x0", "x1"], "values": [160, 15, 20, 5]"#,
    );
    session.file("marginals.json", turned);
    session.file("fixed.sh", "cat marginals.json");
    session.run(["run", "mine.toml"]).works();
    assert_eq!(field(&session, "fixed", "workload_error"), first);
}

#[test]
fn an_edited_script_runs_again() {
    let session = session();
    session.run(["run", "mine.toml"]).works();
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("3 there already"), "{}", said.stdout);
    session.file("fixed.sh", "cat marginals.json # edited");
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("1 arm done, 2 there already"), "{}", said.stdout);
    session.file("mechanism.sh", "cat problem.json # edited");
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("3 arms done"), "{}", said.stdout);
}

#[test]
fn failures_and_wrong_answers_are_recorded_with_what_was_expected() {
    let mechanisms = [
        ("echo no data >&2; exit 3", "exit status: 3; the end of its standard error: no data"),
        ("echo hello", "has not answered as expected: "),
        ("sed 's/\"x2\": 2/\"x2\": 3/' problem.json", "y: expected"),
        (
            "echo '{\"domain\": {\"a\": 2}, \"total\": 1, \"measurements\": []}'",
            "domain of the task",
        ),
    ];
    for (script, expected) in mechanisms {
        let session = with("mechanism.sh", script);
        let said = session.run(["run", "mine.toml"]);
        assert_eq!(said.code, Some(1), "{script}: {}", said.stdout);
        assert_eq!(field(&session, "lls", "status"), "failed", "{script}");
        let message = field(&session, "lls", "message");
        assert!(message.contains(expected), "{script}: {message}");
    }
    let estimators = [
        ("sed 's/x2/x9/' marginals.json", "marginals[1]"),
        ("echo '{\"marginals\": []}'", "the one on x0, x1 was asked for and is missing"),
        ("echo '{\"records\": [[0, 1]]}'", "records[0]: expected 3 codes, found 2"),
        ("echo '{\"records\": [[0, 1, 2]]}'", "code 2"),
        ("echo '{\"marginal\": []}'", "unknown field"),
        ("echo '{}'", "expected either marginals or records"),
    ];
    for (script, expected) in estimators {
        let session = with("fixed.sh", script);
        assert_eq!(session.run(["run", "mine.toml"]).code, Some(1), "{script}");
        let message = field(&session, "fixed", "message");
        assert!(message.contains(expected), "{script}: {message}");
        assert_eq!(field(&session, "lls", "status"), "done");
    }
    // A failure is tried again, and counts no more when it has gone.
    let session = with("mechanism.sh", "exit 3");
    assert_eq!(session.run(["run", "mine.toml"]).code, Some(1));
    session.file("mechanism.sh", "cat problem.json");
    session.run(["run", "mine.toml"]).works();
}

#[test]
fn a_command_may_say_that_it_is_not_applicable_or_infeasible() {
    let script = "echo '{\"not_applicable\": \"needs counts\"}'";
    let session = with("fixed.sh", script);
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("1 not applicable"), "{}", said.stdout);
    assert_eq!(field(&session, "fixed", "status"), "not-applicable");
    assert_eq!(field(&session, "fixed", "message"), "needs counts");
    let status = session.run(["status", "mine"]).works().stdout;
    assert!(status.contains("not applicable") && status.contains("nothing is left"), "{status}");
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("3 there already"), "{}", said.stdout);
    let script = "echo '{\"infeasible\": {\"bytes\": 8e9, \"message\": \"a large table\"}}'";
    let session = with("mechanism.sh", script);
    session.run(["run", "mine.toml"]).works();
    assert_eq!(field(&session, "lls", "status"), "infeasible");
    assert_eq!(field(&session, "lls", "peak_bytes"), "8000000000.0");
}

#[test]
fn the_limits_of_time_and_memory_hold() {
    let session = with("mechanism.sh", "sleep 600");
    session.file("mine.toml", CONFIG.replace("seconds = 20", "seconds = 0.5"));
    session.run(["run", "mine.toml"]).works();
    assert_eq!(field(&session, "lls", "status"), "timeout");
    if cfg!(target_os = "linux") {
        let script =
            "cat > /dev/null; x=$(head -c 60000000 /dev/zero | tr '\\0' x); cat problem.json";
        let session = with("mechanism.sh", script);
        session.file("mine.toml", CONFIG.replace("seconds = 20", "memory = \"32 MB\""));
        assert_eq!(session.run(["run", "mine.toml"]).code, Some(1));
        let message = field(&session, "lls", "message");
        assert!(message.contains("ended with"), "{message}");
    }
}

#[test]
fn mistakes_in_the_file_are_shown_where_they_are() {
    let cases = [
        (r#"["sh", "mechanism.sh"]"#, "[]", "the command has no program"),
        (r#"["sh", "mechanism.sh"]"#, r#""sh mechanism.sh""#, "expected a list"),
        (
            r#"command = ["sh", "mechanism.sh"]"#,
            r#"guarantee = "pure""#,
            "mechanisms that are commands",
        ),
        ("parameters = {", "guarantee = \"none\"\nparameters = {", "\"none\" is not a choice here"),
        ("parameters = {", "files = [\"gone.py\"]\nparameters = {", "gone.py cannot be read"),
        (r#"name = "shell""#, r#"name = "laplace""#, "there is a mechanism \"laplace\" already"),
        (r#"name = "shell""#, r#"name = "My Shell""#, "cannot be a"),
        (r#"name = "fixed""#, r#"name = "pgm""#, "there is an estimator \"pgm\" already"),
        (r#"name = "drawn""#, r#"name = "fixed""#, "twice"),
        (r#""drawn"]"#, r#""dawn"]"#, "did you mean \"drawn\"?"),
        ("parameters = {", "guarantee = \"concentrated\"\nparameters = {", "needs a delta"),
    ];
    for (from, to, expected) in cases {
        let session = session();
        assert!(CONFIG.contains(from), "{from}");
        session.file("mine.toml", CONFIG.replacen(from, to, 1));
        session.run(["plan", "mine.toml"]).complains(&["mine.toml", expected]);
        assert!(!session.path("task.json").exists(), "a plan has run a command");
    }
    let plan = session().run(["plan", "mine.toml"]).succeeds();
    assert!(plan.contains("`sh mechanism.sh`; its guarantee is not verified"), "{plan}");
}

#[test]
fn releases_refuse_commands() {
    let session = session();
    let config = CONFIG
        .replace("{ name = \"bits\", chain = { attributes = 3, records = 200 } }", "\"titanic\"");
    session.file("mine.toml", config);
    let expected = ["\"shell\" is a command", "nothing verifies"];
    session.run(["measure", "mine.toml", "--out", "out.json"]).complains(&expected);
    assert!(!session.path("out.json").exists());
}

/// Publishes the exact counts of the first attribute.
const LEAK: &str = r#"task=$(cat)
domain=$(printf %s "$task" | sed 's/.*"domain":\({[^}]*}\).*/\1/')
data=$(printf %s "$task" | sed 's/.*"data":"\([^"]*\)".*/\1/')
counts=$(awk -F, 'NR > 1 { n[$1]++ } END { print n[0] + 0 "," n[1] + 0 }' "$data")
echo "{\"domain\":$domain,\"measurements\":[{\"attrs\":[\"a\"],\"y\":[$counts],\"stddev\":1}]}"
"#;

#[test]
fn the_audit_refutes_a_command_that_publishes_the_data() {
    let audit = ["audit", "mine.toml", "--epsilon", "1", "--trials", "100"];
    let session = with("mechanism.sh", LEAK);
    let said = session.run(audit);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert!(said.stderr.contains("epsilon = 1 is refuted for shell"), "{}", said.stderr);
    // An answer that does not depend on the data cannot be refuted.
    let constant = LEAK.replace("n[0] + 0 \",\" n[1] + 0", "\"6,6\"");
    let said = with("mechanism.sh", &constant).run(audit).works();
    assert!(said.stdout.contains("shell, a marginal"), "{}", said.stdout);
    with("mechanism.sh", "exit 3").run(audit).complains(&["shell", "exit status: 3"]);
    let none = CONFIG.replacen(
        "command = [\"sh\", \"mechanism.sh\"]\nparameters = { noise = 2.0 }",
        "",
        1,
    );
    session.file("none.toml", none.replacen("\"shell\"", "\"laplace\"", 1));
    let audit = ["audit", "none.toml", "--epsilon", "1"];
    session.run(audit).complains(&["none of its mechanisms is a command"]);
}

#[test]
fn an_estimator_that_cannot_use_the_measurements_is_not_applicable() {
    let session = Session::new();
    session.file(
        "mine.toml",
        "name = \"mine\"\ntrials = 1\nepsilon = 5\ndelta = 1e-6\ndatasets = [\"titanic\"]\n\
         [workload]\nmarginals = [[\"Sex\", \"Pclass\"], [\"Sex\", \"Survived\"]]\nprefix = []\n\
         [[mechanism]]\nname = \"dualquery\"\narms = [\"own\", \"lls\"]\n\
         [[mechanism]]\nname = \"independent\"\narms = [\"lls\"]\n",
    );
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("1 arm done, 2 not applicable"), "{}", said.stdout);
    assert!(said.stderr.contains("not applicable: this estimate says nothing about the marginal"));
    assert!(said.stderr.contains("not applicable: expected noisy answers"), "{}", said.stderr);
    let summary = read(&session, "results/mine/summary.csv");
    assert!(summary.lines().next().unwrap().contains(",timeout,not_applicable,failed,"));
    session.run(["verify", "mine"]).works();
    session.run(["report", "mine"]).works();
    assert!(read(&session, "report.html").contains("not applicable"));
}
