//! Discretisation: from the text of a field to a code.

use std::borrow::Cow;

use thiserror::Error;

use super::{AttributeKind, AttributeSchema, Keep, Missing, Outside};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::data) struct Encoded {
    /// `None` if the record is dropped.
    pub(in crate::data) code: Option<u32>,
    /// Whether the value is outside the bounds or the list.
    pub(in crate::data) outside: bool,
}

#[derive(Clone, Debug, Error, PartialEq)]
pub enum CellProblem {
    #[error(
        "the value is missing, but the schema requires one; write missing = \"code\" to give \
         missing values a code, or missing = \"drop\" to drop the record"
    )]
    Missing,
    #[error("'{0}' is not a number")]
    NotANumber(String),
    #[error("{value} is outside [{low}, {end}); widen the bounds, or write outside = \"clamp\"")]
    OutOfBounds { value: f64, low: f64, end: f64 },
    #[error("'{value}' is not one of the {count} values: {listed}")]
    UnknownValue {
        value: String,
        count: usize,
        /// The beginning of the list of values.
        listed: String,
    },
    #[error(
        "not UTF-8 text; if the file is in Latin-1, write encoding = \"utf-8-or-latin-1\" under \
         [table]"
    )]
    NotUtf8,
}

impl AttributeSchema {
    pub(in crate::data) fn encode(&self, text: &str) -> Result<Encoded, CellProblem> {
        let text = text.trim();
        if self.missing_texts.iter().any(|missing| missing == text) {
            return self.encode_missing(false);
        }
        let text = self.prepare(text);
        match &self.kind {
            AttributeKind::Categorical { values, codes } => match (codes.get(&*text), self.outside)
            {
                (Some(&code), _) => Ok(Encoded { code: Some(code), outside: false }),
                (None, Outside::Missing) => self.encode_missing(true),
                (None, _) => Err(CellProblem::UnknownValue {
                    value: excerpt(&text),
                    count: values.len(),
                    listed: excerpt(&values.join(", ")),
                }),
            },
            &AttributeKind::Numeric { low, end, bins } => {
                let value = text
                    .parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite())
                    .ok_or_else(|| CellProblem::NotANumber(excerpt(&text)))?;
                let outside = value < low || value >= end;
                match self.outside {
                    Outside::Error if outside => Err(CellProblem::OutOfBounds { value, low, end }),
                    Outside::Missing if outside => self.encode_missing(true),
                    _ => Ok(Encoded { code: Some(bin(low, end, bins, value)), outside }),
                }
            }
        }
    }

    /// The code of a missing value. `outside` is true if there was a value that did not fit.
    pub(in crate::data) fn encode_missing(&self, outside: bool) -> Result<Encoded, CellProblem> {
        match self.missing {
            Missing::Error => Err(CellProblem::Missing),
            Missing::Code => Ok(Encoded { code: Some(self.bins() as u32), outside }),
            Missing::Drop => Ok(Encoded { code: None, outside }),
        }
    }

    /// The part of a text that is compared with the list or parsed as a number.
    fn prepare<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = text;
        if let Some(suffix) = &self.strip_suffix {
            text = text.strip_suffix(suffix.as_str()).unwrap_or(text).trim_end();
        }
        text = match self.keep {
            None => text,
            Some(Keep::First(count)) => {
                text.char_indices().nth(count).map_or(text, |(at, _)| &text[..at])
            }
            Some(Keep::Last(count)) => match count.checked_sub(1) {
                None => "",
                Some(before) => {
                    text.char_indices().rev().nth(before).map_or(text, |(at, _)| &text[at..])
                }
            },
        };
        if self.remove_spaces && text.contains(char::is_whitespace) {
            Cow::Owned(text.chars().filter(|c| !c.is_whitespace()).collect())
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// low + i w.
pub(super) fn left_edge(low: f64, end: f64, bins: u32, bin: u32) -> f64 {
    low + f64::from(bin) * ((end - low) / f64::from(bins))
}

/// The last bin whose left end is at most `value`; the first bin for smaller values.
///
/// The quotient can be off by one at an edge because of rounding (16.74 with bins of width 0.31
/// belongs to bin 54, whose edge is 54 x 0.31 in floating point), so the edges decide.
fn bin(low: f64, end: f64, bins: u32, value: f64) -> u32 {
    let edge = |bin: u32| left_edge(low, end, bins, bin);
    let quotient = (value - low) / ((end - low) / f64::from(bins));
    let mut bin = (quotient as u32).min(bins - 1);
    while bin > 0 && value < edge(bin) {
        bin -= 1;
    }
    while bin + 1 < bins && value >= edge(bin + 1) {
        bin += 1;
    }
    bin
}

/// At most 60 characters, for messages.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        None => text.into(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numeric(low: f64, end: f64, bins: u32) -> AttributeSchema {
        AttributeSchema {
            name: "x".into(),
            column: "x".into(),
            kind: AttributeKind::Numeric { low, end, bins },
            missing: Missing::Error,
            outside: Outside::Error,
            missing_when: None,
            missing_texts: vec!["".into()],
            strip_suffix: None,
            remove_spaces: false,
            keep: None,
        }
    }

    fn categorical(values: &[&str]) -> AttributeSchema {
        let codes = (0..).zip(values).map(|(code, value)| (value.to_string(), code)).collect();
        let values = values.iter().map(|value| value.to_string()).collect();
        AttributeSchema {
            kind: AttributeKind::Categorical { values, codes },
            ..numeric(0.0, 1.0, 1)
        }
    }

    fn code(attribute: &AttributeSchema, text: &str) -> u32 {
        attribute.encode(text).unwrap().code.unwrap()
    }

    #[test]
    fn edges_belong_to_the_bin_on_their_right() {
        let dti = numeric(0.0, 31.0, 100);
        assert_eq!(code(&dti, "16.74"), 54);
        assert_eq!(code(&dti, "0"), 0);
        assert_eq!(code(&dti, "30.999"), 99);
        let age = numeric(16.0, 101.0, 85);
        assert_eq!((code(&age, "16"), code(&age, " 39 "), code(&age, "100")), (0, 23, 84));
        assert_eq!(age.label(23).unwrap(), "39");
        assert_eq!(numeric(0.0, 551.0, 100).label(1).unwrap(), "[5.51, 11.02)");
    }

    #[test]
    fn values_outside_are_refused_clamped_or_missing() {
        let mut age = numeric(16.0, 101.0, 85);
        assert_eq!(
            age.encode("101"),
            Err(CellProblem::OutOfBounds { value: 101.0, low: 16.0, end: 101.0 })
        );
        age.outside = Outside::Clamp;
        assert_eq!(age.encode("1e300"), Ok(Encoded { code: Some(84), outside: true }));
        assert_eq!(age.encode("-3"), Ok(Encoded { code: Some(0), outside: true }));
        (age.outside, age.missing) = (Outside::Missing, Missing::Code);
        assert_eq!(age.encode("15.9"), Ok(Encoded { code: Some(85), outside: true }));
        assert_eq!(age.encode(""), Ok(Encoded { code: Some(85), outside: false }));
        age.missing = Missing::Drop;
        assert_eq!(age.encode("15.9"), Ok(Encoded { code: None, outside: true }));
        for text in ["nan", "inf", "-infinity", "12a", "1,5"] {
            assert_eq!(age.encode(text), Err(CellProblem::NotANumber(text.into())));
        }
    }

    #[test]
    fn texts_are_prepared_before_they_are_looked_up() {
        let mut deck = categorical(&["A", "C"]);
        deck.keep = Some(Keep::First(1));
        assert_eq!(code(&deck, "C22 C26"), 1);
        let mut year = categorical(&["1984", "1985"]);
        year.keep = Some(Keep::Last(4));
        assert_eq!(code(&year, "Jan-1985"), 1);
        let mut label = categorical(&["<=50K", ">50K"]);
        label.strip_suffix = Some(".".into());
        assert_eq!((code(&label, ">50K."), code(&label, " >50K")), (1, 1));
        let mut comment = categorical(&["HEARTFAILURE"]);
        comment.remove_spaces = true;
        assert_eq!(code(&comment, "HEART  FAILURE"), 0);
        assert!(matches!(comment.encode("FLU"), Err(CellProblem::UnknownValue { .. })));
    }

    proptest! {
        #[test]
        fn the_bin_agrees_with_a_scan_of_the_edges(
            low in -1e3..1e3f64,
            length in 0.1..1e4f64,
            bins in 1..200u32,
            share in 0.0..1.0f64,
            at_edge: bool,
        ) {
            let end = low + length;
            let value = if at_edge {
                left_edge(low, end, bins, (share * f64::from(bins)) as u32)
            } else {
                low + share * length
            };
            let is_before = |&bin: &u32| left_edge(low, end, bins, bin) <= value;
            let scan = (0..bins).rev().find(is_before).unwrap_or(0);
            prop_assert_eq!(bin(low, end, bins, value), scan);
        }

        #[test]
        fn no_text_panics(text in ".*", keep in 0..5usize, last: bool, spaces: bool) {
            let keep = if last { Keep::Last(keep) } else { Keep::First(keep) };
            for mut attribute in [numeric(0.0, 10.0, 3), categorical(&["a", "b"])] {
                (attribute.keep, attribute.remove_spaces) = (Some(keep), spaces);
                if let Ok(Encoded { code: Some(code), .. }) = attribute.encode(&text) {
                    prop_assert!((code as usize) < attribute.size());
                }
            }
        }
    }
}
