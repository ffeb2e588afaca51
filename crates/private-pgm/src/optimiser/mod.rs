//! Minimising a convex loss over the marginals of a graphical model.
//!
//! Every method moves through potentials theta = theta_0 - (a combination of gradients), so that
//! each iterate is a graphical model, and the limit is the one of largest entropy among the
//! minimisers. Every run ends with a [`Reason`] and, where the oracle can bound a maximum, a
//! certified [gap](Objective::certificate).

mod accelerated;
mod average;
mod convergence_monitor;
mod dual_averaging;
mod lbfgs;
mod mirror;
mod step;

pub use accelerated::Accelerated;
pub use convergence_monitor::{ConvergenceMonitor, Progress, Reason, Stopping};
pub use dual_averaging::DualAveraging;
pub use lbfgs::Lbfgs;
pub use mirror::{Mirror, StepSize};

use std::sync::Arc;

use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::loss::{Distance, Loss};
use crate::numeric::distance::{distance_descent, squared_distance};
use crate::numeric::pointwise::{blend, dot};
use crate::oracle::{MarginalOracle, Reparametrized};

/// The loss of the marginals that an oracle computes from potentials.
pub struct Objective<'a> {
    /// Turns potentials into marginals.
    pub oracle: &'a mut dyn MarginalOracle,
    /// The loss.
    pub loss: &'a mut dyn Loss,
    /// 0 for what is possible and minus infinity for what is not.
    pub base: &'a Potentials,
    /// What marginals sum to.
    pub total: f64,
}

/// A graphical model on the way: potentials, and what the oracle computed from them.
#[derive(Clone, Debug)]
pub struct Iterate {
    /// theta.
    pub potentials: Potentials,
    /// The marginals of theta.
    pub marginals: Marginals,
    /// ln Z of theta.
    pub log_z: f64,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best model that was checked, or the last one.
    pub iterate: Iterate,
    /// Its loss.
    pub loss: f64,
    /// How much larger than the smallest possible its loss is at most.
    pub gap: Option<f64>,
    /// Calls of the oracle.
    pub iterations: usize,
    /// Why the run ended.
    pub reason: Reason,
}

/// A method of minimising an [`Objective`].
pub trait Optimiser {
    /// Minimises from `start` until `monitor` returns a reason to stop.
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        monitor: &mut ConvergenceMonitor<'_>,
    ) -> Outcome;
}

impl Objective<'_> {
    fn layout(&self) -> &Arc<CliqueLayout> {
        self.oracle.layout()
    }

    /// The marginals and ln Z of potentials.
    pub fn evaluate(&mut self, potentials: Potentials) -> Iterate {
        let mut marginals = Marginals::zeros(self.layout());
        let log_z = self.oracle.marginals(&potentials, self.total, &mut marginals);
        Iterate { potentials, marginals, log_z }
    }

    /// Lets the oracle replace potentials, and recomputes the marginals where it underflowed:
    /// otherwise a loss below the smallest possible one would pass for an optimum. Returns whether
    /// the marginals are new.
    fn reparametrize(&mut self, iterate: &mut Iterate, exactly: bool) -> bool {
        let Iterate { potentials, marginals, log_z } = iterate;
        match self.oracle.reparametrize(potentials, exactly) {
            Reparametrized::Unchanged => return false,
            Reparametrized::Shifted(less) => {
                *log_z -= less;
                return false;
            }
            Reparametrized::Recompute => {}
        }
        *log_z = self.oracle.marginals(potentials, self.total, marginals);
        true
    }

    /// The loss at mu.
    fn value(&mut self, marginals: &Marginals) -> f64 {
        match self.loss.as_distance() {
            Some(Distance { y, weight }) => {
                let parallel = self.oracle.is_parallel();
                0.5 * weight * squared_distance(marginals.values(), y, parallel)
            }
            None => self.loss.value(marginals),
        }
    }

    /// The loss at mu, and the certificate: how much larger than the smallest possible it can be.
    ///
    /// By convexity L(mu') >= L(mu) + <g, mu' - mu> for the gradient g at mu, so that L(mu) -
    /// L(mu') is at most <g, mu> - <g, mu'>, whatever mu'. The smallest <g, mu'> over all marginals
    /// is taken at a single record repeated: minus the total times the largest sum over C of
    /// -g_C(x_C), one run of the oracle. `None` when the oracle cannot bound that maximum.
    /// Overwrites `scratch`.
    pub fn certificate(
        &mut self,
        marginals: &Marginals,
        scratch: &mut Potentials,
    ) -> Option<(f64, f64)> {
        let (base, parallel) = (self.base.values(), self.oracle.is_parallel());
        let (value, here);
        if let Some(Distance { y, weight }) = self.loss.as_distance() {
            let inputs = [marginals.values(), y, base];
            let sums = distance_descent(weight, inputs, scratch.values_mut(), parallel);
            (value, here) = (0.5 * weight * sums[0], weight * sums[1]);
        } else {
            value = self.loss.value_and_gradient(marginals, &mut scratch.0);
            here = dot(scratch.values(), marginals.values());
            blend(-1.0, scratch.values_mut(), 1.0, base, parallel);
        }
        let best = self.oracle.maximum(scratch)?;
        // Rounding can make a vanishing difference negative.
        Some((value, (here + self.total * best).max(0.0)))
    }
}
