use super::parameters::{LoopEstimator, Weighting};
use crate::mechanism::support::final_estimate::final_pgm;
use private_pgm::fit::{
    Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::loss::Measurement;
use private_pgm::residual::Grem;

/// An estimator with other weights of the measurements.
///
/// A loss weights squared residuals by 1 / stddev^2. For weights proportional to 1 / sigma, the
/// estimator is told sqrt(sigma s) in place of sigma. s is the largest sigma; it makes the loss
/// that of the correct weights where all sigma are equal.
pub(super) struct Weighted<'a> {
    pub(super) estimator: &'a dyn Estimator,
    pub(super) weighting: Weighting,
}

impl Estimator for Weighted<'_> {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let (Weighting::Paper, Observed::Answers(answers)) = (self.weighting, evidence.observed)
        else {
            return self.estimator.estimate(evidence, run);
        };
        let largest = answers.iter().map(|answer| answer.stddev).fold(0.0, f64::max);
        let weighted = |answer: &Measurement| Measurement {
            stddev: (answer.stddev * largest).sqrt(),
            ..answer.clone()
        };
        let answers: Vec<Measurement> = answers.iter().map(weighted).collect();
        let evidence = Evidence { observed: Observed::Answers(&answers), ..*evidence };
        self.estimator.estimate(&evidence, run)
    }
}

/// The estimate from all measurements, by the estimator of the rounds.
pub(super) struct FinalEstimate {
    pub(super) estimator: LoopEstimator,
    pub(super) grem: Grem,
    pub(super) weighting: Weighting,
}

impl Estimator for FinalEstimate {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let pgm = final_pgm();
        let estimator: &dyn Estimator = match self.estimator {
            LoopEstimator::Pgm => &pgm,
            LoopEstimator::Grem => &self.grem,
        };
        Weighted { estimator, weighting: self.weighting }.estimate(evidence, run)
    }
}
