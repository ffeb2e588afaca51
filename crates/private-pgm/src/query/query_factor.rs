use std::f64::consts::PI;

use super::{FactorError, PIdentity};
use crate::numeric::contrasts::{contrasts, contrasts_transposed, helmert_entry};
use crate::numeric::eigen::largest_eigenvalue;
use crate::numeric::kron;
use crate::numeric::matrix::Matrix;
use crate::numeric::pointwise::add_scaled;
use crate::numeric::sparse::CsrMatrix;

/// Linear queries on one attribute: a matrix with one column per value, the factor Q_i of a
/// factored query matrix (McKenna, Sheldon, Miklau, ICML 2019, supplement B.1, Table 2).
///
/// Values are 0..n, also in the moments; the paper's table counts from 1. A factor does not store
/// n: methods take it and require that [`QueryFactor::check`] accepted it.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryFactor {
    /// I: the count of every value.
    Identity,
    /// P: row b counts the values 0..=b (cumulative counts).
    Prefix,
    /// 1: one row of ones, which sums out the attribute.
    Total,
    /// One row per range i..=j of values, in the order (0,0), (0,1), ..., (1,1), (1,2), ...
    Ranges,
    /// n - 1 orthonormal rows that are orthogonal to the row of ones (Helmert): row k - 1 is the
    /// sum of the values before k minus k times value k, divided by sqrt(k (k + 1)). The Kronecker
    /// product over a clique spans its residual space ([`crate::residual`]). Needs two values.
    Contrasts,
    /// One row per listed range `start..end` of values.
    Intervals(Vec<(usize, usize)>),
    /// e_S: one row that counts the values in S; e_j if S = {j}.
    Evidence(Vec<usize>),
    /// R_f: row b counts the values a with f(a) = b. The list has f(a) for each value a; the number
    /// of rows is its largest entry plus 1.
    Compress(Vec<usize>),
    /// E_k: row b - 1 has the entries a^b for the values a, for b = 1, ..., k. E_1 is the mean
    /// times the number of records.
    Moments(usize),
    /// A p-identity matrix, a strategy of HDMM.
    PIdentity(PIdentity),
    /// A dense matrix.
    Dense(Matrix),
    /// A sparse matrix. Repeated entries of a cell add up.
    Sparse(CsrMatrix),
}

/// Shorter rows are faster without the call of a vectorised kernel.
const SHORT_ROW: usize = 16;

/// to += weight * from.
#[inline]
fn add_row(weight: f64, from: &[f64], to: &mut [f64]) {
    if from.len() < SHORT_ROW {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
    } else {
        add_scaled(weight, from, to);
    }
}

