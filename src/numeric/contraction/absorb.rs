//! The way back through a table that took in a smaller one.

use std::array;

use multiversion::multiversion;

use super::blocks::{block, factors, in_blocks, store, total};
use super::{Contraction, Inner};

/// For every term full * other of every cell of O: full *= other * d, and the adjoint of other gets
/// what full * d was before.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn absorb_rows(
    plan: &Contraction,
    full: &mut [f64],
    other: &[f64],
    d: &[f64],
    adjoint: &mut [f64],
) {
    let n = plan.length;
    let second = plan.full == Some(1);
    adjoint.fill(0.0);
    for (row, &starts) in plan.rows.iter().enumerate() {
        for &term in &plan.terms {
            let (a_start, b_start) = factors(starts, term);
            let (at_full, at_other) = if second { (b_start, a_start) } else { (a_start, b_start) };
            let full = &mut full[at_full..at_full + n];
            match plan.inner {
                Inner::Dot | Inner::RowRow => {
                    let other = &other[at_other..at_other + n];
                    let adjoint = &mut adjoint[at_other..at_other + n];
                    match plan.inner {
                        Inner::Dot => along_other(full, other, &Slopes::One(d[row]), adjoint),
                        _ => along_other(full, other, &Slopes::Row(&d[row * n..][..n]), adjoint),
                    }
                }
                Inner::RowScalar => {
                    let slopes = Slopes::Row(&d[row * n..][..n]);
                    adjoint[at_other] += across_other(full, other[at_other], &slopes);
                }
                Inner::Sum | Inner::Repeat => {
                    adjoint[at_other] += across_other(full, other[at_other], &Slopes::One(d[row]));
                }
            }
        }
    }
}

/// The adjoint of O along a row of the full table.
enum Slopes<'a> {
    /// O lacks the inner axis.
    One(f64),
    /// O has it.
    Row(&'a [f64]),
}

impl Slopes<'_> {
    #[inline(always)]
    fn block<const W: usize>(&self, first: usize) -> [f64; W] {
        match self {
            Self::One(d) => [*d; W],
            Self::Row(d) => *block(d, first),
        }
    }
}

/// A row along which the other factor has its own numbers.
#[inline(always)]
fn along_other(full: &mut [f64], other: &[f64], slopes: &Slopes, adjoint: &mut [f64]) {
    let n = full.len();
    assert!(other.len() == n && adjoint.len() == n);
    in_blocks!(8, n, |first, W| {
        let cells: [f64; W] = *block(full, first);
        let slopes: [f64; W] = slopes.block(first);
        let both: [f64; W] = array::from_fn(|i| cells[i] * slopes[i]);
        let (other, before): (&[f64; W], &[f64; W]) = (block(other, first), block(adjoint, first));
        let sums: [f64; W] = array::from_fn(|i| before[i] + both[i]);
        store(adjoint, first, sums);
        store(full, first, array::from_fn::<f64, W, _>(|i| both[i] * other[i]));
    });
}

/// A row along which the other factor has one number. Returns what its adjoint gets.
#[inline(always)]
fn across_other(full: &mut [f64], other: f64, slopes: &Slopes) -> f64 {
    let n = full.len();
    let mut lanes = [0.0; 8];
    in_blocks!(8, n, |first, W| {
        let cells: [f64; W] = *block(full, first);
        let slopes: [f64; W] = slopes.block(first);
        let both: [f64; W] = array::from_fn(|i| cells[i] * slopes[i]);
        for i in 0..W {
            lanes[i] += both[i];
        }
        store(full, first, both.map(|both| both * other));
    });
    total(lanes)
}
