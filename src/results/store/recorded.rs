use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::record::{TraceRecord, TrialRecord};
use super::error::StoreError;
use super::files::Files;
use super::line::{Attached, LedgerLine};
use super::log::{self, Content};
use super::merge::Part;

/// What an experiment has left so far, but for its ledger ([`read_ledger`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The row of each key, in the order of [`super::Store::rows`].
    pub rows: Vec<TrialRecord>,
    /// The traces of these rows, sorted by key and iteration.
    pub traces: Vec<TraceRecord>,
}

impl Recorded {
    /// Reads the results in `folder`, which runs may be writing at the same time, with those of its
    /// shards.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let all = merged(folder.as_ref(), |files| Contents::rows(files)?.with_traces(files))?;
        let rows = in_order(all.rows());
        Ok(Self { rows, traces: all.into_entries().flat_map(|entry| entry.traces).collect() })
    }

    /// The rows with these keys, in the order of the keys, as far as there are any: those of a
    /// configuration, without the stale ones.
    pub fn rows_of<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> Vec<TrialRecord> {
        let rows: BTreeMap<&str, _> = self.rows.iter().map(|row| (&*row.key, row)).collect();
        keys.into_iter().filter_map(|key| rows.get(&**key).copied().cloned()).collect()
    }
}

/// The ledgers of all rows in `folder`, sorted by key and draw. They are most of what an experiment
/// leaves, often by far, and few who read results need them.
pub fn read_ledger(folder: impl AsRef<Path>) -> Result<Vec<LedgerLine>, StoreError> {
    let all = merged(folder.as_ref(), |files| Contents::rows(files)?.with_ledger(files))?;
    Ok(all.into_entries().flat_map(|entry| entry.ledger).collect())
}

/// The results in a folder with those of its shards, of which `read` takes what is needed.
fn merged(
    folder: &Path,
    read: impl Fn(&Files) -> Result<Contents, StoreError>,
) -> Result<Part, StoreError> {
    let nothing = || StoreError::NoResults { folder: folder.into() };
    if !folder.is_dir() {
        return Err(nothing());
    }
    let all = Files::all(folder)?;
    let mut parts = all.iter().filter(|files| files.trials().is_file());
    let read = |files: &Files| Ok(Part::of(read(files)?, files));
    let first = read(parts.next().ok_or_else(nothing)?)?;
    parts.try_fold(first, |all, files| all.merged(read(files)?))
}

/// The three files. Rows are read before what belongs to them: while a run is writing, whatever
/// belongs to a row that was read is there.
pub(super) struct Contents {
    pub(super) trials: Content<TrialRecord>,
    pub(super) traces: Content<TraceRecord>,
    pub(super) ledger: Content<LedgerLine>,
}

impl Contents {
    /// All of them.
    pub(super) fn read(files: &Files) -> Result<Self, StoreError> {
        Self::rows(files)?.with_traces(files)?.with_ledger(files)
    }

    /// Rows only.
    pub(super) fn rows(files: &Files) -> Result<Self, StoreError> {
        let trials = log::read(&files.trials(), |_: &TrialRecord| true)?;
        Ok(Self { trials, traces: Content::default(), ledger: Content::default() })
    }

    fn with_traces(self, files: &Files) -> Result<Self, StoreError> {
        Ok(Self { traces: self.attached(&files.traces())?, ..self })
    }

    fn with_ledger(self, files: &Files) -> Result<Self, StoreError> {
        Ok(Self { ledger: self.attached(&files.ledger())?, ..self })
    }

    fn attached<T: Attached>(&self, path: &Path) -> Result<Content<T>, StoreError> {
        let rows = &self.trials.records;
        let keys: BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        log::read(path, |line: &T| keys.contains(line.key()))
    }

    /// What has to be cut off, a sentence for each file.
    pub(super) fn notes(&self, files: &Files) -> Vec<String> {
        let dropped = [
            (files.trials(), self.trials.dropped, "the arm will run again"),
            (files.traces(), self.traces.dropped, "they belong to no finished arm"),
            (files.ledger(), self.ledger.dropped, "they belong to no finished arm"),
        ];
        let torn = dropped.iter().filter(|(_, bytes, _)| *bytes > 0);
        let sentence = |(path, bytes, consequence): &(PathBuf, u64, &str)| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{file}: a run was stopped while writing; {bytes} bytes cut off, {consequence}")
        };
        torn.map(sentence).collect()
    }
}

pub(super) fn in_order(rows: BTreeMap<String, TrialRecord>) -> Vec<TrialRecord> {
    fn order(a: &TrialRecord, b: &TrialRecord) -> Ordering {
        let names = |row: &TrialRecord| [&row.dataset, &row.mechanism, &row.arm].map(String::clone);
        names(a)
            .cmp(&names(b))
            .then(a.epsilon.total_cmp(&b.epsilon))
            .then(a.trial.cmp(&b.trial))
            .then_with(|| a.key.cmp(&b.key))
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by(order);
    rows
}

/// The records by key. Where an arm was tried several times, each attempt starts again at the first
/// position, and only the last one counts.
pub(super) fn attempts<T: Attached>(records: Vec<T>) -> BTreeMap<String, Vec<T>> {
    let mut attempts: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for record in records {
        let attempt = attempts.entry(record.key().to_string()).or_default();
        if attempt.last().is_some_and(|last| record.position() <= last.position()) {
            attempt.clear();
        }
        attempt.push(record);
    }
    attempts
}
