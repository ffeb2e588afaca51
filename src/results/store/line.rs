use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::csv_records;
use super::super::record::{TraceRecord, TrialRecord};

/// The cost of a draw of noise: a line of `ledger.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LedgerLine {
    pub(super) release: String,
    /// The index in the ledger of the release, counted from 0.
    pub(super) draw: usize,
    pub(super) entry: dp::Line,
}

impl LedgerLine {
    /// The lines of a release, each with its line break.
    pub(super) fn lines(release: &str, ledger: &[dp::Line]) -> io::Result<Vec<Vec<u8>>> {
        let line = |(draw, entry): (usize, &dp::Line)| {
            Self { release: release.into(), draw, entry: entry.clone() }.line()
        };
        ledger.iter().enumerate().map(line).collect()
    }
}

/// A record that is one line of a file.
pub(super) trait Line: Sized {
    /// The file's first line with its line break; empty for formats without a header.
    fn header() -> String;

    /// The number of its last columns that a file leaves out until a line fills one.
    fn optional_columns() -> usize {
        0
    }

    /// The record's line, with exactly one line break, at the end.
    fn line(&self) -> io::Result<Vec<u8>>;

    /// The record of a line without its line break; `None` if the line is not a record.
    fn parse(line: &str) -> Option<Self>;
}

/// The records whose file is CSV.
trait CsvRecord: Serialize + DeserializeOwned {
    const OPTIONAL_COLUMNS: usize = 0;
}

impl CsvRecord for TrialRecord {
    const OPTIONAL_COLUMNS: usize = TrialRecord::OPTIONAL_COLUMNS;
}

impl CsvRecord for TraceRecord {}

impl<T: CsvRecord> Line for T {
    fn header() -> String {
        csv_records::header::<T>()
    }

    fn optional_columns() -> usize {
        T::OPTIONAL_COLUMNS
    }

    fn line(&self) -> io::Result<Vec<u8>> {
        csv_records::line(self)
    }

    fn parse(line: &str) -> Option<T> {
        csv_records::parse(line)
    }
}

impl Line for LedgerLine {
    fn header() -> String {
        String::new()
    }

    fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }

    fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}
