use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use thiserror::Error;

use super::observer::Observer;
use super::trial::{Finished, ResourceLimits, run_trial};
use super::{Plan, PlannedRow, Trial};
use crate::results::Status;
use crate::results::manifest::ManifestError;
use crate::results::store::{Store, StoreError};

/// Default limit for the tables of one arm, in bytes.
pub const MEMORY: u64 = 4 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Total over all trials.
    pub threads: usize,
    /// Trials that run concurrently.
    pub jobs: usize,
    /// Runs one trial at a time on all cores, so that trials do not distort each other's times.
    pub timing: bool,
    /// Limit for the tables of one arm in bytes, if the experiment has none.
    pub memory_limit: u64,
}

impl Default for Options {
    /// One trial per core.
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { threads, jobs: threads, timing: false, memory_limit: MEMORY }
    }
}

/// The numbers of arms by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Had a row before the run.
    pub reused: usize,
    /// Ended with an estimate.
    pub done: usize,
    /// Would exceed the memory limit.
    pub infeasible: usize,
    /// Exceeded the time limit.
    pub timeout: usize,
    /// Cannot use what was measured.
    pub not_applicable: usize,
    /// Failed; the next run tries them again.
    pub failed: usize,
}

/// Why a run stopped early. Rows that ended before are stored.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("cannot start a thread: {0}")]
    Threads(String),
}

/// Runs the arms without a row, and stores each row when its arm ends.
///
/// Each job is a thread with its own pool. In a shared pool, a trial could steal work of another
/// one and hold its memory while it waits.
pub fn run(
    plan: &Plan,
    store: &Store,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Tally, RunError> {
    let (mut pending, reused) = pending_trials(plan, store);
    let cores = options.threads.max(1);
    let jobs = if options.timing { 1 } else { options.jobs.clamp(1, pending.len().max(1)) };
    let configured = &plan.experiment.limits;
    let limits = ResourceLimits {
        memory_limit: configured.memory.map_or(options.memory_limit, |limit| limit.0),
        seconds: configured.seconds,
        parallel: jobs < cores,
    };
    // Jobs pop from the end.
    pending.reverse();
    let queue = Mutex::new(pending);
    let tally = Mutex::new(Tally { reused, ..Tally::default() });
    let store_error: Mutex<Option<StoreError>> = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let Some((trial, wanted)) = lock(&queue).pop() else { break };
            observer.begins(trial, &plan.describe(trial));
            run_trial(plan, trial, &wanted, limits, observer, |finished| {
                let Finished { record, ledger, traces } = finished;
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                match store.append(&record, ledger, &traces) {
                    Ok(()) => {
                        lock(&tally).count(record.status);
                        observer.ended(&record);
                    }
                    Err(error) => {
                        lock(&store_error).get_or_insert(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
            observer.ends(trial);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads((cores / jobs).max(1))
                .build()
                .map_err(|error| RunError::Threads(error.to_string()))?;
            scope.spawn(move || pool.install(work));
        }
        Ok::<(), RunError>(())
    })?;
    match store_error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(error) => Err(error.into()),
        None => Ok(tally.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())),
    }
}

/// The trials with rows to run, in the order of the plan, and the number of rows that exist. Failed
/// rows count as missing.
fn pending_trials<'a>(plan: &'a Plan, store: &Store) -> (Vec<(&'a Trial, Vec<PlannedRow>)>, usize) {
    let rows = store.rows();
    let ended = rows.iter().filter(|row| row.status != Status::Failed);
    let known: BTreeSet<&str> = ended.map(|row| row.key.as_str()).collect();
    let (mut pending, mut reused) = (Vec::new(), 0);
    for trial in &plan.trials {
        let is_new = |row: &&PlannedRow| !known.contains(row.key.as_str());
        let wanted: Vec<PlannedRow> = trial.rows.iter().filter(is_new).cloned().collect();
        reused += trial.rows.len() - wanted.len();
        if !wanted.is_empty() {
            pending.push((trial, wanted));
        }
    }
    (pending, reused)
}

/// Ignores poisoning: no update of the guarded values can panic halfway.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Tally {
    fn count(&mut self, status: Status) {
        *match status {
            Status::Done => &mut self.done,
            Status::Infeasible => &mut self.infeasible,
            Status::Timeout => &mut self.timeout,
            Status::NotApplicable => &mut self.not_applicable,
            Status::Failed => &mut self.failed,
        } += 1;
    }
}
