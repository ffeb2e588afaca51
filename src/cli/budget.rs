//! Privacy parameters as arguments, refused before anything else happens.

use dp::{Delta, Epsilon};

pub(crate) fn epsilon(text: &str) -> Result<Epsilon, String> {
    Epsilon::requested(number(text)?).map_err(|error| error.to_string())
}

pub(crate) fn delta(text: &str) -> Result<Delta, String> {
    Delta::new(number(text)?).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number".to_string())
}
