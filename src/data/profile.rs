use std::collections::BTreeSet;

use super::infer::{Draft, quote};

/// A summary of the fields of a column, for the draft of a schema.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) missing: usize,
    /// The distinct texts. `None` if there are too many.
    texts: Option<BTreeSet<String>>,
    /// The range of the numbers. `None` if a text is not a number.
    numbers: Option<Numbers>,
    rows: usize,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    low: f64,
    high: f64,
    integers: bool,
}

pub(super) enum Verdict {
    /// The settings of an attribute.
    Attribute(String),
    /// The reason why the column is no attribute.
    LeftOut(String),
}

impl Default for Profile {
    fn default() -> Self {
        let numbers = Numbers { low: f64::INFINITY, high: f64::NEG_INFINITY, integers: true };
        Self { missing: 0, texts: Some(BTreeSet::new()), numbers: Some(numbers), rows: 0 }
    }
}

impl Profile {
    /// Bins of a numeric attribute that cannot have one per integer. The number of the ICML 2019
    /// paper.
    const BINS: usize = 100;

    /// Adds a text that is not missing.
    pub(super) fn add(&mut self, text: &str) {
        self.rows += 1;
        self.numbers = self.numbers.zip(number(text)).map(|(numbers, value)| Numbers {
            low: numbers.low.min(value),
            high: numbers.high.max(value),
            integers: numbers.integers && value.fract() == 0.0,
        });
        if let Some(texts) = &mut self.texts {
            if !texts.contains(text) {
                texts.insert(text.into());
            }
            if texts.len() > Draft::MAX_VALUES {
                self.texts = None;
            }
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        if self.rows == 0 {
            return Verdict::LeftOut("it has no values".into());
        }
        let missing = if self.missing > 0 { "\nmissing = \"code\"" } else { "" };
        match (self.numbers.and_then(Numbers::settings), &self.texts) {
            (Some(settings), _) => {
                Verdict::Attribute(format!("kind = \"numeric\"\n{settings}{missing}"))
            }
            (None, Some(texts)) => {
                let values: Vec<String> = texts.iter().map(|text| quote(text)).collect();
                let values = values.join(", ");
                Verdict::Attribute(format!("kind = \"categorical\"\nvalues = [{values}]{missing}"))
            }
            (None, None) => Verdict::LeftOut(format!(
                "it has more than {} different values (an identifier, or free text?)",
                Draft::MAX_VALUES
            )),
        }
    }
}

impl Numbers {
    /// Bins that contain every number seen. `None` for numbers that are too large to distinguish.
    fn settings(self) -> Option<String> {
        let Self { low, high, integers } = self;
        if low.abs().max(high.abs()) > 1e15 {
            return None;
        }
        if integers {
            let bins = ((high - low) as usize + 1).min(Profile::BINS);
            return Some(format!("bins = {bins}\nlow = {low}\nhigh = {high}"));
        }
        // Bounds with a precision of about two digits. Division by a power of ten keeps them short.
        let digits = (1.0 - (high - low).log10().floor()).clamp(0.0, 15.0) as i32;
        let scale = 10f64.powi(digits);
        let (low_end, below) =
            ((low * scale).floor() / scale, ((high * scale).floor() + 1.0) / scale);
        let holds =
            low_end <= low && high < below && below - low_end > low.abs().max(high.abs()) * 1e-9;
        holds.then(|| format!("bins = {}\nlow = {low_end}\nbelow = {below}", Profile::BINS))
    }
}

/// `None` for texts that are no numbers, and for codes with leading zeros such as post codes.
fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['-', '+']).as_bytes();
    if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}
