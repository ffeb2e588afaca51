//! The approximated strategy of the matrix mechanism (Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB
//! 2012).

use crate::numeric::symmetric::Eigen;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::query::QueryFactor;

/// Stop at this ratio of the error to its lower bound. Our choice. It is reached in about ten
/// iterations, each of which halves the excess.
const TARGET_RATIO: f64 = 1.001;
/// The least multiplier, as a fraction of their mean. The multipliers of inactive constraints tend
/// to 0, and rounding errors would be divided by their roots. This limit raises the ratio by at
/// most the same amount. Our choice.
const LEAST: f64 = 1e-6;
/// Our choice.
const ITERATIONS: usize = 40;

/// A strategy A with A^T A = M, and a certificate for M.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Approximated {
    /// A.
    pub(super) queries: Matrix,
    /// A^+.
    pub(super) inverse: Matrix,
    /// tr(V M^+) is at most this many times the minimum.
    pub(super) ratio: f64,
}

/// Minimises tr(V M^-1) max diag M over positive semidefinite M, where V = W^T W. The strategy is a
/// factor of M, see [`factor`]. `None` if V is 0 or not finite.
///
/// With L2 norms of columns in place of L1 norms, the search for a strategy is convex in M = A^T A:
/// minimise tr(V M^-1) subject to diag M <= 1. For multipliers l and D = diag(l), the Lagrangian is
/// minimised by M = D^-1/2 (D^1/2 V D^1/2)^1/2 D^-1/2. The optimal multipliers satisfy diag M = 1.
/// This is the fixed point of l = diag (D^1/2 V D^1/2)^1/2 =: s(l), which is iterated. Each l gives
/// the lower bound (sum s)^2 / sum l. Its M, scaled to max diag M = 1, has the value max(s / l) sum
/// s. The ratio of the two decides when to stop.
///
/// Each iteration costs an eigendecomposition of the size of V. Values without queries have empty
/// rows and columns. Eigenvalues below size * 2^-52 of the largest are set to 0, so the columns of
/// W may differ in norm by at most a factor of about 10^3.
pub(super) fn approximated(gram: &Matrix) -> Option<Approximated> {
    let size = gram.rows();
    let mut multipliers: Vec<f64> = (0..size).map(|i| gram[(i, i)]).collect();
    if !multipliers.iter().any(|&l| l > 0.0) {
        return None;
    }
    for iteration in 1.. {
        let scaled = scaled(gram, &multipliers, f64::sqrt);
        let eigen = Eigen::new(&scaled)?;
        let root = positive_root(&eigen);
        let s = eigen.map_diagonal(root);
        let asked = s.iter().zip(&multipliers).filter(|(_, l)| **l > 0.0);
        let most = asked.map(|(s, l)| s / l).fold(0.0, f64::max);
        let ratio = most * multipliers.iter().sum::<f64>() / s.iter().sum::<f64>();
        if ratio <= TARGET_RATIO || iteration == ITERATIONS {
            let root = eigen.map(positive_root(&eigen));
            let m = self::scaled(&root, &multipliers, |l| (most * l).sqrt().recip());
            let (queries, inverse) = factor(&Eigen::new(&m)?);
            return Some(Approximated { queries, inverse, ratio });
        }
        let least = LEAST * s.iter().sum::<f64>() / size as f64;
        for (l, s) in multipliers.iter_mut().zip(s).filter(|(l, _)| **l > 0.0) {
            *l = s.max(least);
        }
    }
    None
}

/// A and A^+ for A^T A = M: the symmetric root, or the eigenvectors times the roots of their
/// eigenvalues if their largest L1 norm of a column is smaller.
///
/// All factors of M have the same least squares and columns of the same L2 norm, at most 1. Noise
/// grows with their L1 norm, between 1 and the root of the number of rows. The paper leaves the
/// factor open. Over 1024 cells the two norms are 10.9 and 24.6 for random signs, 20.1 and 18.2 for
/// 512 predicates, 12.2 and 20.8 for all ranges; those of triangular factors are 22.2, 18.6 and
/// 12.6.
fn factor(eigen: &Eigen) -> (Matrix, Matrix) {
    let root = positive_root(eigen);
    let inverse_root = |value| match root(value) {
        0.0 => 0.0,
        root => root.recip(),
    };
    let symmetric = eigen.map(root);
    let kept: Vec<usize> =
        (0..eigen.values.len()).filter(|&i| root(eigen.values[i]) > 0.0).collect();
    let scaled_vectors = |f: &dyn Fn(f64) -> f64| {
        let row = |&i: &usize| {
            let weight = f(eigen.values[i]);
            eigen.vectors.row(i).iter().map(move |z| weight * z)
        };
        Matrix::new(kept.len(), eigen.values.len(), kept.iter().flat_map(row).collect())
    };
    let vectors = scaled_vectors(&root);
    let norm = |a: &Matrix| QueryFactor::Dense(a.clone()).max_column_l1(a.cols());
    match norm(&vectors) < norm(&symmetric) * (1.0 - 1e-9) {
        true => (vectors, scaled_vectors(&inverse_root).transposed()),
        false => (symmetric, eigen.map(inverse_root)),
    }
}

/// diag(f(l)) M diag(f(l)), with 0 where l is 0.
fn scaled(matrix: &Matrix, multipliers: &[f64], f: impl Fn(f64) -> f64) -> Matrix {
    let factors: Vec<f64> = multipliers.iter().map(|&l| if l > 0.0 { f(l) } else { 0.0 }).collect();
    let mut scaled = matrix.clone();
    for (row, &factor) in factors.iter().enumerate() {
        let entries = scaled.row_mut(row).iter_mut().zip(&factors);
        entries.for_each(|(entry, other)| *entry *= factor * other);
    }
    scaled
}

/// The square root of an eigenvalue, or 0 if the eigenvalue is within rounding of 0.
fn positive_root(eigen: &Eigen) -> impl Fn(f64) -> f64 + Copy {
    let rounding = eigen.values.len() as f64 * f64::EPSILON * eigen.largest();
    move |value| if value > rounding { value.sqrt() } else { 0.0 }
}
