//! Convex losses over marginals: how well marginals explain the observations.
//!
//! A loss is the interface between mechanisms and estimation. [`LinearLoss`] implements it for
//! noisy linear measurements; a mechanism with evidence of another kind implements [`Loss`] itself.

mod cover;
mod linear;
mod measurement;
mod penalty;
#[cfg(test)]
mod tests;

pub use cover::maximal_cliques;
pub use linear::{LinearLoss, LinearLossError};
pub use measurement::{Measurement, MeasurementError, estimate_total};
pub use penalty::Norm;

use std::sync::Arc;

use crate::factor::{CliqueLayout, CliqueVector, Marginals};

/// The loss weight / 2 |mu - y|_2^2 over all cells: every cell of every clique is measured once,
/// with the same noise.
#[derive(Clone, Copy, Debug)]
pub struct Distance<'a> {
    /// The measured cells, in the order of the layout.
    pub y: &'a [f64],
    /// 1 / stddev^2.
    pub weight: f64,
}

/// A convex loss L(mu) over the marginals of a collection of cliques.
///
/// Methods take `&mut self` so that an implementation can keep scratch space between calls. Results
/// depend on the arguments alone.
pub trait Loss: Send {
    /// The cliques whose marginals are the argument of the loss.
    fn layout(&self) -> &Arc<CliqueLayout>;

    /// Returns L(mu) and writes its gradient to `gradient`; a subgradient where L has a kink.
    fn value_and_gradient(&mut self, marginals: &Marginals, gradient: &mut CliqueVector) -> f64;

    /// L(mu), without the gradient.
    fn value(&mut self, marginals: &Marginals) -> f64;

    /// For noisy answers with any loss: the sum of |r| and half the sum of r^2, where r are the
    /// residuals in units of their standard deviations. `None` for other evidence.
    fn l1_l2(&mut self, _marginals: &Marginals) -> Option<(f64, f64)> {
        None
    }

    /// <d, H d> for a loss with a constant Hessian H: twice the second-order term of L along d.
    /// `None` for other losses.
    fn curvature(&mut self, _direction: &CliqueVector) -> Option<f64> {
        None
    }

    /// The same loss as a weighted squared distance, if it is one. Optimisers have a faster path
    /// for it.
    fn as_distance(&self) -> Option<Distance<'_>> {
        None
    }

    /// A constant K with L(mu') <= L(mu) + <grad L(mu), mu' - mu> + K/2 |p' - p|_1^2 for all tables
    /// p, p' of counts with marginals mu, mu'. `None` when there is no such constant.
    fn smoothness(&self) -> Option<f64>;
}
