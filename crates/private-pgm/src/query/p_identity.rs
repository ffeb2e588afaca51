use multiversion::multiversion;

use crate::numeric::cholesky::Cholesky;
use crate::numeric::matrix::Matrix;
use crate::numeric::pointwise::{add_scaled, dot};
use crate::numeric::row_products::{add_rows, row_products};
use crate::numeric::sparse::CsrMatrix;

/// A p-identity matrix A = [D; C]: a diagonal n by n matrix D above p dense rows C. The strategies
/// of HDMM (McKenna, Miklau, Hay, Machanavajjhala, PVLDB 2018).
///
/// Products cost p + 1 multiplications per cell, instead of n + p for a dense matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct PIdentity {
    diagonal: Vec<f64>,
    extra: Matrix,
}

impl PIdentity {
    /// The matrix with the diagonal D and the rows C.
    ///
    /// # Panics
    /// If the rows are not as long as the diagonal.
    pub fn new(diagonal: Vec<f64>, extra: Matrix) -> Self {
        assert_eq!(diagonal.len(), extra.cols(), "columns of the diagonal and of the rows");
        Self { diagonal, extra }
    }

    /// [I; B] diag(1/s) with s_j = 1 + sum over i of B_ij, for non-negative B. Every column has L1
    /// norm 1, up to rounding.
    pub fn normalised(mut b: Matrix) -> Self {
        let mut sums = vec![1.0; b.cols()];
        (0..b.rows()).for_each(|row| add_scaled(1.0, b.row(row), &mut sums));
        for (row, col) in (0..b.rows()).flat_map(|row| (0..sums.len()).map(move |col| (row, col))) {
            b[(row, col)] /= sums[col];
        }
        Self { diagonal: sums.into_iter().map(f64::recip).collect(), extra: b }
    }

    /// The number of queries, n + p.
    pub fn rows(&self) -> usize {
        self.diagonal.len() + self.extra.rows()
    }

    /// The number of values, n.
    pub fn cols(&self) -> usize {
        self.diagonal.len()
    }

