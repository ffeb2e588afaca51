use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Iterate, Objective, Outcome};
use crate::factor::{Marginals, Potentials};
use crate::numeric::pointwise::copy;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// After this many iterations at the latest.
    pub iterations: usize,
    /// Once the certified gap is at most this.
    pub gap: f64,
    /// Or at most this times the loss.
    pub relative_gap: f64,
    /// At this time.
    pub deadline: Option<Instant>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The certified gap is as small as was asked for.
    Gap,
    /// The iterations are used up.
    Iterations,
    /// Neither gap nor loss fall any more: rounding decides.
    Stalled,
    /// The deadline was reached.
    Deadline,
    /// The stop flag was set.
    Stopped,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Reason {
    /// In reports: `gap`, `iterations`, `stalled`, `deadline` or `stopped`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Gap => "gap",
            Reason::Iterations => "iterations",
            Reason::Stalled => "stalled",
            Reason::Deadline => "deadline",
            Reason::Stopped => "stopped",
        }
    }
}

/// What an observer is told after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Calls of the oracle so far.
    pub iteration: usize,
    /// Wall time since the first iteration began.
    pub seconds: f64,
    /// The marginals at this point.
    pub marginals: &'a Marginals,
    /// The certified gap, when it was just computed.
    pub gap: Option<f64>,
    /// The sum of |r| and half the sum of r^2, r the residuals in standard deviations, where a fit
    /// [reports both losses](crate::fit::Fit::both_losses).
    pub l1_l2: Option<(f64, f64)>,
}

/// Iterations between checks of the gap, each of which costs about half an iteration.
const CHECK_INTERVAL: usize = 25;

/// Checks without progress of gap or loss after which a run is stalled.
const PATIENCE: usize = 200;

/// The share by which gap or loss must have fallen to count as progress. The gap of a slow method
/// can stay where it is for long, while its loss falls.
const PROGRESS: (f64, f64) = (0.1, 1e-10);

/// Counts iterations, checks the gap at intervals, keeps the best model, and notifies an observer.
pub struct ConvergenceMonitor<'a> {
    stopping: Stopping,
    stop_flag: Option<&'a AtomicBool>,
    observer: &'a mut dyn FnMut(&Progress<'_>),
    began: Instant,
    iterations: usize,
    next_check: usize,
    best: Option<Best>,
    /// The smallest loss is at least this: the largest L(mu) - gap(mu) that was seen.
    lower_bound: f64,
    /// Gap and loss when there was progress last.
    milestone: (f64, f64),
    checks_since_milestone: usize,
    scratch: Option<Potentials>,
}

struct Best {
    potentials: Potentials,
    /// The marginals and ln Z of an approximate oracle, which starts from its last call and would
    /// not compute the same again. Those of an exact one are recomputed when they are needed.
    computed: Option<(Marginals, f64)>,
    loss: f64,
}

impl Best {
    fn into_iterate(self, objective: &mut Objective<'_>) -> Iterate {
        match self.computed {
            Some((marginals, log_z)) => Iterate { potentials: self.potentials, marginals, log_z },
            None => objective.evaluate(self.potentials),
        }
    }
}

