//! The chain from a schema to answers: `measure`, `estimate`, `query`, `synth`, `evaluate`.

use std::fs;

use serde_json::Value;

use crate::Session;

const SCHEMA: &str = r#"name = "people"
[table]
files = [{ name = "people.csv" }]
delimiter = ";"
missing = ["", "NA"]

[[attribute]]
name = "age"
kind = "numeric"
edges = [0, 20, 50, 100]
missing = "code"

[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]

[[attribute]]
name = "income"
kind = "numeric"
number = { decimal = ",", thousands = ".", suffix = " €", digits = 2 }
edges = [0, 1000, 2500, 10000]
"#;

/// A table of 600 people, with identifiers that no attribute describes, and its schema.
fn session() -> Session {
    let session = Session::new();
    let line = |i: u32| {
        let age = if i % 50 == 7 { "NA".to_string() } else { (i * 7 % 90).to_string() };
        let sex = if i.is_multiple_of(3) { "M" } else { "F" };
        format!("p{i};{sex};{}.{:03},50 €;{age}\r\n", 1 + i % 9, i % 1000)
    };
    let lines: Vec<String> = (0..600).map(line).collect();
    session.file("people.csv", format!("id;sex;income;age\r\n{}", lines.concat()));
    session.file("schema.toml", SCHEMA);
    session
}

const MEASURE: [&str; 10] = [
    "measure",
    "--schema",
    "schema.toml",
    "--epsilon",
    "5",
    "--delta",
    "1e-9",
    "--every",
    "2",
    "--out",
];

fn measure(session: &Session, extra: &[&str]) -> crate::Said {
    session.run(MEASURE.iter().chain(&["problem.json"]).chain(extra))
}

#[test]
fn a_release_of_answers_is_charged_recorded_and_never_replaced() {
    let session = session();
    let create = ["budget", "create", "b", "--dataset", "schema.toml", "--epsilon", "8"];
    session.run(create.iter().chain(&["--delta", "1e-6"])).works();
    let said = measure(&session, &["--budget", "b"]).works();
    assert!(said.stdout.contains("3 noisy marginals"), "{}", said.stdout);
    assert!(said.stdout.contains("(5, 0.000000001)-differentially"), "{}", said.stdout);
    let facts = fs::read_to_string(session.path("problem.release.json")).unwrap();
    let facts: Value = serde_json::from_str(&facts).unwrap();
    let problem = fs::read(session.path("problem.json")).unwrap();
    assert_eq!(facts["records_blake3"], blake3::hash(&problem).to_hex().as_str());
    assert_eq!(facts["mechanism"], "gaussian");
    // All marginals are one draw of noise.
    assert_eq!(facts["ledger"].as_array().unwrap().len(), 1);
    assert!(facts.to_string().contains("operating-system"));
    measure(&session, &["--force"]).refuses(&["problem.json", "never replaced"]);
    let again = session.run(MEASURE.iter().chain(&["other.json", "--budget", "b"]));
    again.refuses(&["b: overspent", "nothing was charged"]);
    assert!(!session.path("other.json").exists());
    session
        .run(MEASURE.iter().chain(&["people.csv"]))
        .refuses(&["it is also a file with the data"]);
}

#[test]
fn what_cannot_be_measured_is_refused_before_any_charge() {
    let session = session();
    let with = |extra: &[&str]| session.run(MEASURE.iter().chain(&["p.json"]).chain(extra));
    with(&["--mechanism", "dualquery"]).complains(&["--mechanism", "no noisy answers"]);
    with(&["--mechanism", "gauss"]).complains(&["expected one of", "gaussian"]);
    with(&["--mechanism", "laplace"]).refuses(&["--delta", "pure differential privacy"]);
    session
        .run(["measure", "--schema", "schema.toml", "--epsilon", "1", "--out", "p.json"])
        .refuses(&["--delta", "needs one"]);
    session.file("draft.toml", SCHEMA.replace("[table]", "draft = true\n[table]"));
    let draft = ["measure", "--schema", "draft.toml", "--epsilon", "1", "--delta", "1e-9"];
    session.run(draft.iter().chain(&["--out", "p.json"])).refuses(&["draft", "code book"]);
    let marginal = ["measure", "--schema", "schema.toml", "--epsilon", "1", "--delta", "1e-9"];
    let marginal = marginal.iter().chain(&["--marginal", "age,size", "--out", "p.json"]);
    session.run(marginal).refuses(&["--marginal", "\"size\"", "age, sex, income"]);
    assert_eq!(session.files(), ["draft.toml", "people.csv", "schema.toml"]);
}

