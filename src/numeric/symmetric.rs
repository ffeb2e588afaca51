//! All eigenvalues and eigenvectors of a symmetric matrix.

use multiversion::multiversion;

use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::pointwise::{add_scaled, dot};
use private_pgm::numeric::product::{View, product};

/// QR steps per eigenvalue before we give up; two are usual.
const MOST_STEPS: usize = 60;

/// M = Z diag(values) Z^T.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// In no particular order.
    pub values: Vec<f64>,
    /// Z^T: row i is the unit eigenvector of value i.
    pub vectors: Matrix,
}

impl Eigen {
    /// Of a symmetric matrix; `None` when its entries are not finite, so that the iterations do not end.
    ///
    /// Householder tridiagonalisation, then QR steps with Wilkinson's shift (Golub and Van Loan, Matrix
    /// Computations, 8.3): about 9 size^3 multiplications. Values are right to a few units in the last
    /// place of the largest one.
    pub fn new(matrix: &Matrix) -> Option<Self> {
        let (mut diagonal, mut beside, mut vectors) = tridiagonal(matrix.clone());
        let size = diagonal.len();
        let entries = || diagonal.iter().chain(&beside);
        if !entries().all(|entry| entry.is_finite()) {
            return None;
        }
        let norm = entries().fold(0.0f64, |norm, entry| norm.max(entry.abs()));
        let negligible = f64::EPSILON * norm;
        let mut last = size.saturating_sub(1);
        let mut steps = 0;
        while last > 0 {
            if beside[last - 1].abs() <= negligible {
                (last, steps) = (last - 1, 0);
                continue;
            }
            let apart = (0..last).rev().find(|&i| beside[i].abs() <= negligible);
            let first = apart.map_or(0, |i| i + 1);
            qr_step(first, last, &mut diagonal, &mut beside, &mut vectors);
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
        }
        Some(Self { values: diagonal, vectors })
    }

    /// Z diag(f(values)) Z^T.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Matrix {
        let mut scaled = self.vectors.clone();
        for (row, &value) in self.values.iter().enumerate() {
            let factor = f(value);
            scaled.row_mut(row).iter_mut().for_each(|entry| *entry *= factor);
        }
        product(View::from(&self.vectors).transposed(), &scaled)
    }

    /// The diagonal of Z diag(f(values)) Z^T, in size^2 operations.
    pub fn map_diagonal(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.values.len()];
        for (row, &value) in self.values.iter().enumerate() {
            let factor = f(value);
            let entries = diagonal.iter_mut().zip(self.vectors.row(row));
            entries.for_each(|(sum, z)| *sum += factor * z * z);
        }
        diagonal
    }

    /// The largest value, 0 at least.
    pub fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}

/// A^+: A^+ y is the shortest of the vectors x for which A x is nearest to y. By the eigenvalues of
/// A^T A, of which those below columns * 2^-52 of the largest are 0: A should not have singular values
/// that differ by more than 10^6. `None` when entries are not finite.
pub fn pseudo_inverse(matrix: &Matrix) -> Option<Matrix> {
    let transposed = View::from(matrix).transposed();
    let eigen = Eigen::new(&product(transposed, matrix))?;
    let rounding = matrix.cols() as f64 * f64::EPSILON * eigen.largest();
    let inverse = eigen.map(|value| if value > rounding { value.recip() } else { 0.0 });
    Some(product(View::from(&inverse), transposed))
}

/// The diagonal and what is beside it of T = Q^T M Q, and Q^T.
fn tridiagonal(mut matrix: Matrix) -> (Vec<f64>, Vec<f64>, Matrix) {
    let size = matrix.rows();
    let mut beside = vec![0.0; size.saturating_sub(1)];
    let mut reflections: Vec<Vec<f64>> = Vec::with_capacity(size);
    for (k, beside) in beside.iter_mut().enumerate() {
        // I - 2 v v^T maps the rest of the row to a multiple of the first unit vector.
        let mut v = matrix.row(k)[k + 1..].to_vec();
        let norm = dot(&v, &v).sqrt();
        *beside = -norm.copysign(v[0]);
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
    // Q is the product of the reflections; the last ones change a corner only.
    let mut q = Matrix::zeros(size, size);
    (0..size).for_each(|i| q[(i, i)] = 1.0);
    for (k, v) in reflections.iter().enumerate().rev() {
        reflect_rows(&mut q, k + 1, v);
    }
    (diagonal, beside, q.transposed())
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

/// H Q for H = I - 2 v v^T on the rows from `first` on, of which the columns before are those of the
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

/// An implicit QR step on rows and columns `first` to `last`: rotations chase the entry that the shift
/// leaves beside the three diagonals down and out.
fn qr_step(first: usize, last: usize, d: &mut [f64], e: &mut [f64], vectors: &mut Matrix) {
    let beside = e[last - 1];
    let half = (d[last - 1] - d[last]) / 2.0;
    let shift = d[last] - beside * beside / (half + half.hypot(beside).copysign(half));
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

/// Rows k and k + 1, turned into each other.
#[multiversion(targets("x86_64+avx2"))]
fn rotate(matrix: &mut Matrix, k: usize, c: f64, s: f64) {
    let (upper, lower) = matrix.two_rows_mut(k);
    for (a, b) in upper.iter_mut().zip(lower) {
        let (old, beside) = (*a, *b);
        *a = c * old + s * beside;
        *b = c * beside - s * old;
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
        /// The four conditions of Penrose, which only one matrix meets.
        #[test]
        fn the_pseudo_inverse_is_one(
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
    fn what_is_not_finite_has_no_decomposition() {
        assert_eq!(Eigen::new(&Matrix::new(1, 1, vec![f64::NAN])), None);
        assert_eq!(Eigen::new(&Matrix::new(2, 2, vec![1.0, f64::INFINITY, 0.0, 1.0])), None);
    }
}
