use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why results could not be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}: {error}", .file.display())]
    Io { file: PathBuf, error: io::Error },
    #[error(
        "another run{} is writing to {}: wait until it ends, or let this one write elsewhere",
        .process.map_or_else(String::new, |id| format!(" (process {id})")), .folder.display()
    )]
    Locked {
        folder: PathBuf,
        /// The process that holds the lock, if known.
        process: Option<u32>,
    },
    /// The file's columns are not those that this version writes.
    #[error(
        "{}: written by another version of pgmbench ({}): move the folder away, or start afresh \
         with `run --fresh`",
        .file.display(), columns_that_differ(.missing, .unknown)
    )]
    OtherVersion {
        file: PathBuf,
        /// The columns that this version requires.
        missing: Vec<String>,
        /// The columns that this version does not know.
        unknown: Vec<String>,
    },
    /// A line that is not a record is followed by records.
    #[error(
        "{}, line {line}: not a record, although records follow: the file was changed by \
         something other than a run; repair it or start afresh",
        .file.display()
    )]
    Damaged {
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    #[error(
        "{} and {} contradict each other about the arm with key {key}: {}",
        .files[0].display(), .files[1].display(), .differences.join(", ")
    )]
    Contradiction {
        key: String,
        files: [PathBuf; 2],
        /// The fields that differ, with both values.
        differences: Vec<String>,
    },
    #[error("there are no results in {}", .folder.display())]
    NoResults { folder: PathBuf },
    #[error(
        "{} and {} contradict each other about the draws of noise of release {release}",
        .files[0].display(), .files[1].display()
    )]
    OtherDraws { release: String, files: [PathBuf; 2] },
    /// A repeated release has different draws.
    #[error(
        "{}: release {release} was drawn again, and not as before: the program or the data is \
         another; start afresh with `run --fresh`",
        .file.display()
    )]
    NotRepeated {
        release: String,
        /// The ledger with the earlier draws.
        file: PathBuf,
    },
}

impl StoreError {
    pub(super) fn io(file: &Path, error: io::Error) -> Self {
        Self::Io { file: file.into(), error }
    }

    /// The file does not start with the header of this version.
    pub(super) fn other_version(file: &Path, header: &str, bytes: &[u8]) -> Self {
        let first_line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let first_line = String::from_utf8_lossy(first_line);
        let ours: Vec<&str> = header.trim_end().split(',').collect();
        let theirs: Vec<&str> = first_line.trim_end().split(',').collect();
        let without = |from: &[&str], others: &[&str]| -> Vec<String> {
            from.iter().filter(|name| !others.contains(name)).map(ToString::to_string).collect()
        };
        let (missing, unknown) = (without(&ours, &theirs), without(&theirs, &ours));
        Self::OtherVersion { file: file.into(), missing, unknown }
    }
}

fn columns_that_differ(missing: &[String], unknown: &[String]) -> String {
    match (missing, unknown) {
        ([], []) => "the columns are in another order".into(),
        (missing, []) => format!("without the columns {}", missing.join(", ")),
        ([], unknown) => format!("with the columns {}", unknown.join(", ")),
        (missing, unknown) => {
            format!("without the columns {}, with {}", missing.join(", "), unknown.join(", "))
        }
    }
}
