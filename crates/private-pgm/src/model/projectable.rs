use thiserror::Error;

use super::InferenceError;
use crate::domain::{Clique, Domain};
use crate::factor::Factor;

/// A source of marginals: records, tables, a model, an estimate.
pub trait Projectable: Send + Sync {
    /// The attributes and their sizes.
    fn domain(&self) -> &Domain;

    /// The marginal on `clique`, in counts.
    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError>;

    /// The marginals on several cliques. They need not be consistent with each other. Returns the
    /// first error in the order of `cliques`.
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        cliques.iter().map(|clique| self.project(clique)).collect()
    }

    /// The variance of every cell of the marginal on `clique`, from the noise of what it was
    /// estimated from. `None` unless the source is unbiased there and knows it exactly.
    fn cell_variance(&self, _clique: &Clique) -> Option<f64> {
        None
    }

    /// The same for the answer to a linear query on the marginal, with one weight per cell.
    fn query_variance(&self, _clique: &Clique, _weights: &[f64]) -> Option<f64> {
        None
    }
}

/// Why there is no marginal.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MarginalError {
    /// The source knows nothing about these attributes together.
    #[error("this estimate says nothing about the marginal on {attributes:?}")]
    Unknown {
        /// Their names.
        attributes: Vec<String>,
    },
    /// The marginal has too many cells.
    #[error("the marginal on {attributes:?} has {cells:.3e} cells; the limit is {limit}")]
    TooLarge {
        /// Their names.
        attributes: Vec<String>,
        /// The cells of the marginal.
        cells: f64,
        /// The most cells of a marginal from this source.
        limit: usize,
    },
    /// The model cannot answer.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

impl MarginalError {
    /// The error of a source that knows nothing about `clique`.
    pub fn unknown(domain: &Domain, clique: &Clique) -> Self {
        Self::Unknown { attributes: names(domain, clique) }
    }

    /// The cells of the marginal on `clique`, or an error if there are more than `limit`.
    pub fn check_cells(domain: &Domain, clique: &Clique, limit: usize) -> Result<usize, Self> {
        domain.cells(clique).filter(|&cells| cells <= limit).ok_or_else(|| Self::TooLarge {
            attributes: names(domain, clique),
            cells: domain.cells_f64(clique),
            limit,
        })
    }
}

fn names(domain: &Domain, clique: &Clique) -> Vec<String> {
    domain.names(clique).into_iter().map(String::from).collect()
}
