//! The append-only files of an experiment, consistent after a crash at any point.
//!
//! | file | one line is | written |
//! | --- | --- | --- |
//! | `traces.csv` | a [`TraceRecord`] | first |
//! | `ledger.jsonl` | a draw of a release, a [`dp::Line`] | second, once per release |
//! | `trials.csv` | a [`TrialRecord`] | last |
//!
//! The last columns of `trials.csv` are optional: a file has them once a row fills one, so that
//! experiments that do not record them, and results of earlier versions, need no other format.
//!
//! Each is synced before the next is written, so a row of `trials.csv` implies that its traces and
//! draws are on the disk. Traces and draws without a row come from an interrupted run: they are at
//! the end of their files, readers ignore them, and the next run truncates them. A key occurs again
//! if an arm that failed is tried again: the last row counts.
//!
//! A shard has its own files in the same folder, such as `trials.2-of-4.csv`, so that machines that
//! share only a file system need no coordination. Readers of the folder read all of them
//! ([`Recorded::read`], [`read_ledger`]), and [`Store::collect`] merges them.

mod collect;
mod error;
mod files;
mod line;
mod log;
mod merge;
mod recorded;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

pub use error::StoreError;
pub use recorded::{Recorded, read_ledger};

use self::files::{Files, Lock, sync_folder};
use self::line::{LedgerLine, Line};
use self::log::Log;
use self::merge::Part;
use self::recorded::{Contents, in_order};
use super::record::{TraceRecord, TrialRecord};
use super::shard::Shard;
use crate::atomic_file::remove_abandoned;

/// The results of an experiment, open for appending by one process.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    files: Files,
    notes: Vec<String>,
    state: Mutex<State>,
    /// Held until the store is dropped or the process ends.
    _lock: Lock,
}

#[derive(Debug)]
struct State {
    trials: Log,
    traces: Log,
    ledger: Log,
    rows: BTreeMap<String, TrialRecord>,
    /// The draws in the ledger, by the key of the release.
    releases: BTreeMap<String, Draws>,
}

/// The draws of a release in the ledger: their number, and the hash of their lines.
#[derive(Debug)]
struct Draws {
    count: usize,
    hash: blake3::Hash,
}

impl Draws {
    fn of(lines: &[Vec<u8>]) -> Self {
        Self { count: lines.len(), hash: blake3::hash(&lines.concat()) }
    }
}

