//! The rows of a sparse query matrix as runs of consecutive cells.

use multiversion::multiversion;

use crate::query::{QueryFactor, QueryMatrix};

/// The rows of a sparse query matrix as runs of consecutive cells with equal entries.
///
/// A query that counts the records in a box of cells has few runs. Its answer and its gradient
/// then cost a pass over the cells of the box instead of several passes over the whole marginal.
/// Mechanisms that measure one query per round have hundreds of such rows.
pub(super) struct RowRuns {
    /// The runs of all rows, row by row.
    runs: Vec<Run>,
    /// For each row, the end of its runs.
    ends: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Run {
    first: usize,
    cells: usize,
    entry: f64,
}

const LANES: usize = 8;

impl RowRuns {
    /// `None` unless the matrix is a sparse one over all cells of the marginal.
    pub(super) fn of(query: &QueryMatrix) -> Option<Self> {
        let [QueryFactor::Sparse(matrix)] = query.factors() else { return None };
        let (mut runs, mut ends) = (Vec::<Run>::new(), Vec::with_capacity(matrix.rows()));
        for row in 0..matrix.rows() {
            let first_of_row = runs.len();
            let mut entries: Vec<(usize, f64)> = matrix.row(row).collect();
            entries.sort_unstable_by_key(|&(cell, _)| cell);
            // Repeated entries of a cell add up.
            entries.dedup_by(|repeated, kept| {
                let is_same = repeated.0 == kept.0;
                kept.1 += if is_same { repeated.1 } else { 0.0 };
                is_same
            });
            for (cell, entry) in entries {
                match runs[first_of_row..].last_mut() {
                    Some(run) if run.first + run.cells == cell && run.entry == entry => {
                        run.cells += 1;
                    }
                    _ => runs.push(Run { first: cell, cells: 1, entry }),
                }
            }
            ends.push(runs.len());
        }
        Some(Self { runs, ends })
    }

    /// Writes Q mu.
    pub(super) fn apply(&self, cells: &[f64], answers: &mut [f64]) {
        apply(&self.runs, &self.ends, cells, answers);
    }

    /// Adds Q^T y.
    pub(super) fn add_transpose(&self, slopes: &[f64], cells: &mut [f64]) {
        add_transpose(&self.runs, &self.ends, slopes, cells);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn apply(runs: &[Run], ends: &[usize], cells: &[f64], answers: &mut [f64]) {
    let mut start = 0;
    for (answer, &end) in answers.iter_mut().zip(ends) {
        let (mut lanes, mut rest) = ([0.0; LANES], 0.0);
        for run in &runs[start..end] {
            let (eights, odd) = cells[run.first..][..run.cells].as_chunks::<LANES>();
            for eight in eights {
                lanes.iter_mut().zip(eight).for_each(|(sum, cell)| *sum += run.entry * cell);
            }
            rest += run.entry * odd.iter().sum::<f64>();
        }
        *answer = lanes.iter().sum::<f64>() + rest;
        start = end;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_transpose(runs: &[Run], ends: &[usize], slopes: &[f64], cells: &mut [f64]) {
    let mut start = 0;
    for (slope, &end) in slopes.iter().zip(ends) {
        for run in &runs[start..end] {
            let added = run.entry * slope;
            cells[run.first..][..run.cells].iter_mut().for_each(|cell| *cell += added);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{AttributeId, Domain};
    use crate::numeric::sparse::CsrMatrix;

    /// Rows of a matrix over `cells` cells: entries in any order, often next to each other, equal,
    /// zero or repeated.
    fn rows(cells: usize) -> impl Strategy<Value = Vec<Vec<(usize, f64)>>> {
        let entry = prop_oneof![Just(1.0), Just(0.0), -2.0..2.0];
        let scattered = prop::collection::vec((0..cells, entry), 0..6);
        let boxed = (0..cells, 0..cells).prop_map(|(a, b)| (a.min(b)..=a.max(b)).collect());
        let boxed = boxed.prop_map(|run: Vec<usize>| run.iter().map(|&cell| (cell, 1.0)).collect());
        let row =
            (prop_oneof![scattered, boxed], prop::collection::vec((0..cells, Just(1.0)), 0..2));
        prop::collection::vec(row.prop_map(|(row, more)| [row, more].concat()), 1..5)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn runs_agree_with_the_matrix(
            (cells, rows) in (1usize..60).prop_flat_map(|cells| (Just(cells), rows(cells))),
            seed in 0.1f64..1.0,
        ) {
            let domain = Domain::new([("x".to_string(), cells)]).unwrap();
            let mut matrix = CsrMatrix::new(cells);
            rows.iter().for_each(|row| matrix.push_row(row.iter().copied()));
            let query = QueryMatrix::sparse(&domain, &[AttributeId(0)], matrix).unwrap();
            let (runs, dense) = (RowRuns::of(&query).unwrap(), query.to_dense());

            let table: Vec<f64> = (0..cells).map(|i| (seed * i as f64).sin()).collect();
            let mut answers = vec![f64::NAN; rows.len()];
            runs.apply(&table, &mut answers);
            for (row, answer) in answers.iter().enumerate() {
                let expected = dense.row(row).iter().zip(&table).map(|(q, x)| q * x).sum();
                prop_assert!(close(*answer, expected), "{answer} instead of {expected}");
            }

            let slopes: Vec<f64> = (0..rows.len()).map(|i| 1.0 + seed * i as f64).collect();
            let mut gradient = table.clone();
            runs.add_transpose(&slopes, &mut gradient);
            for cell in 0..cells {
                let added: f64 = (0..rows.len()).map(|row| dense[(row, cell)] * slopes[row]).sum();
                prop_assert!(close(gradient[cell], table[cell] + added));
            }
        }
    }

    #[test]
    fn a_box_of_neighbouring_cells_is_one_run() {
        let domain = Domain::new([("x".to_string(), 9)]).unwrap();
        let mut matrix = CsrMatrix::new(9);
        matrix.push_row([(3, 1.0), (2, 1.0), (4, 1.0), (7, 1.0)]);
        let query = QueryMatrix::sparse(&domain, &[AttributeId(0)], matrix).unwrap();
        assert_eq!(RowRuns::of(&query).unwrap().runs.len(), 2);
        assert!(
            RowRuns::of(&QueryMatrix::identity(&domain, &domain.everything()).unwrap()).is_none()
        );
    }
}
