use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::record::{TraceRecord, TrialRecord};
use super::error::StoreError;
use super::files::Files;
use super::line::LedgerLine;
use super::log::{self, Content};
use super::merge::Part;

/// The stored results of an experiment, without its ledger ([`read_ledger`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The row of each key, in the order of [`super::Store::rows`].
    pub rows: Vec<TrialRecord>,
    /// The traces of these rows, sorted by key and iteration.
    pub traces: Vec<TraceRecord>,
}

impl Recorded {
    /// Reads the results in `folder`, including those of shards. Safe while runs write to it.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let all = merged(folder.as_ref(), |files| Contents::rows(files)?.with_traces(files))?;
        let rows = in_order(all.rows());
        let traces = all.entries.into_values().flat_map(|entry| entry.traces).collect();
        Ok(Self { rows, traces })
    }

    /// The rows with these keys, in the order of the keys, without missing ones: those of a
    /// configuration, without stale ones.
    pub fn rows_of<'a>(&self, keys: impl IntoIterator<Item = &'a String>) -> Vec<TrialRecord> {
        let rows: BTreeMap<&str, _> = self.rows.iter().map(|row| (&*row.key, row)).collect();
        keys.into_iter().filter_map(|key| rows.get(&**key).copied().cloned()).collect()
    }
}

/// The draws of the releases that rows in `folder` refer to, by the key of the release. Separate
/// from [`Recorded`], because the ledger is large and few readers need it.
pub fn read_ledger(
    folder: impl AsRef<Path>,
) -> Result<BTreeMap<String, Vec<dp::Line>>, StoreError> {
    Ok(merged(folder.as_ref(), |files| Contents::rows(files)?.with_ledger(files))?.releases)
}

/// The results in a folder, including those of shards; `read` selects which files to read.
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

/// The three files. Rows are read first: then their traces and draws exist even while a run is
/// writing.
pub(super) struct Contents {
    pub(super) trials: Content<TrialRecord>,
    pub(super) traces: Content<TraceRecord>,
    pub(super) ledger: Content<LedgerLine>,
}

impl Contents {
    pub(super) fn read(files: &Files) -> Result<Self, StoreError> {
        Self::rows(files)?.with_traces(files)?.with_ledger(files)
    }

    pub(super) fn rows(files: &Files) -> Result<Self, StoreError> {
        let trials = log::read(&files.trials(), |_: &TrialRecord| true)?;
        Ok(Self { trials, traces: Content::default(), ledger: Content::default() })
    }

    fn with_traces(self, files: &Files) -> Result<Self, StoreError> {
        let rows = &self.trials.records;
        let keys: BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        let traces = log::read(&files.traces(), |trace: &TraceRecord| keys.contains(&*trace.key))?;
        Ok(Self { traces, ..self })
    }

    fn with_ledger(self, files: &Files) -> Result<Self, StoreError> {
        let rows = self.trials.records.iter().filter(|row| row.has_draws());
        let releases: BTreeSet<&str> = rows.map(|row| row.release.as_str()).collect();
        let ledger =
            log::read(&files.ledger(), |line: &LedgerLine| releases.contains(&*line.release))?;
        Ok(Self { ledger, ..self })
    }

    /// The tails to truncate, one sentence per file.
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

/// The traces by key. Each attempt of an arm starts again at the first iteration, and only the last
/// attempt counts.
pub(super) fn attempts(traces: Vec<TraceRecord>) -> BTreeMap<String, Vec<TraceRecord>> {
    let mut attempts: BTreeMap<String, Vec<TraceRecord>> = BTreeMap::new();
    for trace in traces {
        let attempt = attempts.entry(trace.key.clone()).or_default();
        if attempt.last().is_some_and(|last| trace.iteration <= last.iteration) {
            attempt.clear();
        }
        attempt.push(trace);
    }
    attempts
}
