//! Claims: the statements of a paper about an experiment, as data.

mod bounds;
mod statement;
mod written;

pub use bounds::ClaimError;
pub use statement::Fact;
pub(crate) use statement::{Bounds, Expectation, Over, Property, Quantity, Side, Statement, Trend};

use std::fmt;

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use written::WrittenClaim;

/// A statement of a paper, from a `[[claim]]` table.
///
/// | key | meaning |
/// | --- | --- |
/// | `says` | the statement, as a sentence |
/// | `role` | whose statement it is, see [`Role`]; default: `statement` |
/// | `place` | where it is printed: a section, a figure or a table |
/// | `paper` | the paper's number, or a short text |
/// | `why_different` | the sentence that explains a difference, shown unless the claim holds |
/// | `kind` | the quantity, see below |
/// | `dataset`, `mechanism`, `arm` | the trials; `dataset` is optional for `reach`, `largest`, `exponent` |
/// | `fact` | `data`: the property of the dataset, see [`Fact`] |
/// | `ways` | `data`: the numbers of attributes of the marginals that are predicted |
/// | `epsilon` | a budget or a list, each of which must agree; default: all budgets |
/// | `case` | the case, where the data has several |
/// | `over` | `exponent`: what the metric falls with: `records` or `iterations` |
/// | `from` | `exponent`: the smallest value of `over` that counts; default: all count |
/// | `against` | `ratio`: the arm in the denominator |
/// | `against_mechanism` | `ratio`: the mechanism of that arm; default: `mechanism` |
/// | `metric` | `ratio`, `median`, `largest`, `exponent`: the column; default: `workload_error` |
/// | | `coverage`: that of error bars (default) or `bound_coverage` |
/// | `status` | `ends`: how the arm must end, one or several |
/// | `at_least`, `at_most` | bounds; default: the paper's number and `tolerance` |
/// | `tolerance` | the largest factor between our number and the paper's; default: 1.5 |
/// | `as_epsilon_falls` | `grows` or `shrinks`, instead of bounds |
/// | `min_trials` | fewer trials cannot decide; default: 5, for `reach` and `ends` 1 |
///
/// The default of `tolerance` allows for the paper's medians of few trials on workloads that are
/// not specified exactly. With `as_epsilon_falls`, `tolerance` (default: 1) is the largest factor
/// by which one step may go against the trend. Arms of different mechanisms are paired by the
/// number of the trial, but do not share noise.
///
/// A `ratio` whose bounds are all on one side of 1 says that one arm is better than the other. Then
/// the whole confidence interval must be on that side, and a paper's number above 1 is never
/// confirmed by a ratio below 1, whatever the tolerance.
///
/// | kind | quantity |
/// | --- | --- |
/// | `ratio` | median over the trials of metric(arm) / metric(`against`) in the same trial |
/// | `median` | median of the arm's metric |
/// | `largest` | largest of the arm's metric over the trials: for what must never happen |
/// | `coverage` | part of the true answers within their error bars, over all trials |
/// | `rebound` | median of last / smallest workload error of the traces |
/// | `minimum` | median of the smallest workload error of the traces |
/// | `argmin` | median of the iteration at which the trace has its smallest workload error |
/// | `exponent` | median over the trials of the exponent e where the metric falls as 1 / `over`^e |
/// | `reach` | largest number of attributes for which the arm produces an estimate |
/// | `ends` | how every trial of the arm ends |
/// | `data` | a property of the dataset and its workload; no trials |
///
/// Without `case`, the trials of all cases count: ten workloads of one trial are ten trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenClaim", into = "WrittenClaim")]
pub struct Claim {
    pub(crate) says: String,
    pub(crate) role: Role,
    pub(crate) place: Option<String>,
    pub(crate) paper: Paper,
    pub(crate) why_different: Option<String>,
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

    /// `None` for a claim about several datasets.
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// Empty for a claim about data.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

    /// Where the paper prints it; empty if the file does not say.
    pub fn place(&self) -> &str {
        self.place.as_deref().unwrap_or_default()
    }

    /// The sentence that explains a difference.
    pub fn why_different(&self) -> Option<&str> {
        self.why_different.as_deref()
    }

    pub fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }

    pub fn arms(&self) -> impl Iterator<Item = &str> {
        self.sides().map(|(_, arm)| arm)
    }

    /// The budgets that it names; empty means all.
    pub fn epsilons(&self) -> &[f64] {
        self.epsilon.as_deref().unwrap_or_default()
    }

    /// The pairs of mechanism and arm that it compares; none for a claim about data.
    pub fn sides(&self) -> impl Iterator<Item = (&str, &str)> {
        let (own, against) = match &self.statement {
            Statement::Describes(..) => (None, None),
            Statement::Measures(Quantity::Ratio { against, .. }, _) => {
                (Some(self.own_side()), Some((against.mechanism.as_str(), against.arm.as_str())))
            }
            _ => (Some(self.own_side()), None),
        };
        own.into_iter().chain(against)
    }

    fn own_side(&self) -> (&str, &str) {
        (&self.mechanism, &self.arm)
    }

    /// The arm in the denominator with its mechanism, and the metric, if the claim compares the
    /// errors of two arms.
    pub fn compared(&self) -> Option<((&str, &str), Metric)> {
        match &self.statement {
            Statement::Measures(Quantity::Ratio { against, metric }, _) => {
                Some(((against.mechanism.as_str(), against.arm.as_str()), *metric))
            }
            _ => None,
        }
    }

    /// The column or quotient that it is about, if it names one.
    pub(crate) fn metric(&self) -> Option<Metric> {
        match &self.statement {
            Statement::Measures(
                Quantity::Ratio { metric, .. }
                | Quantity::Median { metric }
                | Quantity::Largest { metric }
                | Quantity::Coverage { metric }
                | Quantity::Exponent { metric, .. },
                _,
            ) => Some(*metric),
            _ => None,
        }
    }

    /// The paper's number, if it has one.
    pub fn number(&self) -> Option<f64> {
        match self.paper {
            Paper::Number(number) => Some(number),
            Paper::Text(_) => None,
        }
    }
}

/// Whose statement a claim is. Only statements of the paper count in "n of m claims hold".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Printed in the paper.
    #[default]
    Statement,
    /// A number that the paper's authors did not print, measured with their code.
    Reference,
    /// What we expect; no paper says it.
    Expectation,
    /// Was made so: a condition under which the workload or a limit was chosen.
    Condition,
    /// True by construction or by a theorem; only a bug can break it.
    Invariant,
}

impl Role {
    pub const ALL: [Self; 5] =
        [Self::Statement, Self::Reference, Self::Expectation, Self::Condition, Self::Invariant];

    pub fn name(self) -> &'static str {
        match self {
            Role::Statement => "statement",
            Role::Reference => "reference",
            Role::Expectation => "expectation",
            Role::Condition => "condition",
            Role::Invariant => "invariant",
        }
    }
}

/// The value in the paper: a number, or a short text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Paper {
    Number(f64),
    Text(String),
}

impl Default for Paper {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Sizes of domains have up to a hundred digits.
            Paper::Number(value) if value.abs() >= 1e7 => write!(f, "{value:e}"),
            Paper::Number(value) => f.write_str(&value.to_string()),
            Paper::Text(text) => f.write_str(text),
        }
    }
}
