//! What `estimate` prints and writes.

use std::fs;

use serde_json::{Value, json};

use crate::{GOOD, Session};

fn session() -> Session {
    let session = Session::new();
    session.file("problem.json", GOOD);
    session
}

#[test]
fn the_json_report_has_what_scripts_read() {
    let session = session();
    let said = session.run(["estimate", "problem.json", "--out", "model", "--json"]).succeeds();
    let report: Value = serde_json::from_str(&said).unwrap();
    for number in ["loss", "iterations", "seconds", "seconds_per_iteration", "l1_loss", "l2_loss"] {
        assert!(report[number].as_f64().unwrap() >= 0.0, "{number}: {report}");
    }
    for text in ["reason", "algorithm", "oracle", "norm"] {
        assert!(report[text].is_string(), "{text}: {report}");
    }
    assert!(report["gap"].is_null() || report["gap"].as_f64().unwrap() >= 0.0);
    assert_eq!(report["junction_tree"]["cliques"], 2);
    assert_eq!(report["junction_tree"]["cells"], 10);
    assert_eq!(report["junction_tree"]["largest"], 6);
    assert_eq!(report["total"], 60.0);
    assert_eq!(report["total_is_estimated"], false);
    if cfg!(target_os = "linux") {
        assert!(report["peak_bytes"].as_u64().unwrap() > 100_000);
    }
    assert_eq!(session.files(), ["model", "problem.json"]);
}

#[test]
fn the_summary_is_a_few_lines() {
    let session = session();
    let said = session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    assert!((3..10).contains(&said.lines().count()), "{said}");
    assert!(said.starts_with("loss "), "{said}");
    assert!(said.ends_with("written  model\n"), "{said}");
}

#[test]
fn a_missing_total_is_estimated() {
    let session = Session::new();
    session.file("problem.json", GOOD.replace("60.0", "null"));
    let said = session.run(["estimate", "problem.json", "--out", "model", "--json"]).succeeds();
    let report: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["total_is_estimated"], true);
    assert!((report["total"].as_f64().unwrap() - 60.0).abs() < 1.0);
}

#[test]
fn the_trace_is_a_table_with_a_header() {
    let session = session();
    session.run(["estimate", "problem.json", "--out", "model", "--trace", "trace.csv"]).succeeds();
    let trace = fs::read_to_string(session.path("trace.csv")).unwrap();
    let mut lines = trace.lines();
    assert_eq!(lines.next(), Some("iteration,seconds,l1_loss,l2_loss,gap"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first.len(), 5);
    assert!(first[1].parse::<f64>().unwrap() >= 0.0);
}

#[test]
fn a_tree_beyond_the_memory_limit_is_refused() {
    let session = session();
    session
        .run(["estimate", "problem.json", "--out", "model", "--memory-limit", "40B"])
        .refuses(&["problem.json: ", "age", "--oracle loopy and --oracle convex"]);
    assert_eq!(session.files(), ["problem.json"]);
    session
        .run(["estimate", "problem.json", "--out", "model", "--memory-limit", "1GiB"])
        .succeeds();
}

#[test]
fn a_model_can_be_the_start_of_another_estimate() {
    let session = Session::with_model();
    session.run(["estimate", "problem.json", "--out", "again", "--warm-start", "model"]).succeeds();
    session
        .run(["estimate", "problem.json", "--out", "other", "--warm-start", "problem.json"])
        .refuses(&["problem.json: not a model file"]);
}

#[test]
fn the_refusal_of_a_model_that_is_too_large_names_alternatives() {
    let session = Session::new();
    let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
    let domain: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!(100))).collect();
    // Every pair: the junction tree is one clique of all attributes, 10^24 cells.
    let pairs = (0..12).flat_map(|i| (i + 1..12).map(move |j| (i, j)));
    let total = ["total", "total"];
    let measure =
        |attrs: [&String; 2]| json!({ "attrs": attrs, "query": total, "y": [9], "stddev": 1 });
    let measurements: Vec<Value> = pairs.map(|(i, j)| measure([&names[i], &names[j]])).collect();
    let problem = json!({ "domain": domain, "total": 9, "measurements": measurements });
    session.file("problem.json", problem.to_string());
    session.run(["estimate", "problem.json", "--out", "model"]).refuses(&[
        "half of this machine's memory",
        "--memory-limit",
        "--oracle loopy",
    ]);
}

#[test]
fn a_model_of_other_attributes_is_no_start() {
    let session = Session::with_model();
    session.file("other.json", GOOD.replace("\"hrs\": 4", "\"hrs\": 5").replace("61]", "61, 62]"));
    session
        .run(["estimate", "other.json", "--out", "again", "--warm-start", "model"])
        .refuses(&["\"hrs\" has 4 values in model and 5 in other.json"]);
    let renamed = [("age", "height"), ("sex", "weight"), ("hrs", "shoes")];
    let unrelated =
        renamed.iter().fold(GOOD.to_string(), |text, (from, to)| text.replace(from, to));
    session.file("unrelated.json", unrelated);
    let said = session.run(["estimate", "unrelated.json", "--out", "new", "--warm-start", "model"]);
    let said = said.works().stderr;
    assert!(
        said.starts_with("note: no clique of model is contained in a clique of the problem"),
        "{said}"
    );
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let session = session();
    let run = |extra: &[&str]| {
        let args = ["estimate", "problem.json", "--out", "model"];
        let said = session.run(args.iter().chain(extra));
        assert_eq!(said.code, Some(2), "{extra:?}: {}", said.stdout);
        assert!(said.stderr.starts_with("error: "), "{extra:?}: {}", said.stderr);
        assert!(said.stderr.contains(extra[0]), "{extra:?}: {}", said.stderr);
    };
    run(&["--algorithm", "newton"]);
    run(&["--loss", "l3"]);
    run(&["--iterations", "0"]);
    run(&["--iterations", "many"]);
    run(&["--gap", "-1"]);
    run(&["--gap", "nan"]);
    run(&["--memory-limit", "much"]);
    run(&["--threads", "0"]);
    run(&["--step", "line-search", "--algorithm", "lbfgs"]);
    run(&["--step", "-1", "--algorithm", "mirror"]);
    run(&["--constant", "2"]);
    run(&["--constant", "fast", "--algorithm", "accelerated"]);
    assert_eq!(session.files(), ["problem.json"]);
}

