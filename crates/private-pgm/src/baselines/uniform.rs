use super::multiplicative_weights::IndependentProduct;
use crate::fit::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence};

/// No estimation: the uniform distribution of the total. What an estimate is worth begins here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uniform;

impl Estimator for Uniform {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        _context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let (domain, total) = (evidence.domain.clone(), evidence.total);
        Ok(Estimated {
            answers: Box::new(IndependentProduct { domain, total, tables: Vec::new() }),
            model: None,
            diagnostics: Diagnostics { message: "uniform".into(), ..Diagnostics::default() },
        })
    }
}
