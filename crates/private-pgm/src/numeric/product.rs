//! Dense matrix products.

use std::ops::Range;

use multiversion::multiversion;

use super::matrix::Matrix;
use super::pointwise::{add_scaled, dot};

/// Rows and columns of the tile that is accumulated in registers: eight vectors of four numbers.
const TILE: (usize, usize) = (4, 8);
/// The number of terms that are summed before a tile is written back, and of columns of the right
/// factor that are used meanwhile: 256 KiB of it stay in the L2 cache. Our choice.
const DEPTH: usize = 256;
const WIDTH: usize = 128;

/// A borrowed matrix, block of a matrix, or transpose of either.
#[derive(Clone, Copy)]
pub struct View<'a> {
    values: &'a [f64],
    rows: usize,
    cols: usize,
    /// The strides from row to row and from column to column.
    steps: (usize, usize),
}

impl<'a> View<'a> {
    /// The matrix with these entries, row by row.
    ///
    /// # Panics
    /// If their number is not `rows * cols`.
    pub fn new(rows: usize, cols: usize, values: &'a [f64]) -> Self {
        assert_eq!(rows.checked_mul(cols), Some(values.len()), "entries of a view");
        Self { values, rows, cols, steps: (cols, 1) }
    }

    /// The transpose, without a copy.
    pub fn transposed(self) -> Self {
        let Self { values, rows, cols, steps: (down, right) } = self;
        Self { values, rows: cols, cols: rows, steps: (right, down) }
    }

    /// The block with these rows and columns.
    ///
    /// # Panics
    /// If the matrix has fewer rows or columns.
    pub fn block(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        assert!(rows.end <= self.rows && cols.end <= self.cols, "a block within the matrix");
        let (down, right) = self.steps;
        let start = (rows.start * down + cols.start * right).min(self.values.len());
        Self {
            values: &self.values[start..],
            rows: rows.len(),
            cols: cols.len(),
            steps: self.steps,
        }
    }

    #[inline]
    fn at(&self, row: usize, col: usize) -> f64 {
        self.values[row * self.steps.0 + col * self.steps.1]
    }
}

impl<'a> From<&'a Matrix> for View<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        Self::new(matrix.rows(), matrix.cols(), matrix.values())
    }
}

/// The matrix product A B, in rows * depth * columns multiplications, with packed panels and a tile
/// in registers (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS
/// 2008).
///
/// Each entry is the sum over k in ascending order, in blocks of 256 terms, without fused
/// multiply-add: bit-identical on every machine.
///
/// # Panics
/// If B does not have as many rows as A has columns.
pub fn product<'a>(a: impl Into<View<'a>>, b: impl Into<View<'a>>) -> Matrix {
    let (a, b) = (a.into(), b.into());
    let (rows, depth, cols) = (a.rows, a.cols, b.cols);
    assert_eq!(depth, b.rows, "the columns of one factor are the rows of the other");
    let mut out = Matrix::zeros(rows, cols);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for from in (0..depth).step_by(DEPTH) {
        let terms = from..depth.min(from + DEPTH);
        pack(TILE.0, 0..rows, terms.clone(), |row, k| a.at(row, k), &mut left);
        for first in (0..cols).step_by(WIDTH) {
            let columns = first..cols.min(first + WIDTH);
            pack(TILE.1, columns.clone(), terms.clone(), |col, k| b.at(k, col), &mut right);
            add_block(terms.len(), &left, &right, columns, &mut out);
        }
    }
    out
}

/// Writes A x to `out`.
#[multiversion(targets("x86_64+avx2"))]
pub fn multiply(a: &Matrix, x: &[f64], out: &mut [f64]) {
    for (row, out) in out.iter_mut().enumerate() {
        *out = dot(a.row(row), x);
    }
}

/// Adds A^T y to `out`.
#[multiversion(targets("x86_64+avx2"))]
pub fn add_transposed(a: &Matrix, y: &[f64], out: &mut [f64]) {
    for (row, &y) in y.iter().enumerate() {
        add_scaled(y, a.row(row), out);
    }
}

