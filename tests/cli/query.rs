//! What `query` prints, and what it refuses.

use serde_json::{Value, json};

use crate::{GOOD, Session};

fn tables(said: &str) -> Vec<(Vec<String>, Vec<f64>)> {
    let tables: Value = serde_json::from_str(said).unwrap();
    let table = |table: &Value| {
        let texts = table["attrs"].as_array().unwrap().iter();
        let numbers = table["values"].as_array().unwrap().iter();
        (
            texts.map(|text| text.as_str().unwrap().to_string()).collect(),
            numbers.map(|number| number.as_f64().unwrap()).collect(),
        )
    };
    tables.as_array().unwrap().iter().map(table).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-9, "{found:?}, not {expected:?}");
    }
}

#[test]
fn marginals_are_row_major_in_the_attributes_as_listed() {
    let session = Session::with_model();
    let both =
        ["query", "model", "--marginal", "age,sex", "--marginal", "sex,age", "--format", "json"];
    let tables = tables(&session.run(both).succeeds());
    assert_eq!(tables[0].0, ["age", "sex"]);
    assert_eq!(tables[1].0, ["sex", "age"]);
    let transposed: Vec<f64> =
        [0, 2, 4, 1, 3, 5].into_iter().map(|cell| tables[0].1[cell]).collect();
    assert_close(&tables[1].1, &transposed);
    assert!((tables[0].1.iter().sum::<f64>() - 60.0).abs() < 1e-9);
}

#[test]
fn csv_has_a_block_for_each_marginal() {
    let session = Session::with_model();
    let said =
        session.run(["query", "model", "--marginal", "sex,age", "--marginal", "hrs"]).succeeds();
    let blocks: Vec<&str> = said.split("\n\n").collect();
    assert_eq!(blocks.len(), 2);
    let lines: Vec<&str> = blocks[0].lines().collect();
    assert_eq!(lines[0], "sex,age,count");
    let cells: Vec<&str> = lines[1..].iter().map(|line| line.rsplit_once(',').unwrap().0).collect();
    assert_eq!(cells, ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]);
    assert!(blocks[1].starts_with("hrs,count\n0,"));
}

#[test]
fn conditions_select_from_the_joint_marginal_and_given_values_condition_it() {
    let session = Session::with_model();
    let ask = |args: &[&str]| {
        let said = session.run(["query", "model", "--format", "json"].iter().chain(args));
        tables(&said.succeeds())[0].1.clone()
    };
    let joint = ask(&["--marginal", "sex,age"]);
    assert_close(&ask(&["--marginal", "age", "--where", "sex = 1"]), &joint[3..]);
    assert_close(&ask(&["--where", "sex = 1 and age >= 2"]), &joint[5..]);
    assert_close(&ask(&["--marginal", "age", "--where", "age > 0 and sex=1"]), &joint[4..]);
    assert_close(&ask(&["--marginal", ""]), &[60.0]);
    let women: f64 = joint[3..].iter().sum();
    let conditional: Vec<f64> = joint[3..].iter().map(|count| count / women).collect();
    assert_close(&ask(&["--marginal", "age", "--given", "sex=1"]), &conditional);
    let said = session.run(["query", "model", "--marginal", "age", "--given", "sex=1"]);
    assert!(said.succeeds().starts_with("age,probability\n0,"));
}

/// Records of a table of two, three and four values, some of them more than once.
fn records() -> Vec<[usize; 3]> {
    let cells = (0..24).map(|cell| [cell / 12, cell / 4 % 3, cell % 4]);
    cells
        .flat_map(|record| vec![record; 1 + (7 * record[0] + 5 * record[1] + record[2]) % 6])
        .collect()
}

