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
    /// If the number of entries is not `rows * cols`.
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Self {
        assert_eq!(
            rows.checked_mul(cols),
            Some(values.len()),
            "entries of a {rows} x {cols} matrix"
        );
        Self { rows, cols, values }
    }

    /// The matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: super::memory::zeros(rows * cols) }
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

    /// One row, mutably.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.cols..(row + 1) * self.cols]
    }

    /// The rows `row` and `row + 1`, mutably.
    ///
    /// # Panics
    /// If `row + 1` is not a row.
    pub fn two_rows_mut(&mut self, row: usize) -> (&mut [f64], &mut [f64]) {
        let two = &mut self.values[row * self.cols..(row + 2) * self.cols];
        two.split_at_mut(self.cols)
    }

    /// The entries, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The entries, row by row, mutably.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The transpose, as a copy.
    pub fn transposed(&self) -> Self {
        let mut transposed = Self::zeros(self.cols, self.rows);
        for row in 0..self.rows {
            for (col, &value) in self.row(row).iter().enumerate() {
                transposed[(col, row)] = value;
            }
        }
        transposed
    }

    /// The Kronecker product: the block matrix of `right` times each entry of this matrix.
    pub fn kronecker(&self, right: &Self) -> Self {
        let mut product = Self::zeros(self.rows * right.rows, self.cols * right.cols);
        for row in 0..product.rows {
            for col in 0..product.cols {
                let left = self[(row / right.rows, col / right.cols)];
                product[(row, col)] = left * right[(row % right.rows, col % right.cols)];
            }
        }
        product
    }

    /// The matrix whose column `j` is column `order[j]` of this one.
    pub(crate) fn with_columns(&self, order: &[usize]) -> Self {
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
