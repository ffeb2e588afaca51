//! Files, names and arguments that are made to do harm.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Session;
#[cfg(target_os = "linux")]
use super::limits::with_little_memory;
use super::survive::{MANY, MINE, session};

/// Values of one attribute: formulas, numbers, and markup.
const LABELS: &str = r#"{
    "domain": {"=cmd": 6}, "total": 600,
    "labels": {"=cmd": ["=1+1", "-5", "+1", "@x", "-", "'=y"]},
    "measurements": [{"attrs": ["=cmd"], "y": [90, 110, 100, 95, 105, 100], "stddev": 1}]
}"#;

#[test]
fn no_option_and_no_folder_adds_a_command_to_a_job_script() {
    let session = session(MANY);
    let submit = ["slurm", "submit", "many.toml", "--tasks", "2", "--dry-run"];
    for hostile in [
        ["--account", "us\ntouch harm"],
        ["--partition", "cpu\rtouch harm"],
        ["--time", "1:00\u{1b}"],
        ["--mem", "2G\n"],
        ["--sbatch", "--comment=a\ntouch harm"],
        ["--results", "a\ntouch harm\n"],
    ] {
        session.run(submit.iter().chain(&hostile)).refuses(&["job script", "control characters"]);
    }
    // The working folder is an option of the job, and the path of the file is an argument.
    let folder = session.path("here\ntouch harm\n#");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("many.toml"), MANY).unwrap();
    let output = session.command().current_dir(&folder).args(submit).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let path = folder.join("many.toml").display().to_string();
    session
        .run(["slurm", "submit", &path, "--tasks", "2", "--dry-run"])
        .refuses(&["job script", "\\n"]);
}

#[test]
fn formulas_become_texts_and_numbers_stay_numbers_in_csv_files() {
    let session = Session::new();
    session.file("labels.json", LABELS);
    session.run(["estimate", "labels.json", "--out", "model"]).succeeds();
    let answers = session.run(["query", "model", "--marginal", "=cmd"]).succeeds();
    let first = |line: &str| line.split(',').next().unwrap().to_string();
    let labels: Vec<String> = answers.lines().map(first).collect();
    assert_eq!(labels, ["'=cmd", "'=1+1", "-5", "+1", "'@x", "-", "''=y"]);
    session.run(["synth", "model", "--seed", "1", "--out", "records.csv"]).succeeds();
    let records = fs::read_to_string(session.path("records.csv")).unwrap();
    assert_eq!(records.lines().next(), Some("'=cmd"));
    for line in records.lines().skip(1) {
        assert!(labels[1..].iter().any(|label| label == line), "{line}");
    }
    // The records are read with the values that they had: they are close to their model.
    let said = session.run(["evaluate", "records.csv", "--against", "model", "--json"]).succeeds();
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["synthetic_records"], 600, "{said}");
}

#[test]
fn control_sequences_in_names_do_not_reach_the_terminal() {
    let session = Session::new();
    let hostile = "age\u{1b}]0;harm\u{7}\u{9b}31m\u{202e}";
    let problem = super::GOOD.replace("\"age\"", &serde_json::to_string(hostile).unwrap());
    session.file("problem.json", problem);
    session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
    let harmless = |text: &str| {
        let harmful = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
        assert!(text.contains("age\\u{1b}]0;harm\\u{7}"), "{text}");
    };
    harmless(&session.run(["query", "model"]).succeeds());
    let said = session.run(["query", "model", "--marginal", "nothing"]);
    assert_eq!(said.code, Some(2));
    harmless(&said.stderr);
    // Data for other programs is what it is.
    let answers = session.run(["query", "model", "--marginal", "sex"]).succeeds();
    assert!(answers.starts_with("sex,count\n"));
    let said = session.run(["estimate", "age\u{1b}]0;harm\u{7}", "--out", "other"]);
    assert_eq!(said.code, Some(2));
    harmless(&said.stderr);
}

/// A name with a line feed would otherwise add lines that look like facts.
#[test]
fn line_feeds_in_names_add_no_lines() {
    let session = Session::new();
    let forged = r#"{"domain": {"a\ntotal: 5": 2, "b": 2}, "total": 10,
        "measurements": [{"attrs": ["a\ntotal: 5", "b"], "y": [4, 3, 2, 1], "stddev": 1}]}"#;
    session.file("forged.json", forged);
    session.run(["estimate", "forged.json", "--out", "model"]).succeeds();
    let described = session.run(["query", "model"]).succeeds();
    assert_eq!(described.lines().filter(|line| line.starts_with("total: ")).count(), 1);
    assert!(described.contains("attribute: a\\ntotal: 5, 2 values"), "{described}");

    session.file("records.csv", "\"a\nforged: 1\",b\n1,2\n2,1\n1,1\n2,2\n");
    // With a warning that a draft is not public.
    let drafted = session.run(["datasets", "infer", "records.csv", "--out", "schema.toml"]);
    assert_eq!(drafted.code, Some(0), "{}", drafted.stderr);
    let described = session.run(["datasets", "describe", "schema.toml"]).stdout;
    assert!(!described.lines().any(|line| line.starts_with("forged")), "{described}");
    assert!(described.contains("a\\nforged: 1: numeric"), "{described}");
}