#[test]
fn counts_of_conditions_are_those_of_the_records() {
    let session = Session::new();
    let records = records();
    let mut counts = [0; 24];
    records.iter().for_each(|[a, b, c]| counts[12 * a + 4 * b + c] += 1);
    // The whole table, almost without noise: the model has the counts of the records.
    let problem = json!({
        "domain": {"a": 2, "b": 3, "c": 4},
        "total": records.len(),
        "measurements": [{"attrs": ["a", "b", "c"], "y": counts, "stddev": 1e-3}],
    });
    session.file("problem.json", problem.to_string());
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    let ask = |args: &[&str]| {
        let said = session.run(["query", "model", "--format", "json"].iter().chain(args));
        tables(&said.succeeds())[0].1.clone()
    };
    let close = |found: &[f64], expected: &[f64], text: &str| {
        assert_eq!(found.len(), expected.len(), "{text}");
        let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{text}: {found:?}, not {expected:?}");
    };
    type Holds = fn(&[usize; 3]) -> bool;
    let conditions: [(&str, Holds); 8] = [
        ("a = 1 or b = 2", |r| r[0] == 1 || r[1] == 2),
        ("a = 1 or b = 2 and c > 0", |r| r[0] == 1 || r[1] == 2 && r[2] > 0),
        ("(a = 1 or b = 2) and c > 0", |r| (r[0] == 1 || r[1] == 2) && r[2] > 0),
        ("c in (0, 3) or c = 1 or c = 3", |r| r[2] != 2),
        ("(a=0 and b=0) or (a=1 and (b=1 or c<=1))", |r| {
            r[0] == 0 && r[1] == 0 || r[0] == 1 && (r[1] == 1 || r[2] <= 1)
        }),
        ("a != 0 and (b != 1 or c != 2) and (b = 1 or c = 2)", |r| {
            r[0] != 0 && (r[1] != 1 || r[2] != 2) && (r[1] == 1 || r[2] == 2)
        }),
        ("a = 0 or a = 1", |_| true),
        ("b >= 1 and c < 2", |r| r[1] >= 1 && r[2] < 2),
    ];
    for (text, holds) in conditions {
        let chosen: Vec<_> = records.iter().filter(|record| holds(record)).collect();
        close(&ask(&["--where", text]), &[chosen.len() as f64], text);
        // The cells are those that some of the records could be in.
        let said = session.run(["query", "model", "--marginal", "c,a", "--where", text]).succeeds();
        let mut all = 0;
        for line in said.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let [c, a] = [0, 1].map(|place| cells[place].parse::<usize>().unwrap());
            let there = chosen.iter().filter(|record| record[2] == c && record[0] == a).count();
            all += there;
            close(&[cells[2].parse().unwrap()], &[there as f64], &format!("{text}: {line}"));
        }
        assert_eq!(all, chosen.len(), "{text}: {said}");
    }
    session.run(["query", "model", "--where", "a = 1 or (b = 7 and c = 1)"]).complains(&[
        "--where, character 15: ",
        "below 3",
        "a = 1 or (b = 7 and c = 1)\n",
        " ^",
    ]);
}

#[test]
fn labels_take_the_place_of_numbers() {
    let session = Session::new();
    let labels = r#""labels": {"age": ["young", "middle", "old"], "sex": ["F", "M"]},
                    "edges": {"age": [0, 20, 50, 100]}, "total""#;
    session.file("problem.json", GOOD.replace("\"total\"", labels));
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    let ask = |args: &[&str]| session.run(["query", "model"].iter().chain(args));
    let said = ask(&["--marginal", "sex,age", "--where", "age >= 50"]).succeeds();
    assert!(said.starts_with("sex,age,count\nF,old,"), "{said}");
    let said = ask(&["--marginal", "age", "--codes"]).succeeds();
    assert!(said.starts_with("age,count\n0,"), "{said}");
    let said = ask(&["--marginal", "age", "--given", "sex=F", "--format", "json"]).succeeds();
    let table: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(table[0]["given"], json!({"sex": "F"}));
    assert_eq!(table[0]["labels"], json!([["young", "middle", "old"]]));
    assert_eq!(table[0]["unit"], "probability");
    ask(&["--marginal", "age", "--given", "sex=1"]).refuses(&["--given", "(F, M)", "\"1\""]);
    ask(&["--where", "age >= 30"]).complains(&["--where", "cuts the bin [20, 50)"]);
    ask(&["--where", "sex = F", "--given", "sex=F", "--marginal", "age"]).complains(&["--given"]);
    let said = session.run(["synth", "model", "--out", "new.csv", "--seed", "1"]).succeeds();
    assert!(said.contains("60 records"), "{said}");
    let records = std::fs::read_to_string(session.path("new.csv")).unwrap();
    let line = records.lines().nth(1).unwrap();
    assert!(line.contains(",F,") || line.contains(",M,"), "{line}");
}

