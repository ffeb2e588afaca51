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
    /// The file is empty.
    #[error("the file is empty; expected JSON")]
    Empty,
    /// The file is UTF-16 text.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
    /// The text is not JSON, or a value has the wrong type.
    #[error("{}{message} (line {line}, column {column})", prefix(field))]
    Json {
        /// The path of the field; empty for the outermost value.
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
        /// The path of the field.
        field: String,
        /// What does not fit.
        reason: QueryError,
    },
    /// The parts of a measurement do not fit each other.
    #[error("{field}: {reason}")]
    Measurement {
        /// The path of the field.
        field: String,
        /// What does not fit.
        reason: MeasurementError,
    },
    /// A value does not fit the others.
    #[error("{field}: expected {expected}, found {found}")]
    Field {
        /// The path of the field.
        field: String,
        /// What would be valid.
        expected: String,
        /// The actual value.
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
