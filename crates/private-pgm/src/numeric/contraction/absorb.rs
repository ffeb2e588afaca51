//! The backward pass through a product in which one factor has every axis.

use std::array;

use multiversion::multiversion;

use super::blocks::{block, in_blocks, of_length, store, total};
use super::{Contraction, Inner, at};
use crate::numeric::flush_to_zero::flush_to_zero;

/// For every term full * other of every cell of O, with adjoint d: adds full * d to the adjoint of
/// other, then multiplies full by other * d.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn absorb_rows(
    plan: &Contraction,
    full: &mut [f64],
    other: &[f64],
    d: &[f64],
    adjoint: &mut [f64],
) {
    adjoint.fill(0.0);
    of_length!(plan.length, absorb(plan, full, other, d, adjoint));
}

/// [`absorb_rows`] for rows of `N` numbers, or of any length if `N` is 0.
#[inline(always)]
fn absorb<const N: usize>(
    plan: &Contraction,
    full: &mut [f64],
    other: &[f64],
    d: &[f64],
    adjoint: &mut [f64],
) {
    let n = if N > 0 { N } else { plan.length };
    // A macro rather than a function with a closure, which would be compiled for the baseline
    // instruction set.
    macro_rules! each_row {
        (|$cells:ident, $row:ident, $at_other:ident| $body:expr) => {
            for ($cells, &[row, at_other]) in full.chunks_exact_mut(n).zip(&plan.full_rows) {
                let ($row, $at_other) = (row as usize, at_other as usize);
                $body
            }
        };
    }
    match plan.inner {
        Inner::Dot => each_row!(|cells, row, at_other| {
            let (other, adjoint) = (&other[at_other..][..n], &mut adjoint[at_other..][..n]);
            along_other::<N>(cells, other, &RowAdjoint::One(d[row]), adjoint);
        }),
        Inner::RowRow => each_row!(|cells, row, at_other| {
            let (other, adjoint) = (&other[at_other..][..n], &mut adjoint[at_other..][..n]);
            along_other::<N>(cells, other, &RowAdjoint::Row(&d[row * n..][..n]), adjoint);
        }),
        Inner::RowScalar => each_row!(|cells, row, at_other| {
            let d = RowAdjoint::Row(&d[row * n..][..n]);
            adjoint[at_other] += across_other::<N>(cells, other[at_other], &d);
        }),
        // (`Repeat` does not occur, since the full factor has the inner axis.)
        Inner::Sum | Inner::Repeat => each_row!(|cells, row, at_other| {
            adjoint[at_other] +=
                across_other::<N>(cells, other[at_other], &RowAdjoint::One(d[row]));
        }),
    }
}

/// For each row of the full table, in memory order: the row of O that it contributes to, and where
/// its factor of the other table starts. Memory order matters because the full table is the largest
/// and is often not in cache. Empty when no factor is full.
pub(super) fn full_rows(
    [rows, terms]: [&[[u32; 2]]; 2],
    full: Option<usize>,
    length: usize,
) -> Vec<[u32; 2]> {
    let Some(full) = full else { return Vec::new() };
    let mut full_rows = vec![[0; 2]; rows.len() * terms.len()];
    for (row, &starts) in rows.iter().enumerate() {
        for &term in terms {
            let offset = |factor: usize| starts[factor] + term[factor];
            full_rows[offset(full) as usize / length] = [at(0, row), offset(1 - full)];
        }
    }
    full_rows
}

/// The adjoint of O along a row of the full table.
enum RowAdjoint<'a> {
    /// O lacks the inner axis.
    One(f64),
    /// O has it.
    Row(&'a [f64]),
}

impl RowAdjoint<'_> {
    #[inline(always)]
    fn block<const W: usize>(&self, first: usize) -> [f64; W] {
        match self {
            Self::One(d) => [*d; W],
            Self::Row(d) => *block(d, first),
        }
    }
}

/// A row along which the other factor varies.
#[inline(always)]
fn along_other<const N: usize>(
    full: &mut [f64],
    other: &[f64],
    d: &RowAdjoint,
    adjoint: &mut [f64],
) {
    let n = full.len();
    assert!(other.len() == n && adjoint.len() == n);
    macro_rules! part {
        ($first:expr, $W:ident) => {{
            let cells: [f64; $W] = *block(full, $first);
            let d: [f64; $W] = d.block($first);
            let both: [f64; $W] = array::from_fn(|i| flush_to_zero(cells[i] * d[i]));
            let (other, before): (&[f64; $W], &[f64; $W]) =
                (block(other, $first), block(adjoint, $first));
            let sums: [f64; $W] = array::from_fn(|i| before[i] + both[i]);
            store(adjoint, $first, sums);
            store(full, $first, array::from_fn::<f64, $W, _>(|i| both[i] * other[i]));
        }};
    }
    if N > 0 {
        part!(0, N);
    } else {
        in_blocks!(8, n, |first, W| part!(first, W));
    }
}

/// A row along which the other factor is constant. Returns what is added to its adjoint.
#[inline(always)]
fn across_other<const N: usize>(full: &mut [f64], other: f64, d: &RowAdjoint) -> f64 {
    let n = if N > 0 { N } else { full.len() };
    let mut lanes = [0.0; 8];
    in_blocks!(8, n, |first, W| {
        let cells: [f64; W] = *block(full, first);
        let d: [f64; W] = d.block(first);
        let both: [f64; W] = array::from_fn(|i| flush_to_zero(cells[i] * d[i]));
        for i in 0..W {
            lanes[i] += both[i];
        }
        store(full, first, both.map(|both| both * other));
    });
    total(lanes)
}
