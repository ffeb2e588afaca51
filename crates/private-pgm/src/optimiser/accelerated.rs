use super::average::Average;
use super::step::{Acceptance, Stepper};
use super::{ConvergenceMonitor, Objective, Optimiser, Outcome, Reason};
use crate::factor::Potentials;
use crate::loss::Loss;

/// Algorithm 2 of the paper: Nesterov's accelerated dual averaging.
///
/// With weights a_1, a_2, ... and their sums A_t,
///
/// > omega = (A mu + a nu) / A', theta' = theta - a grad L(omega), nu' = marginals of theta',
/// > mu' = (A mu + a nu') / A'.
///
/// The loss at the average mu falls as D(optimum, start) / A_t, with A_t of order t^2 / K. The
/// averaging begins anew from the model nu after 32, 64, 128, ... iterations: the distance D from
/// there is so much smaller that on real data the error then falls geometrically. It also makes nu,
/// which is a graphical model while the average is not, as good as the average. With an adaptive
/// constant it begins anew when the loss rises, too (O'Donoghue, Candes, "Adaptive restart for
/// accelerated gradient schemes", Foundations of Computational Mathematics 2015).
///
/// K bounds the loss by the divergence D of the entropy:
/// L(mu') <= L(mu) + <grad L(mu), mu' - mu> + K D(mu', mu). Entropy of tables that sum to N is
/// 1/N-strongly convex in the L1 norm, so that K = N times [`Loss::smoothness`] always does. The
/// adaptive constant is the smallest with which steps pass that test, usually far below the safe
/// one.
///
/// Reference: ICML 2019, Algorithm 2 and supplement A.2; the adaptive constant and the restarts
/// are our additions; [`DualAveraging`](super::DualAveraging) is the algorithm as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accelerated {
    /// Whether K adapts to the steps that pass the test.
    pub adaptive: bool,
    /// K / N; the safe bound to begin from where it adapts. `None`: the smoothness of the loss.
    pub constant: Option<f64>,
}

/// The first restart; each leg is twice as long as the one before.
const FIRST_LEG: usize = 32;
/// Factor on the adaptive constant after a step that was too long,
const RAISE: f64 = 1.25;
/// after one that was not,
const LOWER: f64 = 0.97;
/// and after one that was not when none has been too long yet.
const LOWER_FAST: f64 = 0.5;
/// Once the constant has been found and the first leg is over, only every sixteenth step is judged: the
/// constant changes slowly, and judging costs a pass over all marginals.
const JUDGE_EVERY: usize = 16;
/// A step that nobody judged may be too long, and a few such steps lead so far away that all that
/// follow look short. When the loss at omega, which every step sees, is by more than this share above
/// the least since the averaging began, that begins anew, which makes steps short, and the next step
/// is judged.
const RISE: f64 = 0.02;

impl Accelerated {
    /// The fastest way that needs no tuning.
    pub const AUTO: Self = Self { adaptive: true, constant: None };

    /// K to begin with.
    fn first_constant(&self, loss: &dyn Loss, total: f64) -> f64 {
        let safe = total * self.constant.or_else(|| loss.smoothness()).unwrap_or(1.0);
        // An adaptive one begins far below the safe constant: if it is too low, steps fail the test
        // and raise it within a few iterations.
        let first = if self.adaptive { safe / 32.0 } else { safe };
        // A loss that does not depend on the marginals is minimal everywhere.
        first.max(f64::MIN_POSITIVE)
    }
}

/// One leg between restarts.
struct RestartPeriod {
    steps: usize,
    length: usize,
}

/// The least L(omega) since the averaging began.
struct Least(f64);

impl Least {
    fn of_nothing() -> Self {
        Self(f64::INFINITY)
    }

    /// Takes a loss in, and says whether it is well above the least.
    fn loss_increased(&mut self, value: f64) -> bool {
        let risen = value - self.0 > RISE * self.0.abs();
        self.0 = self.0.min(value);
        risen
    }
}

