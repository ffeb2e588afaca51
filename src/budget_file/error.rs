use std::io;
use std::path::PathBuf;

use thiserror::Error;

use dp::{BudgetError, Neighbours};

/// Why a budget file cannot be used, or does not pay.
#[derive(Debug, Error)]
#[error("{}: {problem}", file.display())]
pub struct BudgetFileError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a budget file, or with a charge to it. Lines are counted from 1.
#[derive(Debug, Error)]
pub enum Problem {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file could not be locked.
    #[error(
        "the file cannot be locked, so that two releases at once could spend the same budget; keep \
         it on a file system with locks: {0}"
    )]
    Lock(io::Error),
    /// The first line is not that of a budget file.
    #[error("not a budget file; `pgmbench budget create` makes one")]
    Format,
    /// A later format.
    #[error("version {0} of the format of budget files is not known; this program reads version 1")]
    Version(u64),
    /// The last line has no end.
    #[error(
        "line {line} is incomplete: the program stopped while it wrote a charge, and then no noise \
         was drawn for it, or the file was cut; compare it with a copy before the line is removed"
    )]
    Incomplete {
        /// The line.
        line: usize,
    },
    /// A line is not what was written, or a line before it is missing.
    #[error(
        "line {line} is not as it was written, or a line before it is missing: the file was \
         changed; restore it from a copy"
    )]
    Changed {
        /// The line.
        line: usize,
    },
    /// A line that does not follow from those before it.
    #[error("line {line}: {problem}")]
    Line {
        /// The line.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file is about other data.
    #[error(
        "this is the budget of the dataset '{expected}', not of '{found}'; nothing was charged"
    )]
    Dataset {
        /// The dataset of the file.
        expected: String,
        /// That of the release.
        found: String,
    },
    /// The release is about another relation between neighbours.
    #[error(
        "this budget counts guarantees about records that are {}, and the release is about records \
         that are {}; the two cannot be added up; nothing was charged",
        relation(*expected), relation(*found)
    )]
    Neighbours {
        /// The relation of the file.
        expected: Neighbours,
        /// That of the release.
        found: Neighbours,
    },
    /// The budget does not suffice.
    #[error("{0}; nothing was charged and no noise was drawn")]
    Budget(#[from] BudgetError),
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

fn relation(neighbours: Neighbours) -> &'static str {
    match neighbours {
        Neighbours::Replace => "replaced",
        Neighbours::AddRemove => "added or removed",
    }
}
