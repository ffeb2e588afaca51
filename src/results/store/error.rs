use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why results could not be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Another run writes to the same results.
    #[error(
        "another run{} is writing to {}: wait until it ends, or let this one write elsewhere",
        .process.map_or_else(String::new, |id| format!(" (process {id})")), .folder.display()
    )]
    Locked {
        /// The folder of the results.
        folder: PathBuf,
        /// The process that holds them, where that is known.
        process: Option<u32>,
    },
    /// The file's columns are not those that this version writes.
    #[error(
        "{}: written by another version of pgmbench ({}): move the folder away, or start afresh \
         with `run --fresh`",
        .file.display(), columns_that_differ(.missing, .unknown)
    )]
    OtherVersion {
        /// The file.
        file: PathBuf,
        /// The columns that it should have and does not.
        missing: Vec<String>,
        /// The columns that it has and should not.
        unknown: Vec<String>,
    },
    /// A line that is not a record comes before others that are.
    #[error(
        "{}, line {line}: not a record, although records follow: the file was changed by something other than a run; repair it or start afresh",
        .file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// Two places have different numbers for the same arm.
    #[error(
        "{} and {} contradict each other about the arm with key {key}: {}",
        .files[0].display(), .files[1].display(), .differences.join(", ")
    )]
    Contradiction {
        /// The key of the rows.
        key: String,
        /// Where the rows are.
        files: [PathBuf; 2],
        /// The fields that differ, with both values.
        differences: Vec<String>,
    },
    /// There is nothing to read.
    #[error("there are no results in {}", .folder.display())]
    NoResults {
        /// The folder.
        folder: PathBuf,
    },
    /// Two places have different draws of the same release.
    #[error(
        "{} and {} contradict each other about the draws of noise of release {release}",
        .files[0].display(), .files[1].display()
    )]
    OtherDraws {
        /// The key of the release.
        release: String,
        /// Where the draws are.
        files: [PathBuf; 2],
    },
    /// A release was repeated, and came out different.
    #[error(
        "{}: release {release} was drawn again, and not as before: the program or the data is \
         another; start afresh with `run --fresh`",
        .file.display()
    )]
    NotRepeated {
        /// The key of the release.
        release: String,
        /// The ledger that has the draws of before.
        file: PathBuf,
    },
}

impl StoreError {
    pub(super) fn io(file: &Path, error: io::Error) -> Self {
        Self::Io { file: file.into(), error }
    }

    /// The file starts with something other than our header.
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
