use serde::{Deserialize, Serialize};

/// A numeric column of `trials.csv`, or a quotient of two columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    #[default]
    WorkloadError,
    MeanSquaredError,
    MaxError,
    /// `max_error` over `error_bound`.
    ErrorOfBound,
    MeasurementError,
    L1Loss,
    L2Loss,
    Rounds,
    /// `rounds` over `round_limit`.
    RoundsOfLimit,
    EstimateSeconds,
    SecondsPerIteration,
    Coverage,
    BoundCoverage,
}

impl Metric {
    /// The name in experiment files: that of the column, or of the quotient.
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
            Metric::Coverage => "coverage",
            Metric::BoundCoverage => "bound_coverage",
        }
    }

    /// Whether it is recorded only where `[evaluation]` asks for coverage.
    pub fn is_about_error_bars(self) -> bool {
        matches!(self, Metric::Coverage | Metric::BoundCoverage)
    }

    /// The name in tables and figures: `workload error`.
    pub fn label(self) -> String {
        match self {
            Metric::MaxError => "largest query error".into(),
            Metric::Coverage => "true answers within error bars".into(),
            Metric::BoundCoverage => "marginals within their bounds".into(),
            _ => self.name().replace('_', " "),
        }
    }
}
