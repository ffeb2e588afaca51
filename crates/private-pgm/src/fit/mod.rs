//! From evidence to a fitted model: puts structure, oracle, loss and optimiser together.
//!
//! [`estimate`] takes a problem and the defaults; [`Fit`] is the builder for everything else.
//! [`Estimator`] is what the fit and the baselines have in common; [`Pgm`] is the fit as one.

mod builder;
mod estimate;
mod estimator;
mod evidence;
mod huber;
mod memory_limit;
mod minimisation;
mod observed_loss;
mod oracle_plan;
mod pgm;
mod proximal;
mod run;
pub mod settings;
mod spectral;
mod warm_start;

pub use crate::optimiser::{Progress, Reason, StepSize};
pub use builder::Fit;
pub use estimate::{Estimate, EstimateError};
pub use estimator::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError};
pub use evidence::{Evidence, Likelihood, Observed, StructuralZeros};
pub use memory_limit::default_memory_limit;
pub use pgm::Pgm;
pub use settings::{
    Algorithm, Choice, Constant, NotASetting, OracleKind, Settings, SettingsError, SettingsLayer,
};

use crate::problem::Problem;

/// Fits a graphical model to a problem, with the default settings.
///
/// Ends when the loss is certified to be within 1e-11 of the smallest possible one, or after some
/// seconds; [`Estimate::gap`] tells how far it is at most.
///
/// ```
/// use private_pgm::Problem;
///
/// let problem = Problem::from_json(
///     r#"{"domain": {"a": 2}, "total": 10, "measurements":
///         [{"attrs": ["a"], "query": ["identity"], "y": [4, 7], "stddev": 1}]}"#,
/// )?;
/// let fitted = private_pgm::estimate(&problem)?;
/// assert!((fitted.model.marginal(&["a"])?[[0]] - 3.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate(problem: &Problem) -> Result<Estimate, EstimateError> {
    Fit::new(problem).run()
}
