use super::step::{Step, Verdict};
use super::{Objective, Optimiser, Outcome, Reason, Watch};
use crate::factor::{CliqueVector, Marginals, Potentials};
use crate::numeric::pointwise::add_scaled;

/// The step sizes eta_t of [`Mirror`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// The same step always; by default the longest that is safe, 1 / (N smoothness).
    Constant(Option<f64>),
    /// The first step divided by t; by default the longest that is safe.
    Decreasing(Option<f64>),
    /// The longest step that the loss along it allows, found on the way.
    Search,
}

/// Algorithm 1 of the paper: entropic mirror descent, theta' = theta - eta grad L(mu(theta)).
///
/// With [`StepSize::Search`] a step is accepted when
/// L(mu') <= L(mu) + <grad L(mu), mu' - mu> + D(mu', mu) / eta, D the divergence of the entropy; then
/// the loss never rises. The other step sizes also suit losses with kinks.
///
/// Reference: ICML 2019, Algorithm 1 and supplement A.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror {
    /// The step sizes.
    pub step: StepSize,
}

/// Factor on the step of the search after a step that was too long,
const SHORTEN: f64 = 0.5;
/// and after one that was not.
const LENGTHEN: f64 = 1.1;
/// A search that gets here has lost the slope in rounding.
const SHORTEST: f64 = 1e-300;

impl Optimiser for Mirror {
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let safe = match objective.loss.smoothness() {
            Some(smoothness) if smoothness > 0.0 => 1.0 / (smoothness * objective.total),
            _ => 1.0 / objective.total,
        };
        let mut now = objective.evaluate(start);
        let mut next = now.clone();
        let mut gradient = CliqueVector::zeros(objective.layout());
        let mut scratch = Marginals::zeros(objective.layout());
        let mut found = safe;
        let mut value = objective.loss.value_and_gradient(&now.marginals, &mut gradient);
        for t in 1.. {
            let eta = match self.step {
                StepSize::Constant(step) => step.unwrap_or(safe),
                StepSize::Decreasing(first) => first.unwrap_or(safe) / t as f64,
                StepSize::Search => found,
            };
            next.potentials.values_mut().copy_from_slice(now.potentials.values());
            add_scaled(-eta, gradient.values(), next.potentials.values_mut());
            next.log_z =
                objective.oracle.marginals(&next.potentials, objective.total, &mut next.marginals);
            if self.step == StepSize::Search {
                let step = Step { a: eta, sum: eta, value, gradient: &gradient };
                let verdict = step.judge(objective, &now, &next, &now.marginals, &mut scratch);
                match verdict {
                    Verdict::TooLong => found *= SHORTEN,
                    Verdict::Good => found *= LENGTHEN,
                    Verdict::Unclear => {}
                }
                if verdict == Verdict::TooLong {
                    if watch.wasted() {
                        return watch.finish(objective, now, Reason::Iterations);
                    }
                    if found < SHORTEST {
                        return watch.finish(objective, now, Reason::Stalled);
                    }
                    continue;
                }
            }
            std::mem::swap(&mut now, &mut next);
            objective.oracle.relieve(&mut now.potentials);
            if let Some(reason) = watch.arrived(objective, &now, &now.marginals) {
                return watch.finish(objective, now, reason);
            }
            value = objective.loss.value_and_gradient(&now.marginals, &mut gradient);
        }
        unreachable!("the watch ends every run")
    }
}
