//! Names as people write them.

use super::chart::Series;
use super::palette::colours;
use crate::wording::enumeration;

/// In the order of the paper's Figure 1, which is the order of panels.
const MECHANISMS: [&str; 4] = ["PrivBayes", "DualQuery", "MWEM", "HDMM"];

/// Mechanisms beside those.
const OTHERS: [(&str, &str); 7] = [
    ("laplace", "Laplace"),
    ("gaussian", "Gaussian"),
    ("tree", "Tree"),
    ("privlet", "Privlet"),
    ("php", "P-HP"),
    ("pmw-delta", "PMW (delta)"),
    ("spanning-tree", "Spanning tree"),
];

/// What distinguishes a series: its estimator, and what else varies in the figure (the mechanism,
/// the data), which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeriesKey<'a> {
    pub(super) context: &'a str,
    pub(super) arm: &'a str,
}

/// Series for these keys: one colour for each estimator, one style for each context. Where several
/// contexts have an estimator of their own, these are different ones.
pub(super) fn series(keys: &[SeriesKey], name: impl Fn(&SeriesKey) -> String) -> Vec<Series> {
    let several_own = keys.iter().filter(|key| key.arm == "own").count() > 1;
    let estimator = |key: &SeriesKey| match (key.arm, several_own) {
        ("own", true) => key.context.to_string(),
        (arm, _) => arm.to_string(),
    };
    let estimators = distinct(keys.iter().map(estimator));
    let arms: Vec<&str> = estimators.iter().map(String::as_str).collect();
    let contexts = distinct(keys.iter().map(|key| key.context));
    let colours = colours(&arms);
    let position = |of: &str, list: &[&str]| list.iter().position(|&x| x == of).unwrap_or(0);
    let one = |key: &SeriesKey| Series {
        name: name(key),
        colour: colours[position(&estimator(key), &arms)],
        style: position(key.context, &contexts),
    };
    keys.iter().map(one).collect()
}

/// Without repetitions, in order of appearance.
pub(super) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// The rank of a mechanism among panels: known ones first.
pub(super) fn mechanism_rank(name: &str) -> usize {
    MECHANISMS.iter().position(|known| known.eq_ignore_ascii_case(name)).unwrap_or(MECHANISMS.len())
}

/// `privbayes` is PrivBayes; of those that are not known here, short ones are abbreviations.
pub fn mechanism(name: &str) -> String {
    match MECHANISMS.get(mechanism_rank(name)) {
        Some(known) => known.to_string(),
        None => match OTHERS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
            Some((_, title)) => title.to_string(),
            None => abbreviation(name),
        },
    }
}

/// `lls` is LLS, `synthetic` stays.
fn abbreviation(name: &str) -> String {
    if name.len() <= 4 { name.to_uppercase() } else { name.to_string() }
}

/// `titanic` is Titanic, `search_logs` is Search logs.
pub fn dataset(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    let mut characters = spaced.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => spaced,
    }
}

/// `lls` is LLS; the losses of Figure 3 are spelt out.
pub fn arm(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "own" => "own estimator".into(),
        "htree" => "HTree".into(),
        "admm-l1" => "ADMM(L1)".into(),
        "ml" => "maximum likelihood".into(),
        "pgm-l1" | "l1" => "PGM, minimising L1 loss".into(),
        "pgm-l2" | "l2" => "PGM, minimising L2 loss".into(),
        _ => abbreviation(name),
    }
}

/// A mechanism with an estimator: HDMM for its own one, HDMM+PGM for another. Without a mechanism,
/// the estimator alone.
pub(super) fn mechanism_with(mechanism_name: &str, arm_name: &str) -> String {
    match (mechanism_name.is_empty(), arm_name == "own") {
        (true, _) => arm(arm_name),
        (false, true) => mechanism(mechanism_name),
        (false, false) => format!("{}+{}", mechanism(mechanism_name), arm(arm_name)),
    }
}

/// Parts of a subtitle side by side.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// The star on data that others stand in for.
pub(super) const STAR: &str = "*";

/// What the star means.
pub(super) fn standin_note(datasets: &[String]) -> Option<String> {
    let names = enumeration(datasets);
    (!datasets.is_empty()).then(|| {
        format!("{STAR} {names}: made-up records of the same shape stand in for data that does not ship.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_have_the_names_that_people_write() {
        let named = ["privbayes", "spanning-tree", "php", "mwem", "pmw"].map(mechanism);
        assert_eq!(named, ["PrivBayes", "Spanning tree", "P-HP", "MWEM", "PMW"]);
    }
}
