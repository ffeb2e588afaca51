use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::factor::Potentials;
use crate::loss::Loss;
use crate::optimiser::{
    ConvergenceMonitor, Objective, Optimiser, Outcome, Progress, Reason, Stopping,
};
use crate::oracle::MarginalOracle;

/// A run of an optimiser, whichever loss it is about.
#[derive(Clone, Copy)]
pub(super) struct Minimisation<'a> {
    pub(super) optimiser: &'a dyn Optimiser,
    /// 0 for what is possible and minus infinity for what is not.
    pub(super) base: &'a Potentials,
    pub(super) total: f64,
    pub(super) stopping: Stopping,
    pub(super) stop_flag: Option<&'a AtomicBool>,
}

impl Minimisation<'_> {
    /// Why a run ends after a number of calls of the oracle, whatever its gap.
    pub(super) fn interruption(&self, iterations: usize) -> Option<Reason> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let is_over = |deadline| Instant::now() >= deadline;
        match self.stopping {
            _ if self.stop_flag.is_some_and(is_set) => Some(Reason::Stopped),
            Stopping { deadline, .. } if deadline.is_some_and(is_over) => Some(Reason::Deadline),
            Stopping { iterations: most, .. } if iterations >= most => Some(Reason::Iterations),
            _ => None,
        }
    }

    pub(super) fn run(
        &self,
        oracle: &mut dyn MarginalOracle,
        loss: &mut dyn Loss,
        start: Potentials,
        tell: &mut dyn FnMut(&Progress<'_>),
    ) -> Outcome {
        let mut objective = Objective { oracle, loss, base: self.base, total: self.total };
        let mut monitor =
            ConvergenceMonitor::new(self.stopping, tell).with_stop_flag(self.stop_flag);
        self.optimiser.minimise(&mut objective, start, &mut monitor)
    }
}
