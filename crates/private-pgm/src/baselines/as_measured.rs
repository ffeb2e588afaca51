use super::least_squares::linear_measurements;
use super::tables::Tables;
use crate::factor::Factor;
use crate::fit::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence};
use crate::loss::Measurement;

/// No estimation: the noisy marginals as they were published. Measurements of other queries than
/// the cells of a marginal are unsupported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsMeasured;

impl Estimator for AsMeasured {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        _context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = linear_measurements(evidence)?;
        if measurements.iter().any(|measurement| !measurement.query.is_identity()) {
            return Err(EstimatorError::Unsupported(
                "only measurements of the cells of a marginal can be used as measured".into(),
            ));
        }
        let table = |measurement: &Measurement| {
            Factor::new(evidence.domain, measurement.clique.clone(), measurement.y.clone())
        };
        let tables: Vec<Factor> = measurements.iter().map(table).collect();
        let bytes = tables.iter().map(|table| 8.0 * table.values().len() as f64).sum();
        let diagnostics = Diagnostics {
            l1_l2: Some((0.0, 0.0)),
            bytes: Some(bytes),
            message: "as measured".into(),
            ..Diagnostics::default()
        };
        let answers = Box::new(Tables::new(evidence.domain, tables));
        Ok(Estimated { answers, model: None, diagnostics })
    }
}
