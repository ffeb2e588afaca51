use serde::{Deserialize, Serialize};

/// A number that a trial's row may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// `workload_error`.
    #[default]
    WorkloadError,
    /// `mean_squared_error`.
    MeanSquaredError,
    /// `max_error`.
    MaxError,
    /// `max_error` over `error_bound`.
    ErrorOfBound,
    /// `measurement_error`.
    MeasurementError,
    /// `l1_loss`.
    L1Loss,
    /// `l2_loss`.
    L2Loss,
    /// `rounds`.
    Rounds,
    /// `rounds` over `round_limit`.
    RoundsOfLimit,
    /// `estimate_seconds`.
    EstimateSeconds,
    /// `seconds_per_iteration`.
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
}
