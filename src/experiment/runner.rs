use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use thiserror::Error;

use super::observer::Observer;
use super::trial::{Finished, Means, run_trial};
use super::{Plan, PlannedRow, Trial};
use crate::results::Status;
use crate::results::manifest::ManifestError;
use crate::results::store::{Store, StoreError};

/// Bytes that the tables of one arm may take, where nobody says otherwise.
pub const MEMORY: u64 = 4 << 30;

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads in all.
    pub threads: usize,
    /// Trials at a time.
    pub jobs: usize,
    /// One trial at a time, and each may use all cores: for honest clocks.
    pub timing: bool,
    /// Bytes that the tables of one arm may take, where the experiment does not say.
    pub memory_limit: u64,
}

impl Default for Options {
    /// All cores, a trial on each.
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { threads, jobs: threads, timing: false, memory_limit: MEMORY }
    }
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Arms that had their row before.
    pub reused: usize,
    /// Arms that ended with an estimate.
    pub done: usize,
    /// Arms that would not fit into memory.
    pub infeasible: usize,
    /// Arms that took too long.
    pub timeout: usize,
    /// Arms that failed; they are tried again next time.
    pub failed: usize,
}

/// Why a run was given up. What had ended before is stored.
#[derive(Debug, Error)]
pub enum RunError {
    /// A result cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The manifest cannot be stored.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// No thread could be started.
    #[error("cannot start a thread: {0}")]
    Threads(String),
}

/// Runs what has no row yet, and stores every arm as it ends.
///
/// Trials are taken by as many threads as there are jobs, each with a pool of its own, so that one
/// trial never waits for the work of another, and holds no memory meanwhile.
pub fn run(
    plan: &Plan,
    store: &Store,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Tally, RunError> {
    let rows = store.rows();
    let ended = |status| status != Status::Failed;
    let known: BTreeSet<&str> =
        rows.iter().filter(|row| ended(row.status)).map(|row| row.key.as_str()).collect();
    let mut tally = Tally::default();
    let mut pending: Vec<(&Trial, Vec<PlannedRow>)> = Vec::new();
    for trial in &plan.trials {
        let is_new = |row: &&PlannedRow| !known.contains(row.key.as_str());
        let wanted: Vec<PlannedRow> = trial.rows.iter().filter(is_new).cloned().collect();
        tally.reused += trial.rows.len() - wanted.len();
        if !wanted.is_empty() {
            pending.push((trial, wanted));
        }
    }
    let cores = options.threads.max(1);
    let jobs = if options.timing { 1 } else { options.jobs.clamp(1, pending.len().max(1)) };
    let limits = &plan.experiment.limits;
    let means = Means {
        memory_limit: limits.memory.map_or(options.memory_limit, |limit| limit.0),
        seconds: limits.seconds,
        parallel: jobs < cores,
    };
    // Popped from the end.
    pending.reverse();
    let (queue, tally) = (Mutex::new(pending), Mutex::new(tally));
    let broken: Mutex<Option<StoreError>> = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let Some((trial, wanted)) = lock(&queue).pop() else { break };
            observer.begins(trial, &plan.describe(trial));
            run_trial(plan, trial, &wanted, means, observer, |finished| {
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
                        lock(&broken).get_or_insert(error);
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
    match broken.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(error) => Err(error.into()),
        None => Ok(tally.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())),
    }
}

/// A lock that a panicking thread has held is as good as any: what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Tally {
    fn count(&mut self, status: Status) {
        *match status {
            Status::Done => &mut self.done,
            Status::Infeasible => &mut self.infeasible,
            Status::Timeout => &mut self.timeout,
            Status::Failed => &mut self.failed,
        } += 1;
    }
}
