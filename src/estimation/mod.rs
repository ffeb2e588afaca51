//! From noisy measurements to a graphical model: losses, junction trees, marginal oracles,
//! optimisers, and the fitted model.

pub mod contraction;
pub mod estimate;
pub mod estimator;
pub mod junction_tree;
pub mod loss;
pub mod model;
pub mod optimiser;
pub mod oracle;
