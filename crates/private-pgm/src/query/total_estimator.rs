use super::{QueryFactor, QueryMatrix};
use crate::numeric::pointwise::dot;
use crate::numeric::solve::{conjugate_gradient_transposed, minimum_norm_transposed};

/// The largest error of an entry of Q^T u. It bounds the relative bias of the estimate, far below
/// the noise and well above rounding errors in u. Our choice.
const TOLERANCE: f64 = 1e-9;

/// The minimum-variance unbiased estimator of the number of records from the answers to a query
/// matrix Q (McKenna, Sheldon, Miklau, ICML 2019, supplement E.1).
///
/// If the row of ones is in the row space of Q, u = (1^T Q^+)^T is the minimum-norm solution of Q^T
/// u = 1. Then u^T y is unbiased for the total, with variance |u|^2 times that of one answer. For a
/// Kronecker product, u is the Kronecker product of the factors' solutions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TotalEstimator {
    /// u of each factor.
    weights: Vec<Vec<f64>>,
}

impl TotalEstimator {
    /// `None` if the answers to `query` do not determine the total.
    pub(crate) fn new(query: &QueryMatrix) -> Option<Self> {
        let axes = query.factors().iter().zip(query.shape());
        axes.map(|(factor, &n)| weights(factor, n))
            .collect::<Option<_>>()
            .map(|weights| Self { weights })
    }

    /// |1^T Q^+|^2: the variance of the estimate divided by the variance of one answer.
    pub(crate) fn variance_factor(&self) -> f64 {
        self.weights.iter().map(|u| dot(u, u)).product()
    }

    /// 1^T Q^+ y, for answers in axis order.
    pub(crate) fn estimate(&self, y: &[f64]) -> f64 {
        // From the last axis to the first, each pass replaces a row by one number.
        let contracted = self.weights.iter().rev().fold(y.to_vec(), |rest, u| {
            rest.chunks_exact(u.len()).map(|row| dot(u, row)).collect()
        });
        contracted[0]
    }
}

/// The minimum-norm u with Q^T u = 1, if any.
fn weights(factor: &QueryFactor, n: usize) -> Option<Vec<f64>> {
    let rows = factor.rows(n);
    match factor {
        QueryFactor::Identity => Some(vec![1.0; n]),
        QueryFactor::Total => Some(vec![1.0]),
        QueryFactor::Prefix => {
            let mut u = vec![0.0; n];
            u[n - 1] = 1.0;
            Some(u)
        }
        // Q^T Q is (n + 1) times the inverse of the second-difference matrix T, so
        // u = Q T 1 / (n + 1), where T 1 is one at both ends and zero elsewhere.
        QueryFactor::Ranges => {
            let ranges = (0..n).flat_map(|first| (first..n).map(move |last| (first, last)));
            let ends = |(first, last)| f64::from(u8::from(first == 0) + u8::from(last == n - 1));
            Some(ranges.map(|range| ends(range) / (n + 1) as f64).collect())
        }
        QueryFactor::Evidence(values) => (values.len() == n).then(|| vec![1.0]),
        // Each value is in one group; a group without values has a row of zeros.
        QueryFactor::Compress(groups) => {
            let mut u = vec![0.0; rows];
            groups.iter().for_each(|&group| u[group] = 1.0);
            Some(u)
        }
        // Orthogonal to the row of ones.
        QueryFactor::Contrasts => None,
        // All moments of the value 0 are 0: its column cannot sum to 1.
        QueryFactor::Moments(_) => None,
        QueryFactor::PIdentity(matrix) => match matrix.gram_inverse() {
            // A X 1 with X the inverse of A^T A.
            Some(gram_inverse) => {
                let (mut x, mut u) = (vec![1.0; n], vec![0.0; rows]);
                gram_inverse.apply(1, &mut x);
                matrix.apply(1, &x, &mut u);
                Some(u)
            }
            None => weights(&QueryFactor::Dense(factor.to_dense(n)), n),
        },
        QueryFactor::Dense(matrix) => {
            let u = minimum_norm_transposed(matrix, &vec![1.0; n]);
            let mut image = vec![0.0; n];
            factor.apply_transpose(n, 1, &u, &mut image);
            image.iter().all(|x| (x - 1.0).abs() <= TOLERANCE).then_some(u)
        }
        // With fewer entries than columns some column is zero, and (Q^T u) is 0 there for every u.
        QueryFactor::Sparse(matrix) if matrix.entries() < n => None,
        QueryFactor::Sparse(_) | QueryFactor::Intervals(_) => conjugate_gradient_transposed(
            rows,
            &vec![1.0; n],
            TOLERANCE / 2.0,
            |x, answers| factor.apply(n, 1, x, answers),
            |y, image| factor.apply_transpose(n, 1, y, image),
        ),
    }
}
