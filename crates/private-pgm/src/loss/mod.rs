//! How well marginals explain what was observed: a convex function over marginals.
//!
//! This is the seam between mechanisms and estimation. Noisy linear measurements are one
//! implementation; a mechanism whose evidence is of another kind brings its own.

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

/// The loss weight / 2 |mu - y|^2 over all cells: every clique measured once, as a whole, with the
/// same noise.
#[derive(Clone, Copy, Debug)]
pub struct Distance<'a> {
    /// The measured cells, in the order of the layout.
    pub y: &'a [f64],
    /// 1 / stddev^2.
    pub weight: f64,
}

/// A convex loss L(mu) over the marginals of a collection of cliques.
///
/// Methods take `&mut self` so that an implementation can keep scratch space between calls; what
/// they return depends on the arguments alone.
pub trait Loss: Send {
    /// The cliques whose marginals the loss looks at.
    fn layout(&self) -> &Arc<CliqueLayout>;

    /// L(mu), and its gradient (for a loss with kinks: a subgradient) written to `gradient`.
    fn value_and_gradient(&mut self, marginals: &Marginals, gradient: &mut CliqueVector) -> f64;

    /// L(mu) alone.
    fn value(&mut self, marginals: &Marginals) -> f64;

    /// For noisy answers, whichever their loss is: the sum of |r| and half the sum of r^2, r the
    /// residuals in standard deviations.
    fn l1_l2(&mut self, _marginals: &Marginals) -> Option<(f64, f64)> {
        None
    }

    /// <d, H d> for a loss with a constant second derivative H: twice what the linear part of L
    /// leaves over along d. `None` for other losses.
    fn curvature(&mut self, _direction: &CliqueVector) -> Option<f64> {
        None
    }

    /// The same loss as a weighted distance, if it is one. Optimisers have a faster way for it.
    fn as_distance(&self) -> Option<Distance<'_>> {
        None
    }

    /// A constant K with L(mu') <= L(mu) + <grad L(mu), mu' - mu> + K/2 |p' - p|_1^2 for all tables
    /// p, p' with marginals mu, mu' (counts). `None` when there is no such constant.
    fn smoothness(&self) -> Option<f64>;
}
