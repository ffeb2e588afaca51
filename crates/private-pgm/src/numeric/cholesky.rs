//! Cholesky factorisation of symmetric positive definite matrices.

use multiversion::multiversion;

use super::matrix::Matrix;
use super::pointwise::{add_scaled, dot};
use super::product::{View, product};

/// Rows per block; the contribution of all rows before a block is one matrix product. Our choice.
const BLOCK: usize = 96;

/// The Cholesky factor L of a symmetric positive definite matrix M = L L^T.
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky {
    lower: Matrix,
}

impl Cholesky {
    /// Factorises `matrix`, of which only the lower triangle is read. `None` if it is not positive
    /// definite in floating point. Cost: size^3 / 6 multiplications. Reference: Golub and Van Loan,
    /// Matrix Computations, 4.2.
    pub fn new(mut matrix: Matrix) -> Option<Self> {
        let size = matrix.rows();
        for from in (0..size).step_by(BLOCK) {
            let to = size.min(from + BLOCK);
            if from > 0 {
                let lower = View::from(&matrix);
                let across = lower.block(from..to, 0..from).transposed();
                let known = product(lower.block(from..size, 0..from), across);
                for i in from..size {
                    add_scaled(-1.0, known.row(i - from), &mut matrix.row_mut(i)[from..to]);
                }
            }
            for i in from..size {
                for j in from..to.min(i + 1) {
                    let rest =
                        matrix[(i, j)] - dot(&matrix.row(i)[from..j], &matrix.row(j)[from..j]);
                    matrix[(i, j)] = match i == j {
                        false => rest / matrix[(j, j)],
                        true if rest > 0.0 && rest.is_finite() => rest.sqrt(),
                        true => return None,
                    };
                }
            }
        }
        Some(Self { lower: matrix })
    }

    /// Replaces b by the solution x of M x = b, with size^2 multiplications.
    pub fn solve_one(&self, b: &mut [f64]) {
        solve_one(&self.lower, b);
    }

    /// Replaces B, stored row by row, by the solution X of M X = B. Cost: size^2 multiplications
    /// per column.
    pub fn solve(&self, columns: &mut [f64]) {
        let size = self.lower.rows();
        if columns.is_empty() {
            return;
        }
        let inner = columns.len() / size;
        let lower = View::from(&self.lower);
        for from in (0..size).step_by(BLOCK) {
            let to = size.min(from + BLOCK);
            let (before, block) = columns.split_at_mut(from * inner);
            if from > 0 {
                let before = View::new(from, inner, before);
                let known = product(lower.block(from..to, 0..from), before);
                add_scaled(-1.0, known.values(), block);
            }
            for i in from..to {
                let (before, rest) = block.split_at_mut((i - from) * inner);
                let row = &mut rest[..inner];
                for (j, known) in before.chunks_exact(inner).enumerate() {
                    add_scaled(-self.lower[(i, from + j)], known, row);
                }
                row.iter_mut().for_each(|x| *x /= self.lower[(i, i)]);
            }
        }
        for from in (0..size).step_by(BLOCK).rev() {
            let to = size.min(from + BLOCK);
            let (block, after) = columns.split_at_mut(to * inner);
            let block = &mut block[from * inner..];
            if to < size {
                let after = View::new(size - to, inner, after);
                let known = product(lower.block(to..size, from..to).transposed(), after);
                add_scaled(-1.0, known.values(), block);
            }
            for i in (from..to).rev() {
                let (rest, after) = block.split_at_mut((i + 1 - from) * inner);
                let row = &mut rest[(i - from) * inner..];
                for (j, known) in after.chunks_exact(inner).enumerate() {
                    add_scaled(-self.lower[(i + 1 + j, i)], known, row);
                }
                row.iter_mut().for_each(|x| *x /= self.lower[(i, i)]);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn solve_one(lower: &Matrix, b: &mut [f64]) {
    for i in 0..lower.rows() {
        let rest = b[i] - dot(&lower.row(i)[..i], &b[..i]);
        b[i] = rest / lower[(i, i)];
    }
    for i in (0..lower.rows()).rev() {
        b[i] /= lower[(i, i)];
        let (before, from) = b.split_at_mut(i);
        add_scaled(-from[0], &lower.row(i)[..i], before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solutions_multiply_back_to_the_right_hand_side(
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
    fn systems_of_several_blocks_are_solved() {
        let (size, inner) = (2 * BLOCK + 17, 3);
        let mut m = Matrix::zeros(size, size);
        for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
            let far = (i as f64 - j as f64).abs();
            m[(i, j)] = (-0.1 * far).exp() + if i == j { 1.0 } else { 0.0 };
        }
        let x: Vec<f64> = (0..size * inner).map(|i| ((i * 7) % 13) as f64 - 6.0).collect();
        let mut b = vec![0.0; x.len()];
        for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
            add_scaled(m[(i, j)], &x[j * inner..][..inner], &mut b[i * inner..][..inner]);
        }
        Cholesky::new(m.clone()).unwrap().solve(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-11));
        m[(BLOCK + 3, BLOCK + 3)] = 0.1;
        assert_eq!(Cholesky::new(m), None);
    }

    #[test]
    fn indefinite_matrices_have_no_factor() {
        assert_eq!(Cholesky::new(Matrix::new(2, 2, vec![1.0, 2.0, 2.0, 1.0])), None);
        assert_eq!(Cholesky::new(Matrix::new(1, 1, vec![f64::NAN])), None);
        assert_eq!(Cholesky::new(Matrix::new(1, 1, vec![f64::INFINITY])), None);
    }
}
