//! The eigendecomposition of a symmetric matrix, and the pseudo-inverse.

use multiversion::multiversion;

use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::pointwise::{add_scaled, dot};
use private_pgm::numeric::product::{View, product};

/// The largest number of QR steps per eigenvalue; two are usual.
const MAX_STEPS: usize = 60;

/// The eigendecomposition M = Z diag(values) Z^T of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Eigen {
    /// In no particular order.
    pub(crate) values: Vec<f64>,
    /// Z^T: row i is the unit eigenvector of value i.
    pub(crate) vectors: Matrix,
}

impl Eigen {
    /// Decomposes a symmetric matrix; `None` if an entry is not finite or the iterations do not
    /// converge.
    ///
    /// Householder tridiagonalisation, then QR steps with Wilkinson's shift (Golub and Van Loan,
    /// Matrix Computations, 8.3). Cost: about 9 size^3 multiplications. The error of a value is a
    /// few units in the last place of the largest one.
    pub(crate) fn new(matrix: &Matrix) -> Option<Self> {
        let (mut diagonal, mut off_diagonal, mut vectors) = tridiagonal(matrix.clone());
        let size = diagonal.len();
        let entries = || diagonal.iter().chain(&off_diagonal);
        if !entries().all(|entry| entry.is_finite()) {
            return None;
        }
        let norm = entries().fold(0.0f64, |norm, entry| norm.max(entry.abs()));
        let negligible = f64::EPSILON * norm;
        let mut last = size.saturating_sub(1);
        let mut steps = 0;
        while last > 0 {
            if off_diagonal[last - 1].abs() <= negligible {
                (last, steps) = (last - 1, 0);
                continue;
            }
            let apart = (0..last).rev().find(|&i| off_diagonal[i].abs() <= negligible);
            let first = apart.map_or(0, |i| i + 1);
            qr_step(first, last, &mut diagonal, &mut off_diagonal, &mut vectors);
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
        }
        Some(Self { values: diagonal, vectors })
    }

    /// The matrix function Z diag(f(values)) Z^T.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Matrix {
        let mut scaled = self.vectors.clone();
        for (row, &value) in self.values.iter().enumerate() {
            let factor = f(value);
            scaled.row_mut(row).iter_mut().for_each(|entry| *entry *= factor);
        }
        product(View::from(&self.vectors).transposed(), &scaled)
    }

    /// The diagonal of Z diag(f(values)) Z^T, in size^2 operations.
    pub(crate) fn map_diagonal(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.values.len()];
        for (row, &value) in self.values.iter().enumerate() {
            let factor = f(value);
            let entries = diagonal.iter_mut().zip(self.vectors.row(row));
            entries.for_each(|(sum, z)| *sum += factor * z * z);
        }
        diagonal
    }

    /// The largest eigenvalue, or 0 if all are negative.
    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}

/// The Moore-Penrose pseudo-inverse, by the eigendecomposition of A^T A. Eigenvalues below
/// 2^-52 times the number of columns, relative to the largest, count as 0, so that nonzero singular
/// values should differ by at most a factor of 10^6. `None` if an entry is not finite.
pub(crate) fn pseudo_inverse(matrix: &Matrix) -> Option<Matrix> {
    let transposed = View::from(matrix).transposed();
    let eigen = Eigen::new(&product(transposed, matrix))?;
    let rounding = matrix.cols() as f64 * f64::EPSILON * eigen.largest();
    let inverse = eigen.map(|value| if value > rounding { value.recip() } else { 0.0 });
    Some(product(View::from(&inverse), transposed))
}

