//! Baselines: the estimators that the graphical model is compared with.

mod as_measured;
mod full_least_squares;
mod least_squares;
mod local_least_squares;
mod multiplicative_weights;
mod tables;
#[cfg(test)]
mod tests;
mod uniform;

pub use as_measured::AsMeasured;
pub use full_least_squares::FullLeastSquares;
pub(crate) use least_squares::{l1_l2, linear_measurements};
pub use local_least_squares::LocalLeastSquares;
pub use multiplicative_weights::MultiplicativeWeights;
pub use tables::Tables;
pub use uniform::Uniform;

use std::time::Instant;

/// Whether the deadline, if there is one, is not over.
pub(crate) fn in_time(deadline: Option<Instant>) -> bool {
    deadline.is_none_or(|deadline| Instant::now() < deadline)
}