impl<'a> ConvergenceMonitor<'a> {
    /// A monitor that starts now.
    pub fn new(stopping: Stopping, observer: &'a mut dyn FnMut(&Progress<'_>)) -> Self {
        Self {
            stopping,
            stop_flag: None,
            observer,
            began: Instant::now(),
            iterations: 0,
            next_check: 1,
            best: None,
            lower_bound: f64::NEG_INFINITY,
            milestone: (f64::INFINITY, f64::INFINITY),
            checks_since_milestone: 0,
            scratch: None,
        }
    }

    /// The same monitor with a flag that ends the run at the next iteration.
    pub fn with_stop_flag(self, stop_flag: Option<&'a AtomicBool>) -> Self {
        Self { stop_flag, ..self }
    }

    /// Calls of the oracle so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether the next iteration is one to check.
    pub(super) fn is_about_to_check(&self) -> bool {
        self.iterations + 1 >= self.next_check.min(self.stopping.iterations)
    }

    /// Counts a call of the oracle that was rolled back. Returns the reason to stop, if there is
    /// one.
    pub(super) fn record_rejected(&mut self) -> Option<Reason> {
        self.iterations += 1;
        let last = self.iterations >= self.stopping.iterations;
        last.then_some(Reason::Iterations).or_else(|| self.stopped_from_outside())
    }

    /// Counts an iteration that led to `iterate`. `mean` gives the best point to certify, which may
    /// be an average of iterates; it is called if this iteration is checked. Returns the reason to
    /// stop, if there is one.
    pub(super) fn record_accepted<'m>(
        &mut self,
        objective: &mut Objective<'_>,
        iterate: &Iterate,
        mean: impl FnOnce() -> &'m Marginals,
    ) -> Option<Reason> {
        let checked = self.is_about_to_check();
        self.iterations += 1;
        let last = self.iterations >= self.stopping.iterations;
        let reason = if checked { self.check(objective, iterate, mean()) } else { None };
        let gap = if checked { self.gap() } else { None };
        self.notify(&iterate.marginals, gap);
        reason.or(last.then_some(Reason::Iterations)).or_else(|| self.stopped_from_outside())
    }

    /// Counts an iteration that led to the average `mean`, which is what the run estimates and is
    /// no model.
    pub(super) fn record_average(
        &mut self,
        objective: &mut Objective<'_>,
        mean: &Marginals,
    ) -> Option<Reason> {
        self.iterations += 1;
        let last = self.iterations >= self.stopping.iterations;
        let mut gap = None;
        let mut reason = last.then_some(Reason::Iterations);
        if last || self.iterations >= self.next_check {
            self.next_check = self.iterations + CHECK_INTERVAL;
            let value = self.raise_lower_bound(objective, mean);
            gap = value.map(|value| (value - self.lower_bound).max(0.0));
            if let (Some(gap), Some(value)) = (gap, value)
                && gap <= self.stopping.gap.max(self.stopping.relative_gap * value)
            {
                reason = Some(Reason::Gap);
            }
        }
        self.notify(mean, gap);
        reason.or_else(|| self.stopped_from_outside())
    }

    fn notify(&mut self, marginals: &Marginals, gap: Option<f64>) {
        let seconds = self.began.elapsed().as_secs_f64();
        let iteration = self.iterations;
        (self.observer)(&Progress { iteration, seconds, marginals, gap, l1_l2: None });
    }

    fn stopped_from_outside(&self) -> Option<Reason> {
        if self.stop_flag.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Reason::Stopped);
        }
        let deadline = self.stopping.deadline?;
        (Instant::now() >= deadline).then_some(Reason::Deadline)
    }

    /// How much larger than the smallest possible the best loss is at most.
    fn gap(&self) -> Option<f64> {
        self.gap_of(self.best.as_ref()?.loss)
    }

    fn gap_of(&self, loss: f64) -> Option<f64> {
        self.lower_bound.is_finite().then_some((loss - self.lower_bound).max(0.0))
    }

    /// Measures `iterate` and keeps it if it is the best so far.
    fn check(
        &mut self,
        objective: &mut Objective<'_>,
        iterate: &Iterate,
        mean: &Marginals,
    ) -> Option<Reason> {
        self.next_check = self.iterations + CHECK_INTERVAL;
        let loss = objective.value(&iterate.marginals);
        if self.best.as_ref().is_none_or(|best| loss <= best.loss) {
            let copied = || (iterate.marginals.clone(), iterate.log_z);
            let computed = (!objective.oracle.is_exact()).then(copied);
            match &mut self.best {
                Some(best) => {
                    let parallel = objective.oracle.is_parallel();
                    copy(iterate.potentials.values(), best.potentials.values_mut(), parallel);
                    (best.computed, best.loss) = (computed, loss);
                }
                None => {
                    let potentials = iterate.potentials.clone();
                    self.best = Some(Best { potentials, computed, loss });
                }
            }
        }
        self.raise_lower_bound(objective, mean);
        let gap = self.gap()?;
        let best = self.best.as_ref().map_or(loss, |best| best.loss);
        if gap <= self.stopping.gap.max(self.stopping.relative_gap * best) {
            return Some(Reason::Gap);
        }
        self.checks_since_milestone += 1;
        let falls =
            |to: f64, from: f64, share: f64| !from.is_finite() || from - to > share * from.abs();
        if falls(gap, self.milestone.0, PROGRESS.0) || falls(best, self.milestone.1, PROGRESS.1) {
            self.milestone = (gap.min(self.milestone.0), best);
            self.checks_since_milestone = 0;
        }
        let patience = PATIENCE.max(self.iterations / CHECK_INTERVAL / 2);
        (self.checks_since_milestone > patience).then_some(Reason::Stalled)
    }

    /// The loss at these marginals, when the oracle can certify it.
    fn raise_lower_bound(&mut self, objective: &mut Objective<'_>, at: &Marginals) -> Option<f64> {
        let scratch = self.scratch.get_or_insert_with(|| Potentials::zeros(at.layout()));
        let (value, gap) = objective.certificate(at, scratch)?;
        self.lower_bound = self.lower_bound.max(value - gap);
        Some(value)
    }

    /// Ends a run at this model, even if an earlier one was better.
    pub(super) fn finish_at(
        &mut self,
        objective: &mut Objective<'_>,
        model: Iterate,
        reason: Reason,
    ) -> Outcome {
        self.best = None;
        self.finish(objective, model, reason)
    }

    /// Ends a run at `last`, or at the best model if that was better.
    pub(super) fn finish(
        &mut self,
        objective: &mut Objective<'_>,
        mut last: Iterate,
        reason: Reason,
    ) -> Outcome {
        // A run that ends between checks may end where sums have underflowed.
        objective.reparametrize(&mut last, true);
        let loss = objective.value(&last.marginals);
        let best = self.best.take();
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            self.raise_lower_bound(objective, &last.marginals);
        }
        let (iterate, loss) = match best {
            Some(best) if best.loss < loss || loss.is_nan() => {
                let iterate = best.into_iterate(objective);
                let loss = objective.value(&iterate.marginals);
                (iterate, loss)
            }
            _ => (last, loss),
        };
        let gap = self.gap_of(loss);
        Outcome { iterate, loss, gap, iterations: self.iterations, reason }
    }
}
