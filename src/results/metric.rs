use std::collections::BTreeMap;

use super::record::TrialRecord;
use crate::config::{Metric, Status};

impl Metric {
    /// Whether the metric depends on the convergence of the estimate. The time of an iteration and
    /// the rounds of the mechanism do not.
    pub fn is_about_the_estimate(self) -> bool {
        !matches!(
            self,
            Metric::Rounds
                | Metric::RoundsOfLimit
                | Metric::EstimateSeconds
                | Metric::SecondsPerIteration
        )
    }

    /// The value for an arm that ended with an estimate.
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
            Metric::Coverage => row.coverage,
            Metric::BoundCoverage => row.bound_coverage,
        };
        value.filter(|_| row.status == Status::Done)
    }

    /// One arm's values divided by another's, for the trials in which both ended with an estimate.
    /// Both use the same measurements, so the effect of the noise cancels. Trials of different
    /// datasets or cases are different trials.
    ///
    /// Two errors of 0 are equal: their ratio is 1.
    pub fn paired_ratios(self, arm: &[&TrialRecord], against: &[&TrialRecord]) -> Vec<f64> {
        let trial = |row: &&TrialRecord| (row.dataset.clone(), row.case.clone(), row.trial);
        let below: BTreeMap<(String, String, usize), f64> =
            against.iter().filter_map(|row| Some((trial(row), self.of(row)?))).collect();
        let ratio = |row: &&TrialRecord| {
            let (above, below) = (self.of(row)?, *below.get(&trial(row))?);
            Some(if above == below { 1.0 } else { above / below })
        };
        arm.iter().filter_map(ratio).collect()
    }
}
