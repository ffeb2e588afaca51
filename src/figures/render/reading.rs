use super::super::chart::{Bar, Outcome, Shown};
use super::super::numbers::number;
use crate::config::Statistic;

/// Significant digits: more than an axis shows, few enough to be readable.
const DIGITS: usize = 6;

/// The text that is shown while the pointer is on a bar or a point: names, quantity, value, range
/// or standard error, number of trials, and how many of them have not converged.
pub(super) fn value(names: &[&str], quantity: &str, shown: &Shown, unconverged: usize) -> String {
    let number = |value: f64| number(value, DIGITS);
    let range = match shown.low < shown.high {
        true if shown.statistic == Statistic::Mean => {
            format!(" with a standard error of {}", number(shown.high - shown.value))
        }
        true => format!(", from {} to {}", number(shown.low), number(shown.high)),
        false => String::new(),
    };
    let trials = match (shown.count, unconverged) {
        (1, 0) => "one trial".into(),
        (1, _) => "one trial, not converged".into(),
        (count, 0) => format!("{count} trials"),
        (count, unconverged) => format!("{count} trials, {unconverged} of them not converged"),
    };
    let quantity = if quantity.is_empty() { String::new() } else { format!("{quantity} ") };
    format!("{}: {quantity}{}{range} ({trials})", joined(names), number(shown.value))
}

pub(super) fn bar(names: &[&str], quantity: &str, bar: &Bar) -> String {
    match &bar.outcome {
        Outcome::Value(shown) if shown.value.is_finite() => {
            value(names, quantity, shown, bar.unconverged)
        }
        Outcome::Failure(reason) => format!("{}: {reason}", joined(names)),
        Outcome::Value(_) | Outcome::Missing => format!("{}: no value", joined(names)),
    }
}

fn joined(names: &[&str]) -> String {
    let nonempty: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    nonempty.join(", ")
}
