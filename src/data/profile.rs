use std::collections::BTreeSet;

use super::infer::{Draft, quote};

/// What the fields of a column look like, gathered while a schema is drafted.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// The fields without a value.
    pub(super) missing: usize,
    /// The different texts, as long as there are not too many.
    texts: Option<BTreeSet<String>>,
    /// The range of the numbers, as long as all texts are numbers.
    numbers: Option<Numbers>,
    rows: usize,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    low: f64,
    high: f64,
    integers: bool,
}

/// What becomes of a column.
pub(super) enum Verdict {
    /// An attribute with these settings.
    Attribute(String),
    /// None, for this reason.
    LeftOut(String),
}

impl Default for Profile {
    fn default() -> Self {
        let numbers = Numbers { low: f64::INFINITY, high: f64::NEG_INFINITY, integers: true };
        Self { missing: 0, texts: Some(BTreeSet::new()), numbers: Some(numbers), rows: 0 }
    }
}

impl Profile {
    /// Bins of a numeric attribute that cannot have one per integer: the paper's number.
    const BINS: usize = 100;

    /// Takes a text that is not missing into account.
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

    /// The settings of the attribute, or why there is none.
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
    /// Bins that hold every number seen; none for numbers too large to be told apart.
    fn settings(self) -> Option<String> {
        let Self { low, high, integers } = self;
        if low.abs().max(high.abs()) > 1e15 {
            return None;
        }
        if integers {
            let bins = ((high - low) as usize + 1).min(Profile::BINS);
            return Some(format!("bins = {bins}\nlow = {low}\nhigh = {high}"));
        }
        // Bounds of about two digits' precision; the inverse of a power of ten keeps them short.
        let digits = (1.0 - (high - low).log10().floor()).clamp(0.0, 15.0) as i32;
        let scale = 10f64.powi(digits);
        let (low_end, below) =
            ((low * scale).floor() / scale, ((high * scale).floor() + 1.0) / scale);
        let holds =
            low_end <= low && high < below && below - low_end > low.abs().max(high.abs()) * 1e-9;
        holds.then(|| format!("bins = {}\nlow = {low_end}\nbelow = {below}", Profile::BINS))
    }
}

/// The number that a text is; none for codes with leading zeros, such as post codes.
fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['-', '+']).as_bytes();
    if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}
