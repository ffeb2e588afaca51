use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::record::{TraceRecord, TrialRecord};
use super::error::StoreError;
use super::files::Files;
use super::recorded::{Contents, attempts};
use crate::config::Status;

/// The row of one key, with its traces and its file.
pub(super) struct Entry {
    pub(super) row: TrialRecord,
    pub(super) traces: Vec<TraceRecord>,
    file: PathBuf,
}

/// The rows of a set of files, with their traces and draws.
pub(super) struct Part {
    /// By key.
    pub(super) entries: BTreeMap<String, Entry>,
    /// The draws of the releases that rows refer to, by the key of the release.
    pub(super) releases: BTreeMap<String, Vec<dp::Line>>,
    /// The ledger that the draws come from; the first of several.
    file: PathBuf,
}

impl Part {
    /// From one set of files: the last row of each key, the last attempt of its traces, and the
    /// draws of its release.
    pub(super) fn of(contents: Contents, files: &Files) -> Self {
        let Contents { trials, traces, ledger } = contents;
        let mut traces = attempts(traces.records);
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for row in trials.records {
            let entry = Entry { traces: vec![], file: files.trials(), row };
            entries.insert(entry.row.key.clone(), entry);
        }
        // An attempt that ended before its measurements wrote no traces: those in the file are from
        // an earlier attempt.
        for entry in entries.values_mut().filter(|entry| entry.row.has_draws()) {
            entry.traces = traces.remove(&entry.row.key).unwrap_or_default();
        }
        let with_draws = entries.values().filter(|entry| entry.row.has_draws());
        let mut releases: BTreeMap<String, Vec<dp::Line>> =
            with_draws.map(|entry| (entry.row.release.clone(), Vec::new())).collect();
        for line in ledger.records {
            if let Some(draws) = releases.get_mut(&line.release) {
                draws.push(line.entry);
            }
        }
        releases.retain(|_, draws| !draws.is_empty());
        Self { entries, releases, file: files.ledger() }
    }

    /// The union. A key may occur in several files if shards were divided again or collected twice.
    /// An arm that failed or exceeded the time limit in one file may have finished in another;
    /// otherwise equal keys must have equal numbers, and equal releases equal draws.
    pub(super) fn merged(mut self, other: Self) -> Result<Self, StoreError> {
        for (key, theirs) in other.entries {
            let replaces = match self.entries.get(&key) {
                None => true,
                Some(ours) => theirs.replaces(ours)?,
            };
            if replaces {
                self.entries.insert(key, theirs);
            }
        }
        for (release, theirs) in other.releases {
            match self.releases.get(&release) {
                Some(ours) if *ours != theirs => {
                    let files = [self.file, other.file];
                    return Err(StoreError::OtherDraws { release, files });
                }
                Some(_) => {}
                None => drop(self.releases.insert(release, theirs)),
            }
        }
        Ok(self)
    }

    pub(super) fn rows(&self) -> BTreeMap<String, TrialRecord> {
        self.entries.iter().map(|(key, entry)| (key.clone(), entry.row.clone())).collect()
    }
}

impl Entry {
    /// Whether this entry takes precedence over another with the same key.
    fn replaces(&self, other: &Self) -> Result<bool, StoreError> {
        let rank = |entry: &Self| match entry.row.status {
            Status::Failed => 0,
            Status::Timeout => 1,
            Status::Done | Status::Infeasible | Status::NotApplicable => 2,
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
