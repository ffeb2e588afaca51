use std::io;
use std::path::PathBuf;

use thiserror::Error;

use dp::{BudgetError, Neighbours};

#[derive(Debug, Error)]
#[error("{}: {problem}", file.display())]
pub struct BudgetFileError {
    pub file: PathBuf,
    pub problem: Problem,
}

/// Why a budget file cannot be used, or why it refuses a charge. Lines are counted from 1.
#[derive(Debug, Error)]
pub enum Problem {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(
        "the file cannot be locked, so two concurrent releases could spend the same budget; keep \
         it on a file system with locks: {0}"
    )]
    Lock(io::Error),
    /// The first line is not that of a budget file.
    #[error("not a budget file; `pgmbench budget create` makes one")]
    Format,
    #[error("version {0} of the format of budget files is not known; this program reads version 1")]
    Version(u64),
    /// The last line does not end with a newline.
    #[error(
        "line {line} is incomplete: either the program stopped while it wrote a charge, for which \
         no noise was drawn, or the file was truncated; compare it with a copy before you remove \
         the line"
    )]
    Incomplete { line: usize },
    #[error(
        "line {line} was changed, or a line before it is missing; restore the file from a copy"
    )]
    Changed { line: usize },
    /// The hash of the line is right, but its content contradicts the lines before it.
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
    #[error(
        "this is the budget of the dataset '{expected}', not of '{found}'; nothing was charged"
    )]
    Dataset { expected: String, found: String },
    #[error(
        "this budget is for guarantees about {} records, but the release has one about {} records; \
         the two cannot be added; nothing was charged",
        relation(*expected), relation(*found)
    )]
    Neighbours { expected: Neighbours, found: Neighbours },
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
