//! The files of an experiment that trials are appended to, and that survive whatever stops a run.
//!
//! | file | one line is | written |
//! | --- | --- | --- |
//! | `traces.csv` | a [`TraceRecord`] | first |
//! | `ledger.jsonl` | a [`LedgerLine`] | second |
//! | `trials.csv` | a [`TrialRecord`] | last |
//!
//! Each is synced before the next is written, so that a row of `trials.csv` is the promise that
//! everything about it is on the disk. Traces and ledger lines without a row are what a stopped run
//! left behind, and nobody reads them. Keys may come up again, when an arm that had failed is tried
//! once more: the last row counts.

mod error;
mod line;
mod log;
mod recorded;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError as Busy};
use std::thread;
use std::time::{Duration, Instant};

pub use error::StoreError;
pub use line::LedgerLine;
pub use recorded::Recorded;

use self::line::Line;
use self::log::Log;
use self::recorded::{Contents, in_order, last_of_each_key};
use super::record::{TraceRecord, TrialRecord};
use crate::storage::remove_abandoned;

const TRIALS: &str = "trials.csv";
const TRACES: &str = "traces.csv";
const LEDGER: &str = "ledger.jsonl";
const LOCK: &str = ".lock";

/// The results of an experiment, open for appending by one process.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    notes: Vec<String>,
    state: Mutex<State>,
    /// Held until the store is dropped or the process ends, however it ends.
    _lock: File,
}

#[derive(Debug)]
struct State {
    trials: Log,
    traces: Log,
    ledger: Log,
    rows: BTreeMap<String, TrialRecord>,
}

impl Store {
    /// Opens the results in `folder` to go on with them; makes the folder when there is none.
    ///
    /// Refuses while another process has them open, when the files are of another version, and
    /// when they were damaged other than by a run that was stopped. What such a run had written
    /// only in part is cut off ([`Store::notes`]).
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_locked(folder.as_ref(), lock(folder.as_ref())?)
    }

    /// The same, without the trials that are there: they are removed, once nobody else can be
    /// writing them.
    pub fn open_fresh(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        let lock = lock(folder)?;
        // Rows first: a row without its traces must not exist even if this is interrupted.
        for name in [TRIALS, LEDGER, TRACES] {
            let path = folder.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io(&path, error));
                }
                _ => {}
            }
            sync_folder(folder)?;
        }
        Self::open_locked(folder, lock)
    }

    fn open_locked(folder: &Path, lock: File) -> Result<Self, StoreError> {
        remove_abandoned(folder).map_err(|error| StoreError::io(folder, error))?;
        let Contents { trials, traces, ledger } = Contents::read(folder)?;
        let notes = [
            note(TRIALS, trials.dropped, "the arm will run again"),
            note(TRACES, traces.dropped, "they belong to no finished arm"),
            note(LEDGER, ledger.dropped, "they belong to no finished arm"),
        ];
        let state = State {
            trials: Log::open(folder.join(TRIALS), &trials)?,
            traces: Log::open(folder.join(TRACES), &traces)?,
            ledger: Log::open(folder.join(LEDGER), &ledger)?,
            rows: last_of_each_key(trials.records),
        };
        sync_folder(folder)?;
        let notes = notes.into_iter().flatten().collect();
        Ok(Self { folder: folder.into(), notes, state: Mutex::new(state), _lock: lock })
    }

    /// The folder of the results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was found and put in order when the store was opened, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes down what became of an arm, with the JSON lines of its ledger and its traces (which
    /// carry the row's key, iterations rising). On return it is on the disk; on an error the row is
    /// not in the file, and the arm may be appended again. May be called from many threads.
    pub fn append(
        &self,
        row: &TrialRecord,
        ledger: &[String],
        traces: &[TraceRecord],
    ) -> Result<(), StoreError> {
        let ledger = ledger_lines(row, ledger)?;
        let written = |name: &str| {
            let path = self.folder.join(name);
            move |error| StoreError::io(&path, error)
        };
        let traces = lines_of(traces).map_err(written(TRACES))?;
        let ledger = lines_of(&ledger).map_err(written(LEDGER))?;
        let line = row.line().map_err(written(TRIALS))?;
        let mut state = self.state();
        state.traces.append(&traces)?;
        state.ledger.append(&ledger)?;
        state.trials.append(&line)?;
        state.rows.insert(row.key.clone(), row.clone());
        Ok(())
    }

    /// The last row of each key, sorted by dataset, mechanism, arm, epsilon and trial: the same
    /// rows in the same order however the trials were spread over threads and runs.
    pub fn rows(&self) -> Vec<TrialRecord> {
        in_order(self.state().rows.clone())
    }

    /// Lets no further row in, for a process that is about to end. Waits for the row that is being
    /// written, but no longer than `patience`: what is half written then is cut off when the
    /// results are opened again, as after any other end of a process.
    pub fn shut(&self, patience: Duration) {
        let began = Instant::now();
        loop {
            match self.state.try_lock() {
                Ok(state) => return mem::forget(state),
                Err(Busy::Poisoned(poisoned)) => return mem::forget(poisoned.into_inner()),
                Err(Busy::WouldBlock) if began.elapsed() >= patience => return,
                Err(Busy::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The logs keep count of what is complete, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ledger_lines(row: &TrialRecord, lines: &[String]) -> Result<Vec<LedgerLine>, StoreError> {
    let tagged = lines.iter().enumerate().map(|(draw, line)| {
        let entry = serde_json::from_str(line)
            .map_err(|error| StoreError::LedgerLine { key: row.key.clone(), error })?;
        Ok(LedgerLine { key: row.key.clone(), seed: row.seed.clone(), draw, entry })
    });
    tagged.collect()
}

fn lines_of<T: Line>(records: &[T]) -> io::Result<Vec<u8>> {
    let lines: io::Result<Vec<Vec<u8>>> = records.iter().map(Line::line).collect();
    Ok(lines?.concat())
}

fn note(file: &str, dropped: u64, consequence: &str) -> Option<String> {
    let sentence = || {
        format!("{file}: a run was stopped while writing; {dropped} bytes cut off, {consequence}")
    };
    (dropped > 0).then(sentence)
}

/// Makes the folder and takes its lock, which the system gives back when the process ends.
fn lock(folder: &Path) -> Result<File, StoreError> {
    fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, error))?;
    let path = folder.join(LOCK);
    let failed = |error| StoreError::io(&path, error);
    let mut options = OpenOptions::new();
    let mut file =
        options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let process = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
            return Err(StoreError::Locked { folder: folder.into(), process });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // For the message of those who come later.
    file.set_len(0).and_then(|()| writeln!(file, "{}", process::id())).map_err(failed)?;
    Ok(file)
}

/// Makes the names of new files, and the absence of removed ones, outlast a loss of power.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| StoreError::io(folder, error))?;
    }
    Ok(())
}
