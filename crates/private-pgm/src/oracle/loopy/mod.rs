//! Approximate oracles for models whose junction tree is too large.

mod propagation;
mod regions;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use thiserror::Error;

use self::propagation::{Counting, NothingLeft, Propagation, Rule};
use self::regions::{Region, intersections, is_acyclic, join_graph, outwards};
use self::tables::Algebra;
use super::MarginalOracle;
use crate::factor::{CliqueLayout, Marginals, Potentials};

/// Belief propagation between the measured cliques, without a junction tree (ICML 2019, end of
/// section 5.2).
///
/// Messages are tables over attributes that cliques share, so that nothing larger than a measured
/// clique is ever formed. What comes out are pseudo-marginals: every clique's sums to the total
/// exactly, and cliques agree on what they share up to the tolerance when message passing has
/// converged ([`Loopy::convergence`]), but there need not be a distribution that has them all.
///
/// | | [`Loopy::bethe`] | [`Loopy::convex`] |
/// | --- | --- | --- |
/// | entropy | sum of H(mu_C) - sum of (parents(S) - 1) H(mu_S) | sum of H(mu_C) |
/// | cliques agree on | the sepsets S of a join graph | all that they share |
/// | cliques without cycles | exact after one sweep | not the model's marginals |
/// | converges | usually; damping helps | always, to the only answer |
/// | ln Z | no bound | upper bound, after any number of sweeps |
///
/// Take `bethe` to approximate the marginals of a given model. Take `convex` inside an estimation:
/// its marginals are the gradient of its ln Z, a convex function of the potentials, so that mirror
/// descent with it minimises the loss over all marginals that agree with each other, as it would
/// over the marginal polytope with an exact oracle (McKenna, Pradhan, Sheldon, Miklau, NeurIPS
/// 2021). Which positive counting numbers its entropy has then does not change the optimum. With 1
/// on every clique the Bregman divergence is at least sum over C of |mu_C - mu'_C|_1^2 / 2, so that
/// for a sum of quadratic losses, one a clique, the largest smoothness constant among them is safe:
/// never more than exact marginals need.
///
/// Cost of a call: one exp for every cell of the cliques. Cost of a sweep: two visits to every inner
/// region, each a sum over its parents' tables and a product with them. Only where sums come near
/// underflow are they done again with one exp a cell. Nothing is allocated after construction.
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

/// The sweeps for a bound on the maximum end when one adds less than this share of what all have
/// gained. Our choice: later sweeps are slow to add more, and the bound stays loose.
const WORTHWHILE: f64 = 0.01;

/// When message passing stops, and what it starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopyOptions {
    /// Sweeps in one call at most; at least 1. A sweep visits every inner region twice.
    pub max_sweeps: usize,
    /// Sweeps end when no two probabilities that should agree differ by more than this.
    pub tolerance: f64,
    /// The share of the old messages that is kept at every visit, in [0, 1). Slower, but calms
    /// oscillations of [`Loopy::bethe`]; [`Loopy::convex`] does not need it, and models without
    /// cycles ignore it.
    pub damping: f64,
    /// Whether [`MarginalOracle::marginals`] continues from the messages of the call before.
    ///
    /// Off, a result depends on the arguments alone, as the trait promises. On, a call whose
    /// potentials differ little from the last ones needs fewer sweeps, but its result depends on
    /// the calls before it: as little as the tolerance says for [`Loopy::convex`] when it
    /// converges; without bound for [`Loopy::bethe`], which may have several answers.
    ///
    /// An estimation, whose potentials change less and less, wants it on, with `convex` and few
    /// sweeps a call: sweeps then keep up with the potentials instead of starting over. It is off
    /// by default so that nobody gets history-dependent answers without having asked. The same
    /// sequence of calls on a new oracle gives the same bits either way.
    pub warm_start: bool,
}

impl Default for LoopyOptions {
    /// Our choice. No damping: regions are visited one after another, which oscillates so rarely
    /// that damping makes more sweeps than it saves. No warm start: see there.
    fn default() -> Self {
        Self { max_sweeps: 200, tolerance: 1e-8, damping: 0.0, warm_start: false }
    }
}

/// How the last computation of marginals ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// The sweeps that were made.
    pub sweeps: usize,
    /// The largest difference, met in the last sweep, between a clique's probability of a shared
    /// cell and the one that was agreed on.
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
}