/// Packs rows or columns (`lines`) into panels of `width` lines each, term by term. The last panel
/// is padded with zeros.
fn pack(
    width: usize,
    lines: Range<usize>,
    terms: Range<usize>,
    entry: impl Fn(usize, usize) -> f64,
    out: &mut Vec<f64>,
) {
    out.clear();
    out.resize(lines.len().div_ceil(width) * width * terms.len(), 0.0);
    for (panel, first) in
        out.chunks_exact_mut(width * terms.len()).zip(lines.clone().step_by(width))
    {
        for (place, line) in (first..lines.end.min(first + width)).enumerate() {
            for (k, term) in terms.clone().enumerate() {
                panel[k * width + place] = entry(line, term);
            }
        }
    }
}

/// Adds the product of packed panels to some columns of `out`.
#[multiversion(targets("x86_64+avx2"))]
fn add_block(depth: usize, left: &[f64], right: &[f64], columns: Range<usize>, out: &mut Matrix) {
    for (i, left) in left.chunks_exact(TILE.0 * depth).enumerate() {
        for (j, right) in right.chunks_exact(TILE.1 * depth).enumerate() {
            let mut tile = [[0.0; TILE.1]; TILE.0];
            let terms = left.as_chunks::<{ TILE.0 }>().0.iter();
            for (a, b) in terms.zip(right.as_chunks::<{ TILE.1 }>().0) {
                for row in 0..TILE.0 {
                    for col in 0..TILE.1 {
                        tile[row][col] += a[row] * b[col];
                    }
                }
            }
            let first = columns.start + j * TILE.1;
            let width = TILE.1.min(columns.end - first);
            for (row, tile) in (i * TILE.0..out.rows()).zip(&tile) {
                let target = &mut out.row_mut(row)[first..first + width];
                target.iter_mut().zip(tile).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(rows: usize, cols: usize, step: usize) -> Matrix {
        let entries = (0..rows * cols).map(|i| ((i * step + 3) % 17) as f64 - 8.0);
        Matrix::new(rows, cols, entries.collect())
    }

    fn direct(a: View<'_>, b: View<'_>) -> Matrix {
        let (rows, depth, cols) = (a.rows, a.cols, b.cols);
        let mut out = Matrix::zeros(rows, cols);
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            out[(row, col)] = (0..depth).map(|k| a.at(row, k) * b.at(k, col)).sum();
        }
        out
    }

    proptest! {
        #[test]
        fn products_agree_with_direct_sums(
            rows in 0usize..12, depth in 0usize..20, cols in 0usize..20, step in 1usize..17,
        ) {
            let (a, b) = (filled(rows, depth, step), filled(depth, cols, 7));
            let (a_t, b_t) = (filled(depth, rows, step), filled(cols, depth, 7));
            for a in [View::from(&a), View::from(&a_t).transposed()] {
                for b in [View::from(&b), View::from(&b_t).transposed()] {
                    prop_assert_eq!(product(a, b), direct(a, b));
                }
            }
        }
    }

    #[test]
    fn a_block_is_some_rows_and_columns() {
        let (a, b) = (filled(7, 9, 5), filled(4, 6, 11));
        let a = View::from(&a).block(2..5, 1..7);
        let b = View::from(&b).transposed().block(0..6, 1..4);
        assert_eq!((a.at(0, 0), b.at(5, 0)), (filled(7, 9, 5)[(2, 1)], filled(4, 6, 11)[(1, 5)]));
        assert_eq!(product(a, b), direct(a, b));
        assert_eq!(product(a.block(3..3, 0..6), b), Matrix::zeros(0, 3));
    }

    #[test]
    fn products_agree_across_block_boundaries() {
        for (rows, depth, cols) in
            [(5, DEPTH + 3, WIDTH + 9), (9, 2 * DEPTH, 2 * WIDTH), (1, 600, 1)]
        {
            let (a, b) = (filled(rows, depth, 5), filled(depth, cols, 11));
            let (a, b) = (View::from(&a), View::from(&b));
            assert_eq!(product(a, b), direct(a, b));
        }
    }
}
