use thiserror::Error;

/// Why a factor does not fit an attribute.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FactorError {
    /// The matrix is too wide or too narrow.
    #[error("expected {expected} columns, one per cell, found {found}")]
    Columns {
        /// The number of values.
        expected: usize,
        /// The number of columns.
        found: usize,
    },
    /// The matrix asks nothing.
    #[error("expected at least one row")]
    NoRows,
    /// An entry is infinite or not a number.
    #[error("expected finite entries, found {value} in row {row}, column {col}")]
    NotFinite {
        /// The row of the entry.
        row: usize,
        /// Its column.
        col: usize,
        /// The entry.
        value: f64,
    },
    /// Evidence for a value that the attribute does not have.
    #[error("expected values below {size}, found {found}")]
    NoSuchValue {
        /// The number of values.
        size: usize,
        /// The value.
        found: usize,
    },
    /// Evidence that names a value twice.
    #[error("expected every value at most once, found {0} again")]
    RepeatedValue(usize),
    /// f is not a function of the values.
    #[error("expected {expected} groups, one per value, found {found}")]
    Groups {
        /// The number of values.
        expected: usize,
        /// The length of the list.
        found: usize,
    },
    /// A range that is empty or leaves the attribute.
    #[error("expected ranges of values below {size}, found {start}..{end}")]
    Interval {
        /// The number of values.
        size: usize,
        /// The first value of the range.
        start: usize,
        /// The one after its last.
        end: usize,
    },
    /// Moments too high for floating point.
    #[error("expected at most {largest} moments of {size} values, found {found}")]
    Moments {
        /// The number of values.
        size: usize,
        /// The highest moment whose rows are finite.
        largest: usize,
        /// The number asked for.
        found: usize,
    },
}
