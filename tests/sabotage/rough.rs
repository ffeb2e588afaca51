//! A fast estimate between rounds. What is tested does not depend on its quality, and every release
//! makes several.

use private_pgm::baselines::Tables;
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::loss::Measurement;

/// The table over all attributes after one step towards each measurement in turn, from the uniform
/// table. It depends on all noisy answers.
pub(crate) struct Rough;

impl Estimator for Rough {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        _: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            return Err(EstimatorError::Unsupported("expected noisy answers".into()));
        };
        let everything = evidence.domain.everything();
        let cells = evidence.domain.cells(&everything).unwrap();
        let uniform = evidence.total / cells as f64;
        let mut table = Factor::filled(evidence.domain, everything, uniform);
        for answer in answers {
            step(&mut table, answer);
        }
        let whole = table.total();
        if whole > 0.0 {
            table = table.scaled(evidence.total / whole);
        }
        let answers = Box::new(Tables::new(evidence.domain, vec![table]));
        Ok(Estimated { answers, model: None, diagnostics: Diagnostics::default() })
    }
}

fn step(table: &mut Factor, Measurement { clique, query, y, .. }: &Measurement) {
    let marginal = table.sum_onto(clique);
    let mut scratch = vec![0.0; query.scratch_len()];
    let mut residual = vec![0.0; query.rows()];
    query.apply(marginal.values(), &mut residual, &mut scratch);
    residual.iter_mut().zip(y).for_each(|(answer, y)| *answer = y - *answer);
    let mut change = vec![0.0; query.cols()];
    query.apply_transpose(&residual, &mut change, &mut scratch);
    // The largest eigenvalue is at most rows * cols, so that the step is short enough.
    let length = 0.5 / (query.rows() as f64).sqrt();
    let spread = marginal.values().len() as f64 / table.values().len() as f64;
    let places = table.projection(clique);
    let mut widened = vec![0.0; table.values().len()];
    places.broadcast(&change, &mut widened, |cell, change| *cell = change);
    for (cell, change) in table.values_mut().iter_mut().zip(widened) {
        *cell = (*cell + length * spread * change).max(0.0);
    }
}
