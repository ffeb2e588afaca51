use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::mechanism::MechanismError;
use crate::results::{Status, TrialRecord};
use private_pgm::fit::EstimatorError;
use private_pgm::model::MarginalError;
use private_pgm::numeric::memory;

/// Why there is no estimate.
pub(super) struct TrialFailure {
    status: Status,
    /// The memory that an infeasible estimate would need.
    bytes: Option<f64>,
    message: String,
}

impl TrialFailure {
    pub(super) fn failed(message: impl ToString) -> Self {
        Self { status: Status::Failed, bytes: None, message: message.to_string() }
    }

    pub(super) fn record_in(&self, record: &mut TrialRecord, phase: &str) {
        record.status = self.status;
        record.phase = phase.into();
        record.peak_bytes = self.bytes;
        record.message.clone_from(&self.message);
    }
}

impl From<EstimatorError> for TrialFailure {
    fn from(error: EstimatorError) -> Self {
        let message = error.to_string();
        match error {
            EstimatorError::Infeasible { bytes, .. } => {
                Self { status: Status::Infeasible, bytes: Some(bytes), message }
            }
            EstimatorError::Timeout { .. } => {
                Self { status: Status::Timeout, bytes: None, message }
            }
            EstimatorError::Unsupported(_) => {
                Self { status: Status::NotApplicable, bytes: None, message }
            }
            _ => Self::failed(message),
        }
    }
}

impl From<MechanismError> for TrialFailure {
    fn from(error: MechanismError) -> Self {
        match error {
            MechanismError::Estimator(error) => error.into(),
            MechanismError::Timeout => {
                Self { status: Status::Timeout, bytes: None, message: error.to_string() }
            }
            MechanismError::NotApplicable(message) => {
                Self { status: Status::NotApplicable, bytes: None, message }
            }
            MechanismError::Command(error) if error.is_timeout() => {
                Self { status: Status::Timeout, bytes: None, message: error.to_string() }
            }
            MechanismError::Infeasible { bytes, message } => {
                Self { status: Status::Infeasible, bytes: Some(bytes), message }
            }
            other => Self::failed(other),
        }
    }
}

impl From<MarginalError> for TrialFailure {
    /// An estimate of other marginals is no failure: the estimator does not suit the workload.
    fn from(error: MarginalError) -> Self {
        match error {
            MarginalError::Unknown { .. } => {
                Self { status: Status::NotApplicable, bytes: None, message: error.to_string() }
            }
            other => Self::failed(other),
        }
    }
}

/// Turns a panic, or a table for which there is no memory, into a failure of one arm, so that the
/// other arms still run.
pub(super) fn catch_panic<T>(
    work: impl FnOnce() -> Result<T, TrialFailure>,
) -> Result<T, TrialFailure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        if let Some(error) = memory::in_panic(&*panic) {
            return Err(TrialFailure::failed(error));
        }
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(TrialFailure::failed(format!("internal error: {}", text.unwrap_or("no message"))))
    })
}
