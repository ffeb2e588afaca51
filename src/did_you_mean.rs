//! Suggestions for misspelt words, and parser errors in the terms of TOML files instead of Rust
//! types.

pub use private_pgm::closest::closest;

/// How serde's message about a key begins.
const UNKNOWN_FIELD: &str = "unknown field `";

/// Translates an error of the TOML parser or of serde into a message and a suggestion.
pub(crate) fn in_words(message: &str) -> (String, Option<String>) {
    if let Some((key, allowed)) = unknown(message, UNKNOWN_FIELD) {
        return (format!("there is no setting `{key}` here"), Some(choose(key, &allowed)));
    }
    if let Some((word, allowed)) = unknown(message, "unknown variant `") {
        return (format!("\"{word}\" is not a choice here"), Some(choose(word, &allowed)));
    }
    if let Some(key) = message.strip_prefix("missing field `") {
        return (format!("`{key} is missing"), None);
    }
    let kinds = ["invalid type: ", "invalid value: "];
    if let Some((found, expected)) =
        kinds.iter().find_map(|kind| message.strip_prefix(kind)?.rsplit_once(", expected "))
    {
        let expected = match expected {
            "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
            "f64" => "a number",
            "a sequence" => "a list",
            "path string" => "a path, as a string",
            other => other,
        };
        // The usual cause is a section of a list with single brackets.
        let help =
            "a section of a list has double brackets, such as [[mechanism]] or [[attribute]]";
        let help = (expected == "a list" && found == "map").then(|| help.to_string());
        return (format!("expected {expected}, but found {}", value(found)), help);
    }
    match message {
        "wanted string or table" => ("expected a string".into(), None),
        _ => (message.into(), None),
    }
}

/// The key that serde's message says is not known where it is written.
pub(crate) fn unknown_key(message: &str) -> Option<&str> {
    unknown(message, UNKNOWN_FIELD).map(|(key, _)| key)
}

/// A value in serde's message as it is written in TOML: 3 for "integer `3`".
fn value(found: &str) -> &str {
    let number = ["integer `", "floating point `", "boolean `"].iter().find_map(|kind| {
        let number = found.strip_prefix(kind)?.strip_suffix('`')?;
        Some(number.strip_suffix(".0").unwrap_or(number))
    });
    match found {
        "sequence" => "a list",
        "map" => "a table",
        _ => number.or(found.strip_prefix("string ")).unwrap_or(found),
    }
}

/// The unknown word in serde's message, and the words that are allowed.
fn unknown<'a>(message: &'a str, prefix: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (word, expected) = message.strip_prefix(prefix)?.split_once("`, expected ")?;
    Some((word, expected.split('`').skip(1).step_by(2).collect()))
}

/// A suggestion, if there is one, and all choices.
fn choose(word: &str, allowed: &[&str]) -> String {
    let list = allowed.join(", ");
    match closest(word, allowed.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? Allowed: {list}"),
        None => format!("allowed: {list}"),
    }
}
