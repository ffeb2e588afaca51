//! The page as a whole.

mod marks;
mod reproduction;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use roxmltree::{Document, Node, ParsingOptions};
use tempfile::TempDir;

use super::{Experiment, ReportError, find, page, reference_runs};
use crate::config::Source;
use crate::figures;
use crate::results::claims::write_claims;
use crate::results::examples;
use crate::results::manifest::{Build, Manifest, Run};
use crate::results::schedule::{Block, BlockCase, ScheduledArm};
use crate::results::store::Store;
use crate::results::summary::Summary;
use crate::results::{Shard, Status, TrialRecord};
use dp::{Budget, Epsilon, L1, Neighbours, NoiseSource, NumberLine, SeedPath, Sensitivity};

const CONFIG: &str = r#"name = "mine"
title = '''TITLE'''
epsilon = 1
datasets = ["adult", "loans"]
limits = { seconds = 60 }

[[mechanism]]
name = "hdmm"
arms = ["own", "lls", "pgm"]

[[claim]]
says = "PGM is 3 times better"
paper = 3.0
kind = "ratio"
dataset = "adult"
mechanism = "hdmm"
arm = "lls"
against = "pgm"
"#;

/// Without an estimate for `own`. The errors of the other arms depend on the trial.
fn row(arm: &ScheduledArm) -> TrialRecord {
    let error = 0.1 + arm.trial as f64 / 30.0;
    let error = match &*arm.arm {
        "own" => None,
        "lls" => Some(3.0 * error),
        _ => Some(error),
    };
    TrialRecord {
        key: arm.key.clone(),
        release: arm.release.clone(),
        experiment: "mine".into(),
        dataset: arm.dataset.clone(),
        case: arm.case.clone(),
        standin: arm.dataset == "loans",
        attributes: 9,
        records: 1000,
        mechanism: "hdmm".into(),
        arm: arm.arm.clone(),
        epsilon: 1.0,
        trial: arm.trial,
        seed: format!("{:x}", arm.trial),
        status: if error.is_some() { Status::Done } else { Status::Infeasible },
        phase: if error.is_some() { "" } else { "estimate" }.into(),
        workload_error: error,
        estimate_seconds: Some(0.25),
        peak_bytes: Some(3.84e11),
        message: "the table needs 384 GB, <b>more</b> than there is ]]>".into(),
        ..TrialRecord::default()
    }
}

/// The rows that a manifest schedules.
fn rows(manifest: &Manifest) -> Vec<TrialRecord> {
    manifest.arms().iter().map(row).collect()
}

fn manifest(title: &str) -> Manifest {
    let text = CONFIG.replace("TITLE", title);
    let experiment = Source { path: "mine.toml".into(), text }.parse().unwrap();
    let build =
        Build { version: "0.1.0".into(), commit: None, cargo_lock_blake3: None, rustc: None };
    let mut run = Run::start(build, 2, vec!["pgmbench".into(), "run".into(), "<mine>".into()]);
    run.finish(Duration::from_secs(3));
    Manifest {
        configuration_text: "title = '<&>'\n".into(),
        experiment,
        runs: vec![run],
        ..examples::manifest(&["adult", "loans"], &["own", "lls", "pgm"])
    }
}

/// A folder of results as a run writes it.
fn results(title: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(title);
    manifest.write(folder.path()).unwrap();
    append(&Store::open(folder.path()).unwrap(), &rows(&manifest), |_| 2.0);
    folder
}

/// Appends rows, each with the two draws of its release, whose sensitivity depends on the row.
fn append(store: &Store, rows: &[TrialRecord], sensitivity: impl Fn(&TrialRecord) -> f64) {
    for row in rows {
        let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
        let mut source = NoiseSource::seeded(&SeedPath::new("test", &row.release));
        let bound = Sensitivity::<L1>::new(sensitivity(row), Neighbours::Replace).unwrap();
        let shares = budget.rest().unwrap().split(2).unwrap();
        for (share, label) in shares.into_iter().zip(["strategy on a, b", "strategy on c"]) {
            share.laplace(label, &[0.0; 6], bound, NumberLine::Integers, &mut source).unwrap();
        }
        store.append(row, budget.ledger().lines(), &[]).unwrap();
    }
}

fn read(folder: &Path) -> Experiment {
    Experiment::read(folder).unwrap()
}

fn parsed(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).unwrap()
}

fn text_of(node: Node) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

