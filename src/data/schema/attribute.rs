use std::collections::HashMap;

use serde::Deserialize;

use super::encode::left_edge;

/// One attribute: the column that it is read from and how a text becomes a code.
///
/// The codes are `0..bins`, and `bins` itself for a missing value where [`Missing::Code`] says so.
#[derive(Clone, Debug)]
pub struct AttributeSchema {
    /// The attribute's name in the domain.
    pub name: String,
    /// The column of the file.
    pub column: String,
    /// What the values are.
    pub kind: Kind,
    /// What becomes of a record without a value.
    pub missing: Missing,
    /// What becomes of a value outside the bounds or the list.
    pub outside: Outside,
    /// Records whose value counts as missing, whatever it is.
    pub missing_when: Option<MissingWhen>,
    pub(super) missing_texts: Vec<String>,
    pub(super) strip_suffix: Option<String>,
    pub(super) remove_spaces: bool,
    pub(super) keep: Option<Keep>,
}

/// The values of an attribute.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Numbers in equal-width bins, closed on the left:
    /// bin i is [low + i w, low + (i + 1) w) with w = (end - low) / bins.
    Numeric {
        /// The left end of the first bin.
        low: f64,
        /// The right end of the last bin, which does not belong to it.
        end: f64,
        /// How many bins.
        bins: u32,
    },
    /// Texts from a list; the code is the place in the list.
    Categorical {
        /// The list.
        values: Vec<String>,
        /// The code of every value and of every other spelling of it.
        codes: HashMap<String, u32>,
    },
}

/// What becomes of a record without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It is an error.
    #[default]
    Error,
    /// "Missing" has a code of its own, the last one.
    Code,
    /// The record is left out.
    Drop,
}

/// What becomes of a value outside the bounds or the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// It is an error.
    #[default]
    Error,
    /// It falls into the first or the last bin (numbers only).
    Clamp,
    /// It counts as missing, which is what the paper's tables do.
    Missing,
}

/// Records whose value counts as missing because of another column.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingWhen {
    /// The other column.
    pub column: String,
    /// Its text in these records.
    pub is: String,
}

/// The part of a text that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// So many characters at the beginning.
    First(usize),
    /// So many characters at the end.
    Last(usize),
}

impl AttributeSchema {
    /// The number of bins or listed values, without the code for missing values.
    pub fn bins(&self) -> usize {
        match &self.kind {
            Kind::Numeric { bins, .. } => *bins as usize,
            Kind::Categorical { values, .. } => values.len(),
        }
    }

    /// The number of codes, n_i.
    pub fn size(&self) -> usize {
        self.bins() + usize::from(self.missing == Missing::Code)
    }

    /// What a code stands for: a value, a number where bins hold one integer each, an interval
    /// where they hold more, or "missing". `None` for numbers that are not codes.
    pub fn label(&self, code: u32) -> Option<String> {
        let place = code as usize;
        if place >= self.size() {
            return None;
        }
        if place == self.bins() {
            return Some("missing".into());
        }
        Some(match &self.kind {
            Kind::Categorical { values, .. } => values[place].clone(),
            &Kind::Numeric { low, end, bins } => {
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
