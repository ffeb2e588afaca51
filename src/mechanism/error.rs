use thiserror::Error;

use crate::data::{CodesError, MarginalTooLarge};
use crate::postprocess::contingency::PublicError;
use crate::postprocess::tree::TreeError;
use dp::SensitivityError;
use dp::{BudgetError, DrawError, ParameterError as PrivacyParameterError};
use private_pgm::baselines::{EstimatorError, MarginalError};
use private_pgm::query::QueryError;

/// A parameter that a mechanism cannot be built with.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ParameterError {
    /// Which one, and what would be right.
    pub message: String,
}

/// Why a mechanism has published nothing.
#[derive(Debug, Error)]
pub enum MechanismError {
    /// It would not fit into memory.
    #[error("{message}")]
    Infeasible {
        /// How many bytes it would take.
        bytes: f64,
        /// What would take them.
        message: String,
    },
    /// The time is over.
    #[error("out of time before everything was measured")]
    Timeout,
    /// The data or the budget do not suit the mechanism.
    #[error("{0}")]
    Unsuitable(String),
    /// The budget does not allow it.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A draw was refused.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// A sensitivity is no number.
    #[error(transparent)]
    Sensitivity(#[from] SensitivityError),
    /// A privacy parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] PrivacyParameterError),
    /// A marginal of the data is too large.
    #[error(transparent)]
    Marginal(#[from] MarginalTooLarge),
    /// Queries do not fit a marginal.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Records that do not fit the domain.
    #[error(transparent)]
    Codes(#[from] CodesError),
    /// No tree of sums fits a marginal.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Public marginals that are none.
    #[error(transparent)]
    Public(#[from] PublicError),
    /// The estimator that it works with has failed.
    #[error(transparent)]
    Estimator(#[from] EstimatorError),
    /// The estimator that it works with does not answer.
    #[error(transparent)]
    MarginalError(#[from] MarginalError),
}