#[test]
fn an_experiment_file_says_what_is_measured() {
    let session = session();
    let config = "name = \"one\"\nepsilon = 2\ndelta = 1e-9\n\
                  datasets = [{ name = \"people\", schema = \"schema.toml\" }]\n\
                  [workload]\nmarginals = [[\"age\", \"sex\"], [\"income\"]]\nprefix = []\n\
                  [[mechanism]]\nname = \"gaussian\"\n";
    session.file("one.toml", config);
    let said = session.run(["measure", "one.toml", "--out", "p.json"]).works();
    assert!(said.stdout.contains("2 noisy marginals"), "{}", said.stdout);
    assert!(said.stdout.contains("(2, 0.000000001)-differentially"), "{}", said.stdout);
    session.file("two.toml", config.replace("epsilon = 2", "epsilon = [1, 2]"));
    session
        .run(["measure", "two.toml", "--out", "q.json"])
        .refuses(&["two.toml", "one epsilon, this experiment has 2"]);
    session
        .run(["measure", "one.toml", "--epsilon", "1", "--out", "q.json"])
        .complains(&["--epsilon"]);
    assert!(!session.path("q.json").exists());
}

#[test]
fn labels_reach_from_the_schema_to_the_answers() {
    let session = session();
    measure(&session, &[]).works();
    session.run(["estimate", "problem.json", "--out", "model"]).works();
    let said = session.run(["query", "model", "--marginal", "sex,age"]).succeeds();
    assert!(said.starts_with("sex,age,count\nF,\"[0, 20)\","), "{said}");
    assert!(said.contains("\nM,missing,"), "{said}");
    let said = session.run(["query", "model", "--where", "age >= 20 and sex = F"]).succeeds();
    let count: f64 = said.lines().nth(1).unwrap().parse().unwrap();
    let is_counted = |i: &u32| !i.is_multiple_of(3) && i % 50 != 7 && i * 7 % 90 >= 20;
    let truth = (0..600).filter(is_counted).count() as f64;
    // The noise of a cell has a standard deviation of about 5.
    assert!((count - truth).abs() < 60.0, "{count} {truth}");
    session.run(["query", "model", "--where", "age > 30"]).complains(&["[20, 50)", "20 or 50"]);
    let laplace = ["measure", "--schema", "schema.toml", "--epsilon", "5", "--mechanism"];
    let laplace = laplace.iter().chain(&["laplace", "--marginal", "age", "--out", "l.json"]);
    assert!(session.run(laplace).works().stdout.contains("private  5-differentially"));
    let private = MEASURE.iter().chain(&["hidden.json", "--add-remove"]);
    session.run(private).works();
    let text = fs::read_to_string(session.path("hidden.json")).unwrap();
    let problem: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(problem["total"], Value::Null, "the number of records is private");
}

