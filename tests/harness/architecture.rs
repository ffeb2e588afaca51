//! The dependencies between the modules of `src`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module of `src`, and the modules that it may use. The engine and the privacy library are
/// crates ([`private_pgm`], [`dp`]); the compiler keeps them independent of `src`.
const MODULES: &[(&str, &[&str])] = &[
    // Kernels that mechanisms need and the engine does not.
    ("numeric", &[]),
    // Files are written completely or not at all.
    ("atomic_file", &[]),
    // Suggestions in errors about settings.
    ("did_you_mean", &[]),
    // How much is read from files.
    ("limits", &[]),
    // Texts in CSV files.
    ("spreadsheet", &[]),
    ("workload", &[]),
    ("postprocess", &["numeric"]),
    ("evaluation", &["workload"]),
    ("budget_file", &["atomic_file", "limits"]),
    ("data", &["atomic_file", "did_you_mean", "limits", "spreadsheet"]),
    // The names of a struct's fields.
    ("field_names", &[]),
    // Commands of the user.
    ("subprocess", &[]),
    ("mechanism", &["numeric", "data", "workload", "postprocess", "subprocess"]),
    // Files name the noise of mechanisms.
    ("config", &["did_you_mean", "limits", "mechanism", "field_names"]),
    ("audit", &["data", "workload", "mechanism"]),
    ("results", &["config", "atomic_file", "limits", "spreadsheet", "field_names"]),
    // Mechanisms have their titles.
    ("figures", &["config", "mechanism", "results", "atomic_file"]),
    // Synthetic records against data or models.
    ("comparison", &["config", "evaluation", "results", "figures"]),
    (
        "experiment",
        &[
            "config",
            "data",
            "workload",
            "mechanism",
            "evaluation",
            "results",
            "figures",
            "atomic_file",
            "subprocess",
        ],
    ),
    (
        "report",
        &["config", "results", "experiment", "figures", "atomic_file", "limits", "spreadsheet"],
    ),
    (
        "cli",
        &[
            "budget_file",
            "config",
            "data",
            "audit",
            "comparison",
            "experiment",
            "results",
            "figures",
            "report",
            "atomic_file",
            "limits",
            "spreadsheet",
            "subprocess",
        ],
    ),
    ("main", &["cli"]),
];

/// Beginnings of a path to a module: in the library, and in the binary.
const ROOTS: [&str; 2] = ["crate::", "pgmbench::"];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The code without comments and without test code. A `#[cfg(test)]` is removed with the item after
/// it, up to its semicolon or its closing brace.
fn without_tests_and_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.find("//").map_or(line, |start| &line[..start]));
    let mut rest: &str = &lines.collect::<Vec<_>>().join("\n");
    let mut kept = String::new();
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(['{', ';']).unwrap_or(rest.len());
        rest = match rest[end..].starts_with('{') {
            true => &rest[end + length_of_block(&rest[end..])..],
            false => &rest[end..],
        };
    }
    kept + rest
}

/// The bytes from the first brace to its closing brace.
fn length_of_block(text: &str) -> usize {
    let mut depth = 0;
    for (place, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    text.len()
}

/// The modules in `crate::module::...`, and each of `crate::{module::..., module}`.
fn used(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for root in ROOTS {
        for (start, _) in code.match_indices(root) {
            let preceding = code[..start].chars().next_back();
            if preceding.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let path = &code[start + root.len()..];
            if path.starts_with('{') {
                let group = &path[1..length_of_block(path) - 1];
                modules.extend(outermost(group).iter().map(|item| first_name(item)));
            } else {
                modules.insert(first_name(path));
            }
        }
    }
    // A trailing comma gives an empty item.
    modules.remove("");
    modules
}

/// The items of a list at the outermost level of braces.
fn outermost(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut items = vec![String::new()];
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().unwrap().push(character);
    }
    items
}

fn first_name(path: &str) -> String {
    let path = path.trim_start();
    path.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect()
}

/// The module of a file of `src`. `None` for lib.rs.
fn module(file: &Path, src: &Path) -> Option<String> {
    let first = file.strip_prefix(src).unwrap().components().next().unwrap();
    let name = first.as_os_str().to_string_lossy();
    let name = name.trim_end_matches(".rs");
    (name != "lib").then(|| name.to_string())
}

fn is_test_file(file: &Path) -> bool {
    file.file_stem().is_some_and(|stem| stem == "tests")
        || file.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn every_module_uses_only_the_modules_in_its_row() {
    let modules: BTreeMap<&str, &[&str]> = MODULES.iter().copied().collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut violations = Vec::new();
    for file in
        rust_files(&src).iter().filter(|file| !is_test_file(file.strip_prefix(&src).unwrap()))
    {
        let Some(home) = module(file, &src) else { continue };
        let name = file.strip_prefix(&src).unwrap().display();
        let Some(allowed) = modules.get(home.as_str()) else {
            violations.push(format!("{name}: the module {home} has no row in this test"));
            continue;
        };
        let code = without_tests_and_comments(&fs::read_to_string(file).unwrap());
        for used in used(&code) {
            if used != home
                && modules.contains_key(used.as_str())
                && !allowed.contains(&used.as_str())
            {
                violations.push(format!("{name}: {home} may not use {used}"));
            }
        }
    }
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn the_rows_have_no_cycle() {
    let modules: BTreeMap<&str, &[&str]> = MODULES.iter().copied().collect();
    // A topological order exists.
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    while placed.len() < modules.len() {
        let next = modules.iter().find(|(module, allowed)| {
            !placed.contains(*module) && allowed.iter().all(|used| placed.contains(used))
        });
        let (module, _) = next.expect("every row names modules that come before it");
        placed.insert(module);
    }
}

#[test]
fn uses_are_found_in_every_spelling() {
    let code = "use crate::workload::Workload;\n\
        use crate::{\n    results::{Store, Trial},\n    numeric,\n};\n\
        fn f(x: &crate::config::Experiment) {}\n\
        // crate::report is only mentioned\n\
        use pgmbench::experiment::Plan;\n\
        #[cfg(test)]\nuse crate::data::Dataset;\n\
        #[cfg(test)]\nmod tests { mod inner {} use crate::figures::Chart; }\n\
        use my_crate::atomic_file::File;\n";
    let found = used(&without_tests_and_comments(code));
    let expected = ["config", "experiment", "numeric", "results", "workload"];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}
