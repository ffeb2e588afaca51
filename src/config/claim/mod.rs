//! What a paper says about an experiment, as data.

mod written;

pub use written::ClaimError;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::status::Status;
use written::WrittenClaim;

/// A statement of a paper, from a `[[claim]]` table:
///
/// | key | meaning |
/// | --- | --- |
/// | `says` | the statement, as a sentence |
/// | `paper` | the paper's number, or a few words |
/// | `kind` | what is compared, one of the kinds below |
/// | `dataset`, `mechanism`, `arm` | whose trials; `reach` and `largest` may do without a dataset |
/// | `epsilon` | a budget or a list of them, each of which must agree; all that there are if left out |
/// | `case` | whose trials, where the data has several cases |
/// | `against` | `ratio`: the arm below the line |
/// | `against_mechanism` | `ratio`: the mechanism of that arm, where it is another one; the trials of both have the same number, but not the same noise |
/// | `metric` | `ratio`, `median`, `largest`: the column, `workload_error` if left out |
/// | `status` | `ends`: how the arm must end, one or several |
/// | `at_least`, `at_most` | bounds; without them the paper's number decides |
/// | `tolerance` | how many times more or less than the paper's number still agrees; 1.5 if left out, as papers give medians of few trials on workloads that we do not know exactly |
/// | `as_epsilon_falls` | `grows` or `shrinks`, instead of bounds; here `tolerance` (1 if left out) is how far one step may go the other way |
/// | `min_trials` | the trials without which nothing can be told: 5 if left out, 1 for `reach` and `ends` |
///
/// | kind | compared is |
/// | --- | --- |
/// | `ratio` | the median over the trials of the arm's metric over that of another arm in the same trial |
/// | `median` | the median of the arm's metric |
/// | `largest` | the largest of the arm's metric over the trials: for what must never happen |
/// | `rebound` | the median of the workload error at the end over the smallest on the way there, from the traces |
/// | `reach` | the most attributes with which the arm ends with an estimate |
/// | `ends` | how every trial of the arm ends |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenClaim", into = "WrittenClaim")]
pub struct Claim {
    pub(crate) says: String,
    pub(crate) paper: Paper,
    pub(crate) dataset: Option<String>,
    pub(crate) case: Option<String>,
    pub(crate) mechanism: String,
    pub(crate) arm: String,
    pub(crate) epsilon: Option<Vec<f64>>,
    pub(crate) statement: Statement,
    pub(crate) min_trials: usize,
}

impl Claim {
    /// The statement, as a sentence.
    pub fn says(&self) -> &str {
        &self.says
    }

    /// The dataset that it is about; none where it is about several.
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// The mechanism that it is about.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

    /// The arms that it is about.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        self.sides().map(|(_, arm)| arm)
    }

    /// The budgets that it is about, if it names some.
    pub fn epsilons(&self) -> &[f64] {
        self.epsilon.as_deref().unwrap_or_default()
    }

    /// The mechanisms and arms that it is about.
    pub fn sides(&self) -> impl Iterator<Item = (&str, &str)> {
        let against = match &self.statement {
            Statement::Measures(Quantity::Ratio { against, .. }, _) => {
                Some((against.mechanism.as_str(), against.arm.as_str()))
            }
            _ => None,
        };
        [(self.mechanism.as_str(), self.arm.as_str())].into_iter().chain(against)
    }
}

/// What a paper gives: a number, or a few words where it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Paper {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

/// What is claimed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// Every trial of the arm ends in one of these ways.
    Ends(Vec<Status>),
    /// The most attributes with which the arm ends with an estimate are within the bounds.
    Reaches(Bounds),
    /// A quantity is as expected.
    Measures(Quantity, Expectation),
}

/// A number for each trial; the median over the trials counts, if nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// The arm's metric over that of another arm in the same trial.
    Ratio { against: Side, metric: Metric },
    /// The arm's metric.
    Median { metric: Metric },
    /// The arm's metric, of which the largest over the trials counts.
    Largest { metric: Metric },
    /// The workload error at the end over the smallest on the way there, from the traces.
    Rebound,
}

/// An arm of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    pub(crate) mechanism: String,
    pub(crate) arm: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expectation {
    /// At each epsilon.
    Within(Bounds),
    /// From each epsilon to the next smaller one.
    AsEpsilonFalls { trend: Trend, slack: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trend {
    Grows,
    Shrinks,
}

impl Default for Paper {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Paper::Number(value) => f.write_str(&value.to_string()),
            Paper::Text(text) => f.write_str(text),
        }
    }
}
