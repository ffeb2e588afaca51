//! The obvious versions: dense matrices over the full table.

use crate::domain::{Clique, Domain};
use crate::loss::Measurement;
use crate::numeric::matrix::Matrix;
use crate::numeric::product::product;
use crate::numeric::solve::minimum_norm_transposed;
use crate::query::QueryFactor;

/// One matrix per attribute of the domain, in axis order.
pub(super) fn kronecker(domain: &Domain, factor: impl Fn(usize, usize) -> Matrix) -> Matrix {
    let one = Matrix::new(1, 1, vec![1.0]);
    domain.ids().fold(one, |left, id| left.kronecker(&factor(id.index(), domain.size(id))))
}

/// The subtraction matrix: rows e_1 - e_(j+1).
pub(super) fn subtraction(n: usize) -> Matrix {
    let mut matrix = Matrix::zeros(n - 1, n);
    for row in 0..n - 1 {
        matrix[(row, 0)] = 1.0;
        matrix[(row, row + 1)] = -1.0;
    }
    matrix
}

pub(super) fn ones(n: usize) -> Matrix {
    Matrix::new(1, n, vec![1.0; n])
}

pub(super) fn identity(n: usize) -> Matrix {
    QueryFactor::Identity.to_dense(n)
}

/// From the full table to the marginal on `clique`.
pub(super) fn marginal(domain: &Domain, clique: &Clique) -> Matrix {
    let inside: Vec<bool> = domain.ids().map(|id| clique.contains(id)).collect();
    kronecker(domain, |axis, n| if inside[axis] { identity(n) } else { ones(n) })
}

pub(super) fn times(matrix: &Matrix, x: &[f64]) -> Vec<f64> {
    let row = |row| matrix.row(row).iter().zip(x).map(|(a, x)| a * x).sum();
    (0..matrix.rows()).map(row).collect()
}

/// The rows Q P_C / stddev of all measurements, and their answers divided by the same.
pub(super) fn system(domain: &Domain, measurements: &[Measurement]) -> (Matrix, Vec<f64>) {
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    for measurement in measurements {
        let weight = measurement.stddev.recip();
        let queries =
            product(&measurement.query.to_dense(), &marginal(domain, &measurement.clique));
        rows.extend(queries.values().iter().map(|entry| entry * weight));
        right.extend(measurement.y.iter().map(|y| y * weight));
    }
    let cells = domain.cells(&domain.everything()).unwrap();
    (Matrix::new(right.len(), cells, rows), right)
}

/// (A^T A)^+ b for b in the row space of A.
pub(super) fn solve_normal_equations(a: &Matrix, b: &[f64]) -> Vec<f64> {
    minimum_norm_transposed(&product(&a.transposed(), a), b)
}
