use std::time::Instant;

use super::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Fit, Settings,
};

/// The graphical model of Private-PGM, as an estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Pgm {
    /// What to minimise and how.
    pub settings: Settings,
    /// The end of all estimates of this estimator; the limits of a run apply as well.
    pub deadline: Option<Instant>,
    /// Whether several threads may work on one estimate.
    pub parallel: bool,
}

impl Pgm {
    /// With these settings, on all threads, without a deadline of its own.
    pub fn new(settings: Settings) -> Self {
        Self { settings, deadline: None, parallel: true }
    }
}

impl Default for Pgm {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl Estimator for Pgm {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let fit = Fit::to_evidence(*evidence)
            .settings(self.settings.clone())
            .memory_limit(context.memory_limit)
            .deadline(context.deadline.into_iter().chain(self.deadline).min())
            .parallel(self.parallel)
            .warm_start(context.warm_start)
            .observer(|progress| (context.observer)(progress))
            .run()?;
        let diagnostics = Diagnostics::from(&fit);
        // Only the model is needed from here on, and calibration takes memory of its own.
        let model = fit.model;
        drop(fit.marginals);
        let answers = Box::new(model.calibrate()?);
        Ok(Estimated { answers, model: Some(model), diagnostics })
    }
}
