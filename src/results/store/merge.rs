use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::record::{Status, TraceRecord, TrialRecord};
use super::error::StoreError;
use super::files::Files;
use super::line::LedgerLine;
use super::recorded::{Contents, attempts};

/// What is known about one key.
pub(super) struct Entry {
    pub(super) row: TrialRecord,
    pub(super) traces: Vec<TraceRecord>,
    pub(super) ledger: Vec<LedgerLine>,
    file: PathBuf,
}

/// The rows of some files with what belongs to them, by key.
pub(super) struct Part(BTreeMap<String, Entry>);

impl Part {
    /// Of one set of files: the last row of each key, and the last attempt of what belongs to it.
    pub(super) fn of(contents: Contents, files: &Files) -> Self {
        let Contents { trials, traces, ledger } = contents;
        let (mut traces, mut ledger) = (attempts(traces.records), attempts(ledger.records));
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for row in trials.records {
            let key = row.key.clone();
            let entry = Entry { row, traces: vec![], ledger: vec![], file: files.trials() };
            entries.insert(key, entry);
        }
        // An attempt that ended before the measurements were there has left nothing. What there is
        // then is from an earlier one.
        let has_left = |entry: &&mut Entry| !matches!(&*entry.row.phase, "select" | "measure");
        for entry in entries.values_mut().filter(has_left) {
            let key = &entry.row.key;
            entry.traces = traces.remove(key).unwrap_or_default();
            entry.ledger = ledger.remove(key).unwrap_or_default();
        }
        Self(entries)
    }

    /// Both. A key may come up in several places, when shards were cut anew or collected twice. An
    /// arm that failed or ran out of time in one place may have ended in another; beside that,
    /// equal keys must have equal numbers.
    pub(super) fn merged(mut self, other: Self) -> Result<Self, StoreError> {
        for (key, theirs) in other.0 {
            let replaces = match self.0.get(&key) {
                None => true,
                Some(ours) => theirs.replaces(ours)?,
            };
            if replaces {
                self.0.insert(key, theirs);
            }
        }
        Ok(self)
    }

    pub(super) fn rows(&self) -> BTreeMap<String, TrialRecord> {
        self.0.iter().map(|(key, entry)| (key.clone(), entry.row.clone())).collect()
    }

    pub(super) fn into_entries(self) -> impl Iterator<Item = Entry> {
        self.0.into_values()
    }
}

impl Entry {
    /// Whether this is better than another with the same key.
    fn replaces(&self, other: &Self) -> Result<bool, StoreError> {
        let rank = |entry: &Self| match entry.row.status {
            Status::Failed => 0,
            Status::Timeout => 1,
            Status::Done | Status::Infeasible => 2,
        };
        let differences = other.row.differences(&self.row);
        match (rank(self), rank(other)) {
            (2, 2) if !differences.is_empty() => Err(StoreError::Contradiction {
                key: self.row.key.clone(),
                files: [other.file.clone(), self.file.clone()],
                differences: differences.iter().map(ToString::to_string).collect(),
            }),
            (ours, theirs) => Ok(ours > theirs),
        }
    }
}
