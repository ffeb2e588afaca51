use crate::results::TrialRecord;

/// The error that a figure shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorMetric {
    /// [`TrialRecord::workload_error`].
    #[default]
    WorkloadError,
    /// [`TrialRecord::mean_squared_error`].
    MeanSquaredError,
}

impl ErrorMetric {
    /// The one whose column has this name.
    pub fn named(column: &str) -> Option<Self> {
        match column {
            "workload_error" => Some(Self::WorkloadError),
            "mean_squared_error" => Some(Self::MeanSquaredError),
            _ => None,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::WorkloadError => "workload error",
            Self::MeanSquaredError => "mean squared error",
        }
    }

    pub(super) fn of(self) -> fn(&TrialRecord) -> Option<f64> {
        match self {
            Self::WorkloadError => |trial| trial.workload_error,
            Self::MeanSquaredError => |trial| trial.mean_squared_error,
        }
    }
}
