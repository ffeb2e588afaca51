use super::{Answers, Diagnostics, Estimated, Estimator, EstimatorError, MarginalError, Run};
use crate::domain::Clique;
use crate::factor::Factor;
use crate::fit::{Evidence, Settings, estimate};
use crate::model::Calibrated;

/// The graphical model of Private-PGM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pgm {
    /// How to fit it. The limits of the run apply beside its own.
    pub settings: Settings,
}

impl Estimator for Pgm {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut Run<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let own_limit = self.settings.memory_limit.unwrap_or(u64::MAX);
        let settings = Settings {
            memory_limit: Some(run.memory_limit.min(own_limit)),
            deadline: run.deadline.into_iter().chain(self.settings.deadline).min(),
            ..self.settings.clone()
        };
        let fit = estimate(evidence, &settings, run.warm_start, run.observer)?;
        let answers = Box::new(fit.model.calibrate()?);
        let diagnostics = Diagnostics {
            l1_l2: fit.l1_l2,
            loss: Some(fit.loss),
            gap: fit.gap,
            iterations: Some(fit.iterations),
            seconds_per_iteration: Some(fit.seconds_per_iteration),
            junction_tree_cells: Some(fit.tree.cells),
            bytes: Some(fit.bytes),
            message: fit.reason.into(),
        };
        Ok(Estimated { answers, model: Some(fit.model), diagnostics })
    }
}

impl Answers for Calibrated {
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        Ok(Calibrated::marginals(self, cliques)?)
    }
}