/// Asserts that the page is well-formed and loads nothing, that ids are unique and links resolve,
/// and that no heading skips a level.
fn check(html: &str) {
    let document = parsed(html);
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "an id is there twice");
    let mut links = 0;
    for href in document.descendants().filter_map(|node| node.attribute("href")) {
        match href.strip_prefix('#') {
            Some(id) => assert!(distinct.contains(id), "{href}"),
            None => assert!(href.starts_with("data:"), "{href}"),
        }
        links += 1;
    }
    assert!(links > 5);
    for label in document.descendants().filter_map(|node| node.attribute("aria-labelledby")) {
        assert!(distinct.contains(label), "{label}");
    }
    assert!(document.descendants().all(|node| node.attribute("src").is_none()));
    let without_namespaces = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!without_namespaces.contains("http://") && !without_namespaces.contains("https://"));
    let mut level = 0;
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let digit = name.strip_prefix('h').and_then(|rest| rest.parse::<u32>().ok());
        let Some(next) = digit else { continue };
        assert!(next <= level + 1, "{}", text_of(node));
        level = next;
    }
    for row in document.descendants().filter(|node| node.has_tag_name("tr")) {
        let cells = |row: Node| row.children().filter(Node::is_element).count();
        let table = row.ancestors().find(|node| node.has_tag_name("table")).unwrap();
        let head = table.descendants().find(|node| node.has_tag_name("tr")).unwrap();
        assert_eq!(cells(row), cells(head));
    }
}

/// The rows of the table whose caption has this id, cell by cell.
fn cells(html: &str, id: &str) -> Vec<Vec<String>> {
    let document = parsed(html);
    let caption = document.descendants().find(|node| node.attribute("id") == Some(id)).unwrap();
    let rows = caption.parent().unwrap().descendants().filter(|node| node.has_tag_name("tr"));
    rows.map(|row| row.children().filter(Node::is_element).map(text_of).collect()).collect()
}

#[test]
fn a_page_has_everything_that_was_found() {
    let folder = results("Who is closer?");
    let html = page(&[read(folder.path())]).unwrap();
    check(&html);
    assert!(html.contains("Who is closer?") && html.contains("own estimator, LLS and PGM"));
    assert!(html.contains("All of its 30 arms have run."));

    let numbers = cells(&html, "of-mine-numbers-table");
    let columns = [
        "dataset",
        "mechanism",
        "estimator",
        "workload error",
        "smallest",
        "largest",
        "ratio to PGM",
        "from",
        "to",
        "trials",
        "seconds",
        "memory",
    ];
    assert_eq!(numbers[0], columns);
    assert_eq!(numbers.len(), 1 + 6);
    assert_eq!(numbers[2][..7].join(" "), "Adult HDMM LLS 0.5000 0.3000 0.7000 3.000");
    assert!(numbers[4][0].contains("stand-in"), "{:?}", numbers[4]);
    assert!(html.contains("<strong>Stand-ins.</strong>"));

    let claims = cells(&html, "of-mine-claims-table");
    assert_eq!(claims[1][5], "\u{2713} holds");
    assert!(html.contains("statements of the paper: 1 of 1 hold."));

    let failures = cells(&html, "of-mine-troubles-table");
    assert_eq!(failures.len(), 1 + 2);
    let reason = "the table needs 384 GB, <b>more</b> than there is ]]>";
    assert_eq!(failures[1][3..], ["infeasible", "estimate", "5", reason].map(String::from));

    // Three arms on two datasets: the draws of each trial count once.
    let ledger = cells(&html, "of-mine-ledger-table");
    assert_eq!(ledger.len(), 1 + 2 * 2);
    assert_eq!(ledger[1][3..6].join(" "), "strategy discrete Laplace 2");
    assert_eq!(ledger[2].last().unwrap(), "\u{3b5} = 1");

    let marks = html.matches("class=\"reading\"").count();
    assert_eq!(marks, 2 * 6, "each mark of both drawings has its value");
    assert!(
        html.contains("HDMM, Loans*, HDMM+LLS: workload error 0.5, from 0.3 to 0.7 (5 trials)")
    );
    for row in rows(&manifest("")).iter().filter_map(|row| row.workload_error) {
        assert!(html.contains(&format!(",{row},")), "{row}");
    }
}

#[test]
fn draws_of_every_case_are_in_the_ledger_and_shared_ones_once() {
    let mut manifest = manifest("Cases");
    let case = |name: &str| BlockCase { name: name.into(), hash: name.into() };
    let block =
        Block { cases: vec![case("identity"), case("predicates")], ..manifest.schedule[0].clone() };
    let other = Block { hash: "other".into(), cases: vec![case("all ranges")], ..block.clone() };
    manifest.schedule = vec![block, other];
    let all = rows(&manifest);
    let folder = tempfile::tempdir().unwrap();
    manifest.write(folder.path()).unwrap();
    // One release answers the first two cases.
    let sensitivity = |row: &TrialRecord| if row.case == "all ranges" { 20.0 } else { 1.0 };
    append(&Store::open(folder.path()).unwrap(), &all, sensitivity);
    let html = page(&[read(folder.path())]).unwrap();
    let ledger = cells(&html, "of-mine-ledger-table");
    assert_eq!(ledger[0][2], "case");
    let shown: Vec<_> = ledger[1..].iter().map(|row| (&row[2][..], &row[8][..])).collect();
    assert_eq!(
        shown,
        [("2 cases", "1"), ("2 cases", ""), ("all ranges", "20"), ("all ranges", "")]
    );
}

