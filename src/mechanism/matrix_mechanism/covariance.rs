//! The approximated strategy of the matrix mechanism (Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB 2012).

use crate::numeric::symmetric::Eigen;
use private_pgm::numeric::matrix::Matrix;

/// The ratio of the error to the best possible that is good enough: a thousandth of the error. Our
/// choice; it is reached in some ten iterations, each of which halves what is left.
const GOOD: f64 = 1.001;
/// The least multiplier, as a part of their mean: those of constraints that do not bind go to 0, and
/// rounding would be divided by their roots. It raises the ratio by no more than this. Our choice.
const LEAST: f64 = 1e-6;
/// The most iterations. Our choice.
const ITERATIONS: usize = 40;

/// A strategy A = M^(1/2), and the vouched quality of M.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Approximated {
    /// A.
    pub(super) queries: Matrix,
    /// A^+.
    pub(super) inverse: Matrix,
    /// tr(V M^+) is at most this many times the least that there is.
    pub(super) ratio: f64,
}

/// Minimises tr(V M^-1) max diag M over positive semidefinite M, where V = W^T W, and takes the
/// symmetric root of M for the strategy. `None` when V is 0 or not finite.
///
/// With L2 norms of columns in place of L1 norms the search for a strategy is convex in M = A^T A:
/// tr(V M^-1) subject to diag M <= 1. Its Lagrangian is least, for multipliers l, at
/// M = D^-1/2 (D^1/2 V D^1/2)^1/2 D^-1/2 with D = diag(l), and the multipliers are those for which
/// diag M = 1: the fixed point of l = diag (D^1/2 V D^1/2)^1/2 =: s(l), which is iterated. Each l
/// proves a lower bound of (sum s)^2 / sum l; its M, scaled to max diag M = 1, has
/// max(s / l) sum s. The ratio of the two says when to stop.
///
/// Costs an eigendecomposition of V's size for each iteration. Values that no query asks about have
/// empty rows and columns. Rounding beyond rank is cut off: eigenvalues below size * 2^-52 of the
/// largest are 0, so that columns of W whose norms differ by more than 10^3 are beyond it.
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
        if ratio <= GOOD || iteration == ITERATIONS {
            let root = eigen.map(positive_root(&eigen));
            let m = self::scaled(&root, &multipliers, |l| (most * l).sqrt().recip());
            let eigen = Eigen::new(&m)?;
            let root = positive_root(&eigen);
            let inverse = eigen.map(|value| match root(value) {
                0.0 => 0.0,
                root => root.recip(),
            });
            return Some(Approximated { queries: eigen.map(root), inverse, ratio });
        }
        let least = LEAST * s.iter().sum::<f64>() / size as f64;
        for (l, s) in multipliers.iter_mut().zip(s).filter(|(l, _)| **l > 0.0) {
            *l = s.max(least);
        }
    }
    None
}

/// diag(f(l)) M diag(f(l)), with 0 where l is.
fn scaled(matrix: &Matrix, multipliers: &[f64], f: impl Fn(f64) -> f64) -> Matrix {
    let factors: Vec<f64> = multipliers.iter().map(|&l| if l > 0.0 { f(l) } else { 0.0 }).collect();
    let mut scaled = matrix.clone();
    for (row, &factor) in factors.iter().enumerate() {
        let entries = scaled.row_mut(row).iter_mut().zip(&factors);
        entries.for_each(|(entry, other)| *entry *= factor * other);
    }
    scaled
}

/// The root of an eigenvalue, and 0 for what is no more than rounding.
fn positive_root(eigen: &Eigen) -> impl Fn(f64) -> f64 + Copy {
    let rounding = eigen.values.len() as f64 * f64::EPSILON * eigen.largest();
    move |value| if value > rounding { value.sqrt() } else { 0.0 }
}
