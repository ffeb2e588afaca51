use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::schema::quote;
use super::Draft;

/// In drafts from a stream, to be replaced by hand.
const UNKNOWN_FILE: &str = "mine.csv";

/// The schema up to the attributes.
pub(super) fn preamble(
    file: Option<&str>,
    delimiter: u8,
    utf8: bool,
    missing_texts: &BTreeSet<&str>,
) -> String {
    let is_known = file.is_some();
    let file = file.unwrap_or(UNKNOWN_FILE);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = file.split('.').next().unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let name = if name.is_empty() { "mine" } else { &name };
    let mut text = String::new();
    text.push_str(&comment(Draft::WARNING));
    let _ = writeln!(text, "\nname = {}\n", quote(name));
    let mark = format!(
        "A draft. Check {}. Then remove the next line by hand: no release accepts a draft.",
        Draft::CHECKS
    );
    let _ = writeln!(text, "{}draft = true\n\n[table]", comment(&mark));
    if !is_known {
        text.push_str(
            "# The draft was made from the standard input; write the file's name here.\n",
        );
    }
    let _ = writeln!(text, "files = [{{ name = {} }}]", quote(file));
    if delimiter != b',' {
        let _ = writeln!(text, "delimiter = {}", quote(&char::from(delimiter).to_string()));
    }
    if !utf8 {
        let _ = writeln!(text, "encoding = \"utf-8-or-latin-1\"");
    }
    let missing: Vec<String> = missing_texts.iter().map(|text| quote(text)).collect();
    let _ = writeln!(text, "missing = [{}]", missing.join(", "));
    text
}

/// The text as TOML comments.
fn comment(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.len() + 1 + word.len() > COLUMNS) {
            lines.push("#".into());
        }
        if let Some(line) = lines.last_mut() {
            line.extend([" ", word]);
        }
    }
    lines.join("\n") + "\n"
}
