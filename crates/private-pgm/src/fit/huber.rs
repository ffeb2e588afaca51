use super::minimisation::Minimisation;
use crate::factor::Potentials;
use crate::loss::{LinearLoss, Norm};
use crate::optimiser::{Outcome, Progress, Reason, Stopping};
use crate::oracle::MarginalOracle;

/// The width of the first Huber loss, in standard deviations.
const FIRST_WIDTH: f64 = 1.0;
/// The ratio of each width to the one before.
const NARROWING: f64 = 0.3;
/// The number of widths; the last one is 2e-7.
const STAGES: u32 = 14;

/// Minimises the L1 loss, whose gradient jumps, by Huber losses of smaller and smaller width.
/// `known` is what another method has found, with loss and gap of L1.
///
/// With L_w <= L the Huber loss of width w, and g the certified gap of L_w at mu, the smallest L is
/// at least the smallest L_w, which is at least L_w(mu) - g: a lower bound that certifies L too.
pub(super) fn minimise(
    minimisation: &Minimisation<'_>,
    oracle: &mut dyn MarginalOracle,
    loss: &mut LinearLoss,
    start: Potentials,
    known: Option<Outcome>,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Outcome {
    let stopping = minimisation.stopping;
    let answers: usize = loss.measurements().map(|measurement| measurement.y.len()).sum();
    let mut potentials = start;
    let mut iterations = known.as_ref().map_or(0, |known| known.iterations);
    let mut stopped = false;
    // The smallest loss is at least this, whichever stage shows it.
    let mut lower_bound =
        known.as_ref().and_then(|known| Some(known.loss - known.gap?)).unwrap_or(f64::NEG_INFINITY);
    let mut best = known;
    for index in 0..STAGES {
        let width = FIRST_WIDTH * NARROWING.powi(index as i32);
        loss.set_norm(Norm::Huber(width));
        // L_w is below L by at most this; a gap far below it gains nothing. The remaining
        // iterations are shared by the remaining stages.
        let difference = 0.5 * width * answers as f64;
        let share = (stopping.iterations - iterations).div_ceil((STAGES - index) as usize);
        let stop = Stopping {
            iterations: share.max(1),
            gap: 0.05 * difference,
            relative_gap: 0.0,
            deadline: stopping.deadline,
        };
        let before = iterations;
        let mut count = |progress: &Progress<'_>| {
            tell(&Progress { iteration: before + progress.iteration, ..*progress });
        };
        let stage = Minimisation { stopping: stop, ..*minimisation };
        let mut outcome = stage.run(oracle, loss, potentials, &mut count);
        iterations += outcome.iterations;
        if outcome.reason == Reason::Deadline {
            return Outcome { iterations, ..outcome };
        }
        let (l1, _) = loss.l1_and_l2(&outcome.iterate.marginals);
        if let Some(gap) = outcome.gap {
            lower_bound = lower_bound.max(outcome.loss - gap);
        }
        outcome.loss = l1;
        potentials = outcome.iterate.potentials.clone();
        stopped = outcome.reason == Reason::Stopped;
        if best.as_ref().is_none_or(|best| l1 <= best.loss) {
            best = Some(outcome);
        }
        if stopped {
            break;
        }
        let smallest = best.as_ref().map_or(l1, |best| best.loss);
        let is_enough = smallest - lower_bound <= wanted_gap(&stopping, smallest);
        if is_enough || iterations >= stopping.iterations {
            break;
        }
    }
    loss.set_norm(Norm::L1);
    let best = best.expect("there is at least one stage");
    let gap = lower_bound.is_finite().then_some((best.loss - lower_bound).max(0.0));
    let reason = match gap {
        Some(gap) if gap <= wanted_gap(&stopping, best.loss) => Reason::Gap,
        _ if stopped => Reason::Stopped,
        _ if iterations >= stopping.iterations => Reason::Iterations,
        _ => Reason::Stalled,
    };
    Outcome { gap, reason, iterations, ..best }
}

/// The gap of the L1 loss that is small enough.
fn wanted_gap(stopping: &Stopping, loss: f64) -> f64 {
    stopping.gap.max(stopping.relative_gap * loss)
}
