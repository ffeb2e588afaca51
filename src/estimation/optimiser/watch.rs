use std::time::Instant;

use super::{Iterate, Objective, Outcome};
use crate::factor::{CliqueVector, Marginals};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// After this many iterations at the latest.
    pub iterations: usize,
    /// Once the certified gap is at most this.
    pub gap: f64,
    /// Or at most this times the loss.
    pub relative_gap: f64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The certified gap is as small as was asked for.
    Gap,
    /// The iterations are used up.
    Iterations,
    /// Rounding leaves nothing to gain.
    Stalled,
}

impl Reason {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Gap => "gap",
            Reason::Iterations => "iterations",
            Reason::Stalled => "stalled",
        }
    }
}

/// What an observer is told.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Calls of the oracle so far.
    pub iteration: usize,
    /// Since the run began.
    pub seconds: f64,
    /// The marginals at this point.
    pub marginals: &'a Marginals,
    /// Their certified gap, when it was just computed.
    pub gap: Option<f64>,
}

/// Iterations between looks at the gap, which costs about half an iteration.
const LOOK_EVERY: usize = 25;

/// Looks without any progress of the gap after which a run is stalled.
const PATIENCE: usize = 200;

/// Counts iterations, looks at the gap now and then, keeps the best model, and tells an observer.
pub struct Watch<'a> {
    stopping: Stopping,
    observer: &'a mut dyn FnMut(&Progress<'_>),
    began: Instant,
    iterations: usize,
    next_look: usize,
    best: Option<Best>,
    gap: Option<f64>,
    best_gap: f64,
    looks_since_best_gap: usize,
    scratch: Option<CliqueVector>,
}

struct Best {
    iterate: Iterate,
    loss: f64,
    gap: Option<f64>,
}

impl<'a> Watch<'a> {
    /// A watch that starts now.
    pub fn new(stopping: Stopping, observer: &'a mut dyn FnMut(&Progress<'_>)) -> Self {
        Self {
            stopping,
            observer,
            began: Instant::now(),
            iterations: 0,
            next_look: 1,
            best: None,
            gap: None,
            best_gap: f64::INFINITY,
            looks_since_best_gap: 0,
            scratch: None,
        }
    }

    /// Calls of the oracle so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// A call of the oracle that led nowhere. True when the iterations are used up.
    pub(super) fn wasted(&mut self) -> bool {
        self.iterations += 1;
        self.iterations >= self.stopping.iterations
    }

    /// An iteration that led to `iterate`. Says when to stop, and why.
    pub(super) fn arrived(
        &mut self,
        objective: &mut Objective<'_>,
        iterate: &Iterate,
    ) -> Option<Reason> {
        self.iterations += 1;
        let last = self.iterations >= self.stopping.iterations;
        let look = last || self.iterations >= self.next_look;
        let reason = if look { self.look(objective, iterate) } else { None };
        (self.observer)(&Progress {
            iteration: self.iterations,
            seconds: self.began.elapsed().as_secs_f64(),
            marginals: &iterate.marginals,
            gap: if look { self.gap } else { None },
        });
        reason.or(last.then_some(Reason::Iterations))
    }

    /// Measures `iterate` and keeps it if it is the best so far.
    fn look(&mut self, objective: &mut Objective<'_>, iterate: &Iterate) -> Option<Reason> {
        self.next_look = self.iterations + LOOK_EVERY;
        let loss = objective.loss.value(&iterate.marginals);
        let scratch =
            self.scratch.get_or_insert_with(|| CliqueVector::zeros(iterate.marginals.layout()));
        self.gap = objective.gap(&iterate.marginals, scratch);
        if self.best.as_ref().is_none_or(|best| loss <= best.loss) {
            let gap = self.gap;
            match &mut self.best {
                Some(best) => {
                    best.iterate.clone_from_iterate(iterate);
                    (best.loss, best.gap) = (loss, gap);
                }
                None => self.best = Some(Best { iterate: iterate.clone(), loss, gap }),
            }
        }
        let gap = self.gap?;
        if gap <= self.stopping.gap.max(self.stopping.relative_gap * loss) {
            return Some(Reason::Gap);
        }
        self.looks_since_best_gap += 1;
        if gap < 0.9 * self.best_gap {
            self.best_gap = gap;
            self.looks_since_best_gap = 0;
        }
        let patience = PATIENCE.max(self.iterations / LOOK_EVERY / 2);
        (self.looks_since_best_gap > patience).then_some(Reason::Stalled)
    }

    /// Ends a run at `last`, or at the best model if that was better.
    pub(super) fn finish(
        &mut self,
        objective: &mut Objective<'_>,
        last: Iterate,
        reason: Reason,
    ) -> Outcome {
        let iterations = self.iterations;
        let loss = objective.loss.value(&last.marginals);
        match self.best.take() {
            Some(best) if best.loss <= loss => Outcome {
                iterate: best.iterate,
                loss: best.loss,
                gap: best.gap,
                iterations,
                reason,
            },
            _ => {
                let mut scratch = CliqueVector::zeros(last.marginals.layout());
                let gap = objective.gap(&last.marginals, &mut scratch);
                Outcome { iterate: last, loss, gap, iterations, reason }
            }
        }
    }
}

impl Iterate {
    fn clone_from_iterate(&mut self, other: &Iterate) {
        self.potentials.values_mut().copy_from_slice(other.potentials.values());
        self.marginals.values_mut().copy_from_slice(other.marginals.values());
        self.log_z = other.log_z;
    }
}
