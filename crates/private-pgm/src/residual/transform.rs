//! Between a marginal and its residuals, axis by axis.
//!
//! Residuals of a marginal with m axes are a list of 2^m tables: the table at index b is over the
//! axes i with bit i of b set, row-major.

use crate::numeric::kron;
use crate::numeric::memory;
use crate::query::QueryFactor;

/// The residuals of a marginal of this shape, on all subsets of its axes.
///
/// Each axis turns every table into its sums along the axis and what remains after their mean is
/// subtracted. Cost: the product of n_i + 1 over the axes, times the number of axes at most.
pub fn split(shape: &[usize], marginal: &[f64]) -> Vec<Vec<f64>> {
    let factors = vec![QueryFactor::Identity; shape.len()];
    let tables = split_answers(shape, &factors, marginal);
    tables.into_iter().map(|table| table.expect("the identity determines all residuals")).collect()
}

/// The residuals that answers to a Kronecker product of identities, totals and contrasts determine.
///
/// # Panics
/// If a factor is of another kind.
pub(super) fn split_answers(
    shape: &[usize],
    factors: &[QueryFactor],
    answers: &[f64],
) -> Vec<Option<Vec<f64>>> {
    let mut tables: Vec<Option<Vec<f64>>> = vec![None; 1 << shape.len()];
    tables[0] = Some(memory::copied(answers));
    // From the last axis to the first. Before axis i, the tables at masks of the axes after i have
    // the rows of all factors up to i, then their own axes.
    for (axis, (&n, factor)) in shape.iter().zip(factors).enumerate().rev() {
        let step = 1 << (axis + 1);
        for later in (0..tables.len()).step_by(step) {
            let Some(table) = tables[later].take() else { continue };
            let inner = axes_of(shape, later);
            let (sums, centred) = split_axis(factor, n, inner, table);
            tables[later] = sums;
            tables[later | 1 << axis] = centred;
        }
    }
    tables
}

/// The sums along an axis, and the table without its mean along the axis.
fn split_axis(
    factor: &QueryFactor,
    n: usize,
    inner: usize,
    mut table: Vec<f64>,
) -> (Option<Vec<f64>>, Option<Vec<f64>>) {
    match factor {
        QueryFactor::Identity => {
            let mut sums = memory::zeros(table.len() / n);
            kron::sums(&table, &mut sums, n, inner);
            let share = (n as f64).recip();
            for (block, sums) in table.chunks_exact_mut(n * inner).zip(sums.chunks_exact(inner)) {
                for row in block.chunks_exact_mut(inner) {
                    row.iter_mut().zip(sums).for_each(|(cell, sum)| *cell -= share * sum);
                }
            }
            (Some(sums), Some(table))
        }
        QueryFactor::Total => (Some(table), None),
        QueryFactor::Contrasts => {
            let mut centred = memory::zeros(table.len() / (n - 1) * n);
            factor.apply_transpose(n, inner, &table, &mut centred);
            (None, Some(centred))
        }
        other => panic!("{} queries have no residuals", other.name()),
    }
}

/// The marginal with these residuals: the inverse of [`split`]. A residual that is `None` is zero.
/// `None` if all are.
pub fn assemble(shape: &[usize], residuals: &[Option<&[f64]>]) -> Option<Vec<f64>> {
    // Before axis i, the tables at masks of the axes from i on have all axes before i.
    let mut tables: Vec<Option<Vec<f64>>> = Vec::new();
    for (axis, &n) in shape.iter().enumerate() {
        let step = 1 << (axis + 1);
        let mut joined = vec![None; residuals.len()];
        for later in (0..residuals.len()).step_by(step) {
            let with = later | 1 << axis;
            let (sums, centred) = match axis {
                0 => (residuals[later], residuals[with].map(<[f64]>::to_vec)),
                _ => {
                    let centred = tables[with].take();
                    (tables[later].as_deref(), centred)
                }
            };
            joined[later] = join_axis(n, axes_of(shape, later), sums, centred);
        }
        tables = joined;
    }
    match shape {
        [] => residuals[0].map(<[f64]>::to_vec),
        _ => tables.swap_remove(0),
    }
}

/// The table with these sums and this deviation from their mean along an axis.
fn join_axis(
    n: usize,
    inner: usize,
    sums: Option<&[f64]>,
    centred: Option<Vec<f64>>,
) -> Option<Vec<f64>> {
    let Some(sums) = sums else { return centred };
    let mut table = centred.unwrap_or_else(|| memory::zeros(sums.len() * n));
    let share = (n as f64).recip();
    for (block, sums) in table.chunks_exact_mut(n * inner).zip(sums.chunks_exact(inner)) {
        for row in block.chunks_exact_mut(inner) {
            row.iter_mut().zip(sums).for_each(|(cell, sum)| *cell += share * sum);
        }
    }
    Some(table)
}

/// The number of cells over the axes in `mask`.
fn axes_of(shape: &[usize], mask: usize) -> usize {
    let axes = shape.iter().enumerate().filter(|(axis, _)| mask >> axis & 1 == 1);
    axes.map(|(_, &n)| n).product()
}
