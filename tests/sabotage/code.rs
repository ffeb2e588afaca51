//! The planted bugs in the code.

use std::fs;
use std::path::{Path, PathBuf};

/// The names in all `sabotage!(.., "name", ..)`, sorted.
pub(crate) fn names() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for file in ["src", "crates/dp/src"].iter().flat_map(|folder| files(&root.join(folder))) {
        let code = fs::read_to_string(&file).unwrap();
        let calls = code.split("sabotage!(").skip(1);
        // Documentation names the macro too.
        names.extend(calls.filter_map(second_argument).filter(|name| name != "name"));
    }
    names.sort();
    names.dedup();
    names
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The literal after the first comma outside of all brackets.
fn second_argument(call: &str) -> Option<String> {
    let mut depth = 0;
    for (place, character) in call.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                let literal = call[place + 1..].trim_start().strip_prefix('"')?;
                return literal.split('"').next().map(str::to_string);
            }
            _ => {}
        }
    }
    None
}

#[test]
fn names_are_found_behind_any_expression() {
    for (call, name) in [
        ("x, \"a-b\", y)", Some("a-b")),
        ("f(x, [y, z]),\n    \"c\",\n  {})", Some("c")),
        (")", None),
        ("x, y)", None),
    ] {
        assert_eq!(second_argument(call).as_deref(), name, "{call}");
    }
}
