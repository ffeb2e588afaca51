//! What mechanisms may see before they pay, beyond what types show.
//!
//! Records are read with a share (`src/mechanism/private.rs`). These tests keep the ways around it
//! to those that are listed: a share of a budget that is not the release's, a handle that the
//! mechanism makes itself, and facts that are public.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files under src/mechanism that say `word` outside tests, without the folder.
fn files_that_say(word: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mechanism");
    let mut found = BTreeSet::new();
    for path in sources(&root) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        if lines.into_iter().any(|line| line.contains(word)) {
            found.insert(path.strip_prefix(&root).unwrap().display().to_string());
        }
    }
    found
}

/// Without tests and what only tests and planted bugs use.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        match name {
            "tests" | "tests.rs" | "small_table.rs" | "sabotaged.rs" => {}
            _ if path.is_dir() => files.extend(sources(&path)),
            _ => files.push(path),
        }
    }
    files
}

fn listed(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(ToString::to_string).collect()
}

#[test]
fn no_mechanism_makes_a_budget_or_a_handle_to_the_records_of_its_own() {
    assert_eq!(files_that_say("Budget::new("), listed(&[]));
    // Merged values of records that were read with a share.
    assert_eq!(files_that_say("Private::new("), listed(&["mst/compression.rs"]));
    let readers = files_that_say(".read(");
    assert!(readers.len() > 10, "the search finds those that read: {readers:?}");
}

#[test]
fn public_facts_of_the_records_are_used_where_they_are_listed() {
    let number = [
        "aim/mod.rs",
        "dualquery/mod.rs",
        "efpa/mod.rs",
        "independent/mod.rs",
        "matrix_mechanism/mod.rs",
        "mst/mod.rs",
        "mwem/mod.rs",
        "mwem_pgm/mod.rs",
        "privbayes/mod.rs",
        "private.rs",
        "release.rs",
        "task.rs",
    ];
    assert_eq!(files_that_say("public_records("), listed(&number));
    assert_eq!(files_that_say("public_marginals("), listed(&["laplace/mod.rs", "private.rs"]));
}

#[test]
fn only_planted_bugs_read_without_a_share() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mechanism");
    for file in files_that_say(".unpaid()") {
        let text = fs::read_to_string(root.join(&file)).unwrap();
        let before: Vec<&str> = text.split(".unpaid()").collect();
        for part in &before[..before.len() - 1] {
            let tail: String = part.lines().rev().take(12).collect();
            let is_planted = tail.contains("sabotage");
            assert!(is_planted, "{file}: records are read without a share outside a planted bug");
        }
    }
}