impl Store {
    /// Opens the results in `folder` for appending; creates the folder if it does not exist.
    ///
    /// An error if another process has them open, if the files are of another version, and if they
    /// are damaged other than by an interrupted run. The incomplete output of such a run is
    /// truncated ([`Store::notes`]).
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_part(folder, None)
    }

    /// Like [`Store::open`], for a shard, which appends to its own files. Other shards may be open,
    /// on this or on other machines.
    pub fn open_part(folder: impl AsRef<Path>, shard: Option<Shard>) -> Result<Self, StoreError> {
        let files = Files::new(folder.as_ref(), shard);
        let lock = files.lock()?;
        Self::open_locked(folder.as_ref(), files, lock)
    }

    /// Locks the results and all shards, removes the existing trials, and opens the results.
    pub fn open_fresh(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        let files = Files::new(folder, None);
        let lock = files.lock()?;
        let all = Files::all(folder)?;
        let shards = all.iter().filter(|files| files.shard().is_some());
        let _locks = shards.map(Files::lock).collect::<Result<Vec<_>, _>>()?;
        for files in &all {
            files.remove()?;
        }
        Self::open_locked(folder, files, lock)
    }

    fn open_locked(folder: &Path, files: Files, lock: Lock) -> Result<Self, StoreError> {
        // Not for a shard: another machine may still use the file.
        if files.shard().is_none() {
            remove_abandoned(folder).map_err(|error| StoreError::io(folder, error))?;
        }
        let contents = Contents::read(&files)?;
        let notes = lock.note().into_iter().chain(contents.notes(&files)).collect();
        let Contents { trials, traces, ledger } = &contents;
        let logs = (
            Log::open(files.trials(), trials)?,
            Log::open(files.traces(), traces)?,
            Log::open(files.ledger(), ledger)?,
        );
        sync_folder(folder)?;
        let mut all = Part::of(contents, &files);
        let mut releases = BTreeMap::new();
        for (release, draws) in &all.releases {
            let lines = LedgerLine::lines(release, draws);
            let lines = lines.map_err(|error| StoreError::io(&files.ledger(), error))?;
            releases.insert(release.clone(), Draws::of(&lines));
        }
        for other in Files::all(folder)?.iter().filter(|other| other.shard() != files.shard()) {
            all = all.merged(Part::of(Contents::rows(other)?, other))?;
        }
        let (trials, traces, ledger) = logs;
        let state = State { trials, traces, ledger, rows: all.rows(), releases };
        Ok(Self { folder: folder.into(), files, notes, state: Mutex::new(state), _lock: lock })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The repairs made when the store was opened, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Appends the row of an arm, its traces (with the row's key, iterations ascending), and the
    /// ledger of its release if it is not yet stored. On return all of it is on the disk; on an
    /// error the row is not in the file, and the arm may be appended again. Thread-safe.
    pub fn append(
        &self,
        row: &TrialRecord,
        ledger: &[dp::Line],
        traces: &[TraceRecord],
    ) -> Result<(), StoreError> {
        let written = |path: PathBuf| move |error| StoreError::io(&path, error);
        let traces = lines_of(traces).map_err(written(self.files.traces()))?;
        let draws = LedgerLine::lines(&row.release, ledger);
        let draws = draws.map_err(written(self.files.ledger()))?;
        let line = row.line().map_err(written(self.files.trials()))?;
        let mut state = self.state();
        state.traces.append(&traces)?;
        self.append_draws(&mut state, &row.release, &draws)?;
        state.trials.append_row::<TrialRecord>(&line)?;
        state.rows.insert(row.key.clone(), row.clone());
        Ok(())
    }

    /// Appends the draws of a release that the ledger does not have. Those that it has must be a
    /// prefix.
    fn append_draws(
        &self,
        state: &mut State,
        release: &str,
        lines: &[Vec<u8>],
    ) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let known = state.releases.get(release);
        let count = known.map_or(0, |known| known.count);
        let is_beginning = known.is_none_or(|known| {
            lines.get(..count).is_some_and(|begin| Draws::of(begin).hash == known.hash)
        });
        if !is_beginning {
            let file = self.files.ledger();
            return Err(StoreError::NotRepeated { release: release.into(), file });
        }
        state.ledger.append(&lines[count..].concat())?;
        state.releases.insert(release.into(), Draws::of(lines));
        Ok(())
    }

    /// The row of each key, of all shards as they were when the store was opened, sorted by
    /// dataset, mechanism, arm, epsilon and trial: the same order however the trials were
    /// distributed over threads and runs.
    pub fn rows(&self) -> Vec<TrialRecord> {
        in_order(self.state().rows.clone())
    }

    /// Blocks all further appends until the process ends. Waits at most `patience` for the row that
    /// is being written: an incomplete one is truncated when the results are opened again.
    pub fn shut(&self, patience: Duration) {
        let began = Instant::now();
        loop {
            match self.state.try_lock() {
                Ok(state) => return mem::forget(state),
                Err(TryLockError::Poisoned(poisoned)) => return mem::forget(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if began.elapsed() >= patience => return,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The logs track the complete length, so a panic in another thread leaves a consistent
        // state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lines_of<T: Line>(records: &[T]) -> io::Result<Vec<u8>> {
    let lines: io::Result<Vec<Vec<u8>>> = records.iter().map(Line::line).collect();
    Ok(lines?.concat())
}
