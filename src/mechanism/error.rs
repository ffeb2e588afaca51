use std::fmt::Display;

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

impl ParameterError {
    pub(super) fn expected(name: &str, expected: &str, found: impl Display) -> Self {
        Self { message: format!("{name}: expected {expected}, found {found}") }
    }

    /// Refuses 0.
    pub(super) fn check_count(name: &str, count: u64) -> Result<(), Self> {
        match count {
            0 => Err(Self::expected(name, "a whole number from 1 on", 0)),
            _ => Ok(()),
        }
    }

    /// Refuses what is not between 0 and 1.
    pub(super) fn check_fraction(name: &str, number: f64) -> Result<(), Self> {
        match number > 0.0 && number < 1.0 {
            true => Ok(()),
            false => Err(Self::expected(name, "a number between 0 and 1", number)),
        }
    }
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