#[test]
fn a_file_in_the_form_of_the_original_is_read_as_the_original() {
    let session = session();
    for (out, values) in [("uniform.csv", "uniform"), ("midpoint.csv", "midpoint")] {
        let run = ["synthesize", "schema.toml", "--epsilon", "5", "--delta", "1e-9"];
        session.run(run.iter().chain(&["--values", values, "--out", out])).works();
        let text = fs::read_to_string(session.path(out)).unwrap();
        assert_eq!(text.lines().next(), Some("id;sex;income;age"));
        let second = text.lines().nth(1).unwrap();
        assert!(second.starts_with(';') && second.contains(" €;"), "{second}");
        let name = format!("{values}.toml");
        session.file(&name, SCHEMA.replace("people.csv", out));
        let said = session.run(["datasets", "describe", &name]).succeeds();
        assert!(said.contains("records   600 (600 rows, 0 dropped)"), "{said}");
    }
    measure(&session, &[]).works();
    session.run(["estimate", "problem.json", "--out", "model"]).works();
    let synth = ["synth", "model", "--seed", "1", "--out"];
    session.run(synth.iter().chain(&["a.csv"])).succeeds();
    let labels = fs::read_to_string(session.path("a.csv")).unwrap();
    assert!(labels.starts_with("age,sex,income\n"), "{labels}");
    assert!(labels.contains("\"[1000, 2500)\""), "{labels}");
    let form = ["--schema", "schema.toml", "--values", "uniform"];
    session.run(synth.iter().chain(&["b.csv"]).chain(&form)).succeeds();
    let original = fs::read_to_string(session.path("b.csv")).unwrap();
    assert!(original.starts_with("id;sex;income;age\n"), "{original}");
    session.run(synth.iter().chain(&["c.csv", "--values", "uniform"])).refuses(&["--schema"]);
    session
        .run(synth.iter().chain(&["c.csv", "--schema", "titanic"]))
        .refuses(&["--schema titanic", "attributes are not those of model"]);
}

#[test]
fn synthetic_records_are_compared_with_data_and_models() {
    let session = session();
    measure(&session, &[]).works();
    session.run(["estimate", "problem.json", "--out", "model"]).works();
    session.run(["synth", "model", "--seed", "1", "--out", "new.csv"]).succeeds();
    let against =
        |reference: &str| ["evaluate", "new.csv", "--against", reference].map(String::from);
    let said = session.run(against("schema.toml")).succeeds();
    assert!(said.starts_with("note     not for release"), "{said}");
    for part in ["1-way", "2-way", "3-way", "worst marginals", "Cramer's V", "workload error"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let json = |reference: &str| -> Value {
        let args = against(reference).into_iter().chain(["--json".into()]);
        serde_json::from_str(&session.run(args).succeeds()).unwrap()
    };
    let (data, model) = (json("schema.toml"), json("model"));
    assert_eq!(data["reference"]["is_true_data"], true);
    assert_eq!(model["reference"]["is_true_data"], false);
    for found in [&data, &model] {
        let largest = found["sizes"][0]["largest"].as_f64().unwrap();
        assert!(largest > 0.0 && largest < 0.2, "{found}");
        assert_eq!(found["marginals"].as_array().unwrap().len(), 7);
    }
    let files = ["--out", "page.html", "--out", "picture.svg", "--out", "picture.png"];
    let args = against("schema.toml").into_iter().chain(files.map(String::from));
    session.run(args).succeeds();
    for file in ["page.html", "picture.svg"] {
        let text = fs::read_to_string(session.path(file)).unwrap();
        assert!(text.contains("not for release"), "{file}");
        roxmltree::Document::parse_with_options(
            &text,
            roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
        )
        .unwrap();
    }
    assert!(fs::read(session.path("picture.png")).unwrap().starts_with(b"\x89PNG"));
    let form = ["synth", "model", "--seed", "1", "--schema", "schema.toml", "--values", "uniform"];
    session.run(form.iter().chain(&["--out", "original.csv"])).succeeds();
    let original = ["evaluate", "original.csv", "--against", "model"];
    session.run(original).refuses(&["original.csv, line 2", "name its schema"]);
    session.run(original.iter().chain(&["--schema", "schema.toml"])).succeeds();
    session.file("bad.csv", "age,sex,income\n5,X,\"[0, 1000)\"\n");
    session
        .run(["evaluate", "bad.csv", "--against", "schema.toml"])
        .refuses(&["bad.csv, line 2, column 'sex'", "'X'"]);
    let over = ["evaluate", "new.csv", "--against", "schema.toml", "--out", "people.csv"];
    session.run(over).refuses(&["people.csv", "a file with the data"]);
    let page = ["evaluate", "new.csv", "--against", "schema.toml", "--out", "page.docx"];
    session.run(page).refuses(&["page.docx", "a name that ends in .html"]);
    assert!(!session.path("page.docx").exists());
}
