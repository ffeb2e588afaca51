//! The strategy of the low-rank mechanism (Yuan, Zhang, Winslett, Xiao, Yang, Hao, "Low-rank
//! mechanism: optimizing batch queries under differential privacy", PVLDB 2012).

use crate::numeric::l1_ball::project_onto_l1_ball;
use crate::numeric::projected_gradient::minimise_over;
use crate::numeric::projected_lbfgs::DescentOptions;
use crate::numeric::symmetric::Eigen;
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::product::{View, product};

/// Rows of L per column. The authors take 1.2 times the rank of W. We take 1.2 times the number of
/// values, so that the search space includes noise on the counts themselves.
const ROWS: f64 = 1.2;
/// Added to the diagonal of V, as a fraction of its mean. It keeps L away from singular matrices if
/// the queries do not determine all values. Our choice.
const REGULAR: f64 = 1e-4;
/// Our choice: stops after ten steps with a total decrease below a thousandth.
const STOPPING: DescentOptions = DescentOptions { decrease: 1e-3, steps: 150 };

/// The decomposition W = B L with the least |B|_F and every column of L within the L1 ball, by
/// local search. Returns L. It depends on V = W^T W only.
///
/// Given L, the best B is W L^+, and |B|_F^2 = tr(V (L^T L)^-1). This is a smooth function of L
/// over a product of L1 balls, minimised by projected gradients. `None` if V is 0 or not finite.
pub(super) fn low_rank(gram: &Matrix) -> Option<Matrix> {
    let size = gram.rows();
    let rows = (ROWS * size as f64).ceil() as usize;
    let scale = (0..size).map(|i| gram[(i, i)]).sum::<f64>();
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let mut regular = gram.clone();
    (0..size).for_each(|i| regular[(i, i)] += REGULAR * scale / size as f64);
    let mut scratch = Vec::new();
    let found = minimise_over(
        start(gram, rows)?,
        STOPPING,
        |transposed, gradient| error(&regular, scale, rows, transposed, gradient),
        |transposed| {
            let columns = transposed.chunks_exact_mut(rows);
            columns.for_each(|column| project_onto_l1_ball(column, &mut scratch));
        },
    );
    let mut found = Matrix::new(size, rows, found.x);
    // Scaling a column up to norm 1 reduces the noise.
    for col in 0..size {
        let norm: f64 = found.row(col).iter().map(|x| x.abs()).sum();
        if norm > 0.0 {
            found.row_mut(col).iter_mut().for_each(|x| *x /= norm);
        }
    }
    Some(found.transposed())
}

/// L^T with the identity in the first columns, followed by the leading eigenvectors of V with at
/// most half of the norm. The eigenvectors are weighted by the fourth roots of their eigenvalues,
/// as in the best strategy for L2 norms of columns.
fn start(gram: &Matrix, rows: usize) -> Option<Vec<f64>> {
    let size = gram.rows();
    let eigen = Eigen::new(gram)?;
    let mut leading: Vec<usize> = (0..size).collect();
    leading.sort_by(|&a, &b| eigen.values[b].total_cmp(&eigen.values[a]));
    leading.truncate(rows - size);
    let mut transposed = Matrix::zeros(size, rows);
    for (place, &vector) in leading.iter().enumerate() {
        let weight = eigen.values[vector].max(0.0).sqrt().sqrt();
        for (col, z) in eigen.vectors.row(vector).iter().enumerate() {
            transposed[(col, size + place)] = weight * z;
        }
    }
    let norm = |col: usize| transposed.row(col).iter().map(|x| x.abs()).sum::<f64>();
    let most = (0..size).map(norm).fold(f64::MIN_POSITIVE, f64::max);
    transposed.values_mut().iter_mut().for_each(|x| *x *= 0.5 / most);
    (0..size).for_each(|col| transposed[(col, col)] = 0.5);
    Some(transposed.values().to_vec())
}

/// F = tr(V S^-1) / scale for S = L^T L, and its gradient with respect to L^T, -2 S^-1 V S^-1 L^T /
/// scale. Infinite if S is singular.
pub(super) fn error(
    gram: &Matrix,
    scale: f64,
    rows: usize,
    transposed: &[f64],
    gradient: &mut [f64],
) -> f64 {
    let size = gram.rows();
    let columns = View::new(size, rows, transposed);
    let Some(s) = Cholesky::new(product(columns, columns.transposed())) else {
        return f64::INFINITY;
    };
    let mut half = gram.clone();
    s.solve(half.values_mut());
    let value = (0..size).map(|i| half[(i, i)]).sum::<f64>() / scale;
    // S^-1 V S^-1 is symmetric, so the transpose of S^-1 V can be solved as well.
    let mut both = half.transposed();
    s.solve(both.values_mut());
    let slope = product(&both, columns);
    gradient.iter_mut().zip(slope.values()).for_each(|(g, x)| *g = -2.0 * x / scale);
    value
}
