//! A sparse matrix by compressed rows.

/// A sparse matrix: for each row, its columns and their entries. Entries of one column that are
/// listed twice add up.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix {
    cols: usize,
    /// Row `i` has the entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// A matrix without rows, to which [`CsrMatrix::push_row`] adds.
    pub fn new(cols: usize) -> Self {
        Self { cols, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Adds a row, given by its columns and their entries.
    ///
    /// # Panics
    /// When a column is not below [`CsrMatrix::cols`].
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

    /// The number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The columns and entries of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.starts[row]..self.starts[row + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// The matrix in which column `j` of this one has become column `target(j)`.
    pub fn map_columns(mut self, target: impl Fn(usize) -> usize) -> Self {
        self.columns.iter_mut().for_each(|col| *col = target(*col));
        self
    }
}
