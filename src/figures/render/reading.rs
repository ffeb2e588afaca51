use super::super::chart::{Bar, Outcome};
use super::super::numbers::number;
use crate::results::Spread;

/// More digits than anybody reads off an axis, and no more than times and errors deserve.
const DIGITS: usize = 6;

/// The value of a mark in words, for those who point at it: whose it is, what it measures, the
/// median with its range, and how many of the trials have not converged.
pub(super) fn value(whose: &[&str], quantity: &str, spread: &Spread, unconverged: usize) -> String {
    let number = |value: f64| number(value, DIGITS);
    let range = match spread.min < spread.max {
        true => format!(", from {} to {}", number(spread.min), number(spread.max)),
        false => String::new(),
    };
    let trials = match (spread.count, unconverged) {
        (1, 0) => "one trial".into(),
        (1, _) => "one trial, not converged".into(),
        (count, 0) => format!("{count} trials"),
        (count, unconverged) => format!("{count} trials, {unconverged} of them not converged"),
    };
    let quantity = if quantity.is_empty() { String::new() } else { format!("{quantity} ") };
    format!("{}: {quantity}{}{range} ({trials})", listed(whose), number(spread.median))
}

/// What a bar, or what stands in its place, has to say.
pub(super) fn bar(whose: &[&str], quantity: &str, bar: &Bar) -> String {
    match &bar.outcome {
        Outcome::Value(spread) if spread.median.is_finite() => {
            value(whose, quantity, spread, bar.unconverged)
        }
        Outcome::Mark(reason) => format!("{}: {reason}", listed(whose)),
        Outcome::Value(_) | Outcome::Missing => format!("{}: no value", listed(whose)),
    }
}

fn listed(whose: &[&str]) -> String {
    let names: Vec<&str> = whose.iter().copied().filter(|name| !name.is_empty()).collect();
    names.join(", ")
}
