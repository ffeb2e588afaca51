//! Symmetric positive definite systems.

use super::matrix::Matrix;
use super::pointwise::{add_scaled, dot};

/// The lower triangle L of a symmetric positive definite matrix M = L L^T.
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky {
    lower: Matrix,
}

impl Cholesky {
    /// Factorises `matrix`, of which only the lower triangle is read; `None` when it is not positive
    /// definite, as far as floating point can tell. Costs size^3 / 6 multiplications. Golub and Van
    /// Loan, Matrix Computations, 4.2.
    pub fn new(mut matrix: Matrix) -> Option<Self> {
        for i in 0..matrix.rows() {
            for j in 0..=i {
                let rest = matrix[(i, j)] - dot(&matrix.row(i)[..j], &matrix.row(j)[..j]);
                matrix[(i, j)] = match i == j {
                    false => rest / matrix[(j, j)],
                    true if rest > 0.0 && rest.is_finite() => rest.sqrt(),
                    true => return None,
                };
            }
        }
        Some(Self { lower: matrix })
    }

    /// Replaces b by the solution x of M x = b: size^2 multiplications along rows.
    pub fn solve_one(&self, b: &mut [f64]) {
        for i in 0..self.lower.rows() {
            let rest = b[i] - dot(&self.lower.row(i)[..i], &b[..i]);
            b[i] = rest / self.lower[(i, i)];
        }
        for i in (0..self.lower.rows()).rev() {
            b[i] /= self.lower[(i, i)];
            let (before, from) = b.split_at_mut(i);
            add_scaled(-from[0], &self.lower.row(i)[..i], before);
        }
    }

    /// Replaces each column of B, stored row by row, by that of the solution X of M X = B.
    pub fn solve(&self, columns: &mut [f64]) {
        let size = self.lower.rows();
        if size == 0 {
            return;
        }
        let inner = columns.len() / size;
        for i in 0..size {
            let (before, from) = columns.split_at_mut(i * inner);
            let row = &mut from[..inner];
            for (j, known) in before.chunks_exact(inner).enumerate() {
                add_scaled(-self.lower[(i, j)], known, row);
            }
            row.iter_mut().for_each(|x| *x /= self.lower[(i, i)]);
        }
        for i in (0..size).rev() {
            let (to, after) = columns.split_at_mut((i + 1) * inner);
            let row = &mut to[i * inner..];
            for (j, known) in after.chunks_exact(inner).enumerate() {
                add_scaled(-self.lower[(i + 1 + j, i)], known, row);
            }
            row.iter_mut().for_each(|x| *x /= self.lower[(i, i)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_solved_for_multiplies_back(
            (size, entries, x) in (0usize..6, 1usize..4).prop_flat_map(|(size, inner)| (
                Just(size),
                prop::collection::vec(-1.0..1.0f64, size * size),
                prop::collection::vec(-1.0..1.0f64, size * inner),
            )),
        ) {
            let inner = x.len().checked_div(size).unwrap_or(0);
            let mut m = Matrix::zeros(size, size);
            let mut b = vec![0.0; x.len()];
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                let (a, c) = (&entries[i * size..][..size], &entries[j * size..][..size]);
                m[(i, j)] = dot(a, c) + f64::from(u8::from(i == j));
                add_scaled(m[(i, j)], &x[j * inner..][..inner], &mut b[i * inner..][..inner]);
            }
            let factor = Cholesky::new(m).unwrap();
            if inner == 1 {
                let mut alone = b.clone();
                factor.solve_one(&mut alone);
                prop_assert!(alone.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-10));
            }
            factor.solve(&mut b);
            prop_assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-10));
        }
    }

    #[test]
    fn indefinite_matrices_have_no_factor() {
        assert_eq!(Cholesky::new(Matrix::new(2, 2, vec![1.0, 2.0, 2.0, 1.0])), None);
        assert_eq!(Cholesky::new(Matrix::new(1, 1, vec![f64::NAN])), None);
        assert_eq!(Cholesky::new(Matrix::new(1, 1, vec![f64::INFINITY])), None);
    }
}
