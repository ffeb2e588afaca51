use super::least_squares::{System, answers_of, l1_l2};
use super::tables::Tables;
use super::{Diagnostics, Estimated, Estimator, EstimatorError, Run};
use crate::factor::Factor;
use crate::fit::Evidence;
use crate::numeric::bytes::Bytes;
use crate::numeric::lsmr::LsmrOptions;
use crate::query::MAX_CELLS;

/// Least squares over the whole domain: the table p of all attributes, of any signs, that minimises
/// the sum over the measurements of |Q mu(p) - y|^2 / stddev^2; the shortest of them where there are
/// several. What graphical models replace.
///
/// By LSMR ([`crate::numeric::lsmr`]). The table is held four times over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullLeastSquares {
    /// When the iterations end.
    pub stopping: LsmrOptions,
}

impl Default for FullLeastSquares {
    /// Our choice: the error that is left is far below that of the noise.
    fn default() -> Self {
        Self { stopping: LsmrOptions { tolerance: 1e-8, iterations: 10_000 } }
    }
}

impl Estimator for FullLeastSquares {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut Run<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = answers_of(evidence)?;
        let everything = evidence.domain.everything();
        let (domain, cells) = (evidence.domain, evidence.domain.cells_f64(&everything));
        let bytes = System::bytes(domain, &everything, measurements);
        if bytes > run.memory_limit as f64 || cells > MAX_CELLS as f64 {
            let message = format!(
                "least squares over the whole domain needs {}, more than the limit of {}",
                Bytes(bytes),
                Bytes(run.memory_limit as f64)
            );
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        let system = System::new(domain, &everything, measurements);
        let solved = system.solve(self.stopping, run.deadline)?;
        let table = Factor::new(domain, everything, solved.table);
        let residuals = l1_l2(measurements, |m| table.sum_onto(&m.clique).into_values());
        let answers = Box::new(Tables::new(domain, vec![table]));
        let diagnostics = Diagnostics {
            l1_l2: Some(residuals),
            iterations: Some(solved.iterations),
            seconds_per_iteration: Some(solved.seconds / solved.iterations.max(1) as f64),
            bytes: Some(bytes),
            message: if solved.converged { "converged" } else { "iterations" }.into(),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers, model: None, diagnostics })
    }
}
