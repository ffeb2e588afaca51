use super::p_identity::GramInverse;
use super::{PIdentity, QueryFactor, QueryMatrix};
use crate::numeric::memory;

/// The pseudo-inverse Q^+ of a Kronecker product: Q^+ y is the minimum-norm least-squares solution
/// of Q x = y.
///
/// The pseudo-inverse of a Kronecker product is the Kronecker product of its factors'
/// pseudo-inverses. Every factor must have one in closed form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PseudoInverse {
    /// For each axis, the rows and the columns of its factor, and the pseudo-inverse.
    axes: Vec<(usize, usize, AxisInverse)>,
}

#[derive(Clone, Debug, PartialEq)]
enum AxisInverse {
    /// Of the identity.
    Copy,
    /// Of a prefix: differences of consecutive answers.
    Differences,
    /// Of a total: y / n for every value.
    EqualParts,
    /// Of contrasts: the transpose, since the rows are orthonormal.
    Transpose,
    /// X A^T with X = (A^T A)^-1.
    PIdentity(PIdentity, GramInverse),
}

impl PseudoInverse {
    /// `None` if the pseudo-inverse of a factor has no closed form here.
    pub(crate) fn new(query: &QueryMatrix) -> Option<Self> {
        let axis = |(factor, &n): (&QueryFactor, &usize)| {
            let inverse = match factor {
                QueryFactor::Identity => AxisInverse::Copy,
                QueryFactor::Prefix => AxisInverse::Differences,
                QueryFactor::Total => AxisInverse::EqualParts,
                QueryFactor::Contrasts => AxisInverse::Transpose,
                QueryFactor::PIdentity(a) => AxisInverse::PIdentity(a.clone(), a.gram_inverse()?),
                _ => return None,
            };
            Some((factor.rows(n), n, inverse))
        };
        let axes = query.factors().iter().zip(query.shape()).map(axis).collect::<Option<_>>()?;
        Some(Self { axes })
    }

    /// Q^+ y, for answers in axis order. Cost: one or two passes over the table per factor.
    pub(crate) fn apply(&self, y: &[f64]) -> Vec<f64> {
        let mut table = memory::copied(y);
        // From the last axis to the first: later axes already have their columns' length.
        let mut inner = 1;
        for (rows, n, inverse) in self.axes.iter().rev() {
            table = inverse.apply(table, *rows, *n, inner);
            inner *= n;
        }
        table
    }
}

impl AxisInverse {
    fn apply(&self, mut table: Vec<f64>, rows: usize, n: usize, inner: usize) -> Vec<f64> {
        match self {
            Self::Copy => table,
            Self::Differences => {
                for block in table.chunks_exact_mut(n * inner) {
                    for cell in (inner..block.len()).rev() {
                        block[cell] -= block[cell - inner];
                    }
                }
                table
            }
            Self::EqualParts => {
                let mut spread = memory::zeros(table.len() * n);
                QueryFactor::Total.apply_transpose(n, inner, &table, &mut spread);
                spread.iter_mut().for_each(|x| *x /= n as f64);
                spread
            }
            Self::Transpose => {
                let mut back = memory::zeros(table.len() / rows * n);
                QueryFactor::Contrasts.apply_transpose(n, inner, &table, &mut back);
                back
            }
            Self::PIdentity(matrix, gram_inverse) => {
                let mut back = memory::zeros(table.len() / rows * n);
                matrix.apply_transpose(inner, &table, &mut back);
                gram_inverse.apply(inner, &mut back);
                back
            }
        }
    }
}
