use std::io;
use std::path::Path;

use thiserror::Error;

use super::MarginalTooLarge;
use super::schema::{CellProblem, SchemaError};

/// Why data could not be read, imported or understood.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file could not be read or written.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A schema is not one.
    #[error("{file}: {error}")]
    Schema {
        /// The schema's file.
        file: String,
        /// What is wrong with it.
        #[source]
        error: SchemaError,
    },
    /// No dataset has this name.
    #[error(
        "there is no dataset '{name}' (known: {}); a dataset of your own is given by the path of its schema, such as ./mine/schema.toml",
        .known.join(", ")
    )]
    UnknownDataset {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The schema is there, the data is not.
    #[error(
        "the data of '{name}' is not here: get {} from {source_of_data}, then import it with: pgmbench datasets import {name} {}",
        .files.join(", "), .files.join(" ")
    )]
    NotImported {
        /// The dataset.
        name: String,
        /// The files that it is made from.
        files: Vec<String>,
        /// Where they can be had.
        source_of_data: String,
    },
    /// A user's own schema names a file that is not beside it.
    #[error("there is no file {file}, which {schema} names")]
    NoFile {
        /// The file.
        file: String,
        /// The schema's file.
        schema: String,
    },
    /// The number of files is not the schema's.
    #[error("'{name}' is made from {expected} file(s), {found} given")]
    FileCount {
        /// The dataset.
        name: String,
        /// How many files the schema has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A marginal of the records is too large.
    #[error(transparent)]
    Marginal(#[from] MarginalTooLarge),
    /// A file without any line of data.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// Every row was dropped, or there was none.
    #[error("{file}: no records; {rows} row(s) were read, {dropped} of them dropped")]
    NoRecords {
        /// The (last) file.
        file: String,
        /// The rows that were read.
        rows: usize,
        /// The rows that were dropped.
        dropped: usize,
    },
    /// The header does not have a column that the schema needs.
    #[error("{file}, line {line}: there is no column '{column}'; the columns are {}", .found.join(", "))]
    NoColumn {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// The column that is needed.
        column: String,
        /// The columns that there are.
        found: Vec<String>,
    },
    /// The header has a needed column twice.
    #[error("{file}, line {line}: there are two columns '{column}'")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// The column.
        column: String,
    },
    /// A line with too few or too many fields.
    #[error("{file}, line {line}: {found} field(s) instead of {expected}")]
    FieldCount {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The number of columns.
        expected: usize,
        /// The number of fields in this line.
        found: usize,
    },
    /// A field that has no code.
    #[error("{file}, line {line}, column '{column}': {problem}")]
    Cell {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What is wrong with the field.
        #[source]
        problem: CellProblem,
    },
    /// A file that is not the one that the schema was written for.
    #[error("{file}: the content has the {kind} checksum {found}; the schema says {expected}")]
    Checksum {
        /// The file.
        file: String,
        /// BLAKE3 or SHA-256.
        kind: &'static str,
        /// The schema's checksum.
        expected: String,
        /// The file's.
        found: String,
    },
    /// Another number of rows or records than the schema expects.
    #[error("{file}: {found} {what}; the schema expects {expected}")]
    Count {
        /// The (last) file.
        file: String,
        /// Rows or records.
        what: &'static str,
        /// The schema's number.
        expected: usize,
        /// The file's.
        found: usize,
    },
    /// A line of a table of counts that is no count.
    #[error(
        "{file}, line {line}: '{text}' is not a number of records; a count is a whole number from 0 on"
    )]
    NotACount {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What is written there.
        text: String,
    },
    /// Another number of counts than the attributes have cells.
    #[error("{file}: {found} counts, where the attributes of the schema have {expected} cells")]
    CellCount {
        /// The (last) file.
        file: String,
        /// The cells of the table over all attributes.
        expected: usize,
        /// The lines of the file.
        found: usize,
    },
    /// What an import stored is damaged or belongs to another schema.
    #[error("{file}: {problem}; import '{name}' again")]
    Stored {
        /// The dataset.
        name: String,
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The first line is no header, so that a schema cannot be drafted.
    #[error(
        "{file}, line {line}: {problem}; a schema is drafted from a file whose first line names the columns"
    )]
    Header {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl DataError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { file: path.display().to_string(), error }
    }
}