    /// Calls `visit(row, column, entry)`, row by row, for every entry except the zeros of D.
    pub fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f64)) {
        self.diagonal.iter().enumerate().for_each(|(a, &entry)| visit(a, a, entry));
        for row in 0..self.extra.rows() {
            let entries = self.extra.row(row).iter().enumerate();
            entries.for_each(|(col, &entry)| visit(self.cols() + row, col, entry));
        }
    }

    /// The matrix in compressed sparse row format.
    pub fn to_sparse(&self) -> CsrMatrix {
        let mut sparse = CsrMatrix::new(self.cols());
        self.diagonal.iter().enumerate().for_each(|(a, &entry)| sparse.push_row([(a, entry)]));
        for row in 0..self.extra.rows() {
            sparse.push_row(self.extra.row(row).iter().copied().enumerate());
        }
        sparse
    }

    /// Multiplies along an axis of a table (see [`crate::numeric::kron`] for `inner`).
    pub fn apply(&self, inner: usize, table: &[f64], answers: &mut [f64]) {
        apply(self, inner, table, answers);
    }

    /// Multiplies by the transpose along an axis of a table.
    pub fn apply_transpose(&self, inner: usize, answers: &[f64], table: &mut [f64]) {
        apply_transpose(self, inner, answers, table);
    }

    /// (A^T A)^-1; `None` if the diagonal has zeros.
    pub fn gram_inverse(&self) -> Option<GramInverse> {
        let p = self.extra.rows();
        let scale: Vec<f64> = self.diagonal.iter().map(|d| d.recip()).collect();
        let mut b = self.extra.clone();
        for (row, col) in (0..p).flat_map(|row| (0..scale.len()).map(move |col| (row, col))) {
            b[(row, col)] *= scale[col];
        }
        let mut small = Matrix::zeros(p, p);
        for (i, j) in (0..p).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            small[(i, j)] = f64::from(u8::from(i == j)) + dot(b.row(i), b.row(j));
        }
        let finite = scale.iter().all(|s| s.is_finite());
        let small = Cholesky::new(small).filter(|_| finite)?;
        Some(GramInverse { scale, b, small })
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn apply(matrix: &PIdentity, inner: usize, table: &[f64], answers: &mut [f64]) {
    let PIdentity { diagonal, extra } = matrix;
    let n = diagonal.len();
    let blocks = answers.chunks_exact_mut(matrix.rows() * inner);
    for (table, answers) in table.chunks_exact(n * inner).zip(blocks) {
        let (scaled, sums) = answers.split_at_mut(n * inner);
        if inner == 1 {
            for ((o, &t), &d) in scaled.iter_mut().zip(table).zip(diagonal) {
                *o = d * t;
            }
            for (row, sum) in sums.iter_mut().enumerate() {
                *sum = dot(extra.row(row), table);
            }
            continue;
        }
        let rows = scaled.chunks_exact_mut(inner).zip(table.chunks_exact(inner));
        for (a, (scaled, cells)) in rows.enumerate() {
            scaled.iter_mut().zip(cells).for_each(|(o, &t)| *o = diagonal[a] * t);
        }
        row_products(extra, inner, table, sums);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn apply_transpose(matrix: &PIdentity, inner: usize, answers: &[f64], table: &mut [f64]) {
    let PIdentity { diagonal, extra } = matrix;
    let n = diagonal.len();
    let blocks = table.chunks_exact_mut(n * inner);
    for (answers, table) in answers.chunks_exact(matrix.rows() * inner).zip(blocks) {
        let (scaled, sums) = answers.split_at(n * inner);
        if inner == 1 {
            for ((t, &y), &d) in table.iter_mut().zip(scaled).zip(diagonal) {
                *t = d * y;
            }
            for (row, &sum) in sums.iter().enumerate() {
                add_scaled(sum, extra.row(row), table);
            }
            continue;
        }
        let rows = table.chunks_exact_mut(inner).zip(scaled.chunks_exact(inner));
        for (a, (cells, scaled)) in rows.enumerate() {
            cells.iter_mut().zip(scaled).for_each(|(t, &y)| *t = diagonal[a] * y);
            add_rows(extra, a, sums, cells);
        }
    }
}

/// The inverse of the Gram matrix of a [`PIdentity`], X = S (I - B^T (I + B B^T)^-1 B) S, where
/// S = D^-1 and B = C S (Woodbury's identity). Products cost 2p + 2 multiplications per cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GramInverse {
    /// The diagonal of S.
    scale: Vec<f64>,
    b: Matrix,
    /// I + B B^T, a p by p matrix.
    small: Cholesky,
}

impl GramInverse {
    /// Multiplies along an axis of a table, in place.
    pub fn apply(&self, inner: usize, table: &mut [f64]) {
        let mut sums = vec![0.0; self.b.rows() * inner];
        for table in table.chunks_exact_mut(self.scale.len() * inner) {
            sums.fill(0.0);
            for (a, cells) in table.chunks_exact_mut(inner).enumerate() {
                cells.iter_mut().for_each(|x| *x *= self.scale[a]);
                for (row, sum) in sums.chunks_exact_mut(inner).enumerate() {
                    add_scaled(self.b[(row, a)], cells, sum);
                }
            }
            self.small.solve(&mut sums);
            for (a, cells) in table.chunks_exact_mut(inner).enumerate() {
                for (row, sum) in sums.chunks_exact(inner).enumerate() {
                    add_scaled(-self.b[(row, a)], sum, cells);
                }
                cells.iter_mut().for_each(|x| *x *= self.scale[a]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nonnegative() -> impl Strategy<Value = Matrix> {
        (0usize..4, 1usize..7).prop_flat_map(|(p, n)| {
            let entries = prop::collection::vec(prop_oneof![Just(0.0), 0.0..3.0f64], p * n);
            entries.prop_map(move |values| Matrix::new(p, n, values))
        })
    }

    proptest! {
        #[test]
        fn normalised_columns_have_norm_one(b in nonnegative()) {
            let matrix = PIdentity::normalised(b);
            let mut sums = vec![0.0; matrix.cols()];
            matrix.for_each_entry(|_, col, entry| sums[col] += entry.abs());
            prop_assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-15 * matrix.rows() as f64));
        }

        #[test]
        fn products_agree_with_the_entries(
            (p, n) in (0usize..10, 1usize..7),
            inner in 1usize..40,
            salt in 0usize..5,
        ) {
            let number = |i: usize| ((i * 5 + salt) % 7) as f64 - 2.5;
            let numbers = |count: usize| -> Vec<f64> { (0..count).map(number).collect() };
            let matrix = PIdentity::new(numbers(n), Matrix::new(p, n, numbers(p * n)));
            let (rows, blocks) = (matrix.rows(), 2);
            let (table, answers) = (numbers(blocks * n * inner), numbers(blocks * rows * inner));
            let mut products = vec![f64::NAN; answers.len()];
            matrix.apply(inner, &table, &mut products);
            let mut transposed = vec![f64::NAN; table.len()];
            matrix.apply_transpose(inner, &answers, &mut transposed);
            // Products of these numbers are multiples of 1/4: sums are exact in any order.
            let (mut expected, mut expected_transposed) =
                (vec![0.0; answers.len()], vec![0.0; table.len()]);
            matrix.for_each_entry(|row, col, entry| {
                for (block, i) in (0..blocks).flat_map(|b| (0..inner).map(move |i| (b, i))) {
                    let at_answer = (block * rows + row) * inner + i;
                    let at_cell = (block * n + col) * inner + i;
                    expected[at_answer] += entry * table[at_cell];
                    expected_transposed[at_cell] += entry * answers[at_answer];
                }
            });
            prop_assert_eq!(products, expected);
            prop_assert_eq!(transposed, expected_transposed);
        }

        #[test]
        fn the_gram_inverse_inverts_the_gram_matrix(b in nonnegative(), inner in 1usize..4) {
            let matrix = PIdentity::normalised(b);
            let blocks = 2 * matrix.cols() * inner;
            let table: Vec<f64> = (0..blocks).map(|i| ((i * 5 + 1) % 7) as f64).collect();
            let mut answers = vec![f64::NAN; 2 * matrix.rows() * inner];
            matrix.apply(inner, &table, &mut answers);
            let mut back = vec![f64::NAN; blocks];
            matrix.apply_transpose(inner, &answers, &mut back);
            matrix.gram_inverse().unwrap().apply(inner, &mut back);
            prop_assert!(back.iter().zip(&table).all(|(b, t)| (b - t).abs() < 1e-10));
        }
    }

    #[test]
    fn a_zero_on_the_diagonal_has_no_gram_inverse() {
        let matrix = PIdentity::new(vec![1.0, 0.0], Matrix::new(1, 2, vec![0.0, 1.0]));
        assert_eq!(matrix.gram_inverse(), None);
    }
}
