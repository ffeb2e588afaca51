//! The linear maps of the terms.

use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::pointwise::add_scaled;
use private_pgm::numeric::product::{View, add_transposed, multiply, product};
use private_pgm::numeric::sparse::CsrMatrix;

#[derive(Clone, Copy)]
pub(crate) enum Map<'a> {
    Identity,
    Dense(&'a Matrix),
    Sparse(&'a CsrMatrix),
}

impl Map<'_> {
    /// The number of entries of A x, for x with `entries` entries.
    pub(super) fn rows(self, entries: usize) -> usize {
        match self {
            Map::Identity => entries,
            Map::Dense(matrix) => matrix.rows(),
            Map::Sparse(matrix) => matrix.rows(),
        }
    }

    pub(super) fn apply(self, x: &[f64], out: &mut [f64]) {
        match self {
            Map::Identity => out.copy_from_slice(x),
            Map::Dense(matrix) => multiply(matrix, x, out),
            Map::Sparse(matrix) => {
                for (row, out) in out.iter_mut().enumerate() {
                    *out = matrix.row(row).map(|(col, value)| value * x[col]).sum();
                }
            }
        }
    }

    pub(super) fn add_transposed(self, y: &[f64], out: &mut [f64]) {
        match self {
            Map::Identity => out.iter_mut().zip(y).for_each(|(out, y)| *out += y),
            Map::Dense(matrix) => add_transposed(matrix, y, out),
            Map::Sparse(matrix) => {
                for (row, y) in y.iter().enumerate() {
                    matrix.row(row).for_each(|(col, value)| out[col] += value * y);
                }
            }
        }
    }

    /// Adds A^T A to `gram`.
    pub(super) fn add_gram(self, gram: &mut Matrix) {
        match self {
            Map::Identity => (0..gram.rows()).for_each(|i| gram[(i, i)] += 1.0),
            Map::Dense(matrix) => {
                let squares = product(View::from(matrix).transposed(), matrix);
                add_scaled(1.0, squares.values(), gram.values_mut());
            }
            Map::Sparse(matrix) => {
                for row in 0..matrix.rows() {
                    for (a, left) in matrix.row(row) {
                        matrix.row(row).for_each(|(b, right)| gram[(a, b)] += left * right);
                    }
                }
            }
        }
    }
}
