use std::io;
use std::path::Path;

use thiserror::Error;

use super::schema::{CellProblem, SchemaError};
use private_pgm::model::MarginalError;
use private_pgm::numeric::bytes::Bytes;

/// Why data could not be read, imported or understood.
#[derive(Debug, Error)]
pub enum DataError {
    #[error("{file}: {error}")]
    Io {
        file: String,
        #[source]
        error: io::Error,
    },
    #[error("{file}: {error}")]
    Schema {
        file: String,
        #[source]
        error: SchemaError,
    },
    #[error(
        "there is no dataset '{name}' (known: {}); for your own data, give the path of its schema, \
         such as ./mine/schema.toml",
        .known.join(", ")
    )]
    UnknownDataset { name: String, known: Vec<String> },
    #[error(
        "'{file}' is no schema; for a table of records, draft one with `pgmbench datasets infer \
         {file} --out schema.toml`, check it, and give its path"
    )]
    NotASchema { file: String },
    #[error(
        "the data of '{name}' is not here: get {} from {source_of_data}, then import it with: \
         pgmbench datasets import {name} {}",
        .files.join(", "), .files.join(" ")
    )]
    NotImported {
        name: String,
        files: Vec<String>,
        /// Where to obtain them.
        source_of_data: String,
    },
    /// For schemas of users, whose data cannot be imported by name.
    #[error("there is no file {file}, which {schema} names")]
    NoFile { file: String, schema: String },
    #[error("'{name}' is made from {expected} file(s), {found} given")]
    FileCount { name: String, expected: usize, found: usize },
    #[error(transparent)]
    Marginal(#[from] MarginalError),
    #[error("{file}: the file is empty")]
    Empty { file: String },
    #[error("{file}: no records; {rows} row(s) were read, {dropped} of them dropped")]
    NoRecords {
        /// The last file.
        file: String,
        rows: usize,
        dropped: usize,
    },
    #[error(
        "{file}, line {line}: there is no column '{column}'; the columns are {}",
        .found.join(", ")
    )]
    NoColumn { file: String, line: u64, column: String, found: Vec<String> },
    #[error("{file}, line {line}: there are two columns '{column}'")]
    DuplicateColumn { file: String, line: u64, column: String },
    #[error("{file}, line {line}: {found} field(s) instead of {expected}")]
    FieldCount { file: String, line: u64, expected: usize, found: usize },
    #[error("{file}, line {line}, column '{column}': {problem}")]
    Cell {
        file: String,
        line: u64,
        column: String,
        #[source]
        problem: CellProblem,
    },
    #[error("{file}: the content has the {kind} checksum {found}; the schema says {expected}")]
    Checksum {
        file: String,
        /// BLAKE3 or SHA-256.
        kind: &'static str,
        expected: String,
        found: String,
    },
    #[error(
        "{file}: the codes of its records take more than {}, the limit on this machine; read a \
         part of the records, or fewer attributes",
        Bytes(*.limit as f64)
    )]
    TooManyRecords { file: String, limit: u64 },
    #[error("{file}: {found} {what}; the schema expects {expected}")]
    Count {
        /// The last file.
        file: String,
        /// Rows or records.
        what: &'static str,
        expected: usize,
        found: usize,
    },
    #[error(
        "{file}, line {line}: '{text}' is not a number of records; expected a whole number, \
         at least 0"
    )]
    NotACount { file: String, line: u64, text: String },
    #[error("{file}: {found} counts, where the attributes of the schema have {expected} cells")]
    CellCount {
        /// The last file.
        file: String,
        expected: usize,
        found: usize,
    },
    #[error("{file}: {problem}; import '{name}' again")]
    Stored { name: String, file: String, problem: String },
    #[error(
        "{file}, line {line}: {problem}; a schema can be drafted from a file whose first line \
         names the columns"
    )]
    Header { file: String, line: u64, problem: String },
}

impl DataError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { file: path.display().to_string(), error }
    }
}
