use thiserror::Error;

use super::SettingsError;
use crate::factor::Marginals;
use crate::junction_tree::{TooLarge, TreeSize};
use crate::loss::LinearLossError;
use crate::model::Model;
use crate::numeric::memory::OutOfMemory;
use crate::optimiser::Reason;
use crate::oracle::LoopyError;

/// A fitted model, and how good it is.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The model, which answers queries and draws records.
    pub model: Model,
    /// Its marginals on the measured cliques, as the oracle computed them.
    pub marginals: Marginals,
    /// The loss that was minimised, at these marginals.
    pub loss: f64,
    /// The sum of |r| over all measured answers and half the sum of r^2, r the residuals in
    /// standard deviations; `None` where nothing was measured but a likelihood is given.
    pub l1_l2: Option<(f64, f64)>,
    /// The certificate: no distribution has a loss that is smaller by more than this. `None` where
    /// the oracle is an approximation that bounds nothing.
    pub gap: Option<f64>,
    /// Calls of the oracle.
    pub iterations: usize,
    /// Why the run ended.
    pub reason: Reason,
    /// Wall time of everything.
    pub seconds: f64,
    /// Wall time of the iterations, divided by their number.
    pub seconds_per_iteration: f64,
    /// The junction tree of the cliques.
    pub tree: TreeSize,
    /// Bytes of the tables, by the plan that was checked against the memory limit.
    pub bytes: f64,
}

/// Why there is no estimate.
#[derive(Debug, Error)]
pub enum EstimateError {
    /// The settings contradict each other.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The model does not fit into memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// There is less memory than the plan needs, though no more than the limit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A measurement is wrong.
    #[error(transparent)]
    Measurement(#[from] LinearLossError),
    /// The approximate oracle cannot work on these cliques.
    #[error(transparent)]
    Loopy(#[from] LoopyError),
    /// The structural zeros leave nothing possible.
    #[error("zeros: they exclude every record; expected at least one possible combination")]
    NothingPossible,
    /// The time limit was reached first.
    #[error("deadline exceeded after {iterations} iterations")]
    Deadline {
        /// Iterations until then.
        iterations: usize,
    },
    /// The numbers are beyond what can be computed with.
    #[error(
        "the loss is not a finite number: the total, or an answer in units of its stddev, \
         is too large"
    )]
    Overflow,
    /// The total is not a positive number.
    #[error("total: expected a positive number, found {0}")]
    Total(f64),
}
