use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::csv_records;
use super::super::record::{TraceRecord, TrialRecord};

/// What a draw of noise cost: a line of `ledger.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// The key of the trial's row.
    pub key: String,
    /// The trial's seed, as in its row.
    pub seed: String,
    /// The place in the trial's ledger, counted from 0.
    pub draw: usize,
    /// What the ledger says.
    pub entry: serde_json::Value,
}

/// A record that is one line of a file.
pub(super) trait Line: Sized {
    /// The file's first line with its end; empty for files without one.
    fn header() -> String;

    /// The record's line, with its end and without any other line break.
    fn line(&self) -> io::Result<Vec<u8>>;

    /// The record of a line without its end, or nothing when the line is not one.
    fn parse(line: &str) -> Option<Self>;
}

/// The records whose file is CSV.
trait CsvRecord: Serialize + DeserializeOwned {}

impl CsvRecord for TrialRecord {}
impl CsvRecord for TraceRecord {}

impl<T: CsvRecord> Line for T {
    fn header() -> String {
        csv_records::header::<T>()
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

/// A record that belongs to a trial's row, one of several in a rising order.
pub(super) trait Attached: Line {
    /// The key of the row.
    fn key(&self) -> &str;

    /// The place among the row's records.
    fn position(&self) -> usize;
}

impl Attached for TraceRecord {
    fn key(&self) -> &str {
        &self.key
    }

    fn position(&self) -> usize {
        self.iteration
    }
}

impl Attached for LedgerLine {
    fn key(&self) -> &str {
        &self.key
    }

    fn position(&self) -> usize {
        self.draw
    }
}