#[test]
fn files_can_be_standard_input_and_output() {
    let session = Session::with_model();
    let run = |args: &[&str], input: Vec<u8>| {
        session.command().args(args).write_stdin(input).output().unwrap()
    };
    let estimated = run(&["estimate", "-", "--out", "-"], GOOD.into());
    assert!(estimated.status.success());
    assert_eq!(estimated.stdout, std::fs::read(session.path("model")).unwrap());
    assert!(String::from_utf8(estimated.stderr).unwrap().contains("loss"));
    let answered = run(&["query", "-", "--marginal", "sex"], estimated.stdout.clone());
    assert!(answered.stdout.starts_with(b"sex,count\n0,"));
    let drawn = run(&["synth", "-", "--out", "-", "--seed", "1"], estimated.stdout);
    assert_eq!(String::from_utf8(drawn.stdout).unwrap().lines().count(), 61);
    assert_eq!(session.files(), ["model", "problem.json"]);
    session.run(["estimate", "-", "--out", "-", "--json"]).refuses(&["--json", "--out"]);
    session.run(["synth", "model", "--out", "-", "--release"]).refuses(&["--release"]);
}

#[test]
fn factored_queries_are_sums_of_the_marginal() {
    let session = Session::with_model();
    session.file(
        "queries.json",
        r#"[{"attrs": ["age", "sex"], "query": ["prefix", {"evidence": 1}]},
            {"attrs": ["hrs"], "query": [{"matrix": [[0, 1, 2, 3]]}]}]"#,
    );
    let args = ["query", "model", "--marginal", "age,sex", "--marginal", "hrs"];
    let args = args.iter().chain(&["--factored", "queries.json", "--format", "json"]);
    let tables = tables(&session.run(args).succeeds());
    let joint = &tables[0].1;
    assert_close(&tables[2].1, &[joint[1], joint[1] + joint[3], joint[1] + joint[3] + joint[5]]);
    let hrs = &tables[1].1;
    assert_close(&tables[3].1, &[hrs[1] + 2.0 * hrs[2] + 3.0 * hrs[3]]);
}

