//! Who may use whom: the rooms of `src` and the doors between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room, and the rooms that it may use. `storage` is where a file is written whole or not at all.
const ROOMS: &[(&str, &[&str])] = &[
    ("numeric", &[]),
    ("storage", &[]),
    ("wording", &[]),
    ("domain", &["numeric"]),
    ("factor", &["numeric", "domain"]),
    ("privacy", &["numeric"]),
    ("data", &["numeric", "domain", "factor", "storage", "wording"]),
    ("workload", &["numeric", "domain", "factor"]),
    ("estimation", &["numeric", "domain", "factor", "workload", "storage"]),
    ("problem", &["numeric", "domain", "factor", "workload", "estimation"]),
    ("postprocess", &["numeric", "domain", "factor", "workload", "privacy"]),
    (
        "mechanism",
        &[
            "numeric",
            "domain",
            "factor",
            "privacy",
            "data",
            "workload",
            "estimation",
            "postprocess",
        ],
    ),
    // Uses the words of mechanisms and guarantees for what files may say.
    ("config", &["wording", "privacy", "mechanism"]),
    // Attacks mechanisms, as an outsider who knows the data would.
    ("audit", &["domain", "factor", "privacy", "data", "workload", "estimation", "mechanism"]),
    ("evaluation", &["numeric", "domain", "factor", "workload"]),
    ("results", &["numeric", "privacy", "storage", "config"]),
    ("figures", &["numeric", "config", "results", "storage", "wording"]),
    (
        "experiment",
        &[
            "numeric",
            "domain",
            "factor",
            "privacy",
            "data",
            "workload",
            "estimation",
            "problem",
            "postprocess",
            "mechanism",
            "evaluation",
            "results",
            "figures",
            "config",
            "storage",
        ],
    ),
    (
        "report",
        &["numeric", "privacy", "config", "results", "experiment", "figures", "storage", "wording"],
    ),
    (
        "cli",
        &[
            "numeric",
            "privacy",
            "domain",
            "factor",
            "data",
            "workload",
            "estimation",
            "problem",
            "audit",
            "experiment",
            "results",
            "figures",
            "report",
            "config",
            "storage",
        ],
    ),
    ("main", &["cli"]),
];

/// The ways to begin a path to a room: from within the library, and from the binary.
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

/// The code without comments and without what only tests see. A `#[cfg(test)]` takes the item after
/// it along: to its semicolon, or to the end of its braces.
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

/// The bytes from the first brace to the one that closes it.
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

/// The rooms that a text mentions: `crate::room::...`, and each of `crate::{room::..., room}`.
fn mentioned(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for root in ROOTS {
        for (start, _) in code.match_indices(root) {
            let preceding = code[..start].chars().next_back();
            if preceding.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let path = &code[start + root.len()..];
            if path.starts_with('{') {
                let group = &path[1..length_of_block(path) - 1];
                rooms.extend(outermost(group).iter().map(|item| first_name(item)));
            } else {
                rooms.insert(first_name(path));
            }
        }
    }
    // A comma at the end of a list leaves an item without a name.
    rooms.remove("");
    rooms
}

/// The items of a list, without looking into braces.
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

/// The room that a file of `src` belongs to; `None` for the list of rooms itself.
fn room(file: &Path, src: &Path) -> Option<String> {
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
fn every_room_uses_only_the_rooms_that_its_row_names() {
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut complaints = Vec::new();
    for file in
        rust_files(&src).iter().filter(|file| !is_test_file(file.strip_prefix(&src).unwrap()))
    {
        let Some(home) = room(file, &src) else { continue };
        let name = file.strip_prefix(&src).unwrap().display();
        let Some(allowed) = rooms.get(home.as_str()) else {
            complaints.push(format!("{name}: the room {home} has no row in this test"));
            continue;
        };
        let code = without_tests_and_comments(&fs::read_to_string(file).unwrap());
        for used in mentioned(&code) {
            if used != home
                && rooms.contains_key(used.as_str())
                && !allowed.contains(&used.as_str())
            {
                complaints.push(format!("{name}: {home} may not use {used}"));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn no_two_rooms_may_use_each_other() {
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    // Rows that name only rooms which can be put before them: an order without a circle.
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    while placed.len() < rooms.len() {
        let next = rooms.iter().find(|(room, allowed)| {
            !placed.contains(*room) && allowed.iter().all(|used| placed.contains(used))
        });
        let (room, _) = next.expect("the rows can be ordered from the ground up");
        placed.insert(room);
    }
}

#[test]
fn uses_are_found_in_every_spelling() {
    let code = "use crate::domain::Clique;\n\
        use crate::{\n    factor::{Factor, Potentials},\n    numeric,\n};\n\
        fn f(x: &crate::workload::QueryMatrix) {}\n\
        // crate::report is only mentioned\n\
        use pgmbench::problem::Problem;\n\
        #[cfg(test)]\nuse crate::data::Dataset;\n\
        #[cfg(test)]\nmod tests { mod inner {} use crate::figures::Chart; }\n\
        use my_crate::results::Store;\n";
    let found = mentioned(&without_tests_and_comments(code));
    let expected = ["domain", "factor", "numeric", "problem", "workload"];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}

/// Whether code uses the word `unsafe`, outside of comments and of longer words.
fn is_unsafe(code: &str) -> bool {
    let word = |c: char| !c.is_alphanumeric() && c != '_';
    let lines = code.lines().map(|line| line.find("//").map_or(line, |start| &line[..start]));
    lines.flat_map(|line| line.split(word)).any(|piece| piece == "unsafe")
}

/// There is none at all. The kernels of `numeric` may have some one day, each with a proof in a
/// comment and a run under Miri; no other room may.
#[test]
fn nothing_is_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in rust_files(&root.join("src")).iter().chain([&root.join("build.rs")]) {
        assert!(!is_unsafe(&fs::read_to_string(file).unwrap()), "{}", file.display());
    }
    assert!(is_unsafe("let x = unsafe { y };") && is_unsafe("unsafe fn f() {}"));
    assert!(!is_unsafe("let not_unsafe = 1; // unsafe"));
}
