use std::time::Instant;

use super::{Answers, Diagnostics, Estimated, Estimator, EstimatorError, MarginalError, Run};
use crate::domain::Clique;
use crate::factor::Factor;
use crate::fit::{Evidence, Fit, Settings};
use crate::model::Calibrated;

/// The graphical model of Private-PGM.
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
        run: &mut Run<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let fit = Fit::to_evidence(*evidence)
            .settings(self.settings.clone())
            .memory_limit(run.memory_limit)
            .deadline(run.deadline.into_iter().chain(self.deadline).min())
            .parallel(self.parallel)
            .warm_start(run.warm_start)
            .observer(|progress| (run.observer)(progress))
            .run()?;
        let diagnostics = Diagnostics {
            l1_l2: fit.l1_l2,
            loss: Some(fit.loss),
            gap: fit.gap,
            iterations: Some(fit.iterations),
            seconds_per_iteration: Some(fit.seconds_per_iteration),
            junction_tree_cells: Some(fit.tree.cells),
            bytes: Some(fit.bytes),
            message: fit.reason.name().into(),
        };
        // Only the model is needed from here on, and calibration takes memory of its own.
        let model = fit.model;
        drop(fit.marginals);
        let answers = Box::new(model.calibrate()?);
        Ok(Estimated { answers, model: Some(model), diagnostics })
    }
}

impl Answers for Calibrated {
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        Ok(Calibrated::marginals(self, cliques)?)
    }
}
