//! A small dense matrix.

use std::ops::{Index, IndexMut};

/// A dense matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// The matrix with these entries, row by row.
    ///
    /// # Panics
    /// When the number of entries is not `rows * cols`.
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Self {
        assert_eq!(
            rows.checked_mul(cols),
            Some(values.len()),
            "entries of a {rows} x {cols} matrix"
        );
        Self { rows, cols, values }
    }

    /// All entries zero.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![0.0; rows * cols] }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.cols..(row + 1) * self.cols]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.cols..(row + 1) * self.cols]
    }

    /// The entries, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The matrix whose column `j` is column `order[j]` of this one.
    pub fn with_columns(&self, order: &[usize]) -> Self {
        let values = (0..self.rows)
            .flat_map(|row| order.iter().map(move |&col| self.row(row)[col]))
            .collect();
        Self { rows: self.rows, cols: order.len(), values }
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, col): (usize, usize)) -> &f64 {
        &self.values[row * self.cols + col]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, col): (usize, usize)) -> &mut f64 {
        &mut self.values[row * self.cols + col]
    }
}
