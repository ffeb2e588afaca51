//! Discretisation: from the text of a field to a code.

use std::borrow::Cow;

use thiserror::Error;

use super::bins::Bins;
use super::number::NumberFormat;
use super::{AttributeKind, AttributeSchema, DatePart, Keep, Missing, Outside};
use crate::spreadsheet;

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
    #[error(
        "'{text}' is not a number as the schema describes it; to read it, write number = {number}"
    )]
    NumberFormat {
        text: String,
        /// Settings that read it.
        number: String,
    },
    #[error("'{text}' is not a date of the form {pattern}, as the schema describes it")]
    NotADate { text: String, pattern: String },
    #[error("{value} is outside [{low}, {end}); widen the bounds, or write outside = \"clamp\"")]
    OutOfBounds { value: f64, low: f64, end: f64 },
    #[error(
        "'{value}' is not one of the {count} values: {listed}; add it to values, or write \
         other = \"other\" for all values that are not listed"
    )]
    UnknownValue {
        value: String,
        count: usize,
        /// The beginning of the list of values.
        listed: String,
    },
    #[error(
        "'{text}' is not one of {listed}; for a file in the form of the original, name its schema"
    )]
    UnknownLabel {
        text: String,
        /// The beginning of the list of labels.
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
        let is_missing = |text: &str| self.missing_texts.iter().any(|missing| missing == text);
        if is_missing(text) || is_missing(spreadsheet::text(text)) {
            return self.encode_missing(false);
        }
        let text = self.prepare(text);
        match &self.kind {
            AttributeKind::Categorical { values, codes, other } => {
                // As listed, or as this program writes it.
                let code = codes.get(&*text).or_else(|| codes.get(spreadsheet::text(&text)));
                match (code.or(other.as_ref()), self.outside) {
                    (Some(&code), _) => Ok(Encoded { code: Some(code), outside: false }),
                    (None, Outside::Missing) => self.encode_missing(true),
                    (None, _) => Err(CellProblem::UnknownValue {
                        value: excerpt(&text),
                        count: values.len(),
                        listed: excerpt(&values.join(", ")),
                    }),
                }
            }
            AttributeKind::Numeric { bins, format } => {
                let value = format.parse(&text).ok_or_else(|| not_a_number(&text))?;
                self.encode_number(bins, value)
            }
            AttributeKind::Date { pattern, part } => {
                let date = pattern.parse(&text).ok_or_else(|| CellProblem::NotADate {
                    text: excerpt(&text),
                    pattern: pattern.text().into(),
                })?;
                let code = match part {
                    DatePart::Year(bins) => return self.encode_number(bins, date.year.into()),
                    DatePart::Month => date.month - 1,
                    DatePart::Weekday => date.weekday(),
                };
                Ok(Encoded { code: Some(code), outside: false })
            }
        }
    }

    fn encode_number(&self, bins: &Bins, value: f64) -> Result<Encoded, CellProblem> {
        let outside = !bins.contains(value);
        match self.outside {
            Outside::Error if outside => {
                Err(CellProblem::OutOfBounds { value, low: bins.low(), end: bins.end() })
            }
            Outside::Missing if outside => self.encode_missing(true),
            _ => Ok(Encoded { code: Some(bins.find(value)), outside }),
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

fn not_a_number(text: &str) -> CellProblem {
    match NumberFormat::guess(text) {
        Some(format) if format != NumberFormat::default() => {
            CellProblem::NumberFormat { text: excerpt(text), number: format.to_toml() }
        }
        _ => CellProblem::NotANumber(excerpt(text)),
    }
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

    use super::super::Schema;
    use super::*;

    /// The attribute of these settings.
    fn attribute(settings: &str) -> AttributeSchema {
        let text = format!(
            "name = 'mine'\n[table]\nfiles = [{{ name = 'f' }}]\n[[attribute]]\nname = 'x'\n\
             {settings}"
        );
        Schema::parse(&text).unwrap().attributes()[0].clone()
    }

    const AGE: &str = "kind = 'numeric'\nbins = 85\nlow = 16\nhigh = 100\n";

    fn categorical(values: &[&str]) -> AttributeSchema {
        attribute(&format!("kind = 'categorical'\nvalues = {values:?}"))
    }

    fn code(attribute: &AttributeSchema, text: &str) -> u32 {
        attribute.encode(text).unwrap().code.unwrap()
    }

    #[test]
    fn numbers_are_encoded_by_their_bins() {
        let age = attribute(AGE);
        assert_eq!((code(&age, "16"), code(&age, " 39 "), code(&age, "100")), (0, 23, 84));
        assert_eq!(age.label(23).unwrap(), "39");
        let bands = attribute(
            "kind = 'numeric'\nedges = [0, 18, 65, 120]\nlabels = ['child', 'adult', 'old']",
        );
        assert_eq!(bands.label(code(&bands, "18")).unwrap(), "adult");
        let income = attribute(
            "kind = 'numeric'\nwidth = 1000\nlow = 0\nbelow = 5000\n\
             number = { decimal = ',', thousands = '.', suffix = ' €' }",
        );
        assert_eq!(income.label(code(&income, "1.999,99 €")).unwrap(), "[1000, 2000)");
    }

    #[test]
    fn dates_are_encoded_by_their_part() {
        let date = |part| attribute(&format!("kind = 'date'\ndate = 'DD.MM.YYYY'\n{part}"));
        let label = |attribute: AttributeSchema| attribute.label(code(&attribute, "14.03.1987"));
        assert_eq!(label(date("part = 'month'")).unwrap(), "March");
        assert_eq!(label(date("part = 'weekday'")).unwrap(), "Saturday");
        let year = date("part = 'year'\nwidth = 10\nlow = 1920\nhigh = 2029");
        assert_eq!(label(year.clone()).unwrap(), "[1980, 1990)");
        let refused = year.encode("1987-03-14").unwrap_err().to_string();
        assert!(refused.contains("not a date of the form DD.MM.YYYY"), "{refused}");
        assert!(matches!(year.encode("1.1.1900"), Err(CellProblem::OutOfBounds { .. })));
    }

    #[test]
    fn values_outside_are_refused_clamped_or_missing() {
        let mut age = attribute(AGE);
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
        for text in ["nan", "inf", "-infinity", "12a"] {
            assert_eq!(age.encode(text), Err(CellProblem::NotANumber(text.into())));
        }
    }

    #[test]
    fn a_number_of_another_format_is_refused_with_that_format() {
        let refused = attribute(AGE).encode("1.234,5").unwrap_err().to_string();
        assert!(refused.ends_with(r#"number = { decimal = ",", thousands = "." }"#), "{refused}");
        let refused = attribute(AGE).encode("20 %").unwrap_err().to_string();
        assert!(refused.ends_with(r#"number = { suffix = " %" }"#), "{refused}");
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

    #[test]
    fn values_that_are_not_listed_can_have_a_code() {
        let city = attribute("kind = 'categorical'\nvalues = ['Bath']\nother = 'elsewhere'");
        assert_eq!(["Bath", "Ely", "elsewhere"].map(|text| code(&city, text)), [0, 1, 1]);
        assert_eq!(city.labels(), ["Bath", "elsewhere"]);
        let city = attribute("kind = 'categorical'\nvalues = ['?', 'Bath']\nother = '?'");
        assert_eq!(["Bath", "Ely"].map(|text| code(&city, text)), [1, 0]);
    }

    #[test]
    fn a_missing_value_is_not_the_category_missing() {
        let status = attribute(
            "kind = 'categorical'\nvalues = ['found', 'missing']\nmissing = 'code'\n\
             missing_texts = ['', 'NA']",
        );
        assert_eq!(["missing", "NA", ""].map(|text| code(&status, text)), [1, 2, 2]);
        assert_eq!(status.labels(), ["found", "missing", "(missing)"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", keep in 0..5usize, last: bool, spaces: bool) {
            let keep = if last { Keep::Last(keep) } else { Keep::First(keep) };
            let date = "kind = 'date'\ndate = 'DD MMM YYYY'\npart = 'weekday'";
            for mut attribute in [attribute(AGE), categorical(&["a", "b"]), attribute(date)] {
                (attribute.keep, attribute.remove_spaces) = (Some(keep), spaces);
                if let Ok(Encoded { code: Some(code), .. }) = attribute.encode(&text) {
                    prop_assert!((code as usize) < attribute.size());
                }
            }
        }
    }
}