impl QueryFactor {
    /// The name of this kind of factor in problem files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Prefix => "prefix",
            Self::Total => "total",
            Self::Ranges => "ranges",
            Self::Contrasts => "contrasts",
            Self::Intervals(_) => "intervals",
            Self::Evidence(_) => "evidence",
            Self::Compress(_) => "compress",
            Self::Moments(_) => "moments",
            Self::PIdentity(_) => "p-identity",
            Self::Dense(_) => "matrix",
            Self::Sparse(_) => "sparse",
        }
    }

    /// An error unless this is a matrix over an attribute of `n` values, with at least one row and
    /// finite entries.
    pub fn check(&self, n: usize) -> Result<(), FactorError> {
        let columns = |found| match found == n {
            true => Ok(()),
            false => Err(FactorError::Columns { expected: n, found }),
        };
        match self {
            Self::Identity | Self::Prefix | Self::Total | Self::Ranges => return Ok(()),
            Self::Intervals(intervals) => {
                let wrong = |&&(start, end): &&(usize, usize)| start >= end || end > n;
                if let Some(&(start, end)) = intervals.iter().find(wrong) {
                    return Err(FactorError::Interval { size: n, start, end });
                }
            }
            Self::Evidence(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable();
                if let Some(&found) = sorted.last().filter(|&&value| value >= n) {
                    return Err(FactorError::NoSuchValue { size: n, found });
                }
                if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(FactorError::RepeatedValue(pair[0]));
                }
            }
            Self::Compress(groups) if groups.len() != n => {
                return Err(FactorError::Groups { expected: n, found: groups.len() });
            }
            Self::Moments(moments) if n > 2 => {
                // Column norms square the entries, so these must stay below the root of f64::MAX.
                let digits = f64::MAX.ln() / 2.0 / ((n - 1) as f64).ln();
                let largest = (digits - 1.0) as usize;
                if *moments > largest {
                    return Err(FactorError::Moments { size: n, largest, found: *moments });
                }
            }
            Self::Contrasts | Self::Compress(_) | Self::Moments(_) => {}
            Self::PIdentity(matrix) => columns(matrix.cols())?,
            Self::Dense(matrix) => columns(matrix.cols())?,
            Self::Sparse(matrix) => columns(matrix.cols())?,
        }
        if self.rows(n) == 0 {
            return Err(FactorError::NoRows);
        }
        let mut bad = None;
        if matches!(self, Self::PIdentity(_) | Self::Dense(_) | Self::Sparse(_)) {
            self.for_each_entry(n, |row, col, value| {
                if !value.is_finite() {
                    bad.get_or_insert(FactorError::NotFinite { row, col, value });
                }
            });
        }
        bad.map_or(Ok(()), Err)
    }

    /// Whether every row is a counting query: all entries of the matrix are 0 or 1.
    pub fn counts(&self, n: usize) -> bool {
        match self {
            Self::Identity
            | Self::Prefix
            | Self::Total
            | Self::Ranges
            | Self::Intervals(_)
            | Self::Evidence(_)
            | Self::Compress(_) => true,
            _ => {
                let mut counts = true;
                // The row of each column's last entry: repeated entries of a cell add up.
                let mut last = vec![None; n];
                self.for_each_entry(n, |row, col, entry| {
                    counts &= (entry == 0.0 || entry == 1.0) && last[col] != Some(row);
                    last[col] = Some(row);
                });
                counts
            }
        }
    }

    /// The number of rows (queries) over an attribute of `n` values.
    pub fn rows(&self, n: usize) -> usize {
        match self {
            Self::Identity | Self::Prefix => n,
            Self::Total | Self::Evidence(_) => 1,
            Self::Contrasts => n - 1,
            Self::Ranges => kron::range_count(n),
            Self::Intervals(intervals) => intervals.len(),
            Self::Compress(groups) => groups.iter().max().map_or(0, |&last| last.saturating_add(1)),
            Self::Moments(moments) => *moments,
            Self::PIdentity(matrix) => matrix.rows(),
            Self::Dense(matrix) => matrix.rows(),
            Self::Sparse(matrix) => matrix.rows(),
        }
    }

    /// Calls `visit(row, column, entry)` for every entry that is not zero by construction. This
    /// defines each factor; the products below are optimised versions of it.
    pub fn for_each_entry(&self, n: usize, mut visit: impl FnMut(usize, usize, f64)) {
        match self {
            Self::Identity => (0..n).for_each(|a| visit(a, a, 1.0)),
            Self::Prefix => (0..n).for_each(|b| (0..=b).for_each(|a| visit(b, a, 1.0))),
            Self::Total => (0..n).for_each(|a| visit(0, a, 1.0)),
            Self::Ranges => {
                let ranges = (0..n).flat_map(|first| (first..n).map(move |last| first..=last));
                for (row, range) in ranges.enumerate() {
                    range.for_each(|a| visit(row, a, 1.0));
                }
            }
            Self::Contrasts => {
                for k in 1..n {
                    (0..k).for_each(|a| visit(k - 1, a, helmert_entry(k)));
                    visit(k - 1, k, -(k as f64) * helmert_entry(k));
                }
            }
            Self::Intervals(intervals) => {
                for (row, &(start, end)) in intervals.iter().enumerate() {
                    (start..end).for_each(|a| visit(row, a, 1.0));
                }
            }
            Self::Evidence(values) => values.iter().for_each(|&a| visit(0, a, 1.0)),
            Self::Compress(groups) => {
                groups.iter().enumerate().for_each(|(a, &group)| visit(group, a, 1.0));
            }
            Self::Moments(moments) => {
                for a in 0..n {
                    let mut power = 1.0;
                    for row in 0..*moments {
                        power *= a as f64;
                        visit(row, a, power);
                    }
                }
            }
            Self::PIdentity(matrix) => matrix.for_each_entry(visit),
            Self::Dense(matrix) => {
                for row in 0..matrix.rows() {
                    for (col, &value) in matrix.row(row).iter().enumerate() {
                        visit(row, col, value);
                    }
                }
            }
            Self::Sparse(matrix) => {
                for row in 0..matrix.rows() {
                    matrix.row(row).for_each(|(col, value)| visit(row, col, value));
                }
            }
        }
    }

    /// The dense matrix over an attribute of `n` values.
    pub fn to_dense(&self, n: usize) -> Matrix {
        let mut dense = Matrix::zeros(self.rows(n), n);
        self.for_each_entry(n, |row, col, value| dense[(row, col)] += value);
        dense
    }

    /// Multiplies along an axis of a table (see [`crate::numeric::kron`] for `inner`).
    ///
    /// Cost: identity a copy; prefix, total and contrasts one pass over the table; ranges one pass
    /// over their answers; p-identity p + 1 multiplications per cell.
    pub fn apply(&self, n: usize, inner: usize, table: &[f64], answers: &mut [f64]) {
        match self {
            Self::Identity => answers.copy_from_slice(table),
            Self::Prefix => kron::running_sums(table, answers, n, inner),
            Self::Total => kron::sums(table, answers, n, inner),
            Self::Ranges => kron::range_sums(table, answers, n, inner),
            Self::Contrasts => contrasts(table, answers, n, inner),
            Self::Intervals(list) => kron::interval_sums(list, table, answers, n, inner),
            Self::PIdentity(matrix) => matrix.apply(inner, table, answers),
            Self::Dense(matrix) => kron::multiply(matrix, table, answers, inner),
            Self::Evidence(_) | Self::Compress(_) | Self::Moments(_) | Self::Sparse(_) => {
                answers.fill(0.0);
                let blocks = answers.chunks_exact_mut(self.rows(n) * inner);
                for (table, answers) in table.chunks_exact(n * inner).zip(blocks) {
                    self.for_each_entry(n, |row, col, value| {
                        let answer = &mut answers[row * inner..][..inner];
                        add_row(value, &table[col * inner..][..inner], answer);
                    });
                }
            }
        }
    }

    /// Multiplies by the transpose along an axis, at the cost of [`QueryFactor::apply`].
    pub fn apply_transpose(&self, n: usize, inner: usize, answers: &[f64], table: &mut [f64]) {
        match self {
            Self::Identity => table.copy_from_slice(answers),
            Self::Prefix => kron::running_sums_transposed(answers, table, n, inner),
            Self::Total => kron::sums_transposed(answers, table, n, inner),
            Self::Ranges => kron::range_sums_transposed(answers, table, n, inner),
            Self::Contrasts => contrasts_transposed(answers, table, n, inner),
            Self::Intervals(list) => kron::interval_sums_transposed(list, answers, table, n, inner),
            Self::PIdentity(matrix) => matrix.apply_transpose(inner, answers, table),
            Self::Dense(matrix) => kron::multiply_transposed(matrix, answers, table, inner),
            Self::Evidence(_) | Self::Compress(_) | Self::Moments(_) | Self::Sparse(_) => {
                table.fill(0.0);
                let blocks = table.chunks_exact_mut(n * inner);
                for (answers, table) in answers.chunks_exact(self.rows(n) * inner).zip(blocks) {
                    self.for_each_entry(n, |row, col, value| {
                        let cells = &mut table[col * inner..][..inner];
                        add_row(value, &answers[row * inner..][..inner], cells);
                    });
                }
            }
        }
    }

    /// The largest L1 norm of a column: the L1 sensitivity to adding or removing a record.
    pub fn max_column_l1(&self, n: usize) -> f64 {
        self.max_column(n, f64::abs)
    }

    /// The largest squared L2 norm of a column: the squared L2 sensitivity.
    pub fn max_column_l2_squared(&self, n: usize) -> f64 {
        self.max_column(n, |entry| entry * entry)
    }

    /// The largest sum of `norm(entry)` over a column. Repeated entries of a cell are added first.
    fn max_column(&self, n: usize, norm: impl Fn(f64) -> f64) -> f64 {
        match self {
            Self::Identity | Self::Total | Self::Compress(_) => 1.0,
            Self::Evidence(values) => values.len().min(1) as f64,
            // Value 0 is in every prefix; the middle value is in the most ranges.
            Self::Prefix => n as f64,
            Self::Ranges => (n.div_ceil(2) as f64) * (n / 2 + 1) as f64,
            Self::Moments(moments) => {
                let powers = (0..*moments).scan(1.0, |power, _| {
                    *power *= (n - 1) as f64;
                    Some(*power)
                });
                powers.map(norm).sum()
            }
            Self::Intervals(intervals) => {
                let mut covering = vec![0.0; n];
                let ones = vec![1.0; intervals.len()];
                kron::interval_sums_transposed(intervals, &ones, &mut covering, n, 1);
                covering.into_iter().fold(0.0, f64::max)
            }
            Self::Contrasts | Self::PIdentity(_) | Self::Dense(_) => {
                let mut sums = vec![0.0; n];
                self.for_each_entry(n, |_, col, value| sums[col] += norm(value));
                sums.into_iter().fold(0.0, f64::max)
            }
            Self::Sparse(matrix) => {
                let (mut sums, mut row_values) = (vec![0.0; n], vec![0.0; n]);
                for row in 0..matrix.rows() {
                    matrix.row(row).for_each(|(col, value)| row_values[col] += value);
                    // `take` leaves zero, so a repeated column is counted once.
                    for (col, _) in matrix.row(row) {
                        sums[col] += norm(std::mem::take(&mut row_values[col]));
                    }
                }
                sums.into_iter().fold(0.0, f64::max)
            }
        }
    }

    /// The largest eigenvalue of Q^T Q: in closed form if there is one, otherwise by Lanczos
    /// iteration (`numeric::eigen`).
    ///
    /// For prefixes, P^T P has a tridiagonal inverse with known eigenvalues. For ranges,
    /// (Q^T Q)_ab = (min(a, b) + 1)(n - max(a, b)), which is (n + 1) times the inverse of the
    /// second-difference matrix.
    pub fn max_eigenvalue(&self, n: usize) -> f64 {
        let size = n as f64;
        match self {
            Self::Identity | Self::Contrasts => 1.0,
            Self::Prefix => 0.25 / (PI / (4.0 * size + 2.0)).sin().powi(2),
            Self::Total => size,
            Self::Ranges => 0.25 * (size + 1.0) / (PI / (2.0 * size + 2.0)).sin().powi(2),
            Self::Evidence(values) => values.len() as f64,
            Self::Compress(groups) => {
                let mut sorted = groups.clone();
                sorted.sort_unstable();
                sorted.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0) as f64
            }
            Self::Moments(_)
            | Self::Intervals(_)
            | Self::PIdentity(_)
            | Self::Dense(_)
            | Self::Sparse(_) => {
                let mut answers = vec![0.0; self.rows(n)];
                largest_eigenvalue(n, |x, image| {
                    self.apply(n, 1, x, &mut answers);
                    self.apply_transpose(n, 1, &answers, image);
                })
            }
        }
    }
}
