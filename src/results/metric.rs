use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::manifest::Manifest;
use super::record::{Status, TrialRecord};

/// A number that a trial's row may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// [`TrialRecord::workload_error`].
    #[default]
    WorkloadError,
    /// [`TrialRecord::mean_squared_error`].
    MeanSquaredError,
    /// [`TrialRecord::max_error`].
    MaxError,
    /// [`TrialRecord::max_error`] over [`TrialRecord::error_bound`].
    ErrorOfBound,
    /// [`TrialRecord::measurement_error`].
    MeasurementError,
    /// [`TrialRecord::l1_loss`].
    L1Loss,
    /// [`TrialRecord::l2_loss`].
    L2Loss,
    /// [`TrialRecord::rounds`].
    Rounds,
    /// [`TrialRecord::rounds`] over [`TrialRecord::round_limit`].
    RoundsOfLimit,
    /// [`TrialRecord::estimate_seconds`].
    EstimateSeconds,
    /// [`TrialRecord::seconds_per_iteration`].
    SecondsPerIteration,
}

impl Metric {
    /// The name of the column, or of the two that it is a quotient of.
    pub fn name(self) -> &'static str {
        match self {
            Metric::WorkloadError => "workload_error",
            Metric::MeanSquaredError => "mean_squared_error",
            Metric::MaxError => "max_error",
            Metric::ErrorOfBound => "error_of_bound",
            Metric::MeasurementError => "measurement_error",
            Metric::L1Loss => "l1_loss",
            Metric::L2Loss => "l2_loss",
            Metric::Rounds => "rounds",
            Metric::RoundsOfLimit => "rounds_of_limit",
            Metric::EstimateSeconds => "estimate_seconds",
            Metric::SecondsPerIteration => "seconds_per_iteration",
        }
    }

    /// For people: `workload error`.
    pub fn label(self) -> String {
        match self {
            Metric::MaxError => "largest query error".into(),
            _ => self.name().replace('_', " "),
        }
    }

    /// What an experiment is about: the error that its configuration names for the figure, and what
    /// its figure shows where that is nothing else: the time of an iteration, the rounds.
    pub fn of_experiment(manifest: &Manifest) -> Self {
        let configured = |path: &str| manifest.configuration.pointer(path)?.as_str();
        match (configured("/figure/kind"), configured("/figure/metric")) {
            (Some("scaling"), _) => Metric::SecondsPerIteration,
            (Some("rounds"), _) => Metric::Rounds,
            (Some("records"), None) | (_, Some("max_error")) => Metric::MaxError,
            (_, Some("mean_squared_error")) => Metric::MeanSquaredError,
            _ => Metric::WorkloadError,
        }
    }

    /// Whether the number depends on how far the estimate is from the optimum, which the time of an
    /// iteration and the rounds of the mechanism do not.
    pub fn is_about_the_estimate(self) -> bool {
        !matches!(
            self,
            Metric::Rounds
                | Metric::RoundsOfLimit
                | Metric::EstimateSeconds
                | Metric::SecondsPerIteration
        )
    }

    /// The number of an arm that ended with an estimate.
    pub fn of(self, row: &TrialRecord) -> Option<f64> {
        let value = match self {
            Metric::WorkloadError => row.workload_error,
            Metric::MeanSquaredError => row.mean_squared_error,
            Metric::MaxError => row.max_error,
            Metric::ErrorOfBound => row.max_error.zip(row.error_bound).map(|(e, b)| e / b),
            Metric::MeasurementError => row.measurement_error,
            Metric::L1Loss => row.l1_loss,
            Metric::L2Loss => row.l2_loss,
            Metric::Rounds => row.rounds.map(|rounds| rounds as f64),
            Metric::RoundsOfLimit => {
                row.rounds.zip(row.round_limit).map(|(used, limit)| used as f64 / limit as f64)
            }
            Metric::EstimateSeconds => row.estimate_seconds,
            Metric::SecondsPerIteration => row.seconds_per_iteration,
        };
        value.filter(|_| row.status == Status::Done)
    }

    /// One arm's numbers over another's, for the trials in which both ended with an estimate. Both
    /// had the same measurements, so what these did to the error cancels.
    ///
    /// Two errors of 0 are equal: their ratio is 1.
    pub fn paired_ratios(self, arm: &[&TrialRecord], against: &[&TrialRecord]) -> Vec<f64> {
        let below: BTreeMap<usize, f64> =
            against.iter().filter_map(|row| Some((row.trial, self.of(row)?))).collect();
        let ratio = |row: &&TrialRecord| {
            let (above, below) = (self.of(row)?, *below.get(&row.trial)?);
            Some(if above == below { 1.0 } else { above / below })
        };
        arm.iter().filter_map(ratio).collect()
    }
}
