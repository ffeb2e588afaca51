use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::csv_records;
use crate::config::Status;

/// What became of one arm of one trial: a row of `trials.csv`.
///
/// Fields that do not apply are empty. Rows are told apart by their `key`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Hash of all that the numbers depend on: data, workload, mechanism and its parameters, arm,
    /// settings, budget, seed. Rows with another key than the configuration asks for are stale.
    pub key: String,
    /// The key of what the mechanism released: all arms and cases of a trial that estimate from the
    /// same draws of noise share it, and `ledger.jsonl` has the draws once.
    pub release: String,
    /// The name of the experiment.
    pub experiment: String,
    /// The name of the data.
    pub dataset: String,
    /// Whether made-up records stand in for data that does not ship.
    pub standin: bool,
    /// The number of attributes of the data.
    pub attributes: usize,
    /// The number of records of the data.
    pub records: usize,
    /// What sets this apart from other cases of the data: the queries, what is public. Empty when there
    /// is only one.
    pub case: String,
    /// The number of cells of each query, where all have the same.
    pub size: Option<usize>,
    /// The mechanism.
    pub mechanism: String,
    /// The estimator: `own` for the one that the mechanism's paper came with.
    pub arm: String,
    /// The budget.
    pub epsilon: f64,
    /// The budget's delta, 0 for a pure one.
    pub delta: f64,
    /// The trial, counted from 0.
    pub trial: usize,
    /// The seed, as hexadecimal digits.
    pub seed: String,
    /// How it ended.
    pub status: Status,
    /// Where it failed: `select`, `measure`, `estimate`, `evaluate`.
    pub phase: String,
    /// Mean over the sub-workloads W of |W mu - W mu^|_1 / (2 |W mu|_1).
    pub workload_error: Option<f64>,
    /// Mean over the queries of the squared error, counts below 0 taken for 0.
    pub mean_squared_error: Option<f64>,
    /// The largest error of a query, as a share of the records.
    pub max_error: Option<f64>,
    /// What the theory of the mechanism says that `max_error` is at most.
    pub error_bound: Option<f64>,
    /// The workload error over the queries that were measured.
    pub measurement_error: Option<f64>,
    /// The sum of |r| over the measured answers, r the residuals in standard deviations.
    pub l1_loss: Option<f64>,
    /// Half the sum of r^2.
    pub l2_loss: Option<f64>,
    /// The loss that was minimised: one of these two, or a negative log-likelihood. Empty for
    /// estimates that are not the end of an optimisation with a certificate.
    pub loss: Option<f64>,
    /// How far above the smallest possible the loss is at most.
    pub gap: Option<f64>,
    /// The rounds that the mechanism has used, where it works in rounds.
    pub rounds: Option<usize>,
    /// The rounds that its budget was laid out for.
    pub round_limit: Option<usize>,
    /// Iterations of the estimator.
    pub iterations: Option<usize>,
    /// Seconds to select what to measure, shared by all arms of the trial.
    pub select_seconds: Option<f64>,
    /// Seconds to measure it, shared by all arms.
    pub measure_seconds: Option<f64>,
    /// Seconds to estimate.
    pub estimate_seconds: Option<f64>,
    /// Seconds to answer the workload and compare.
    pub evaluate_seconds: Option<f64>,
    /// Seconds of one iteration.
    pub seconds_per_iteration: Option<f64>,
    /// Cells of the junction tree of what was measured.
    pub junction_tree_cells: Option<f64>,
    /// Bytes that the estimator held at its peak, or would have needed where it is infeasible.
    pub peak_bytes: Option<f64>,
    /// What there is to say, in a sentence.
    pub message: String,
}

/// A field in which two rows of one arm differ, with what each of them says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the column.
    pub field: &'static str,
    /// What the first says.
    pub first: String,
    /// What the second says.
    pub second: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} and {}", self.field, self.first, self.second)
    }
}

/// The fields in which two records differ as they are written, bit for bit. Times are left out:
/// they are the only thing that may be otherwise when an arm is run again.
fn differences<T: Serialize + DeserializeOwned>(first: &T, second: &T) -> Vec<Difference> {
    let fields = |record| csv_records::fields(record).unwrap_or_default();
    let pairs = fields(first).into_iter().zip(fields(second));
    let named = csv_records::columns::<T>().iter().zip(pairs);
    named
        .filter(|(field, (first, second))| !field.contains("seconds") && first != second)
        .map(|(&field, (first, second))| Difference { field, first, second })
        .collect()
}

impl TrialRecord {
    /// Whether the mechanism came to its end, so that the ledger has what it drew.
    pub fn has_draws(&self) -> bool {
        !matches!(&*self.phase, "select" | "measure")
    }

    /// The fields in which another row of the same arm differs, without the times.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        differences(self, other)
    }
}

impl TraceRecord {
    /// The fields in which another trace of the same arm differs, without the times.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        differences(self, other)
    }
}

/// Where an estimator was after some iterations: a row of `traces.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The key of the trial's row.
    pub key: String,
    /// The name of the data.
    pub dataset: String,
    /// The mechanism.
    pub mechanism: String,
    /// The estimator.
    pub arm: String,
    /// The budget.
    pub epsilon: f64,
    /// The trial, counted from 0.
    pub trial: usize,
    /// Iterations so far.
    pub iteration: usize,
    /// Seconds so far.
    pub seconds: f64,
    /// The sum of |r| over the measured answers.
    pub l1_loss: f64,
    /// Half the sum of r^2.
    pub l2_loss: f64,
    /// The workload error at this point.
    pub workload_error: f64,
}
