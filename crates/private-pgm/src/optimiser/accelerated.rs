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
/// averaging restarts from the model nu after 32, 64, 128, ... iterations: the distance D from
/// there is so much smaller that on real data the error then falls geometrically. It also makes nu,
/// which is a graphical model while the average is not, as good as the average. With an adaptive
/// constant it restarts when the loss increases, too (O'Donoghue, Candes, "Adaptive restart for
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

/// Iterations until the first restart; each period is twice as long as the one before.
const FIRST_PERIOD: usize = 32;
/// Factor on the adaptive constant after a step that was rejected,
const RAISE: f64 = 1.25;
/// after one that was accepted,
const LOWER: f64 = 0.97;
/// and after one that was accepted before any was rejected.
const LOWER_FAST: f64 = 0.5;
/// Once the constant has been found and the first period is over, every sixteenth step is tested:
/// the constant changes slowly, and a test costs a pass over all marginals.
const TEST_INTERVAL: usize = 16;
/// A step that was not tested may be too long, and after a few such steps all others look short.
/// When the loss at omega, which every step computes, exceeds the smallest since the restart by
/// more than this share, the averaging restarts, which makes steps short, and the next step is
/// tested.
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

/// The iterations between two restarts.
struct RestartPeriod {
    steps: usize,
    length: usize,
}

/// The constant K, and which steps are tested.
struct StepControl {
    adaptive: bool,
    constant: f64,
    /// The factor on the constant after the next step that is accepted.
    lower: f64,
    /// Steps since the last test.
    untested: usize,
}

impl StepControl {
    /// The length a of the next step, when the average has the weight A.
    fn length(&self, average_weight: f64, period: &RestartPeriod) -> f64 {
        if self.adaptive {
            // The largest weight with K a^2 <= A + a.
            (1.0 + (1.0 + 4.0 * self.constant * average_weight).sqrt()) / (2.0 * self.constant)
        } else {
            // The paper's weights: A_t = t (t + 1) / (4 K).
            (period.steps + 1) as f64 / (2.0 * self.constant)
        }
    }

    fn tests_next(&self, period: &RestartPeriod) -> bool {
        let is_new = self.lower == LOWER_FAST || period.length == FIRST_PERIOD;
        self.adaptive && (is_new || self.untested + 1 >= TEST_INTERVAL)
    }

    fn request_test(&mut self) {
        self.untested = TEST_INTERVAL;
    }

    fn record_rejected(&mut self, period: &RestartPeriod) {
        self.constant *= if self.lower == LOWER_FAST { 2.0 } else { RAISE };
        if period.steps > 0 {
            self.lower = LOWER;
        }
        self.request_test();
    }

    fn record_passed(&mut self, acceptance: Acceptance) {
        if acceptance == Acceptance::Accept {
            self.constant *= self.lower;
        }
        self.untested = 0;
    }
}

/// The smallest L(omega) since the averaging restarted.
struct SmallestLoss(f64);

impl SmallestLoss {
    fn new() -> Self {
        Self(f64::INFINITY)
    }

    /// Takes a loss in, and says whether it is well above the smallest.
    fn loss_increased(&mut self, value: f64) -> bool {
        let increased = value - self.0 > RISE * self.0.abs();
        self.0 = self.0.min(value);
        increased
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
        // The marginals of a step that is tested.
        let mut proposed = now.marginals.clone();
        let mut average = Average::new(&now.marginals);
        let mut stepper = Stepper::averaging();
        let mut control = StepControl {
            adaptive: self.adaptive,
            constant: self.first_constant(objective.loss, objective.total),
            lower: LOWER_FAST,
            untested: 0,
        };
        let mut smallest = SmallestLoss::new();
        let mut period = RestartPeriod { steps: 0, length: FIRST_PERIOD };
        loop {
            let a = control.length(average.weight(), &period);
            let value;
            if control.tests_next(&period) {
                let (nu, theta) = (&now.marginals, &mut now.potentials);
                let log_z;
                (log_z, value) =
                    stepper.propose(objective, a, &mut average, nu, theta, &mut proposed);
                let log_zs = [now.log_z, log_z];
                let acceptance = stepper.accepts(objective, a, &average, nu, log_zs, &proposed);
                if acceptance == Acceptance::Reject {
                    stepper.roll_back(objective, a, &mut average, nu, theta);
                    control.record_rejected(&period);
                    if let Some(reason) = monitor.record_rejected() {
                        return monitor.finish(objective, now, reason);
                    }
                    continue;
                }
                control.record_passed(acceptance);
                std::mem::swap(&mut now.marginals, &mut proposed);
                now.log_z = log_z;
            } else {
                value = stepper.advance(objective, a, &mut average, &mut now);
                control.untested += 1;
            }
            if value.is_nan() || now.log_z.is_nan() {
                // No step leads back from NaN; the best model that was checked is still good.
                return monitor.finish(objective, now, Reason::Stalled);
            }
            let mut restart = self.adaptive && smallest.loss_increased(value);
            if restart {
                control.request_test();
            }
            average.add(a);
            stepper.reparametrize(objective, &mut now, monitor.is_about_to_check());
            period.steps += 1;
            let parallel = objective.oracle.is_parallel();
            if let Some(reason) = monitor
                .record_accepted(objective, &now, || average.settle(&now.marginals, parallel))
            {
                return monitor.finish(objective, now, reason);
            }
            if period.steps == period.length {
                period = RestartPeriod { steps: 0, length: 2 * period.length };
                restart = true;
            }
            if restart {
                average.restart();
                smallest = SmallestLoss::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_climbs_in_small_steps_is_seen_to_increase() {
        let mut smallest = SmallestLoss::new();
        assert!(![100.0, 90.0, 91.0, 91.7].into_iter().any(|value| smallest.loss_increased(value)));
        assert!(smallest.loss_increased(91.9), "2 % above 90, in three steps");
        assert!(!smallest.loss_increased(80.0) && smallest.loss_increased(81.7));
        let mut below_zero = SmallestLoss::new();
        assert!(!below_zero.loss_increased(-100.0) && !below_zero.loss_increased(-98.1));
        assert!(below_zero.loss_increased(-97.9));
    }
}
