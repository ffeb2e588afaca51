//! Estimation problems as files: measurements, their noise, and structural zeros.
//!
//! # The format
//!
//! A problem is a JSON object:
//!
//! ```json
//! { "domain": {"age": 12, "sex": 2, "hrs": 8},
//!   "total": 800.0,
//!   "measurements": [
//!     {"attrs": ["age", "sex"], "query": ["prefix", "identity"],
//!      "y": [15.0, 30.2], "stddev": 2.0},
//!     {"attrs": ["hrs"], "query": ["prefix"], "y": [72.5], "stddev": 1.0} ],
//!   "zeros": [ {"attrs": ["age", "sex"], "cells": [[0, 1]]} ] }
//! ```
//!
//! where the full lists `y` have 24 and 8 numbers.
//!
//! - `domain`: the attributes, and how many values each has; the values are 0, 1, ... The order of
//!   the file is kept.
//! - `total`: the number of records, positive. When it is `null` or left out, it is estimated from
//!   the measurements ([`estimate_total`]).
//! - `measurements`: noisy answers. `attrs` lists different attributes, or none for the total.
//!   `query` has one entry per attribute and denotes their Kronecker product; default: the count of
//!   each combination of values. `y` has the answers, row-major in `attrs` as listed, as one list
//!   or as nested lists with one level per attribute. `stddev` is the standard deviation of the
//!   noise on each answer, positive.
//! - `zeros`: combinations of values that no record has, one list of values per cell, in the order
//!   of its `attrs`. May be left out.
//! - `labels`: per attribute, the names of its values; `edges`: the ends of the bins of attributes
//!   with labels that are bins of numbers. Both may be left out
//!   ([`Labels`](crate::domain::Labels)).
//!
//! An entry of `query` is one of
//!
//! | entry | rows | asks for |
//! | --- | --- | --- |
//! | `"identity"` | n | the count of each value |
//! | `"prefix"` | n | the count of values up to each one |
//! | `"total"` | 1 | the count of all values |
//! | `"ranges"` | n(n+1)/2 | the count in each range i..=j, ordered by i, then j |
//! | `{"evidence": 3}`, `{"evidence": [1, 3]}` | 1 | the count of these values |
//! | `{"compress": [0, 0, 1]}` | largest + 1 | the count of each group; lists the group per value |
//! | `{"moments": 2}` | 2 | the sums of a, of a^2, ... over the records' values a |
//! | `{"matrix": [[1, 0, 2]]}` | its rows | any linear combinations of the counts |
//! | `{"sparse": {"columns": 3, "rows": [[[0, 1.0], [2, 2.0]]]}}` | its rows | the same, sparse |
//!
//! The rows of `sparse` are lists of pairs of column and entry.
//!
//! Instead of a list, `query` may be one `{"matrix": ...}` or `{"sparse": ...}` over the whole
//! marginal, its columns row-major in `attrs` as listed.
//!
//! The outermost object may also have `name`, `notes` and `optimum`, of any kind, which are not
//! read. Other unknown fields are errors, at every level.

mod answers;
mod builder;
mod error;
mod factored;
mod labels;
mod measure;
mod place;
mod query;
mod raw;
mod resolve;
#[cfg(test)]
mod tests;
mod write;

pub use crate::fit::StructuralZeros;
pub use builder::ProblemBuilder;
pub use error::ProblemError;
pub use factored::FactoredQuery;

use std::io::Read;

use crate::domain::Domain;
use crate::fit::{Evidence, Observed};
use crate::loss::Measurement;
#[cfg(doc)]
use crate::loss::estimate_total;
use crate::numeric::memory::read_at_most;

/// Larger files are refused: 1 GB, of some fifty million answers. What is read takes at most some
/// twenty times the bytes of its text, as for lists of empty lists.
pub const MAX_BYTES: u64 = 1_000_000_000;

/// The input of an estimate: read from a [file](Problem::read), or constructed by a
/// [builder](Problem::builder).
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The attributes.
    pub domain: Domain,
    /// The number of records, positive.
    pub total: f64,
    /// Whether the total was estimated from the measurements.
    pub total_is_estimated: bool,
    /// The noisy answers.
    pub measurements: Vec<Measurement>,
    /// The combinations of values that are known not to occur.
    pub zeros: Vec<StructuralZeros>,
}

impl Problem {
    /// Builds a problem from measurements on this domain.
    pub fn builder(domain: Domain) -> ProblemBuilder {
        ProblemBuilder::new(domain)
    }

    /// The evidence of the problem, as estimators take it.
    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            domain: &self.domain,
            total: self.total,
            observed: Observed::Answers(&self.measurements),
            zeros: &self.zeros,
        }
    }

    /// Reads a problem file to its end, at most [`MAX_BYTES`].
    pub fn read(input: impl Read) -> Result<Self, ProblemError> {
        Self::from_bytes(&read_at_most(input, MAX_BYTES)?)
    }

    /// Parses the text of a problem file.
    pub fn from_json(text: &str) -> Result<Self, ProblemError> {
        Self::from_bytes(text.as_bytes())
    }

    fn from_bytes(text: &[u8]) -> Result<Self, ProblemError> {
        raw::from_json::<raw::RawProblem>(text)?.resolve()
    }
}