#[test]
fn names_with_commas_are_quoted() {
    let session = Session::new();
    session.file("problem.json", GOOD.replace("\"hrs\"", r#""hours, \"net\"""#));
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    let said = session.run(["query", "model", "--marginal", r#"sex,"hours, ""net""""#]).succeeds();
    assert!(said.starts_with("sex,\"hours, \"\"net\"\"\",count\n0,0,"), "{said}");
}

#[test]
fn without_a_query_the_model_is_described() {
    let session = Session::with_model();
    let said = session.run(["query", "model"]).succeeds();
    for part in ["total: 60", "attribute: hrs, 4 values", "clique: sex, age", "loss: "] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let said = session.run(["query", "model", "--format", "json"]).succeeds();
    let model: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(model["domain"], json!([["age", 3], ["sex", 2], ["hrs", 4]]));
    assert_eq!(model["origin"]["release"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn queries_that_do_not_fit_the_model_are_refused() {
    let session = Session::with_model();
    let refused = |args: &[&str], parts: &[&str]| {
        session.run(["query", "model"].iter().chain(args)).refuses(parts);
    };
    refused(&["--marginal", "age,height"], &["--marginal", "\"height\"", "age, sex, hrs"]);
    refused(&["--marginal", "age,age"], &["--marginal", "\"age\"", "twice"]);
    refused(&["--marginal", "age", "--given", "sex"], &["--given", "sex=1"]);
    refused(&["--marginal", "age", "--given", "sex=2"], &["--given", "below 2"]);
    refused(&["--marginal", "age", "--given", "size=2"], &["--given", "\"size\""]);
    refused(&["--marginal", "age", "--given", "age=2"], &["--marginal", "--given"]);
    refused(&["--marginal", "hrs", "--given", "age=2", "--given", "age=1"], &["--given", "twice"]);
    refused(&["--factored", "nowhere.json"], &["cannot read nowhere.json"]);
    session.file("queries.json", r#"[{"attrs": ["age"], "query": ["sum"]}]"#);
    refused(&["--factored", "queries.json"], &["queries.json: [0].query[0]", "\"sum\""]);
    assert_eq!(session.run(["query", "model", "--given", "sex=1"]).code, Some(2));
}

#[test]
fn approximate_answers_are_for_attributes_that_were_measured_together() {
    let session = Session::with_model();
    let ask = |oracle: &str, attributes: &str| {
        let args = ["query", "model", "--oracle", oracle, "--marginal", attributes];
        session.run(args.iter().chain(&["--format", "json"]))
    };
    let exact = tables(&ask("exact", "sex,age").succeeds());
    for oracle in ["loopy", "convex"] {
        let said = ask(oracle, "sex,age").works();
        assert!(said.stderr.contains("approximations"), "{}", said.stderr);
        // The two cliques of this model share nothing, so that the approximation is exact.
        assert_close(&tables(&said.stdout)[0].1, &exact[0].1);
        ask(oracle, "sex,hrs").refuses(&["--marginal", "measured together"]);
        let given = ["query", "model", "--oracle", oracle, "--marginal", "age", "--given", "sex=1"];
        session.run(given).refuses(&["--oracle", "--given"]);
    }
}

/// The exact marginals of its potentials differ from the estimated ones.
#[test]
fn a_model_of_an_approximate_oracle_is_not_treated_as_exact() {
    let session = Session::new();
    let pairs = [("a", "b"), ("b", "c"), ("c", "a")];
    let measurements = pairs.map(|(one, other)| {
        json!({
            "attrs": [one, other],
            "query": ["identity", "identity"],
            "y": [70.0, 10.0, 20.0, 40.0],
            "stddev": 1.0,
        })
    });
    let problem = json!({"domain": {"a": 2, "b": 2, "c": 2}, "measurements": measurements});
    session.file("cycle.json", problem.to_string());
    for oracle in ["loopy", "convex"] {
        let estimate = ["estimate", "cycle.json", "--out", "model", "--force", "--oracle", oracle];
        session.run(estimate).works();
        let ask = ["query", "model", "--marginal", "a", "--format", "json"];
        session.run(ask).refuses(&["model: ", &format!("--oracle {oracle}"), "--oracle exact"]);
        session.run(ask.iter().chain(&["--oracle", oracle])).works();
        session.run(ask.iter().chain(&["--oracle", "exact", "--given", "b=1"])).works();
        let synth = ["synth", "model", "--out", "out.csv", "--seed", "1", "--force"];
        let said = session.run(synth).works();
        assert!(said.stderr.contains("not those that were estimated"), "{}", said.stderr);
    }
}

#[test]
fn the_refusal_of_exact_answers_suggests_approximate_ones() {
    let session = Session::new();
    let names: Vec<String> = (0..14).map(|i| format!("x{i}")).collect();
    let pairs = (0..14).flat_map(|i| (0..i).map(move |j| (i, j)));
    let measurements: Vec<Value> = pairs
        .map(|(i, j)| {
            let y: Vec<f64> = (0..100).map(|cell| f64::from((cell * 7 + i as i32) % 5)).collect();
            json!({
                "attrs": [names[i], names[j]],
                "query": ["identity", "identity"],
                "y": y,
                "stddev": 1.0,
            })
        })
        .collect();
    let domain: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), 10.into())).collect();
    let problem = json!({"domain": domain, "total": 200.0, "measurements": measurements});
    session.file("large.json", problem.to_string());
    let estimate = ["estimate", "large.json", "--out", "large", "--iterations", "3"];
    session.run(estimate.iter().chain(&["--oracle", "convex"])).works();
    let ask = ["query", "large", "--marginal", "x3,x5"];
    session.run(ask).refuses(&["estimated with the convex oracle", "--oracle exact"]);
    let exact = ask.iter().chain(&["--oracle", "exact"]);
    session.run(exact).refuses(&["large", "cells", "--oracle convex"]);
    let said = session.run(ask.iter().chain(&["--oracle", "convex", "--format", "json"]));
    let table = &tables(&said.works().stdout)[0].1;
    assert_eq!(table.len(), 100);
    assert!((table.iter().sum::<f64>() - 200.0).abs() < 1e-6);
}

#[test]
fn error_bars_contain_the_answers_and_widen_with_the_interval() {
    let session = Session::with_model();
    let ask = |args: &[&str]| {
        let words = ["query", "model", "--error-bars", "problem.json", "--format", "json"];
        let said = session.run(words.iter().chain(args)).succeeds();
        let tables: Value = serde_json::from_str(&said).unwrap();
        let column = |name: &str| -> Vec<f64> {
            let table = tables.as_array().unwrap().last().unwrap();
            table[name].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        (column("low"), column("values"), column("high"))
    };
    let (low, values, high) = ask(&["--marginal", "hrs"]);
    let (lower, _, higher) = ask(&["--marginal", "hrs", "--interval", "0.999"]);
    for cell in 0..4 {
        let ordered = [lower[cell], low[cell], values[cell], high[cell], higher[cell]];
        assert!(ordered.is_sorted_by(|a, b| a < b), "{ordered:?}");
        // Prefix sums with noise of 2: a difference of two has 2.8, and far less is improbable.
        let error = (high[cell] - low[cell]) / (2.0 * 1.96);
        assert!((1.0..4.5).contains(&error), "{error}");
    }
    let (low, _, high) = ask(&["--marginal", "sex", "--given", "hrs=1"]);
    assert!(low.iter().all(|&low| low > 0.0) && high.iter().all(|&high| high < 1.0));
    let said =
        session.run(["query", "model", "--where", "sex = 1", "--error-bars", "problem.json"]);
    assert!(said.succeeds().starts_with("count,low,high\n"));
    // The six cells of age and sex have noise of 1, so sex has sqrt(3), of which the known total
    // leaves sqrt(3 / 2).
    session.file("problem.json", GOOD.replace("\"prefix\"", "\"identity\""));
    let (low, _, high) = ask(&["--marginal", "sex", "--exact"]);
    assert!((high[0] - low[0] - 2.0 * 1.959964 * 1.5f64.sqrt()).abs() < 1e-5, "{low:?} {high:?}");
    // By hand: 31.5 and 28.5 were measured, and the total is right.
    assert!(((high[0] + low[0]) / 2.0 - 31.5).abs() < 1e-9, "{low:?} {high:?}");
}

#[test]
fn error_bars_of_another_problem_or_probability_are_refused() {
    let session = Session::with_model();
    let ask = |problem: &str, more: &[&str]| {
        let words = ["query", "model", "--marginal", "hrs", "--error-bars", problem];
        session.run(words.iter().chain(more))
    };
    ask("problem.json", &["--interval", "95"]).refuses(&["--interval", "between 0 and 1", "95"]);
    ask("problem.json", &["--replicates", "0"]).refuses(&["problem.json", "one replicate"]);
    ask("problem.json", &["--exact"]).refuses(&["problem.json", "prefix"]);
    let counts = GOOD.replace("\"prefix\"", "\"identity\"");
    session.file("counts.json", counts);
    ask("counts.json", &["--exact"]).succeeds();
    ask("counts.json", &["--exact", "--marginal", "hrs,sex"]).refuses(&["not inside a measured"]);
    ask("counts.json", &["--exact", "--where", "sex = 1"]).complains(&["--exact"]);
    ask("none.json", &[]).refuses(&["none.json"]);
    session.file("larger.json", GOOD.replace("60.0", "61.0"));
    ask("larger.json", &[]).refuses(&["larger.json", "not fitted to this problem", "records"]);
    session.file("other.json", GOOD.replace("hrs", "hours"));
    ask("other.json", &[]).refuses(&["other.json", "not fitted to this problem", "attributes"]);
    ask("problem.json", &["--oracle", "convex"]).refuses(&["--error-bars", "exact"]);
    session
        .run(["query", "model", "--marginal", "hrs", "--interval", "0.9"])
        .complains(&["--error-bars"]);
}
