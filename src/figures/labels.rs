//! Names of mechanisms, estimators and datasets as the literature writes them.

use super::chart::Series;
use super::palette::colours;
use crate::config::Emphasis;
use crate::mechanism::find;
use crate::results::TrialRecord;

/// The mechanisms in the order of panels in the paper's Figure 1.
const FIGURE_1: [&str; 4] = ["privbayes", "dualquery", "mwem", "hdmm"];

/// What distinguishes a series: its estimator, and whatever else varies in the figure (mechanism,
/// dataset); the context may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeriesKey<'a> {
    pub(super) context: &'a str,
    pub(super) arm: &'a str,
}

/// Series for these keys: a colour per estimator, a style per context. The own estimators of
/// several contexts count as different estimators.
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
        emphasis: Emphasis::default(),
    };
    keys.iter().map(one).collect()
}

/// Removes duplicates and keeps the order of first appearance.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

/// The position of a mechanism's panel: those of Figure 1 first.
pub(super) fn mechanism_rank(name: &str) -> usize {
    FIGURE_1.iter().position(|known| *known == name).unwrap_or(FIGURE_1.len())
}

/// The title of the mechanism: `privbayes` becomes PrivBayes. Other labels are unchanged.
pub(crate) fn mechanism(name: &str) -> String {
    let (base, value) = with_value(name);
    find(base).map_or(base, |spec| spec.title).to_string() + value
}

/// The name, and the value of the sweep that follows it.
fn with_value(name: &str) -> (&str, &str) {
    name.split_at(name.find(" (").unwrap_or(name.len()))
}

/// `lls` becomes LLS, `synthetic` is unchanged.
fn abbreviation(name: &str) -> String {
    if name.len() <= 4 { name.to_uppercase() } else { name.to_string() }
}

/// `titanic` becomes Titanic, `search_logs` becomes Search logs.
pub(crate) fn dataset(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    let mut characters = spaced.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => spaced,
    }
}

/// `lls` becomes LLS; the losses of Figure 3 are spelt out.
pub(crate) fn arm(name: &str) -> String {
    let (base, value) = with_value(name);
    let title = match base.to_ascii_lowercase().as_str() {
        "own" => "own estimator".into(),
        "htree" => "HTree".into(),
        "grem" => "GReM".into(),
        "grem-lnn" => "GReM-LNN".into(),
        "admm-l1" => "ADMM(L1)".into(),
        "ml" => "maximum likelihood".into(),
        "uniform" => "uniform table".into(),
        "pgm-l1" | "l1" => "PGM, minimising L1 loss".into(),
        "pgm-l2" | "l2" => "PGM, minimising L2 loss".into(),
        "pgm-l2-spectral" => "PGM, L2 loss, Algorithm 2".into(),
        "pgm-l2-smoothness" => "PGM, L2 loss, Algorithm 2 with longer steps".into(),
        _ => abbreviation(base),
    };
    title + value
}

/// A mechanism and its estimator: HDMM for its own one, HDMM+PGM for another. Without a mechanism,
/// the estimator alone.
pub(super) fn mechanism_with(mechanism_name: &str, arm_name: &str) -> String {
    match (mechanism_name.is_empty(), arm_name == "own") {
        (true, _) => arm(arm_name),
        (false, true) => mechanism(mechanism_name),
        (false, false) => format!("{}+{}", mechanism(mechanism_name), arm(arm_name)),
    }
}

/// The nonempty parts of a subtitle, separated by dots.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// "a", "a and b", "a, b and c".
pub(crate) fn enumeration(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Marks datasets that are stand-ins.
const STAR: &str = "*";

/// The star if some of the trials ran on a stand-in.
pub(super) fn star<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> &'static str {
    if trials.into_iter().any(|trial| trial.standin) { STAR } else { "" }
}

/// The meaning of the star, if some of the trials ran on a stand-in.
pub(super) fn standin_note(trials: &[TrialRecord]) -> Option<String> {
    let standins = trials.iter().filter(|trial| trial.standin);
    let datasets = distinct(standins.map(|trial| dataset(&trial.dataset)));
    let verb = match datasets.len() {
        0 => return None,
        1 => "is a stand-in",
        _ => "are stand-ins",
    };
    let names = enumeration(&datasets);
    Some(format!("{STAR} {names} {verb}: synthetic records in place of data that does not ship."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_by_commas_and_a_final_and() {
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(
            [0, 1, 2, 3].map(|n| enumeration(&names[..n])),
            ["", "a", "a and b", "a, b and c"]
        );
    }

    #[test]
    fn mechanisms_have_the_names_of_the_literature() {
        let named = ["privbayes", "mst", "php", "mm", "mine"].map(mechanism);
        assert_eq!(named, ["PrivBayes", "MST", "P-HP", "MM", "mine"]);
    }
}
