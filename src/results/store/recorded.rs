use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::record::{TraceRecord, TrialRecord};
use super::error::StoreError;
use super::line::{Attached, LedgerLine};
use super::log::{self, Content};
use super::{LEDGER, TRACES, TRIALS};

/// What an experiment has left so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The last row of each key, in the order of [`super::Store::rows`].
    pub rows: Vec<TrialRecord>,
    /// The traces of these rows, sorted by key and iteration.
    pub traces: Vec<TraceRecord>,
    /// The ledgers of these rows, sorted by key and draw.
    pub ledger: Vec<LedgerLine>,
}

impl Recorded {
    /// Reads the results in `folder`, which a run may be writing at the same time.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        if !folder.join(TRIALS).is_file() {
            return Err(StoreError::NoResults { folder: folder.into() });
        }
        let Contents { trials, traces, ledger } = Contents::read(folder)?;
        let rows = last_of_each_key(trials.records);
        let traces = last_attempts(traces.records, &rows);
        let ledger = last_attempts(ledger.records, &rows);
        Ok(Self { rows: in_order(rows), traces, ledger })
    }

    /// The rows with these keys, in the order of the keys, as far as there are any: those of a
    /// configuration, without the stale ones.
    pub fn rows_of<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> Vec<TrialRecord> {
        let rows: BTreeMap<&str, _> = self.rows.iter().map(|row| (&*row.key, row)).collect();
        keys.into_iter().filter_map(|key| rows.get(&**key).copied().cloned()).collect()
    }
}

/// The three files. Rows are read before what belongs to them: while a run is writing, whatever
/// belongs to a row that was read is there.
pub(super) struct Contents {
    pub(super) trials: Content<TrialRecord>,
    pub(super) traces: Content<TraceRecord>,
    pub(super) ledger: Content<LedgerLine>,
}

impl Contents {
    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let trials = log::read(&folder.join(TRIALS), |_: &TrialRecord| true)?;
        let keys: BTreeSet<&str> = trials.records.iter().map(|row| row.key.as_str()).collect();
        let traces =
            log::read(&folder.join(TRACES), |line: &TraceRecord| keys.contains(line.key.as_str()))?;
        let ledger =
            log::read(&folder.join(LEDGER), |line: &LedgerLine| keys.contains(line.key.as_str()))?;
        Ok(Self { trials, traces, ledger })
    }
}

pub(super) fn last_of_each_key(rows: Vec<TrialRecord>) -> BTreeMap<String, TrialRecord> {
    rows.into_iter().map(|row| (row.key.clone(), row)).collect()
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

/// The records that belong to a row. Where an arm was tried several times, each attempt starts
/// again at the first position, and only the last one counts.
fn last_attempts<T: Attached>(records: Vec<T>, rows: &BTreeMap<String, TrialRecord>) -> Vec<T> {
    let mut attempts: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for record in records {
        if !rows.contains_key(record.key()) {
            continue;
        }
        let attempt = attempts.entry(record.key().to_string()).or_default();
        if attempt.last().is_some_and(|last| record.position() <= last.position()) {
            attempt.clear();
        }
        attempt.push(record);
    }
    attempts.into_values().flatten().collect()
}