/// The diagonal and the off-diagonal of T = Q^T M Q, and Q^T.
fn tridiagonal(mut matrix: Matrix) -> (Vec<f64>, Vec<f64>, Matrix) {
    let size = matrix.rows();
    let mut off_diagonal = vec![0.0; size.saturating_sub(1)];
    let mut reflections: Vec<Vec<f64>> = Vec::with_capacity(size);
    for (k, off_diagonal) in off_diagonal.iter_mut().enumerate() {
        // I - 2 v v^T maps the rest of the row to a multiple of the first unit vector.
        let mut v = matrix.row(k)[k + 1..].to_vec();
        let norm = dot(&v, &v).sqrt();
        *off_diagonal = -norm.copysign(v[0]);
        v[0] += norm.copysign(v[0]);
        let length = dot(&v, &v).sqrt();
        match length > 0.0 {
            true => v.iter_mut().for_each(|x| *x /= length),
            false => v.fill(0.0),
        }
        reflect_both_sides(&mut matrix, k + 1, &v);
        reflections.push(v);
    }
    let diagonal = (0..size).map(|i| matrix[(i, i)]).collect();
    // Q is the product of the reflections; later ones change a trailing block only.
    let mut q = Matrix::zeros(size, size);
    (0..size).for_each(|i| q[(i, i)] = 1.0);
    for (k, v) in reflections.iter().enumerate().rev() {
        reflect_rows(&mut q, k + 1, v);
    }
    (diagonal, off_diagonal, q.transposed())
}

/// H M H for H = I - 2 v v^T on the rows and columns from `first` on: M - v w^T - w v^T with
/// w = 2 (p - (p^T v) v), p = M v.
#[multiversion(targets("x86_64+avx2"))]
fn reflect_both_sides(matrix: &mut Matrix, first: usize, v: &[f64]) {
    let mut w: Vec<f64> =
        (first..matrix.rows()).map(|row| 2.0 * dot(&matrix.row(row)[first..], v)).collect();
    let along = dot(&w, v);
    add_scaled(-along, v, &mut w);
    for (i, row) in (first..matrix.rows()).enumerate() {
        let (vi, wi) = (v[i], w[i]);
        let entries = matrix.row_mut(row)[first..].iter_mut().zip(v).zip(&w);
        entries.for_each(|((m, v), w)| *m -= vi * w + wi * v);
    }
}

/// H Q for H = I - 2 v v^T on the rows from `first` on. The columns before `first` are those of the
/// identity.
#[multiversion(targets("x86_64+avx2"))]
fn reflect_rows(q: &mut Matrix, first: usize, v: &[f64]) {
    let mut sums = vec![0.0; q.cols() - first];
    for (i, row) in (first..q.rows()).enumerate() {
        add_scaled(2.0 * v[i], &q.row(row)[first..], &mut sums);
    }
    for (i, row) in (first..q.rows()).enumerate() {
        add_scaled(-v[i], &sums, &mut q.row_mut(row)[first..]);
    }
}

/// An implicit QR step on rows and columns `first` to `last`: rotations chase the bulge down the
/// diagonal.
fn qr_step(first: usize, last: usize, d: &mut [f64], e: &mut [f64], vectors: &mut Matrix) {
    let off_diagonal = e[last - 1];
    let half = (d[last - 1] - d[last]) / 2.0;
    let shift =
        d[last] - off_diagonal * off_diagonal / (half + half.hypot(off_diagonal).copysign(half));
    let (mut x, mut z) = (d[first] - shift, e[first]);
    for k in first..last {
        let r = x.hypot(z);
        let (c, s) = if r > 0.0 { (x / r, z / r) } else { (1.0, 0.0) };
        if k > first {
            e[k - 1] = r;
        }
        let (a, b, f) = (d[k], d[k + 1], e[k]);
        d[k] = c * c * a + 2.0 * c * s * f + s * s * b;
        d[k + 1] = s * s * a - 2.0 * c * s * f + c * c * b;
        e[k] = c * s * (b - a) + (c * c - s * s) * f;
        if k + 1 < last {
            (x, z) = (e[k], s * e[k + 1]);
            e[k + 1] *= c;
        }
        rotate(vectors, k, c, s);
    }
}