#[test]
fn results_of_shards_are_those_of_the_whole() {
    let (whole, parts) = (results("Shards"), tempfile::tempdir().unwrap());
    let manifest = Experiment::read(whole.path()).unwrap().manifest;
    let rows = rows(&manifest);
    for index in 1..=2 {
        let shard = Some(Shard::new(index, 2).unwrap());
        manifest.write_part(parts.path(), shard).unwrap();
        let mine: Vec<_> = rows.iter().filter(|row| row.trial % 2 + 1 == index).cloned().collect();
        append(&Store::open_part(parts.path(), shard).unwrap(), &mine, |_| 2.0);
    }
    assert_eq!(page(&[read(parts.path())]).unwrap(), page(&[read(whole.path())]).unwrap());
}

#[test]
fn results_without_rows_are_shown_from_what_the_run_has_written() {
    let (whole, kept) = (results("Kept"), tempfile::tempdir().unwrap());
    let manifest = manifest("Kept");
    let rows = rows(&manifest);
    manifest.write(kept.path()).unwrap();
    Summary::of(&rows).write_csv(&kept.path().join("summary.csv")).unwrap();
    let claims = manifest.experiment.claims.iter();
    let findings: Vec<_> = claims.map(|claim| claim.as_ref().check(&rows, &[])).collect();
    write_claims(&kept.path().join("claims.csv"), &findings).unwrap();
    figures::write(&figures::chart_of(&manifest, &rows, &[]).unwrap(), kept.path()).unwrap();

    // Both are results of one experiment, on one page.
    let html = page(&[read(whole.path()), read(kept.path())]).unwrap();
    check(&html);
    let table = |part: &str| {
        let second = cells(&html, &format!("of-mine--2-{part}-table"));
        assert_eq!(cells(&html, &format!("of-mine-{part}-table")), second);
    };
    ["numbers", "claims", "datasets"].into_iter().for_each(table);
    assert!(html.contains("Its single trials are not here"));
    assert_eq!(html.matches("class=\"reading\"").count(), 4 * 6);
    let failures = cells(&html, "of-mine--2-troubles-table");
    assert_eq!(failures[1].last().unwrap(), "would need 384 GB");

    // A manifest alone is a page as well.
    for file in ["summary.csv", "claims.csv", "figure.svg", "figure-column.svg"] {
        fs::remove_file(kept.path().join(file)).unwrap();
    }
    let html = page(&[read(kept.path())]).unwrap();
    assert!(html.contains("None of its 30 arms have run.") && !html.contains("<figure"));
}

#[test]
fn nothing_that_results_contain_becomes_markup() {
    let title = "</title><script>alert(1)</script> ]]> & \"quotes\"";
    let folder = results(title);
    let html = page(&[read(folder.path())]).unwrap();
    check(&html);
    let document = parsed(&html);
    let scripts = document.descendants().filter(|node| node.has_tag_name("script")).count();
    assert_eq!(scripts, 1);
    let heading = document.descendants().find(|node| node.attribute("id") == Some("of-mine-title"));
    assert_eq!(text_of(heading.unwrap()), title);
    // A stored figure that runs something is omitted.
    fs::remove_file(folder.path().join("trials.csv")).unwrap();
    let bad = "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"></svg>";
    fs::write(folder.path().join("figure.svg"), bad).unwrap();
    assert!(!page(&[read(folder.path())]).unwrap().contains("onload"));
}

#[test]
fn reference_runs_are_left_out_unless_they_are_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let copy = |to: &str| {
        let to = root.path().join(to);
        fs::create_dir_all(&to).unwrap();
        manifest("Kept").write(&to).unwrap();
        append(&Store::open(&to).unwrap(), &rows(&manifest("Kept")), |_| 2.0);
    };
    copy("reference/mine");
    let nothing = find(root.path()).unwrap_err().to_string();
    assert!(nothing.contains("reference shows the reference runs"), "{nothing}");
    copy("mine");
    assert_eq!(find(root.path()).unwrap().len(), 1);
    let reference = reference_runs(root.path()).unwrap();
    assert_eq!(find(&reference).unwrap().len(), 1);
    // An experiment of that name is no folder of reference runs.
    assert_eq!(reference_runs(&reference), None);
    copy("other/reference");
    assert_eq!(reference_runs(&root.path().join("other")), None);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_name() {
    let folder = results("Broken");
    let refused = |path: &Path| Experiment::read(path).unwrap_err();
    let missing = folder.path().join("missing");
    assert!(matches!(refused(&missing), ReportError::NoFolder { .. }));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(refused(empty.path()), ReportError::NoManifest { .. }));

    let trials = folder.path().join("trials.csv");
    let text = fs::read_to_string(&trials).unwrap();
    fs::write(&trials, text.replacen("infeasible", "unheard-of", 1)).unwrap();
    let error = refused(folder.path()).to_string();
    assert!(error.contains("trials.csv, line 2: not a record"), "{error}");
    fs::remove_file(&trials).unwrap();
    fs::write(folder.path().join("summary.csv"), "dataset\nadult\n").unwrap();
    let error = refused(folder.path()).to_string();
    assert!(error.contains("summary.csv") && error.contains("missing field"), "{error}");
}
