//! Numerical methods that mechanisms need and the engine does not.

pub(crate) mod fourier;
pub(crate) mod l1_ball;
pub(crate) mod projected_gradient;
pub(crate) mod projected_lbfgs;
pub(crate) mod symmetric;
