use super::average::Average;
use super::step::{Stepper, Verdict};
use super::{Iterate, Objective, Optimiser, Outcome, Reason, Watch};
use crate::factor::{CliqueVector, Potentials};

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
/// How far the first step moves a potential when the loss has kinks. Steps that fall as 1/t add up
/// to about ten times the first, and counts that differ by some orders of magnitude must be within
/// reach.
const KINKED_MOVE: f64 = 4.0;
/// A search that gets here has lost the slope in rounding.
const SHORTEST: f64 = 1e-300;

impl Optimiser for Mirror {
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let mut now = objective.evaluate(start);
        let safe = first_step(objective, &now);
        let mut spare = now.marginals.clone();
        let mut average = Average::new(&now.marginals);
        let mut stepper = Stepper::default();
        let mut found = safe;
        for t in 1.. {
            let eta = match self.step {
                StepSize::Constant(step) => step.unwrap_or(safe),
                StepSize::Decreasing(first) => first.unwrap_or(safe) / t as f64,
                StepSize::Search => found,
            };
            // Nothing from before nu counts.
            average.begin_anew();
            if self.step == StepSize::Search {
                let (nu, theta) = (&now.marginals, &mut now.potentials);
                let (log_z, _) =
                    stepper.try_out(objective, eta, &mut average, nu, theta, &mut spare);
                let log_zs = [now.log_z, log_z];
                let verdict = stepper.judge(objective, eta, &average, nu, log_zs, &spare);
                match verdict {
                    Verdict::TooLong => found *= SHORTEN,
                    Verdict::Good => found *= LENGTHEN,
                    Verdict::Unclear => {}
                }
                if verdict == Verdict::TooLong {
                    stepper.take_back(objective, eta, &mut average, nu, theta);
                    if let Some(reason) = watch.wasted() {
                        return watch.finish(objective, now, reason);
                    }
                    if found < SHORTEST {
                        return watch.finish(objective, now, Reason::Stalled);
                    }
                    continue;
                }
                std::mem::swap(&mut now.marginals, &mut spare);
                now.log_z = log_z;
            } else {
                stepper.advance(objective, eta, &mut average, &mut now);
            }
            objective.relieve(&mut now);
            if let Some(reason) = watch.arrived(objective, &now, || &now.marginals) {
                return watch.finish(objective, now, reason);
            }
        }
        unreachable!("the watch ends every run")
    }
}

/// The longest step that is safe; for a loss with kinks, one that moves potentials noticeably.
fn first_step(objective: &mut Objective<'_>, start: &Iterate) -> f64 {
    let scale = match objective.loss.smoothness() {
        Some(smoothness) => smoothness * objective.total,
        None => {
            let mut gradient = CliqueVector::zeros(objective.layout());
            objective.loss.value_and_gradient(&start.marginals, &mut gradient);
            gradient.values().iter().fold(0.0f64, |largest, g| largest.max(g.abs())) / KINKED_MOVE
        }
    };
    if scale > 0.0 { 1.0 / scale } else { 1.0 }
}
