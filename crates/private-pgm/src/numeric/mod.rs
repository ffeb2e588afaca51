//! Kernels on slices of `f64`. Nothing in here knows what an attribute is.

pub mod bytes;
pub mod cholesky;
pub mod contraction;
pub mod distance;
pub mod eigen;
pub mod exp;
pub mod extremes;
mod flush_to_zero;
pub mod kron;
pub mod lsmr;
pub mod matrix;
pub mod pointwise;
pub mod product;
pub mod shift;
pub mod solve;
pub mod sparse;
pub mod step;
pub mod strided;
