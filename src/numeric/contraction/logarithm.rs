//! The loops of a contraction of logarithms: maxima, and logarithms of sums.

use multiversion::multiversion;

use super::blocks::{block, factors, in_blocks, store};
use super::{Contraction, Inner};
use crate::numeric::exp::exp_one;

/// Calls `visit` with the sum A + B of every term of the block of W values at `first` of a row.
#[inline(always)]
fn each_term<const W: usize>(
    plan: &Contraction,
    row: [u32; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
    mut visit: impl FnMut([f64; W]),
) {
    for &term in &plan.terms {
        let (a_start, b_start) = factors(row, term);
        let a: &[f64; W] = block(a, a_start + first);
        match plan.inner {
            Inner::RowScalar => visit(a.map(|a| a + b[b_start])),
            _ => {
                let b: &[f64; W] = block(b, b_start + first);
                visit(std::array::from_fn(|i| a[i] + b[i]));
            }
        }
    }
}

/// Calls `visit` with A + B for every term of a result that has no inner axis of its own.
#[inline(always)]
fn each_scalar_term(
    plan: &Contraction,
    row: [u32; 2],
    a: &[f64],
    b: &[f64],
    mut visit: impl FnMut(f64),
) {
    let n = if plan.inner == Inner::Repeat { 1 } else { plan.length };
    let b_step = usize::from(plan.inner == Inner::Dot);
    for &term in &plan.terms {
        let (a_start, b_start) = factors(row, term);
        for i in 0..n {
            visit(a[a_start + i] + b[b_start + i * b_step]);
        }
    }
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn max_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    let mut best = [f64::NEG_INFINITY; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        for i in 0..W {
                            best[i] = larger(best[i], x[i]);
                        }
                    });
                    store(o, first, best);
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                let mut best = f64::NEG_INFINITY;
                each_scalar_term(plan, row, a, b, |x| best = larger(best, x));
                o.fill(best);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn logarithm_rows(
    plan: &Contraction,
    rows: &[[u32; 2]],
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    /// A shift that keeps exp in range and never turns an infinity into a NaN.
    #[inline(always)]
    fn finite(shift: f64) -> f64 {
        if shift == f64::NEG_INFINITY { 0.0 } else { shift }
    }
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    let mut best = [f64::NEG_INFINITY; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        for i in 0..W {
                            best[i] = larger(best[i], x[i]);
                        }
                    });
                    let shift = best.map(finite);
                    let mut sums = [0.0; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        for i in 0..W {
                            sums[i] += exp_one(x[i] - shift[i]);
                        }
                    });
                    store(o, first, std::array::from_fn::<f64, W, _>(|i| shift[i] + sums[i].ln()));
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                let mut best = f64::NEG_INFINITY;
                each_scalar_term(plan, row, a, b, |x| best = larger(best, x));
                let shift = finite(best);
                let mut sum = 0.0;
                each_scalar_term(plan, row, a, b, |x| sum += exp_one(x - shift));
                o.fill(shift + sum.ln());
            }
        }
    }
}
