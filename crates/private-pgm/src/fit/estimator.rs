use std::time::Instant;

use rand::Rng;
use thiserror::Error;

use super::{Estimate, EstimateError, Evidence};
use crate::model::{InferenceError, Model, Projectable};
use crate::numeric::memory::OutOfMemory;
use crate::optimiser::Progress;

/// Estimates a distribution, or at least some of its marginals, from evidence: the
/// [graphical model](super::Pgm), or a [baseline](crate::baselines).
pub trait Estimator: Send + Sync {
    /// The estimate from this evidence.
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError>;
}

/// The resources of one estimate, and its observer.
pub struct EstimatorContext<'a> {
    /// Bytes that its tables may take.
    pub memory_limit: u64,
    /// The estimate fails if it is not finished by then.
    pub deadline: Option<Instant>,
    /// A model to start from, for estimators that can.
    pub warm_start: Option<&'a Model>,
    /// Randomness, for estimators that draw records.
    pub rng: &'a mut (dyn Rng + Send),
    /// Called after every iteration.
    pub observer: &'a mut (dyn FnMut(&Progress<'_>) + Send),
}

/// An estimate, and how it came about.
pub struct Estimated {
    /// The estimated marginals.
    pub answers: Box<dyn Projectable>,
    /// The graphical model, if it is one.
    pub model: Option<Model>,
    /// Losses, iterations, time and memory.
    pub diagnostics: Diagnostics,
}

/// Losses, iterations, time and memory of an estimate. `None`: the estimator does not know it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    /// The sum of |r| over the measured answers and half the sum of r^2.
    pub l1_l2: Option<(f64, f64)>,
    /// The loss that was minimised, where a certificate of it could be given.
    pub loss: Option<f64>,
    /// How far above the smallest possible the loss is at most.
    pub gap: Option<f64>,
    /// Calls of the oracle, or whatever the method repeats.
    pub iterations: Option<usize>,
    /// Wall time of one iteration.
    pub seconds_per_iteration: Option<f64>,
    /// Cells of the junction tree.
    pub junction_tree_cells: Option<f64>,
    /// Bytes of the tables that it held.
    pub bytes: Option<f64>,
    /// Why it ended, in a sentence.
    pub message: String,
}

impl From<&Estimate> for Diagnostics {
    fn from(fitted: &Estimate) -> Self {
        Self {
            l1_l2: fitted.l1_l2,
            loss: Some(fitted.loss),
            gap: fitted.gap,
            iterations: Some(fitted.iterations),
            seconds_per_iteration: Some(fitted.seconds_per_iteration),
            junction_tree_cells: Some(fitted.tree.cells),
            bytes: Some(fitted.bytes),
            message: fitted.reason.name().into(),
        }
    }
}

/// Why there is no estimate.
#[derive(Debug, Error)]
pub enum EstimatorError {
    /// It would not fit into memory.
    #[error("{message}")]
    Infeasible {
        /// How many bytes it would take.
        bytes: f64,
        /// What would take them.
        message: String,
    },
    /// There is less memory than the plan needs, though no more than the limit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The deadline was reached first.
    #[error("out of time after {iterations} iterations")]
    Timeout {
        /// Iterations until then.
        iterations: usize,
    },
    /// The estimator cannot use evidence of this kind.
    #[error("{0}")]
    Unsupported(String),
    /// The evidence is wrong.
    #[error(transparent)]
    Estimate(EstimateError),
    /// The model cannot answer.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

impl From<EstimateError> for EstimatorError {
    fn from(error: EstimateError) -> Self {
        match error {
            EstimateError::TooLarge(too_large) => {
                Self::Infeasible { bytes: too_large.needed_bytes, message: too_large.to_string() }
            }
            EstimateError::OutOfMemory(error) => Self::OutOfMemory(error),
            EstimateError::Deadline { iterations } => Self::Timeout { iterations },
            other => Self::Estimate(other),
        }
    }
}
