//! Query matrices and what they ask of a marginal.
//!
//! A [`QueryFactor`] asks about one attribute, a [`QueryMatrix`] about the marginal of a clique:
//! a Kronecker product of one factor per attribute, or one matrix over all cells. Neither a
//! prefix matrix nor a Kronecker product is ever written out.

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
pub use pseudo_inverse::PseudoInverse;
pub use query_factor::QueryFactor;
pub use query_matrix::{QueryError, QueryMatrix, RowOrder};
pub use total_estimator::TotalEstimator;

/// The largest number of cells of a marginal, and of rows of a query matrix over it: 2^31.
///
/// Our choice: a table of that size takes 16 GiB, and [`crate::numeric::strided::Projection`]
/// keeps positions in 32 bits.
pub const MAX_CELLS: usize = 1 << 31;
