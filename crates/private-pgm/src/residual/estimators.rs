use rayon::prelude::*;

use super::closure::{downward_closure, varying};
use super::error::ResidualError;
use super::nonnegative::{Nonnegative, Stopping};
use super::residuals::Residuals;
use crate::baselines::{in_time, l1_l2, linear_measurements};
use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::fit::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence};
use crate::loss::Measurement;
use crate::model::{MarginalError, Projectable};
use crate::numeric::bytes::Bytes;
use crate::numeric::memory;
use crate::query::MAX_CELLS;

/// GReM-MLE: the average of all measurements of each residual, weighted by inverse variances
/// ([`Residuals::estimate`]). Marginals are consistent and may have negative cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grem {
    /// Where the number of records comes from.
    pub total: TotalSource,
}

/// Where the number of records of an estimate comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TotalSource {
    /// [`Evidence::total`], taken as known: variances do not include that of an estimated total.
    #[default]
    Evidence,
    /// Estimated from the measurements, like all other residuals.
    Measurements,
}

/// GReM-LNN: as [`Grem`], with the marginals of all measured cliques, and of `cliques`, constrained
/// to be non-negative ([`Residuals::nonnegative`]). The number of records is that of the evidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GremLnn {
    /// Further cliques whose marginals must not be negative. Residuals within them that were not
    /// measured are zero.
    pub cliques: Vec<Clique>,
    /// When the iterations end.
    pub stopping: Stopping,
}

impl Estimator for Grem {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = linear_measurements(evidence)?;
        let cliques = measurements.iter().map(|measurement| &measurement.clique);
        let bytes = check_memory(evidence.domain, cliques, 1.0, context)?;
        let total = match self.total {
            TotalSource::Evidence => Some(evidence.total),
            TotalSource::Measurements => None,
        };
        let residuals = Residuals::estimate(evidence.domain, measurements, total)?;
        let losses = losses(&residuals, measurements);
        let diagnostics = Diagnostics {
            l1_l2: Some(losses),
            loss: Some(losses.1),
            gap: Some(0.0),
            bytes: Some(bytes),
            message: "closed form".into(),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers: Box::new(residuals), model: None, diagnostics })
    }
}

impl Estimator for GremLnn {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = linear_measurements(evidence)?;
        let mut cliques = self.cliques.clone();
        cliques.extend(measurements.iter().map(|measurement| measurement.clique.clone()));
        // Marginals, copies, multipliers, and what a transform holds.
        let bytes = check_memory(evidence.domain, &cliques, 6.0, context)?;
        let residuals = Residuals::estimate(evidence.domain, measurements, Some(evidence.total))?;
        let began = std::time::Instant::now();
        let deadline = context.deadline;
        let found = residuals.nonnegative(&cliques, self.stopping, |_| in_time(deadline))?;
        let Nonnegative { residuals, gap, iterations, converged, .. } = found;
        if !converged && !in_time(deadline) {
            return Err(EstimatorError::Timeout { iterations });
        }
        let losses = losses(&residuals, measurements);
        let seconds = began.elapsed().as_secs_f64();
        let diagnostics = Diagnostics {
            l1_l2: Some(losses),
            loss: Some(losses.1),
            gap: Some(gap),
            iterations: Some(iterations),
            seconds_per_iteration: (iterations > 0).then(|| seconds / iterations as f64),
            bytes: Some(bytes),
            message: if converged { "converged" } else { "iterations" }.into(),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers: Box::new(residuals), model: None, diagnostics })
    }
}

impl Projectable for Residuals {
    fn domain(&self) -> &Domain {
        Residuals::domain(self)
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        MarginalError::check_cells(self.domain(), clique, MAX_CELLS)?;
        Ok(self.marginal(clique))
    }

    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        let each = cliques.par_iter().map(|clique| self.project(clique));
        // All of them, so that the error is the first in their order.
        each.collect::<Vec<_>>().into_iter().collect()
    }

    fn cell_variance(&self, clique: &Clique) -> Option<f64> {
        Residuals::cell_variance(self, clique)
    }

    fn query_variance(&self, clique: &Clique, weights: &[f64]) -> Option<f64> {
        Residuals::query_variance(self, clique, weights)
    }
}

impl From<ResidualError> for EstimatorError {
    fn from(error: ResidualError) -> Self {
        Self::Unsupported(error.to_string())
    }
}

/// The bytes of all residuals within the cliques, and of `tables` tables for each clique. An error
/// if they exceed the limit.
fn check_memory<'a>(
    domain: &Domain,
    cliques: impl IntoIterator<Item = &'a Clique>,
    tables: f64,
    context: &EstimatorContext<'_>,
) -> Result<f64, EstimatorError> {
    let cells = |clique: &Clique| domain.cells_f64(clique);
    let cliques: Vec<Clique> = cliques.into_iter().map(|clique| varying(domain, clique)).collect();
    let mut bytes = 8.0 * tables * cliques.iter().map(cells).sum::<f64>();
    // A clique has at most as many subsets as cells.
    if bytes <= context.memory_limit as f64 {
        bytes += 8.0 * downward_closure(&cliques).iter().map(cells).sum::<f64>();
        if bytes <= context.memory_limit as f64 {
            memory::require(bytes)?;
            return Ok(bytes);
        }
    }
    let message = format!(
        "the residuals of the measured marginals need {}, more than the limit of {}",
        Bytes(bytes),
        Bytes(context.memory_limit as f64)
    );
    Err(EstimatorError::Infeasible { bytes, message })
}

fn losses(residuals: &Residuals, measurements: &[Measurement]) -> (f64, f64) {
    l1_l2(measurements, |measurement| residuals.marginal(&measurement.clique).into_values())
}
