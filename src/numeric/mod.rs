//! Kernels on slices of `f64`. Nothing in here knows what an attribute is.

pub mod contraction;
pub mod exp;
pub mod pointwise;
pub mod strided;
