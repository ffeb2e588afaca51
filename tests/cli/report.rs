//! `pgmbench report`, from results to a page.

use std::fs;

use super::Session;

const CONFIG: &str = r#"name = "tiny"
title = "Noisy marginals, and what a model makes of them"
trials = 2
epsilon = 1.0
datasets = ["titanic"]

[workload]
marginals = [["Sex", "Pclass"]]
prefix = []

[estimation]
iterations = 20

[[mechanism]]
name = "laplace"
arms = ["own", "pgm"]

[figure]
kind = "bars"
"#;

#[test]
fn a_page_is_made_of_all_results() {
    let session = Session::new();
    session.file("tiny.toml", CONFIG);
    session.run(["run", "tiny.toml"]).works();
    let said = session.run(["report"]).works();
    assert!(said.stdout.starts_with("report.html: 1 experiment, "), "{}", said.stdout);
    let html = fs::read_to_string(session.path("report.html")).unwrap();
    assert!(html.contains("All of its 4 arms have run.") && html.contains("class=\"reading\""));

    // By name and by folder; the same results, the same page.
    session.run(["report", "tiny", "--out", "named.html"]).works();
    session.run(["report", "results/tiny", "--out", "folder.html"]).works();
    for other in ["named.html", "folder.html"] {
        assert_eq!(fs::read_to_string(session.path(other)).unwrap(), html);
    }

    // A page is replaced, any other file is kept.
    session.run(["report"]).works();
    let exists = ["tiny.toml", "the file exists", "--force"];
    session.run(["report", "--out", "tiny.toml"]).refuses(&exists);
    assert_eq!(fs::read_to_string(session.path("tiny.toml")).unwrap(), CONFIG);
    for result in ["results/tiny/manifest.json", "results/tiny/trials.csv"] {
        let words = ["report", "--out", result, "--force"];
        session.run(words).refuses(&[result, "it is also a file of results"]);
    }
    for _ in 0..2 {
        session.run(["report", "--out", "results/tiny/page.html"]).works();
    }
}

#[test]
fn results_of_shards_alone_are_found() {
    let session = Session::new();
    session.file("tiny.toml", CONFIG);
    for shard in ["1/2", "2/2"] {
        session.run(["run", "tiny.toml", "--shard", shard, "--quiet"]).succeeds();
    }
    assert!(!session.path("results/tiny/manifest.json").exists());
    session.run(["report"]).works();
    let html = fs::read_to_string(session.path("report.html")).unwrap();
    assert!(html.contains("All of its 4 arms have run.") && html.contains("class=\"reading\""));
}

#[test]
fn a_figure_says_that_estimates_were_stopped_only_where_they_were() {
    let session = Session::new();
    // By default an estimate has at most 1000 iterations.
    let config = CONFIG.replace("iterations = 20\n", "") + "[quick]\ntrials = 1\n";
    session.file("tiny.toml", config);
    for (results, option, is_cut) in
        [("quick", &["--quick"][..], false), ("fewer", &["--iterations", "999"], true)]
    {
        let words = ["run", "tiny.toml", "--results", results, "--quiet"];
        session.run(words.iter().chain(option)).succeeds();
        let figure =
            fs::read_to_string(session.path(&format!("{results}/tiny/figure.svg"))).unwrap();
        assert_eq!(figure.contains("stopped after 999 iterations"), is_cut, "{results}");
        assert_eq!(figure.contains("stopped after"), is_cut, "{results}");
    }
}

#[test]
fn an_estimate_that_was_stopped_early_is_marked_everywhere_and_a_quick_run_converges() {
    let session = Session::new();
    let estimation = "algorithm = \"dual-averaging\"\niterations = 3\n";
    let quick = "[quick]\ntrials = 1\nalgorithm = \"auto\"\niterations = 300\n";
    session.file("tiny.toml", CONFIG.replace("iterations = 20\n", estimation) + quick);
    for (results, option, is_marked) in [("full", None, true), ("quick", Some("--quick"), false)] {
        let words = ["run", "tiny.toml", "--results", results];
        let said = session.run(words.into_iter().chain(option)).works();
        assert_eq!(said.stdout.contains("\u{2020} not converged"), is_marked, "{}", said.stdout);
        assert_eq!(said.stderr.contains("not converged"), is_marked, "{}", said.stderr);
        let read = |file: &str| {
            fs::read_to_string(session.path(&format!("{results}/tiny/{file}"))).unwrap()
        };
        for figure in ["figure.svg", "figure-column.svg"] {
            assert_eq!(read(figure).contains(">\u{2020}</text>"), is_marked, "{figure}");
            assert!(read(figure).contains("This figure is not for release"), "{figure}");
        }
        let summary = read("summary.csv");
        let mut table = csv::Reader::from_reader(summary.as_bytes());
        let at = table.headers().unwrap().iter().position(|name| name == "unconverged").unwrap();
        let counts: Vec<String> = table.records().map(|r| r.unwrap()[at].to_string()).collect();
        // The noisy marginals as they are have nothing to converge.
        assert_eq!(counts, ["", if is_marked { "2" } else { "0" }]);
        session.run(["report", &format!("{results}/tiny")]).works();
        let html = fs::read_to_string(session.path("report.html")).unwrap();
        assert_eq!(html.contains("\u{2020} not converged"), is_marked);
        assert!(html.contains("This page is not for release"));
    }
}

#[test]
fn without_results_there_is_no_page_and_the_old_one_stays() {
    let session = Session::new();
    let old = "<!DOCTYPE html>\n<meta name=\"generator\" content=\"pgmbench 0.1.0\"/>";
    session.file("report.html", old);
    session.run(["report"]).refuses(&["cannot look for results in results"]);
    fs::create_dir(session.path("results")).unwrap();
    session.run(["report"]).refuses(&["no folder in results has a manifest.json"]);
    session.run(["report", "fig9"]).refuses(&["there is no folder results/fig9"]);
    fs::create_dir(session.path("results/fig9")).unwrap();
    session.run(["report", "fig9"]).refuses(&["no manifest.json"]);
    session.file("results/fig9/manifest.json", "{}");
    session.run(["report", "fig9"]).refuses(&["not a manifest"]);
    session
        .run(["report", "--out", "missing/report.html"])
        .refuses(&["there is no folder missing"]);
    assert_eq!(fs::read_to_string(session.path("report.html")).unwrap(), old);
}
