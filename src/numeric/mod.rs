//! Numerical methods that mechanisms need and the engine does not.

pub mod fourier;
pub mod l1_ball;
pub mod projected_gradient;
pub mod projected_lbfgs;
pub mod symmetric;