#[test]
fn spellings_of_earlier_releases_are_refused_with_those_of_today() {
    let session = session();
    let refuses = |extra: &[&str], parts: &[&str]| {
        let args = ["estimate", "problem.json", "--out", "model"];
        session.run(args.iter().chain(extra)).complains(parts);
    };
    refuses(&["--algorithm", "mirror", "--step", "search"], &["--step", "write line-search"]);
    refuses(
        &["--algorithm", "accelerated", "--constant", "spectral"],
        &["--constant", "write dual-averaging"],
    );
    assert_eq!(session.files(), ["problem.json"]);
}

#[test]
fn every_algorithm_step_and_constant_of_the_engine_can_be_chosen() {
    let session = session();
    let chosen = |extra: &[&str]| {
        let args = ["estimate", "problem.json", "--out", "model", "--force", "--json"];
        let said = session.run(args.iter().chain(extra)).succeeds();
        serde_json::from_str::<Value>(&said).unwrap()["algorithm"].clone()
    };
    for name in ["auto", "mirror", "dual-averaging", "accelerated", "lbfgs"] {
        assert_eq!(chosen(&["--algorithm", name, "--iterations", "20"]), name);
    }
    for step in ["auto", "line-search", "constant", "decreasing", "1e-4", "decreasing=1e-4"] {
        let words = ["--algorithm", "mirror", "--iterations", "20", "--step", step];
        assert_eq!(chosen(&words), "mirror", "{step}");
    }
    for constant in ["spectral", "smoothness", "2"] {
        let words = ["--algorithm", "dual-averaging", "--iterations", "20", "--constant", constant];
        assert_eq!(chosen(&words), "dual-averaging", "{constant}");
    }
    for constant in ["adaptive", "smoothness", "2"] {
        let words = ["--algorithm", "accelerated", "--iterations", "20", "--constant", constant];
        assert_eq!(chosen(&words), "accelerated", "{constant}");
    }
    let help = session.run(["estimate", "--help"]).succeeds();
    for words in ["dual-averaging", "Algorithm 2 with restarts", "line-search", "loopy", "l1"] {
        assert!(help.contains(words), "{words}: {help}");
    }
}

#[test]
fn the_help_states_the_default_limits_of_an_estimate() {
    let said = Session::new().run(["estimate", "--help"]).succeeds();
    for words in ["1e-11", "2000", "half of the machine's memory"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_help_of_every_command_has_an_example() {
    let session = Session::new();
    let commands =
        ["run", "plan", "plot", "list", "datasets", "synthesize", "estimate", "query", "synth"];
    let helps = commands.iter().map(|&command| vec![command, "--help"]).chain([vec!["--help"]]);
    for command in helps {
        let said = session.run(&command).succeeds();
        let example = said.contains("Example:\n  pgmbench ");
        assert!(example || said.contains("Examples:\n  pgmbench "), "{said}");
    }
    assert_eq!(session.run::<&str>([]).code, Some(2));
}

#[test]
fn the_loss_is_that_of_the_model_also_with_an_approximate_oracle() {
    let session = Session::new();
    // Every pair of six attributes, with contradictory answers: the optimiser oscillates.
    let names: Vec<String> = (0..6).map(|i| format!("x{i}")).collect();
    let pairs = (0..6).flat_map(|i| (i + 1..6).map(move |j| (i, j)));
    let measurements: Vec<Value> = pairs
        .zip(1..)
        .map(|((i, j), pair)| {
            let cells = (0..16).map(|cell| f64::from((cell * 37 + pair * 101) % 83) * 7.0 - 90.0);
            let (attrs, y) = ([&names[i], &names[j]], cells.collect::<Vec<_>>());
            json!({ "attrs": attrs, "query": ["identity", "identity"], "y": y, "stddev": 3.0 })
        })
        .collect();
    let domain: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!(4))).collect();
    let problem = json!({ "domain": domain, "total": 1000.0, "measurements": measurements });
    session.file("problem.json", problem.to_string());
    for oracle in ["loopy", "convex", "exact"] {
        let words = ["estimate", "problem.json", "--out", "model", "--json", "--oracle", oracle];
        let said = session.run(words.into_iter().chain(["--iterations", "110", "--force"]));
        let said = said.succeeds();
        let report: Value = serde_json::from_str(&said).unwrap();
        let [loss, l2_loss] = ["loss", "l2_loss"].map(|key| report[key].as_f64().unwrap());
        assert!((loss - l2_loss).abs() <= 1e-9 * loss, "{oracle}: {loss} and {l2_loss}");
    }
}
