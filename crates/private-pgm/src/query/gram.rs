use super::{QueryFactor, QueryMatrix};
use crate::numeric::matrix::Matrix;
use crate::numeric::product::{View, product};

impl QueryFactor {
    /// Q^T Q over an attribute of `n` values, an n by n matrix for any number of queries. Closed
    /// form for identity, prefix, total and ranges (see [`QueryFactor::max_eigenvalue`]); otherwise
    /// n products with Q and Q^T.
    pub fn gram(&self, n: usize) -> Matrix {
        let by_entry = |entry: &dyn Fn(usize, usize) -> usize| {
            let entries = (0..n).flat_map(|a| (0..n).map(move |b| entry(a, b) as f64));
            Matrix::new(n, n, entries.collect())
        };
        match self {
            Self::Identity => by_entry(&|a, b| usize::from(a == b)),
            Self::Prefix => by_entry(&|a, b| n - a.max(b)),
            Self::Total => by_entry(&|_, _| 1),
            Self::Ranges => by_entry(&|a, b| (a.min(b) + 1) * (n - a.max(b))),
            Self::Dense(matrix) => product(View::from(matrix).transposed(), matrix),
            _ => {
                let (mut gram, mut unit) = (Matrix::zeros(n, n), vec![0.0; n]);
                let mut answers = vec![0.0; self.rows(n)];
                for value in 0..n {
                    unit[value] = 1.0;
                    self.apply(n, 1, &unit, &mut answers);
                    self.apply_transpose(n, 1, &answers, gram.row_mut(value));
                    unit[value] = 0.0;
                }
                gram
            }
        }
    }
}

impl QueryMatrix {
    /// Q^T Q as a dense matrix: the Kronecker product of the factors' Gram matrices.
    pub fn gram(&self) -> Matrix {
        let one = Matrix::new(1, 1, vec![1.0]);
        self.factors()
            .iter()
            .zip(self.shape())
            .fold(one, |left, (factor, &n)| left.kronecker(&factor.gram(n)))
    }
}
