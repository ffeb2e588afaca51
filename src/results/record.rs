use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::csv_records;
use crate::config::Status;

/// The result of one arm of one trial: a row of `trials.csv`.
///
/// Fields that do not apply are empty. `key` identifies a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Hash of all inputs of the numbers: data, workload, mechanism and its parameters, arm,
    /// settings, budget, seed. Rows whose key is not in the configuration's schedule are stale.
    pub key: String,
    /// The key of the release: all arms and cases of a trial that estimate from the same draws of
    /// noise share it, and `ledger.jsonl` has the draws once.
    pub release: String,
    pub experiment: String,
    pub dataset: String,
    /// Whether the data is a stand-in for data that does not ship.
    pub standin: bool,
    pub attributes: usize,
    pub records: usize,
    /// Distinguishes the cases of the data: the queries, the public marginals. Empty if there is
    /// only one.
    pub case: String,
    /// The number of cells per query, if it is the same for all.
    pub size: Option<usize>,
    pub mechanism: String,
    /// The estimator: `own` is the one of the mechanism's paper.
    pub arm: String,
    pub epsilon: f64,
    /// 0 for pure differential privacy.
    pub delta: f64,
    /// Counted from 0.
    pub trial: usize,
    /// In hexadecimal digits.
    pub seed: String,
    pub status: Status,
    /// The phase that failed: `select`, `measure`, `estimate`, `evaluate`.
    pub phase: String,
    /// Mean over the sub-workloads W of |W mu - W mu^|_1 / (2 |W mu|_1).
    pub workload_error: Option<f64>,
    /// Mean over the queries of the squared error, with counts clamped to at least 0.
    pub mean_squared_error: Option<f64>,
    /// The largest error of a query, as a share of the records.
    pub max_error: Option<f64>,
    /// The theoretical upper bound of `max_error`.
    pub error_bound: Option<f64>,
    /// The workload error over the queries that were measured.
    pub measurement_error: Option<f64>,
    /// The sum of |r| over the measured answers, r the residuals in standard deviations.
    pub l1_loss: Option<f64>,
    /// Half the sum of r^2.
    pub l2_loss: Option<f64>,
    /// The loss that was minimised: one of these two, or a negative log-likelihood. Empty for
    /// estimates without a certificate.
    pub loss: Option<f64>,
    /// Upper bound of loss - minimum.
    pub gap: Option<f64>,
    /// The rounds that an iterative mechanism used.
    pub rounds: Option<usize>,
    /// The largest number of rounds that its budget allows.
    pub round_limit: Option<usize>,
    pub iterations: Option<usize>,
    /// Seconds to select the measurements, shared by all arms of the trial.
    pub select_seconds: Option<f64>,
    /// Seconds to measure, shared by all arms of the trial.
    pub measure_seconds: Option<f64>,
    pub estimate_seconds: Option<f64>,
    /// Seconds to answer the workload and compute the errors.
    pub evaluate_seconds: Option<f64>,
    pub seconds_per_iteration: Option<f64>,
    /// Cells of the junction tree of the measurements.
    pub junction_tree_cells: Option<f64>,
    /// Peak bytes of the estimator, or those that it would have needed if it is infeasible.
    pub peak_bytes: Option<f64>,
    /// A sentence about the result, such as the error.
    pub message: String,
    /// The part of the workload's true answers that are within the error bars of the estimate, of
    /// those that have error bars.
    pub coverage: Option<f64>,
    /// The part of the workload's marginals whose error is within the bound of the release, of
    /// those that have one.
    pub bound_coverage: Option<f64>,
}

impl TrialRecord {
    /// The number of its last columns that a file of rows without them leaves out.
    pub(super) const OPTIONAL_COLUMNS: usize = 2;
}

/// A field in which two rows of one arm differ, with both values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the column.
    pub field: &'static str,
    pub first: String,
    pub second: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} and {}", self.field, self.first, self.second)
    }
}

/// The fields in which two records differ in their text, bit for bit. Times are excluded: only they
/// may differ when an arm is run again.
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
    /// Whether the mechanism finished, so that the ledger has its draws.
    pub fn has_draws(&self) -> bool {
        !matches!(&*self.phase, "select" | "measure")
    }

    /// The fields in which another row of the same arm differs, except times.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        differences(self, other)
    }
}

impl TraceRecord {
    /// The fields in which another trace of the same arm differs, except times.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        differences(self, other)
    }
}

/// The state of an estimator after some iterations: a row of `traces.csv`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The key of the trial's row.
    pub key: String,
    pub dataset: String,
    pub mechanism: String,
    pub arm: String,
    pub epsilon: f64,
    /// Counted from 0.
    pub trial: usize,
    pub iteration: usize,
    pub seconds: f64,
    /// The sum of |r| over the measured answers.
    pub l1_loss: f64,
    /// Half the sum of r^2.
    pub l2_loss: f64,
    pub workload_error: f64,
}
