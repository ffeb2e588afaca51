use super::p_identity::GramInverse;
use super::{PIdentity, QueryFactor, QueryMatrix};

/// The pseudo-inverse of a Kronecker product of factors whose own have a closed form: Q^+ y is the
/// shortest of the vectors that explain the answers y best.
///
/// The pseudo-inverse of a Kronecker product is the product of its factors'.
#[derive(Clone, Debug, PartialEq)]
pub struct PseudoInverse {
    /// For each axis, the rows and columns of its factor, and the inverse.
    axes: Vec<(usize, usize, AxisInverse)>,
}

#[derive(Clone, Debug, PartialEq)]
enum AxisInverse {
    Copy,
    /// Of a prefix: the differences between neighbours.
    Differences,
    /// Of a total: every value has an equal part.
    EqualParts,
    /// X A^T with X = (A^T A)^-1.
    PIdentity(PIdentity, GramInverse),
}

impl PseudoInverse {
    /// `None` where a factor has no closed form here.
    pub fn new(query: &QueryMatrix) -> Option<Self> {
        let axis = |(factor, &n): (&QueryFactor, &usize)| {
            let inverse = match factor {
                QueryFactor::Identity => AxisInverse::Copy,
                QueryFactor::Prefix => AxisInverse::Differences,
                QueryFactor::Total => AxisInverse::EqualParts,
                QueryFactor::PIdentity(a) => AxisInverse::PIdentity(a.clone(), a.gram_inverse()?),
                _ => return None,
            };
            Some((factor.rows(n), n, inverse))
        };
        let axes = query.factors().iter().zip(query.shape()).map(axis).collect::<Option<_>>()?;
        Some(Self { axes })
    }

    /// Q^+ y, for answers in axis order: a pass or two over the table for each factor.
    pub fn apply(&self, y: &[f64]) -> Vec<f64> {
        let mut table = y.to_vec();
        // From the last axis to the first: those after it have become columns already.
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
                let mut spread = vec![0.0; table.len() * n];
                QueryFactor::Total.apply_transpose(n, inner, &table, &mut spread);
                spread.iter_mut().for_each(|x| *x /= n as f64);
                spread
            }
            Self::PIdentity(matrix, gram_inverse) => {
                let mut back = vec![0.0; table.len() / rows * n];
                matrix.apply_transpose(inner, &table, &mut back);
                gram_inverse.apply(inner, &mut back);
                back
            }
        }
    }
}
