use serde::{Deserialize, Serialize};

use crate::config::metric::Metric;
use crate::config::status::Status;

/// What is claimed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// Every trial of the arm ends in one of these ways.
    Ends(Vec<Status>),
    /// The largest number of attributes for which the arm produces an estimate is within the
    /// bounds.
    Reaches(Bounds),
    /// A quantity is as expected.
    Measures(Quantity, Expectation),
    /// A property of the dataset is within the bounds.
    Describes(Property, Bounds),
}

/// A property of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) fact: Fact,
    /// The numbers of attributes of the marginals that the fact is about. Empty for a fact about
    /// the data.
    pub(crate) ways: Vec<usize>,
}

/// What is said about a dataset: a column of a table of datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fact {
    Records,
    Attributes,
    /// The number of possible records, to one digit.
    Domain,
    /// The number of queries of the workload.
    Queries,
    /// The number of possible records, if it is at most a million. This and the following are
    /// columns of the KDD paper's tables.
    Cells,
    /// The smallest count of a cell.
    Smallest,
    /// The largest count of a cell.
    Largest,
    /// Cells without a record, in percent.
    Sparsity,
    /// The root mean squared error that ResidualPlanner has on marginals at a privacy cost of 1,
    /// with the least sum of variances.
    Rmse,
    /// Its largest standard deviation, with the least largest variance.
    Stddev,
}

impl Fact {
    /// Whether it is about marginals of some numbers of attributes.
    pub(crate) fn is_predicted(self) -> bool {
        matches!(self, Self::Rmse | Self::Stddev)
    }
}

/// A number per trial, of which the median over the trials is compared (default).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// The arm's metric divided by that of another arm in the same trial.
    Ratio { against: Side, metric: Metric },
    /// The arm's metric.
    Median { metric: Metric },
    /// The arm's metric, of which the largest over the trials is compared.
    Largest { metric: Metric },
    /// The arm's coverage, of which the mean over the trials is compared.
    Coverage { metric: Metric },
    /// The last workload error of the trace divided by its minimum.
    Rebound,
    /// The smallest workload error of the trace.
    Minimum,
    /// The iteration at which the trace has its smallest workload error.
    Argmin,
    /// The exponent e of the power law over^-e that the metric follows from some value of `over`.
    Exponent { metric: Metric, over: Over, from: f64 },
}

/// What a quantity falls with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Over {
    /// The metric, with the number of records: over all datasets, by trial.
    Records,
    /// The smallest loss so far above the smallest of all arms, with the iterations of the trace.
    /// The metric is `l1_loss` or `l2_loss`.
    Iterations,
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

impl Bounds {
    /// Whether all ratios within the bounds say that the same arm is better.
    pub(crate) fn name_a_winner(self) -> bool {
        self.low < self.high && (self.low >= 1.0 || self.high <= 1.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trend {
    Grows,
    Shrinks,
}
