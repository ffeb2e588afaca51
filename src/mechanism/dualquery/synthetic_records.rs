use std::sync::Arc;

use crate::data::{Dataset, Repeated};
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence,
};

/// DualQuery's own estimator: the records of the game with equal weights that sum to N.
pub(super) struct SyntheticRecords {
    records: Arc<Dataset>,
    message: String,
}

impl SyntheticRecords {
    /// `searched` of the records are results of a local search and may not be the best.
    pub(super) fn new(records: Dataset, searched: usize) -> Self {
        let mut message = format!("{} synthetic records", records.len());
        if searched > 0 {
            message += &format!(
                ", {searched} of them found by a search, as computing them would not fit into \
                 memory"
            );
        }
        Self { records: Arc::new(records), message }
    }
}

impl Estimator for SyntheticRecords {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        _context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let times = evidence.total / self.records.len() as f64;
        let answers = Box::new(Repeated { records: Arc::clone(&self.records), times });
        let diagnostics = Diagnostics { message: self.message.clone(), ..Diagnostics::default() };
        Ok(Estimated { answers, model: None, diagnostics })
    }
}
