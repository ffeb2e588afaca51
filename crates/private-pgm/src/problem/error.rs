use std::io;

use thiserror::Error;

use crate::loss::MeasurementError;
use crate::query::QueryError;

/// Why a file is not a problem. Fields are named by their path, as in `measurements[3].y`.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// The input could not be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in the file.
    #[error("the file is empty; expected JSON")]
    Empty,
    /// The file is UTF-16 text.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
    /// The text is not JSON, or a value is not of the kind that its place asks for.
    #[error("{}{message} (line {line}, column {column})", prefix(field))]
    Json {
        /// The place in the file; empty for the outermost value.
        field: String,
        /// What is wrong.
        message: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// A query does not fit its attributes.
    #[error("{field}: {reason}")]
    Query {
        /// The place in the file.
        field: String,
        /// What does not fit.
        reason: QueryError,
    },
    /// The parts of a measurement do not fit each other.
    #[error("{field}: {reason}")]
    Measurement {
        /// The place in the file.
        field: String,
        /// What does not fit.
        reason: MeasurementError,
    },
    /// A value does not fit the others.
    #[error("{field}: expected {expected}, found {found}")]
    Field {
        /// The place in the file.
        field: String,
        /// What would fit.
        expected: String,
        /// What is there.
        found: String,
    },
}

fn prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

impl ProblemError {
    pub(super) fn field(
        field: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Self {
        let (expected, found) = (expected.to_string(), found.to_string());
        Self::Field { field: field.into(), expected, found }
    }
}
