//! Query matrices: linear queries on marginals.
//!
//! A [`QueryFactor`] is a matrix over the values of one attribute. A [`QueryMatrix`] is a matrix
//! over the cells of a marginal: a Kronecker product of one factor per attribute, or one factor
//! over all cells. Products with a matrix use its structure; the matrix itself is not formed.

mod factor_error;
mod gram;
mod p_identity;
mod pseudo_inverse;
mod query_factor;
mod query_matrix;
#[cfg(test)]
pub(crate) mod tests;
mod total_estimator;

pub use factor_error::FactorError;
pub use p_identity::{GramInverse, PIdentity};
pub(crate) use pseudo_inverse::PseudoInverse;
pub use query_factor::QueryFactor;
pub use query_matrix::{QueryError, QueryMatrix, RowOrder};
pub(crate) use total_estimator::TotalEstimator;

/// The largest number of cells of a marginal, and of rows of a query matrix over it: 2^31.
///
/// Our choice: a table of this size takes 16 GiB, and [`crate::numeric::strided::Projection`]
/// stores offsets in 32 bits.
pub const MAX_CELLS: usize = 1 << 31;