/// Applies a Givens rotation to rows k and k + 1.
#[multiversion(targets("x86_64+avx2"))]
fn rotate(matrix: &mut Matrix, k: usize, c: f64, s: f64) {
    let (upper, lower) = matrix.two_rows_mut(k);
    for (a, b) in upper.iter_mut().zip(lower) {
        let (upper, lower) = (*a, *b);
        *a = c * upper + s * lower;
        *b = c * lower - s * upper;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn symmetric(size: usize, entries: &[f64]) -> Matrix {
        let mut matrix = Matrix::zeros(size, size);
        for (i, j) in (0..size).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            (matrix[(i, j)], matrix[(j, i)]) = (entries[i * size + j], entries[i * size + j]);
        }
        matrix
    }

    proptest! {
        #[test]
        fn the_decomposition_multiplies_back_and_its_vectors_are_orthonormal(
            (size, entries) in (0usize..12).prop_flat_map(|size| (
                Just(size),
                prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0f64], size * size),
            )),
        ) {
            let matrix = symmetric(size, &entries);
            let eigen = Eigen::new(&matrix).unwrap();
            let back = eigen.map(|value| value);
            let near = |a: &Matrix, b: &Matrix| {
                a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-13)
            };
            prop_assert!(near(&back, &matrix));
            let mut identity = Matrix::zeros(size, size);
            (0..size).for_each(|i| identity[(i, i)] = 1.0);
            prop_assert!(near(&eigen.map(|_| 1.0), &identity));
            let squares = eigen.map(|value| value * value);
            let diagonal = eigen.map_diagonal(|value| value * value);
            prop_assert!((0..size).all(|i| (diagonal[i] - squares[(i, i)]).abs() < 1e-13));
        }
    }

    proptest! {
        /// The four Penrose conditions, which determine the pseudo-inverse.
        #[test]
        fn the_pseudo_inverse_satisfies_the_penrose_conditions(
            (rows, cols, rank, entries) in (1usize..7, 1usize..7, 1usize..4).prop_flat_map(
                |(rows, cols, rank)| (
                    Just(rows), Just(cols), Just(rank),
                    prop::collection::vec(-3i8..=3, (rows + cols) * rank),
                ),
            ),
        ) {
            let entry = |i: usize| f64::from(entries[i]);
            let left = Matrix::new(rows, rank, (0..rows * rank).map(entry).collect());
            let right = (rows * rank..entries.len()).map(entry).collect();
            let a = product(&left, &Matrix::new(rank, cols, right));
            let inverse = pseudo_inverse(&a).unwrap();
            let (here, there) = (product(&a, &inverse), product(&inverse, &a));
            let near = |a: &Matrix, b: &Matrix| {
                a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-8)
            };
            prop_assert!(near(&product(&here, &a), &a));
            prop_assert!(near(&product(&there, &inverse), &inverse));
            prop_assert!(near(&here, &here.transposed()) && near(&there, &there.transposed()));
        }
    }

    #[test]
    fn the_second_difference_matrix_has_its_textbook_eigenvalues() {
        let n = 150;
        let mut matrix = Matrix::zeros(n, n);
        for i in 0..n {
            matrix[(i, i)] = 2.0;
            if i > 0 {
                (matrix[(i, i - 1)], matrix[(i - 1, i)]) = (-1.0, -1.0);
            }
        }
        let mut values = Eigen::new(&matrix).unwrap().values;
        values.sort_by(f64::total_cmp);
        for (k, value) in values.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (2 * (n + 1)) as f64;
            assert!((value - 4.0 * angle.sin().powi(2)).abs() < 1e-13, "{k}: {value}");
        }
    }

    #[test]
    fn a_matrix_with_infinite_entries_has_no_decomposition() {
        assert_eq!(Eigen::new(&Matrix::new(1, 1, vec![f64::NAN])), None);
        assert_eq!(Eigen::new(&Matrix::new(2, 2, vec![1.0, f64::INFINITY, 0.0, 1.0])), None);
    }
}
