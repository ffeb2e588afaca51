use std::collections::HashMap;

use serde::Deserialize;

use super::bins::Bins;
use super::date::{DatePattern, MONTHS, WEEKDAYS};
use super::number::NumberFormat;
use private_pgm::domain::{Labels, LabelsError};

/// An attribute: the column of the file, and the discretisation of a text to a code.
///
/// The codes are `0..bins`, and `bins` for a missing value with [`Missing::Code`].
#[derive(Clone, Debug)]
pub struct AttributeSchema {
    /// In the domain.
    pub name: String,
    /// Of the file.
    pub(crate) column: String,
    pub(crate) kind: AttributeKind,
    pub missing: Missing,
    pub(crate) outside: Outside,
    /// Records whose value is treated as missing.
    pub(crate) missing_when: Option<MissingWhen>,
    pub(super) missing_texts: Vec<String>,
    pub(super) strip_suffix: Option<String>,
    pub(super) remove_spaces: bool,
    pub(super) keep: Option<Keep>,
}

#[derive(Clone, Debug)]
pub(crate) enum AttributeKind {
    Numeric {
        bins: Bins,
        format: NumberFormat,
    },
    Date {
        pattern: DatePattern,
        part: DatePart,
    },
    /// Texts from a list. The code is the index in the list.
    Categorical {
        /// With the value for all others at the end, unless it is listed.
        values: Vec<String>,
        /// By every value and every alternative spelling.
        codes: HashMap<String, u32>,
        /// The code of texts that are not listed.
        other: Option<u32>,
    },
}

/// What of a date is the value.
#[derive(Clone, Debug)]
pub(crate) enum DatePart {
    Year(Bins),
    Month,
    Weekday,
}

/// The treatment of a record without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    #[default]
    Error,
    /// A missing value has its own code, the last one.
    Code,
    /// The record is dropped.
    Drop,
}

/// The treatment of a value outside the bounds or the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outside {
    #[default]
    Error,
    /// It is in the first or the last bin (numbers only).
    Clamp,
    /// It is treated as missing, as in the paper's tables.
    Missing,
}

/// Records whose value is missing because of another column.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MissingWhen {
    pub(crate) column: String,
    /// The text of that column.
    pub(crate) is: String,
}

/// The part of a text that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Keep {
    /// Characters at the beginning.
    First(usize),
    /// Characters at the end.
    Last(usize),
}

impl AttributeSchema {
    /// Bins or listed values, without the code of missing values.
    pub fn bins(&self) -> usize {
        match &self.kind {
            AttributeKind::Numeric { bins, .. } => bins.len(),
            AttributeKind::Date { part: DatePart::Year(bins), .. } => bins.len(),
            AttributeKind::Date { part: DatePart::Month, .. } => MONTHS.len(),
            AttributeKind::Date { part: DatePart::Weekday, .. } => WEEKDAYS.len(),
            AttributeKind::Categorical { values, .. } => values.len(),
        }
    }

    /// The number of codes, n_i.
    pub fn size(&self) -> usize {
        self.bins() + usize::from(self.missing == Missing::Code)
    }

    /// The meaning of a code: a value, a number if bins contain one integer each, an interval if
    /// they contain more, or "missing". `None` for numbers that are no codes.
    pub fn label(&self, code: u32) -> Option<String> {
        let index = code as usize;
        if index >= self.size() {
            return None;
        }
        if index == self.bins() {
            return Some(self.missing_label());
        }
        Some(match &self.kind {
            AttributeKind::Categorical { values, .. } => values[index].clone(),
            AttributeKind::Numeric { bins, .. } => bins.label(index),
            AttributeKind::Date { part: DatePart::Year(bins), .. } => bins.label(index),
            AttributeKind::Date { part: DatePart::Month, .. } => MONTHS[index].into(),
            AttributeKind::Date { part: DatePart::Weekday, .. } => WEEKDAYS[index].into(),
        })
    }

    /// The labels of all codes.
    pub fn labels(&self) -> Vec<String> {
        (0..self.size() as u32).filter_map(|code| self.label(code)).collect()
    }

    /// The labels with the edges of bins.
    pub(super) fn domain_labels(&self) -> Result<Labels, LabelsError> {
        let labels = Labels::new(self.labels())?;
        match &self.kind {
            AttributeKind::Numeric { bins, .. }
            | AttributeKind::Date { part: DatePart::Year(bins), .. } => {
                labels.with_edges(bins.edges())
            }
            _ => Ok(labels),
        }
    }

    /// Whether a code is that of missing values.
    pub(crate) fn is_missing(&self, code: u32) -> bool {
        code as usize == self.bins()
    }

    /// The text of a missing value in a file: empty if that is one.
    pub(crate) fn missing_text(&self) -> &str {
        match self.missing_texts.iter().any(String::is_empty) {
            true => "",
            false => self.missing_texts.first().map_or("", String::as_str),
        }
    }

    /// "missing", in brackets as often as needed to differ from the labels of values.
    fn missing_label(&self) -> String {
        let named: &[String] = match &self.kind {
            AttributeKind::Categorical { values, .. } => values,
            AttributeKind::Numeric { bins, .. }
            | AttributeKind::Date { part: DatePart::Year(bins), .. } => {
                bins.labels().unwrap_or_default()
            }
            AttributeKind::Date { .. } => &[],
        };
        let mut label = String::from("missing");
        while named.contains(&label) {
            label = format!("({label})");
        }
        label
    }
}
