use std::time::Instant;

use crate::postprocess::admm::{Estimate, StopReason};
use private_pgm::baselines::Tables;
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::loss::Measurement;

/// Post-processes each measurement separately into the table of its clique.
pub(crate) struct EachMarginal<F> {
    /// The number of measurements to process. The measurements after these are public marginals.
    pub(crate) count: usize,
    /// From the index of a measurement, the measurement and the deadline to the cells.
    pub(crate) process: F,
}

#[derive(Default)]
pub(crate) struct Processed {
    pub(crate) cells: Vec<f64>,
    pub(crate) iterations: usize,
    /// May be empty.
    pub(crate) message: String,
}

impl Processed {
    /// The result of ADMM, or a timeout if the deadline ended it.
    pub(crate) fn new(estimate: Estimate) -> Result<Self, EstimatorError> {
        let Estimate { counts: cells, iterations, residuals } = estimate;
        match residuals.stop_reason {
            StopReason::Deadline => Err(EstimatorError::Timeout { iterations }),
            StopReason::Converged | StopReason::Iterations => {
                Ok(Self { cells, iterations, message: residuals.to_string() })
            }
        }
    }
}

impl<F> Estimator for EachMarginal<F>
where
    F: Fn(usize, &Measurement, Option<Instant>) -> Result<Processed, EstimatorError> + Send + Sync,
{
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(measurements) = evidence.observed else {
            let message = "expected noisy answers to linear queries, found a likelihood";
            return Err(EstimatorError::Unsupported(message.into()));
        };
        let began = Instant::now();
        let (mut tables, mut iterations, mut message) = (Vec::new(), 0, String::new());
        for (index, measurement) in measurements.iter().take(self.count).enumerate() {
            if context.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(EstimatorError::Timeout { iterations });
            }
            let processed = (self.process)(index, measurement, context.deadline)?;
            let clique = measurement.clique.clone();
            tables.push(Factor::new(evidence.domain, clique, processed.cells));
            iterations += processed.iterations;
            message = processed.message;
        }
        let per_iteration = || began.elapsed().as_secs_f64() / iterations as f64;
        let diagnostics = Diagnostics {
            iterations: (iterations > 0).then_some(iterations),
            seconds_per_iteration: (iterations > 0).then(per_iteration),
            bytes: Some(tables.iter().map(|table| 8.0 * table.values().len() as f64).sum()),
            message,
            ..Diagnostics::default()
        };
        let answers = Box::new(Tables::new(evidence.domain, tables));
        Ok(Estimated { answers, model: None, diagnostics })
    }
}

/// An error of post-processing. Its input comes from the mechanism itself, so in practice the
/// settings are refused.
pub(crate) fn refused(error: impl std::fmt::Display) -> EstimatorError {
    EstimatorError::Unsupported(error.to_string())
}
