use thiserror::Error;

use crate::data::CodesError;
use crate::postprocess::contingency::PublicError;
use crate::postprocess::tree::TreeError;
use crate::subprocess::CommandError;
use dp::SensitivityError;
use dp::{BudgetError, DrawError, ParameterError as PrivacyParameterError};
use private_pgm::fit::EstimatorError;
use private_pgm::model::MarginalError;
use private_pgm::query::QueryError;

/// A mechanism cannot be built with these parameters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ParameterError {
    /// The name of the parameter, and what is expected.
    pub message: String,
}

/// Why a mechanism has published nothing.
#[derive(Debug, Error)]
pub enum MechanismError {
    /// The release would not fit into memory.
    #[error("{message}")]
    Infeasible { bytes: f64, message: String },
    #[error("out of time before everything was measured")]
    Timeout,
    /// The data or the budget do not suit the mechanism.
    #[error("{0}")]
    Unsuitable(String),
    /// A command of the user says that it does not suit the task.
    #[error("{0}")]
    NotApplicable(String),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Budget(#[from] BudgetError),
    #[error(transparent)]
    Draw(#[from] DrawError),
    #[error(transparent)]
    Sensitivity(#[from] SensitivityError),
    #[error(transparent)]
    Parameter(#[from] PrivacyParameterError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Codes(#[from] CodesError),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Public(#[from] PublicError),
    #[error(transparent)]
    Estimator(#[from] EstimatorError),
    #[error(transparent)]
    Marginal(#[from] MarginalError),
}
