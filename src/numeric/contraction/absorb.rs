//! The way back through a table that took in a smaller one.

use std::array;

use multiversion::multiversion;

use super::blocks::{block, factors, in_blocks, of_length, store, sum, total};
use super::{Contraction, Inner};
use crate::numeric::faint::unless_faint;

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
    adjoint.fill(0.0);
    of_length!(plan.length, absorb(plan, full, other, d, adjoint));
}

/// The same for rows of `N` numbers, or of any number if that is 0.
#[inline(always)]
fn absorb<const N: usize>(
    plan: &Contraction,
    full: &mut [f64],
    other: &[f64],
    d: &[f64],
    adjoint: &mut [f64],
) {
    let n = if N > 0 { N } else { plan.length };
    let second = plan.full == Some(1);
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
                        Inner::Dot => along_other::<N>(full, other, &Slopes::One(d[row]), adjoint),
                        _ => {
                            along_other::<N>(full, other, &Slopes::Row(&d[row * n..][..n]), adjoint)
                        }
                    }
                }
                Inner::RowScalar => {
                    let slopes = Slopes::Row(&d[row * n..][..n]);
                    adjoint[at_other] += across_other::<N>(full, other[at_other], &slopes);
                }
                Inner::Sum | Inner::Repeat => {
                    adjoint[at_other] +=
                        across_other::<N>(full, other[at_other], &Slopes::One(d[row]));
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
fn along_other<const N: usize>(
    full: &mut [f64],
    other: &[f64],
    slopes: &Slopes,
    adjoint: &mut [f64],
) {
    let n = full.len();
    assert!(other.len() == n && adjoint.len() == n);
    macro_rules! part {
        ($first:expr, $W:ident) => {{
            let cells: [f64; $W] = *block(full, $first);
            let slopes: [f64; $W] = slopes.block($first);
            let both: [f64; $W] = array::from_fn(|i| unless_faint(cells[i] * slopes[i]));
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

/// A row along which the other factor has one number. Returns what its adjoint gets.
#[inline(always)]
fn across_other<const N: usize>(full: &mut [f64], other: f64, slopes: &Slopes) -> f64 {
    if N > 0 {
        let (cells, slopes): (&[f64; N], [f64; N]) = (block(full, 0), slopes.block(0));
        let both: [f64; N] = array::from_fn(|i| unless_faint(cells[i] * slopes[i]));
        store(full, 0, both.map(|both| both * other));
        return sum(both);
    }
    let n = full.len();
    let mut lanes = [0.0; 8];
    in_blocks!(8, n, |first, W| {
        let cells: [f64; W] = *block(full, first);
        let slopes: [f64; W] = slopes.block(first);
        let both: [f64; W] = array::from_fn(|i| unless_faint(cells[i] * slopes[i]));
        for i in 0..W {
            lanes[i] += both[i];
        }
        store(full, first, both.map(|both| both * other));
    });
    total(lanes)
}
