use thiserror::Error;

use crate::domain::{AttributeId, Clique};
use crate::query::FactorError;

/// Why a query of a model failed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InferenceError {
    /// The potentials give every record probability zero.
    #[error("the model gives every record probability zero")]
    Impossible,
    /// The evidence has probability zero.
    #[error("the evidence has probability zero under the model")]
    ImpossibleEvidence,
    /// An attribute id is not in the domain.
    #[error("expected an attribute below {attributes}, found {}", .id.0)]
    NoSuchAttribute {
        /// The id that was passed.
        id: AttributeId,
        /// The number of attributes of the domain.
        attributes: usize,
    },
    /// The evidence has a value outside `0..size`.
    #[error("expected a value below {size}, found {value}")]
    NoSuchValue {
        /// The attribute of the evidence.
        id: AttributeId,
        /// The number of its values.
        size: usize,
        /// The value that was passed.
        value: usize,
    },
    /// An attribute has two query factors.
    #[error("expected every attribute at most once, found one listed twice")]
    RepeatedAttribute(AttributeId),
    /// A query factor does not fit its attribute.
    #[error("{reason}")]
    Factor {
        /// The attribute of the factor.
        id: AttributeId,
        /// How the factor fails to fit.
        reason: FactorError,
    },
    /// Approximate marginals exist only for attributes of one measured clique.
    #[error(
        "these attributes were not measured together; approximate marginals exist only inside \
         measured cliques"
    )]
    NotTogether {
        /// The attributes of the query that are in some clique.
        attributes: Clique,
    },
    /// A value of a synthetic record is a `u32`.
    #[error(
        "records can be drawn of attributes with at most {} values, found one with {size}",
        u32::MAX
    )]
    TooManyValues {
        /// The number of values of the attribute.
        size: usize,
    },
    /// The result, or an intermediate table, exceeds the cell limit.
    #[error("the query needs a table of {cells:.4e} cells, more than the limit of {limit}")]
    TooLarge {
        /// The cells of the largest table that would be needed.
        cells: f64,
        /// The cell limit that was set at calibration.
        limit: usize,
    },
}
