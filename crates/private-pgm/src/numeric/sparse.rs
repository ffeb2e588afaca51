//! A sparse matrix in compressed sparse row format.

/// A sparse matrix in compressed sparse row format. Entries of one row and column that are listed
/// twice add up.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix {
    cols: usize,
    /// Row `i` has the entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// A matrix without rows; [`CsrMatrix::push_row`] adds them.
    pub fn new(cols: usize) -> Self {
        Self { cols, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Appends a row, given as (column, entry) pairs.
    ///
    /// # Panics
    /// If a column is not below [`CsrMatrix::cols`].
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (col, value) in entries {
            assert!(col < self.cols, "column {col} of {}", self.cols);
            self.columns.push(col);
            self.values.push(value);
        }
        self.starts.push(self.columns.len());
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The (column, entry) pairs of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.starts[row]..self.starts[row + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// Moves column `j` to column `target(j)`, which must be below [`CsrMatrix::cols`].
    pub(crate) fn map_columns(mut self, target: impl Fn(usize) -> usize) -> Self {
        self.columns.iter_mut().for_each(|col| *col = target(*col));
        self
    }
}
