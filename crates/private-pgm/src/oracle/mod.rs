//! Marginal oracles: the only road from [`Potentials`] to [`Marginals`].

mod brute_force;
mod exact;
mod loopy;
mod step_request;

pub use brute_force::{BruteForce, BruteForceError};
pub use exact::Exact;
pub use loopy::{Convergence, Loopy, LoopyError, LoopyOptions};
pub use step_request::{StepRequest, StepResult};

use std::sync::Arc;

use crate::factor::{CliqueLayout, Marginals, Potentials};

/// Computes the clique marginals of a graphical model, the paper's MARGINAL-ORACLE.
///
/// A potential of minus infinity is a structural zero: no record has that combination. Plus
/// infinity and NaN are not allowed. Methods take `&mut self` because an oracle keeps its
/// workspace between calls; what they return depends on the arguments alone, but for rounding.
pub trait MarginalOracle: Send {
    /// The cliques that have potentials, and whose marginals are computed.
    fn layout(&self) -> &Arc<CliqueLayout>;

    /// Writes the marginals of the model with these potentials, scaled to sum to `total`, and
    /// returns ln Z, the logarithm of the sum over all records x of exp(sum over C of
    /// theta_C(x_C)). When the potentials exclude every record, returns minus infinity and writes
    /// zeros.
    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64;

    /// Takes a step, and writes the marginals of where it leads, like
    /// [`marginals`](Self::marginals). Unless the step says where else they are, `marginals` are
    /// those of where it began before that.
    fn descend(
        &mut self,
        mut descent: StepRequest<'_>,
        potentials: &mut Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> StepResult {
        let cells = 0..potentials.values().len();
        let stepped = descent.take(cells, marginals.values(), potentials.values_mut());
        let log_z = self.marginals(potentials, total, marginals);
        StepResult { log_z, square: stepped.square }
    }

    /// Gives the oracle the chance to replace the potentials of its last call by equivalent ones that it can
    /// handle faster and with less rounding: the sum over C of theta_C(x_C) changes by the same number for
    /// every record x. An optimiser offers this after a call, between iterations. An oracle may leave underflowed
    /// potentials as they are for a while unless marginals are wanted `exactly`.
    fn reparametrize(&mut self, _potentials: &mut Potentials, _exactly: bool) -> Reparametrized {
        Reparametrized::Unchanged
    }

    /// The largest value over all records x of sum over C of theta_C(x_C), or `None` when this
    /// oracle cannot bound it. Minus infinity when the potentials exclude every record.
    fn maximum(&mut self, potentials: &Potentials) -> Option<f64>;

    /// Whether the oracle shares its work among threads, and an optimiser had better do so too.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Whether the marginals are those of the model, rather than an approximation of them.
    fn is_exact(&self) -> bool;
}

/// What an oracle did about potentials that were offered to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reparametrized {
    /// It left them.
    Unchanged,
    /// It replaced them. Their marginals are what they were, and ln Z is less by this much.
    Shifted(f64),
    /// It replaced them, and what it said of the old ones was less exact than it could be: the new ones
    /// should be asked.
    Recompute,
}

/// The logarithm of the number of combinations of the attributes that are in no clique: what they
/// add to ln Z.
fn log_unmentioned(layout: &CliqueLayout) -> f64 {
    let domain = layout.domain();
    let mentioned = |id| layout.cliques().iter().any(|clique| clique.contains(id));
    domain.ids().filter(|&id| !mentioned(id)).map(|id| (domain.size(id) as f64).ln()).sum()
}
