//! Marginal oracles: the only way from [`Potentials`] to [`Marginals`].

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
/// workspace between calls. Results depend on the arguments alone, up to rounding.
pub trait MarginalOracle: Send {
    /// The cliques that have potentials, and whose marginals are computed.
    fn layout(&self) -> &Arc<CliqueLayout>;

    /// Writes the marginals of the model with these potentials, scaled to sum to `total`, and
    /// returns ln Z, the logarithm of the sum over all records x of exp(sum over C of
    /// theta_C(x_C)). When the potentials exclude every record, returns minus infinity and writes
    /// zeros.
    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64;

    /// Steps the potentials, then writes their marginals like [`marginals`](Self::marginals).
    ///
    /// On entry, `marginals` holds the marginals before the step, unless the request carries them.
    fn descend(
        &mut self,
        mut request: StepRequest<'_>,
        potentials: &mut Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> StepResult {
        let cells = 0..potentials.values().len();
        let stats = request.apply(cells, marginals.values(), potentials.values_mut());
        let log_z = self.marginals(potentials, total, marginals);
        StepResult { log_z, square: stats.square }
    }

    /// May replace the potentials of the last call by equivalent ones that are faster to evaluate
    /// and lose less to rounding: the sum over C of theta_C(x_C) changes by the same number for
    /// every record x.
    ///
    /// An optimiser calls this between iterations. When potentials underflow, an oracle may
    /// postpone the replacement unless `exact` marginals are required.
    fn reparametrize(&mut self, _potentials: &mut Potentials, _exact: bool) -> Reparametrized {
        Reparametrized::Unchanged
    }

    /// The largest value over all records x of sum over C of theta_C(x_C), or `None` when this
    /// oracle cannot bound it. Minus infinity when the potentials exclude every record.
    fn maximum(&mut self, potentials: &Potentials) -> Option<f64>;

    /// Whether the oracle uses several threads. An optimiser should then do so too.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Whether the marginals are exact rather than an approximation.
    fn is_exact(&self) -> bool;
}

/// The outcome of [`MarginalOracle::reparametrize`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reparametrized {
    /// The potentials were left unchanged.
    Unchanged,
    /// The potentials were replaced. Their marginals are the same, and ln Z is less by this number.
    Shifted(f64),
    /// The potentials were replaced after underflow. The last marginals are less accurate than
    /// those of the new potentials, which should be recomputed.
    Recompute,
}

/// The contribution to ln Z of the attributes that are in no clique: the logarithm of the number of
/// their combinations.
fn log_unmentioned(layout: &CliqueLayout) -> f64 {
    let domain = layout.domain();
    let mentioned = |id| layout.cliques().iter().any(|clique| clique.contains(id));
    domain.ids().filter(|&id| !mentioned(id)).map(|id| (domain.size(id) as f64).ln()).sum()
}
