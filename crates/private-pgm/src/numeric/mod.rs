//! Kernels on slices of `f64`, and small dense and sparse matrices.
//!
//! Nothing here refers to domains or cliques. A kernel sums every number in one fixed order, so
//! that its result does not depend on the instruction set or on the number of threads.

pub mod bytes;
pub mod cholesky;
pub(crate) mod contraction;
pub(crate) mod contrasts;
pub mod distance;
pub(crate) mod eigen;
pub mod exp;
pub(crate) mod extremes;
mod flush_to_zero;
pub mod kron;
pub mod lsmr;
pub mod matrix;
pub mod memory;
pub mod pointwise;
pub mod product;
pub(crate) mod shift;
pub(crate) mod solve;
pub mod sparse;
pub mod step;
pub mod strided;
