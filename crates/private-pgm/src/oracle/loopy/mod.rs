//! Approximate oracles for models whose junction tree is too large.

mod propagation;
mod regions;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use thiserror::Error;

use self::propagation::{Counting, NothingPossible, Propagation, Rule};
use self::regions::{Region, breadth_first, intersections, is_acyclic, join_graph};
use self::tables::Semiring;
use super::MarginalOracle;
use crate::factor::{CliqueLayout, Marginals, Potentials};

/// Belief propagation between the measured cliques, without a junction tree (ICML 2019, end of
/// section 5.2).
///
/// Messages are tables over attributes that cliques share, so that no table larger than a measured
/// clique is formed. The result is a set of pseudo-marginals: each clique's sums to the total, and
/// cliques agree on shared attributes up to the tolerance once message passing has converged
/// ([`Loopy::convergence`]), but no joint distribution need have all of them as marginals.
///
/// | | [`Loopy::bethe`] | [`Loopy::convex`] |
/// | --- | --- | --- |
/// | entropy | sum of H(mu_C) - sum of (parents(S) - 1) H(mu_S) | sum of H(mu_C) |
/// | cliques agree on | the separators S of a join graph | all shared attributes |
/// | cliques without cycles | exact after one sweep | not the model's marginals |
/// | converges | usually; damping helps | always, to the unique fixed point |
/// | ln Z | no bound | upper bound, after any number of sweeps |
///
/// Use `bethe` to approximate the marginals of a given model. Use `convex` inside an estimation:
/// its marginals are the gradient of its ln Z, a convex function of the potentials, so that mirror
/// descent minimises the loss over the local polytope of consistent marginals, just as it
/// minimises over the marginal polytope with an exact oracle (McKenna, Pradhan, Sheldon, Miklau,
/// NeurIPS 2021). The choice of positive counting numbers does not change the optimum. With 1 on
/// every clique the Bregman divergence is at least sum over C of |mu_C - mu'_C|_1^2 / 2. For a sum
/// of quadratic losses, one per clique, the largest of their smoothness constants is therefore
/// valid; exact marginals never need less.
///
/// Cost of a call: one exp per cell of the cliques. Cost of a sweep: two updates of every inner
/// region, each a sum over its parents' tables and a product with them. Sums near underflow are
/// recomputed with one exp per cell. Nothing is allocated after construction.
#[derive(Debug)]
pub struct Loopy {
    layout: Arc<CliqueLayout>,
    counting: Counting,
    acyclic: bool,
    options: LoopyOptions,
    propagation: Propagation,
    log_unmentioned: f64,
    convergence: Convergence,
}

/// The sweeps for a bound on the maximum end when one improves it by less than this share of the
/// total improvement. Our choice: later sweeps gain little, and the bound stays loose.
const MIN_SHARE_OF_GAIN: f64 = 0.01;

/// When message passing stops, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopyOptions {
    /// The largest number of sweeps per call, at least 1. A sweep updates every inner region twice.
    pub max_sweeps: usize,
    /// Sweeps end when no two probabilities that should be equal differ by more than this.
    pub tolerance: f64,
    /// The share of the old messages that every update keeps, in [0, 1). Damping slows convergence
    /// but reduces oscillations of [`Loopy::bethe`]. [`Loopy::convex`] does not need it, and models
    /// without cycles ignore it.
    pub damping: f64,
    /// Whether [`MarginalOracle::marginals`] continues from the messages of the call before.
    ///
    /// If false (default), a result depends on the arguments alone, as the trait requires. If true,
    /// a call whose potentials differ little from the last ones needs fewer sweeps, but its result
    /// depends on earlier calls: within the tolerance for a converged [`Loopy::convex`], without a
    /// bound for [`Loopy::bethe`], which may have several fixed points.
    ///
    /// An estimation, whose potentials change less and less, should turn it on with `convex` and
    /// few sweeps per call: sweeps then track the potentials instead of starting over. The same
    /// sequence of calls on a new oracle gives the same bits in either case.
    pub warm_start: bool,
}

impl Default for LoopyOptions {
    /// Our choice: 200 sweeps, tolerance 1e-8, no damping, no warm start. Sequential updates
    /// oscillate so rarely that damping costs more sweeps than it saves.
    fn default() -> Self {
        Self { max_sweeps: 200, tolerance: 1e-8, damping: 0.0, warm_start: false }
    }
}

/// Whether and how fast the last computation of marginals converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// The number of sweeps.
    pub sweeps: usize,
    /// The largest difference in the last sweep between a clique's probability of a shared cell and
    /// that of the region.
    pub residual: f64,
    /// Whether the residual is at most the tolerance.
    pub converged: bool,
}

/// Why [`LoopyOptions`] or a layout were rejected.
#[derive(Debug, Error, PartialEq)]
pub enum LoopyError {
    /// Without a sweep no message is passed.
    #[error("max_sweeps is 0; at least one sweep is needed")]
    NoSweeps,
    /// The tolerance is negative or not a number.
    #[error("tolerance is {0}; it must be 0 or more")]
    Tolerance(f64),
    /// The damping is at least 1, negative or not a number.
    #[error("damping is {0}; it must be at least 0 and less than 1")]
    Damping(f64),
    /// Two cliques share a table with more cells than 32 bits can count.
    #[error("cliques share a table of {cells:e} cells, more than 2^32")]
    IntersectionTooLarge {
        /// The number of cells of the shared table.
        cells: f64,
    },
}

