use super::super::chart::Outcome;
use super::super::numbers::number;
use crate::results::Spread;

/// More digits than anybody reads off an axis, and no more than times and errors deserve.
const DIGITS: usize = 6;

/// The value of a mark in words, for those who point at it: whose it is, what it measures, the
/// median with its range.
pub(super) fn value(whose: &[&str], quantity: &str, spread: &Spread) -> String {
    let number = |value: f64| number(value, DIGITS);
    let range = match spread.min < spread.max {
        true => format!(", from {} to {}", number(spread.min), number(spread.max)),
        false => String::new(),
    };
    let trials = match spread.count {
        1 => "one trial".into(),
        count => format!("{count} trials"),
    };
    let quantity = if quantity.is_empty() { String::new() } else { format!("{quantity} ") };
    format!("{}: {quantity}{}{range} ({trials})", listed(whose), number(spread.median))
}

/// What a bar, or what stands in its place, has to say.
pub(super) fn outcome(whose: &[&str], quantity: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(spread) if spread.median.is_finite() => value(whose, quantity, spread),
        Outcome::Mark(reason) => format!("{}: {reason}", listed(whose)),
        Outcome::Value(_) | Outcome::Missing => format!("{}: no value", listed(whose)),
    }
}

fn listed(whose: &[&str]) -> String {
    let names: Vec<&str> = whose.iter().copied().filter(|name| !name.is_empty()).collect();
    names.join(", ")
}
