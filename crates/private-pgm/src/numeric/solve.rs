//! Minimum-norm solutions of Q^T u = t.

use super::matrix::Matrix;
use super::pointwise::{add_scaled, dot};

/// The vector u of least norm with Q^T u = t, if t is in the row space of Q. Otherwise the residual
/// is not small; the caller must check it.
///
/// Householder QR of Q with column pivoting, Q P = H R: u = H v, where R_11^T v is the pivoted part
/// of t. The rank is the number of pivots until all remaining columns are shorter than
/// max(rows, cols) * 2^-52 times the longest column, the size of their rounding errors.
///
/// Cost: O(rows * cols * rank), and a copy of Q. Reference: Golub and Van Loan, Matrix
/// Computations, 5.4-5.5.
pub(crate) fn minimum_norm_transposed(q: &Matrix, t: &[f64]) -> Vec<f64> {
    let (rows, cols) = (q.rows(), q.cols());
    // Column by column, so that reflections access contiguous memory.
    let mut columns: Vec<Vec<f64>> =
        (0..cols).map(|col| (0..rows).map(|row| q[(row, col)]).collect()).collect();
    let mut t = t.to_vec();
    let mut reflections: Vec<Vec<f64>> = Vec::new();
    let mut longest = 0.0;
    for step in 0..rows.min(cols) {
        let tail_norm = |column: &Vec<f64>| dot(&column[step..], &column[step..]).sqrt();
        let norms: Vec<f64> = columns[step..].iter().map(tail_norm).collect();
        let (offset, norm) = norms
            .into_iter()
            .enumerate()
            .fold((0, -1.0), |best, candidate| if candidate.1 > best.1 { candidate } else { best });
        if step == 0 {
            longest = norm;
        }
        if norm <= rows.max(cols) as f64 * f64::EPSILON * longest {
            break;
        }
        columns.swap(step, step + offset);
        t.swap(step, step + offset);
        // I - 2 w w^T maps the tail of the pivot column to a multiple of the first unit vector.
        let mut w = columns[step][step..].to_vec();
        w[0] += norm.copysign(w[0]);
        let scale = dot(&w, &w).sqrt().recip();
        w.iter_mut().for_each(|x| *x *= scale);
        for column in &mut columns[step..] {
            reflect(&w, &mut column[step..]);
        }
        reflections.push(w);
    }
    let rank = reflections.len();
    let mut u = vec![0.0; rows];
    for i in 0..rank {
        u[i] = (t[i] - dot(&columns[i][..i], &u[..i])) / columns[i][i];
    }
    for (step, w) in reflections.iter().enumerate().rev() {
        reflect(w, &mut u[step..]);
    }
    u
}

fn reflect(w: &[f64], x: &mut [f64]) {
    add_scaled(-2.0 * dot(w, x), w, x);
}

/// The vector u = Q w of least norm with Q^T u = t, by conjugate gradients on Q^T Q w = t, until
/// every entry of the residual is at most `tolerance`. `None` if that takes more than twice as many
/// iterations as Q has columns; in exact arithmetic the number of columns suffices if t is in the
/// row space.
///
/// `apply(x, out)` writes Q x of length `rows`, `apply_transposed(y, out)` writes Q^T y.
pub(crate) fn conjugate_gradient_transposed(
    rows: usize,
    t: &[f64],
    tolerance: f64,
    apply: impl Fn(&[f64], &mut [f64]),
    apply_transposed: impl Fn(&[f64], &mut [f64]),
) -> Option<Vec<f64>> {
    let mut u = vec![0.0; rows];
    let mut residual = t.to_vec();
    let mut direction = residual.clone();
    let (mut image, mut back) = (vec![0.0; rows], vec![0.0; t.len()]);
    let mut length = dot(&residual, &residual);
    for _ in 0..2 * t.len() {
        apply(&direction, &mut image);
        let curvature = dot(&image, &image);
        if curvature <= 0.0 {
            break;
        }
        let step = length / curvature;
        add_scaled(step, &image, &mut u);
        apply_transposed(&image, &mut back);
        add_scaled(-step, &back, &mut residual);
        if residual.iter().all(|r| r.abs() <= tolerance) {
            // The recurrence accumulates rounding errors; the true residual decides.
            apply_transposed(&u, &mut back);
            let exact = back.iter().zip(t).all(|(b, t)| (b - t).abs() <= 2.0 * tolerance);
            return exact.then_some(u);
        }
        let shorter = dot(&residual, &residual);
        for (d, &r) in direction.iter_mut().zip(&residual) {
            *d = r + shorter / length * *d;
        }
        length = shorter;
    }
    None
}