#[test]
fn markup_in_forged_results_is_text_in_the_report() {
    let session = session(MANY);
    session.run(["run", "many.toml", "--quiet"]).succeeds();
    session.run(["report", MINE, "--out", "before.html"]).works();
    let script = "<script>alert(1)</script><img src=x onerror=alert(1)>";
    let forge = |file: &str, from: &str, to: &str| {
        let path = session.path(MINE).join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} in {file}");
        fs::write(path, text.replacen(from, to, 3)).unwrap();
    };
    let title = format!("\"title\": \"{script}\"");
    forge("manifest.json", "\"title\": \"many\"", &title);
    forge(
        "manifest.json",
        "\"configuration_text\": \"",
        "\"configuration_text\": \"</pre><script>",
    );
    forge("ledger.jsonl", "\"label\":\"", "\"label\":\"<script>");
    forge("trials.csv", ",done,,", ",failed,<b>,");
    session.run(["report", MINE, "--out", "after.html"]).works();
    let page = |name: &str| fs::read_to_string(session.path(name)).unwrap();
    let (before, after) = (page("before.html"), page("after.html"));
    for tag in ["<script", "<img", "<b>", "</pre>"] {
        assert_eq!(after.matches(tag).count(), before.matches(tag).count(), "{tag}");
    }
    assert!(after.contains("&#60;script&#62;alert(1)"), "the title is there, as text");
    // Without rows the figure is the stored one, which is inlined unless it was changed.
    fs::remove_file(session.path(MINE).join("trials.csv")).unwrap();
    session.run(["report", MINE, "--out", "stored.html"]).works();
    assert!(page("stored.html").contains("<svg "));
    forge("figure.svg", "</svg>", "<g class=\">\" onclick=\"alert(1)\"></g></svg>");
    session.run(["report", MINE, "--out", "forged.html"]).works();
    assert!(!page("forged.html").contains("<svg ") && !page("forged.html").contains("onclick=\"a"));
}

fn compressed(parts: &[(&[u8], usize)]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    for (part, times) in parts {
        for _ in 0..*times {
            out.write_all(part).unwrap();
        }
    }
    out.finish().unwrap()
}

/// With an address space that what is decompressed does not fit into.
#[cfg(target_os = "linux")]
#[test]
fn bombs_are_refused_within_little_memory() {
    let session = Session::new();
    let block = [b'x'; 1 << 16];
    let lines = b"x,1\n".repeat(1 << 14);
    // A line of half a gigabyte, and a quotation mark that makes one of as many lines.
    session.file("line.csv.gz", compressed(&[(b"a,b\n", 1), (&block, 1 << 13)]));
    session.file("quote.csv.gz", compressed(&[(b"a,b\n\"", 1), (&lines, 1 << 13)]));
    for file in ["line.csv.gz", "quote.csv.gz"] {
        assert!(fs::metadata(session.path(file)).unwrap().len() < 2_000_000);
        let output =
            with_little_memory(&session, 400_000, &format!("datasets infer {file} --out s.toml"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(file) && said.contains("a record of more than 16 MB"), "{said}");
    }
    session.file("large.toml", "#".repeat(16_000_001));
    session.run(["plan", "large.toml"]).refuses(&["large.toml", "larger than 16 MB"]);
    let deep = ["[", "{\"a\":", "{\"domain\":"].map(|open| open.repeat(200_000));
    for text in deep {
        session.file("deep.json", text);
        let output = with_little_memory(&session, 400_000, "estimate deep.json --out model");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: deep.json: ") && said.len() < 1000, "{said}");
    }
}

#[test]
fn absurd_numbers_are_refused() {
    for (domain, query) in [
        (r#"{"a": 1e308}"#, r#""total""#),
        (r#"{"a": 18446744073709551616}"#, r#""total""#),
        (r#"{"a": 4294967296}"#, r#""ranges""#),
        (r#"{"a": 9223372036854775807}"#, r#""identity""#),
        (r#"{"a": 3}"#, r#"{"moments": 4000000000}"#),
        (r#"{"a": 3}"#, r#"{"sparse": {"columns": 9e18, "rows": [[[8e18, 1]]]}}"#),
        (r#"{"a": 3}"#, r#"{"intervals": [[0, 18446744073709551615]]}"#),
    ] {
        let session = Session::new();
        let problem = format!(
            r#"{{"domain": {domain}, "total": 9, "measurements":
                [{{"attrs": ["a"], "query": [{query}], "y": [5], "stddev": 1}}]}}"#
        );
        session.file("problem.json", &problem);
        let said = session.run(["estimate", "problem.json", "--out", "model"]);
        assert_eq!(said.code, Some(2), "{problem}: {}", said.stderr);
        assert!(said.stderr.starts_with("error: problem.json: "), "{}", said.stderr);
        assert_eq!(session.files(), ["problem.json"]);
    }
}
