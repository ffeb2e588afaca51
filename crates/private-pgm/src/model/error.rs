use thiserror::Error;

use crate::domain::{AttributeId, Clique};
use crate::query::FactorError;

/// Why a model does not give an answer.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InferenceError {
    /// The potentials exclude every record.
    #[error("the model gives every record probability zero")]
    Impossible,
    /// The evidence contradicts the model.
    #[error("the evidence has probability zero under the model")]
    ImpossibleEvidence,
    /// The domain has no such attribute.
    #[error("expected an attribute below {attributes}, found {}", .id.0)]
    NoSuchAttribute {
        /// The attribute that was asked for.
        id: AttributeId,
        /// The number of attributes of the domain.
        attributes: usize,
    },
    /// The domain has no attribute of this name.
    #[error("expected an attribute of the model, found {name:?}")]
    NoSuchName {
        /// The name that was asked for.
        name: String,
    },
    /// An attribute does not have the value that is given as evidence.
    #[error("expected a value below {size}, found {value}")]
    NoSuchValue {
        /// The attribute.
        id: AttributeId,
        /// The number of its values.
        size: usize,
        /// The value that was given.
        value: usize,
    },
    /// An attribute was given two query factors.
    #[error("expected every attribute at most once, found one listed twice")]
    RepeatedAttribute(AttributeId),
    /// A query factor does not fit its attribute.
    #[error("{reason}")]
    Factor {
        /// The attribute.
        id: AttributeId,
        /// What is wrong with its factor.
        reason: FactorError,
    },
    /// Belief propagation says nothing about attributes that no clique has together.
    #[error("approximate answers are for attributes that were measured together, these were not")]
    NotTogether {
        /// The attributes.
        attributes: Clique,
    },
    /// Records have no room for that many values.
    #[error(
        "records can be drawn of attributes with at most {} values, found one with {size}",
        u32::MAX
    )]
    TooManyValues {
        /// The values of the attribute.
        size: usize,
    },
    /// The answer, or a table on the way to it, is larger than the limit.
    #[error("the answer takes a table of {cells:.4e} cells, more than the limit of {limit}")]
    TooLarge {
        /// The cells of the largest table that would be needed.
        cells: f64,
        /// The largest number of cells that is allowed.
        limit: usize,
    },
}
