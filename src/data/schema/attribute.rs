use std::collections::HashMap;

use serde::Deserialize;

use super::encode::left_edge;

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
    /// Numbers in equal-width bins, closed on the left:
    /// bin i is [low + i w, low + (i + 1) w) with w = (end - low) / bins.
    Numeric {
        low: f64,
        /// The exclusive right end of the last bin.
        end: f64,
        bins: u32,
    },
    /// Texts from a list. The code is the index in the list.
    Categorical {
        values: Vec<String>,
        /// By every value and every alternative spelling.
        codes: HashMap<String, u32>,
    },
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
            AttributeKind::Numeric { bins, .. } => *bins as usize,
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
            return Some("missing".into());
        }
        Some(match &self.kind {
            AttributeKind::Categorical { values, .. } => values[index].clone(),
            &AttributeKind::Numeric { low, end, bins } => {
                let edge = |bin: u32| left_edge(low, end, bins, bin);
                if low.fract() == 0.0 && end - low == f64::from(bins) {
                    edge(code).to_string()
                } else {
                    format!("[{}, {})", edge(code), edge(code + 1))
                }
            }
        })
    }
}