impl Optimiser for Accelerated {
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        monitor: &mut ConvergenceMonitor<'_>,
    ) -> Outcome {
        let mut now = objective.evaluate(start);
        // The marginals of a step that is to be judged.
        let mut spare = now.marginals.clone();
        let mut average = Average::new(&now.marginals);
        let mut stepper = Stepper::averaging();
        let mut constant = self.first_constant(objective.loss, objective.total);
        let adaptive = self.adaptive;
        let (mut lower, mut unjudged) = (LOWER_FAST, 0);
        let mut least = Least::of_nothing();
        let mut leg = RestartPeriod { steps: 0, length: FIRST_LEG };
        loop {
            let a = if adaptive {
                // The largest weight with K a^2 <= A + a.
                (1.0 + (1.0 + 4.0 * constant * average.weight()).sqrt()) / (2.0 * constant)
            } else {
                // The paper's weights: A_t = t (t + 1) / (4 K).
                (leg.steps + 1) as f64 / (2.0 * constant)
            };
            let is_new = lower == LOWER_FAST || leg.length == FIRST_LEG;
            let value;
            if adaptive && (is_new || unjudged + 1 >= JUDGE_EVERY) {
                let (nu, theta) = (&now.marginals, &mut now.potentials);
                let log_z;
                (log_z, value) = stepper.propose(objective, a, &mut average, nu, theta, &mut spare);
                let log_zs = [now.log_z, log_z];
                let verdict = stepper.accepts(objective, a, &average, nu, log_zs, &spare);
                if verdict == Acceptance::Reject {
                    stepper.roll_back(objective, a, &mut average, nu, theta);
                    constant *= if lower == LOWER_FAST { 2.0 } else { RAISE };
                    if leg.steps > 0 {
                        lower = LOWER;
                    }
                    // The next one is judged as well, until one is not too long.
                    unjudged = JUDGE_EVERY;
                    if let Some(reason) = monitor.record_rejected() {
                        return monitor.finish(objective, now, reason);
                    }
                    continue;
                }
                if verdict == Acceptance::Accept {
                    constant *= lower;
                }
                std::mem::swap(&mut now.marginals, &mut spare);
                now.log_z = log_z;
                unjudged = 0;
            } else {
                value = stepper.advance(objective, a, &mut average, &mut now);
                unjudged += 1;
            }
            if value.is_nan() || now.log_z.is_nan() {
                // No step leads back from there; the best model that was looked at is still good.
                return monitor.finish(objective, now, Reason::Stalled);
            }
            let mut anew = adaptive && least.loss_increased(value);
            if anew {
                unjudged = JUDGE_EVERY;
            }
            average.add(a);
            stepper.reparametrize(objective, &mut now, monitor.is_about_to_check());
            leg.steps += 1;
            let parallel = objective.oracle.is_parallel();
            if let Some(reason) = monitor
                .record_accepted(objective, &now, || average.settle(&now.marginals, parallel))
            {
                return monitor.finish(objective, now, reason);
            }
            if leg.steps == leg.length {
                leg = RestartPeriod { steps: 0, length: 2 * leg.length };
                anew = true;
            }
            if anew {
                average.restart();
                least = Least::of_nothing();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_climbs_in_small_steps_is_seen_to_rise() {
        let mut least = Least::of_nothing();
        assert!(![100.0, 90.0, 91.0, 91.7].into_iter().any(|value| least.loss_increased(value)));
        assert!(least.loss_increased(91.9), "2 % above 90, in three steps");
        assert!(!least.loss_increased(80.0) && least.loss_increased(81.7));
        let mut below_zero = Least::of_nothing();
        assert!(!below_zero.loss_increased(-100.0) && !below_zero.loss_increased(-98.1));
        assert!(below_zero.loss_increased(-97.9));
    }
}
