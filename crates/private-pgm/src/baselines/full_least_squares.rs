use super::least_squares::{StackedSystem, l1_l2, linear_measurements};
use super::tables::Tables;
use crate::factor::Factor;
use crate::fit::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence};
use crate::numeric::bytes::Bytes;
use crate::numeric::lsmr::LsmrOptions;
use crate::numeric::memory;
use crate::query::MAX_CELLS;

/// Least squares over the whole domain: the table p over all attributes, with entries of any sign,
/// that minimises the sum over the measurements of |Q mu(p) - y|^2 / stddev^2. Of several
/// minimisers the one of minimum norm.
///
/// Solved by LSMR ([`crate::numeric::lsmr`]). Memory: four tables over the whole domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullLeastSquares {
    /// The stopping rule of LSMR.
    pub stopping: LsmrOptions,
}

impl Default for FullLeastSquares {
    /// Our choice: the remaining error is far below the noise.
    fn default() -> Self {
        Self { stopping: LsmrOptions { tolerance: 1e-8, iterations: 10_000 } }
    }
}

impl Estimator for FullLeastSquares {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = linear_measurements(evidence)?;
        let everything = evidence.domain.everything();
        let (domain, cells) = (evidence.domain, evidence.domain.cells_f64(&everything));
        let bytes = StackedSystem::bytes(domain, &everything, measurements);
        if bytes > context.memory_limit as f64 || cells > MAX_CELLS as f64 {
            let message = format!(
                "least squares over the whole domain needs {}, more than the limit of {}",
                Bytes(bytes),
                Bytes(context.memory_limit as f64)
            );
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        memory::require(bytes)?;
        let system = StackedSystem::new(domain, &everything, measurements);
        let solution = system.solve(self.stopping, context.deadline)?;
        let table = Factor::new(domain, everything, solution.table);
        let residuals = l1_l2(measurements, |m| table.sum_onto(&m.clique).into_values());
        let answers = Box::new(Tables::new(domain, vec![table]));
        let diagnostics = Diagnostics {
            l1_l2: Some(residuals),
            iterations: Some(solution.iterations),
            seconds_per_iteration: Some(solution.seconds / solution.iterations.max(1) as f64),
            bytes: Some(bytes),
            message: if solution.converged { "converged" } else { "iterations" }.into(),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers, model: None, diagnostics })
    }
}
