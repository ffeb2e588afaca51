use thiserror::Error;

/// Why a [`QueryFactor`](super::QueryFactor) does not fit an attribute.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FactorError {
    /// The number of columns is not the number of values.
    #[error("expected {expected} columns, one per cell, found {found}")]
    Columns {
        /// The number of values of the attribute.
        expected: usize,
        /// The number of columns of the matrix.
        found: usize,
    },
    /// The matrix has no rows.
    #[error("expected at least one row")]
    NoRows,
    /// An entry is infinite or not a number.
    #[error("expected finite entries, found {value} in row {row}, column {col}")]
    NotFinite {
        /// The row of the entry.
        row: usize,
        /// The column of the entry.
        col: usize,
        /// The invalid entry.
        value: f64,
    },
    /// Evidence names a value outside `0..size`.
    #[error("expected values below {size}, found {found}")]
    NoSuchValue {
        /// The number of values of the attribute.
        size: usize,
        /// The value that was passed.
        found: usize,
    },
    /// Evidence names a value twice.
    #[error("expected every value at most once, found {0} again")]
    RepeatedValue(usize),
    /// The list of groups does not have one entry per value.
    #[error("expected {expected} groups, one per value, found {found}")]
    Groups {
        /// The number of values of the attribute.
        expected: usize,
        /// The length of the list.
        found: usize,
    },
    /// A range is empty or exceeds `0..size`.
    #[error("expected ranges of values below {size}, found {start}..{end}")]
    Interval {
        /// The number of values of the attribute.
        size: usize,
        /// The first value of the range.
        start: usize,
        /// The exclusive end of the range.
        end: usize,
    },
    /// A moment overflows `f64`.
    #[error("expected at most {largest} moments of {size} values, found {found}")]
    Moments {
        /// The number of values of the attribute.
        size: usize,
        /// The highest moment whose squares are finite.
        largest: usize,
        /// The number of moments that was passed.
        found: usize,
    },
}
