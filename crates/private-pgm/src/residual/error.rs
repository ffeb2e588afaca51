use thiserror::Error;

use crate::loss::MeasurementError;

/// Why there is no estimate by residuals.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ResidualError {
    /// A measurement is invalid.
    #[error("measurement {index}: {reason}")]
    Measurement {
        /// Its position in the list.
        index: usize,
        /// How it is invalid.
        reason: MeasurementError,
    },
    /// A measurement does not decompose into residuals.
    #[error(
        "measurement {index} has {found} queries; residuals need identity, total or contrasts on \
         every attribute"
    )]
    Queries {
        /// Its position in the list.
        index: usize,
        /// The kind of its first other factor.
        found: &'static str,
    },
    /// The number of records is neither given nor measured.
    #[error("no measurement determines the number of records, and none is given")]
    NoTotal,
    /// A residual has no known variance, so nothing weighs its changes.
    #[error("the variance of a residual is not known; constrain an estimate from measurements")]
    NoVariance,
    /// The number of records allows no non-negative marginals.
    #[error("expected a positive number of records, found {0}")]
    Total(f64),
}