/// Why there is no such oracle.
#[derive(Debug, Error, PartialEq)]
pub enum LoopyError {
    /// Without a sweep cliques never hear of each other.
    #[error("max_sweeps is 0; at least one sweep is needed")]
    NoSweeps,
    /// The tolerance is negative or not a number.
    #[error("tolerance is {0}; it must be 0 or more")]
    Tolerance(f64),
    /// The damping leaves nothing of the new messages, or is negative or not a number.
    #[error("damping is {0}; it must be at least 0 and less than 1")]
    Damping(f64),
    /// Two cliques share a table with more cells than 32 bits can count.
    #[error("cliques share a table of {cells:e} cells, more than 2^32")]
    IntersectionTooLarge {
        /// The cells of the shared table.
        cells: f64,
    },
}

impl Loopy {
    /// Sum-product belief propagation on a join graph of the layout's cliques.
    ///
    /// Inner regions are sets of attributes rather than single ones: cliques that share a pair
    /// then agree on the pair, and cliques that have a junction tree get it, which makes the
    /// answer exact (a factor graph would not: it already has cycles when two cliques share two
    /// attributes). Around a cycle of cliques that share an attribute, one pair is left out of the
    /// attribute's tree, since its entropy must count once; that pair may disagree on what it
    /// shares. Where several join graphs are equally good, the order of the cliques decides, and
    /// the approximation depends on it.
    ///
    /// `marginals` returns the Bethe approximation of ln Z.
    pub fn bethe(layout: &Arc<CliqueLayout>, options: LoopyOptions) -> Result<Self, LoopyError> {
        Self::new(layout, join_graph(layout), Counting::Bethe, options)
    }

    /// Convex belief propagation: the maximiser of sum over C of <theta_C, mu_C> + H(mu_C) over
    /// all mu in which every two cliques agree on what they share.
    ///
    /// `marginals` returns the value of the dual problem. It is never below ln Z, because the
    /// entropy of a distribution is at most the sum of the entropies of marginals that cover its
    /// attributes; sweeps only lower it.
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
        let regions = outwards(layout.cliques().len(), regions);
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

    /// How the last call of [`MarginalOracle::marginals`] ended.
    pub fn convergence(&self) -> Convergence {
        self.convergence
    }

    /// Sweeps until the cliques agree.
    fn agree(&mut self) -> Result<(), NothingLeft> {
        let LoopyOptions { max_sweeps, tolerance, damping, .. } = self.options;
        let one_sweep_is_exact = self.acyclic && self.counting == Counting::Bethe;
        let damping = if one_sweep_is_exact { 0.0 } else { damping };
        let rule = Rule { algebra: Algebra::SumProduct, counting: self.counting, damping };
        // What an exclusion of everything leaves behind: it is certain, however early it is noticed.
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
    /// cell. Zeros that exclude every record although all cliques can agree are not noticed.
    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        self.propagation.start_sum(potentials, self.counting);
        let log_z = match self.agree() {
            Ok(()) => self.propagation.dual(Algebra::SumProduct, self.counting),
            Err(NothingLeft) => f64::NEG_INFINITY,
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
    /// on the inner regions, so that the bound holds for <theta, mu> over all of these, not only
    /// over the marginal polytope. A duality gap computed with it is therefore loose but valid,
    /// whatever marginals the gap is taken at: it bounds how much smaller than at those marginals
    /// the loss can be anywhere in the larger set.
    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let rule = Rule { algebra: Algebra::MaxSum, counting: Counting::Convex, damping: 0.0 };
        self.propagation.start_max(potentials);
        let first = self.propagation.dual(rule.algebra, rule.counting);
        let mut bound = first;
        for _ in 0..self.options.max_sweeps {
            if bound == f64::NEG_INFINITY || self.propagation.sweep(rule).is_err() {
                return Some(f64::NEG_INFINITY);
            }
            let before = bound;
            bound = bound.min(self.propagation.dual(rule.algebra, rule.counting));
            // Potentials have no scale of their own, so that progress is measured by progress.
            if before - bound <= WORTHWHILE * (first - bound) {
                break;
            }
        }
        Some(bound)
    }

    fn is_exact(&self) -> bool {
        false
    }
}