impl Loopy {
    /// Sum-product belief propagation on a join graph of the layout's cliques.
    ///
    /// Inner regions are sets of attributes rather than single attributes. Cliques that share a
    /// pair then agree on the pair, and acyclic cliques get their junction tree, which makes the
    /// result exact. (A factor graph already has cycles when two cliques share two attributes.)
    /// Around a cycle of cliques that share an attribute, one pair is left out of the attribute's
    /// tree, since its entropy must count once; that pair may disagree on the shared attribute.
    /// Among equally good join graphs the order of the cliques decides, so the approximation
    /// depends on it.
    ///
    /// `marginals` returns the Bethe approximation of ln Z.
    pub fn bethe(layout: &Arc<CliqueLayout>, options: LoopyOptions) -> Result<Self, LoopyError> {
        Self::new(layout, join_graph(layout), Counting::Bethe, options)
    }

    /// Convex belief propagation: the maximiser of sum over C of <theta_C, mu_C> + H(mu_C) over
    /// all mu in which every two cliques agree on their shared attributes.
    ///
    /// `marginals` returns the value of the dual problem. It is never below ln Z, because the
    /// entropy of a distribution is at most the sum of the entropies of marginals that cover its
    /// attributes. Sweeps never increase it.
    pub fn convex(layout: &Arc<CliqueLayout>, options: LoopyOptions) -> Result<Self, LoopyError> {
        Self::new(layout, intersections(layout), Counting::Convex, options)
    }

    fn new(
        layout: &Arc<CliqueLayout>,
        regions: Vec<Region>,
        counting: Counting,
        options: LoopyOptions,
    ) -> Result<Self, LoopyError> {
        options.check()?;
        let sizes = regions.iter().map(|region| layout.domain().cells_f64(&region.attributes));
        if let Some(cells) = sizes.into_iter().find(|&cells| cells > f64::from(u32::MAX)) {
            return Err(LoopyError::IntersectionTooLarge { cells });
        }
        let regions = breadth_first(layout.cliques().len(), regions);
        Ok(Self {
            layout: Arc::clone(layout),
            counting,
            acyclic: is_acyclic(layout.cliques().len(), &regions),
            options,
            propagation: Propagation::new(layout, &regions, options.warm_start),
            log_unmentioned: super::log_unmentioned(layout),
            convergence: Convergence { sweeps: 0, residual: 0.0, converged: true },
        })
    }

    /// The convergence of the last call of [`MarginalOracle::marginals`].
    pub fn convergence(&self) -> Convergence {
        self.convergence
    }

    /// Sweeps until the cliques agree within the tolerance, at most `max_sweeps` times.
    fn converge(&mut self) -> Result<(), NothingPossible> {
        let LoopyOptions { max_sweeps, tolerance, damping, .. } = self.options;
        let one_sweep_is_exact = self.acyclic && self.counting == Counting::Bethe;
        let damping = if one_sweep_is_exact { 0.0 } else { damping };
        let rule = Rule { semiring: Semiring::SumProduct, counting: self.counting, damping };
        // Kept when structural zeros exclude everything, which is certain after any sweep.
        self.convergence = Convergence { sweeps: 0, residual: 0.0, converged: true };
        for sweeps in 1..=max_sweeps {
            let found = self.propagation.sweep(rule)?;
            let residual = if one_sweep_is_exact { 0.0 } else { found };
            let converged = residual <= tolerance;
            self.convergence = Convergence { sweeps, residual, converged };
            if converged {
                break;
            }
        }
        Ok(())
    }
}

impl LoopyOptions {
    fn check(&self) -> Result<(), LoopyError> {
        if self.max_sweeps == 0 {
            return Err(LoopyError::NoSweeps);
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(LoopyError::Tolerance(self.tolerance));
        }
        if !(0.0..1.0).contains(&self.damping) {
            return Err(LoopyError::Damping(self.damping));
        }
        Ok(())
    }
}

impl MarginalOracle for Loopy {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    /// Minus infinity and zeros when the structural zeros leave some clique without a possible
    /// cell. Zeros that exclude every record although all cliques can agree are not detected.
    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        self.propagation.start_sum(potentials, self.counting);
        let log_z = match self.converge() {
            Ok(()) => self.propagation.dual(Semiring::SumProduct, self.counting),
            Err(NothingPossible) => f64::NEG_INFINITY,
        };
        if log_z == f64::NEG_INFINITY {
            marginals.values_mut().fill(0.0);
            return log_z;
        }
        self.propagation.write_marginals(total, marginals);
        log_z + self.log_unmentioned
    }

    /// An upper bound: sum over C of max t_C for tables t that add up to the same total score as
    /// the potentials for every record, starting from the potentials themselves and improved by
    /// averaging max-marginals between cliques (Globerson, Jaakkola, NIPS 2007).
    ///
    /// The tables differ from the potentials by messages that cancel for all marginals that agree
    /// on the inner regions, so that the bound holds for <theta, mu> over the whole local polytope,
    /// not only over the marginal polytope. A duality gap computed with it at any marginals is
    /// loose but valid: it bounds how far the loss at those marginals is above its minimum over the
    /// local polytope.
    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let rule = Rule { semiring: Semiring::MaxSum, counting: Counting::Convex, damping: 0.0 };
        self.propagation.start_max(potentials);
        let first = self.propagation.dual(rule.semiring, rule.counting);
        let mut bound = first;
        for _ in 0..self.options.max_sweeps {
            if bound == f64::NEG_INFINITY || self.propagation.sweep(rule).is_err() {
                return Some(f64::NEG_INFINITY);
            }
            let before = bound;
            bound = bound.min(self.propagation.dual(rule.semiring, rule.counting));
            // Potentials have no natural scale, so the gain is compared with the total gain.
            if before - bound <= MIN_SHARE_OF_GAIN * (first - bound) {
                break;
            }
        }
        Some(bound)
    }

    fn is_exact(&self) -> bool {
        false
    }
}
