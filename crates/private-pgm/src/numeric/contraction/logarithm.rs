//! Kernels of contractions of logarithms: maxima and log-sum-exp.
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use multiversion::multiversion;

use super::blocks::{block, factors, in_blocks, store, total};
use super::{Contraction, Inner};
use crate::numeric::exp::{exp_one, ln_one};

// Loops rather than functions that take closures: a closure which is not inlined is compiled for
// the baseline instruction set, in which each fused multiply-add of an exponential is a call.

/// A + B for one term of the block of W cells at `first` of a row.
#[inline(always)]
fn term_of_cells<const W: usize>(
    plan: &Contraction,
    [row, term]: [[u32; 2]; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
) -> [f64; W] {
    let (a_start, b_start) = factors(row, term);
    let mut sums: [f64; W] = *block(a, a_start + first);
    if plan.inner == Inner::RowScalar {
        for i in 0..W {
            sums[i] += b[b_start];
        }
    } else {
        let b: &[f64; W] = block(b, b_start + first);
        for i in 0..W {
            sums[i] += b[i];
        }
    }
    sums
}

/// Runs `$body` for the terms A + B of a row whose result lacks the inner axis, up to eight terms
/// at a time.
macro_rules! each_scalar_term {
    ($plan:ident, $row:ident, $a:ident, $b:ident, |$terms:ident| $body:expr) => {
        let n = if $plan.inner == Inner::Repeat { 1 } else { $plan.length };
        for &term in &$plan.terms {
            let (a_start, b_start) = factors($row, term);
            in_blocks!(8, n, |first, W| {
                let mut $terms: [f64; W] = *block($a, a_start + first);
                for i in 0..W {
                    let at = if $plan.inner == Inner::Dot { first + i } else { 0 };
                    $terms[i] += $b[b_start + at];
                }
                $body
            });
        }
    };
}

/// The largest term of a row whose result lacks the inner axis.
#[inline(always)]
fn largest_term(plan: &Contraction, row: [u32; 2], a: &[f64], b: &[f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; 8];
    each_scalar_term!(plan, row, a, b, |terms| {
        for (best, &term) in best.iter_mut().zip(&terms) {
            *best = larger(*best, term);
        }
    });
    best.into_iter().fold(f64::NEG_INFINITY, larger)
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// A shift that keeps exp in range and never turns an infinity into a NaN.
#[inline(always)]
fn finite_or_zero(shift: f64) -> f64 {
    if shift == f64::NEG_INFINITY { 0.0 } else { shift }
}

/// ln of a sum of shifted exponentials: at least 1, or 0 if every term is minus infinity.
#[inline(always)]
fn ln_of_sum(sum: f64) -> f64 {
    if sum > 0.0 { ln_one(sum) } else { f64::NEG_INFINITY }
}

/// The largest term of each of the W cells at `first` of a row.
#[inline(always)]
fn largest_terms<const W: usize>(
    plan: &Contraction,
    row: [u32; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
) -> [f64; W] {
    let mut best = [f64::NEG_INFINITY; W];
    for &term in &plan.terms {
        let x: [f64; W] = term_of_cells(plan, [row, term], first, a, b);
        for i in 0..W {
            best[i] = larger(best[i], x[i]);
        }
    }
    best
}

/// The log-sum-exp of the terms of each of the W cells at `first` of a row.
#[inline(always)]
fn log_sum_exp_terms<const W: usize>(
    plan: &Contraction,
    row: [u32; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
) -> [f64; W] {
    let mut shift = largest_terms::<W>(plan, row, first, a, b);
    for i in 0..W {
        shift[i] = finite_or_zero(shift[i]);
    }
    let mut sums = [0.0; W];
    for &term in &plan.terms {
        let x: [f64; W] = term_of_cells(plan, [row, term], first, a, b);
        for i in 0..W {
            sums[i] += exp_one(x[i] - shift[i]);
        }
    }
    for i in 0..W {
        sums[i] = shift[i] + ln_of_sum(sums[i]);
    }
    sums
}

/// Fills rows of O with the maxima of their terms A + B.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn max_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    store(o, first, largest_terms::<W>(plan, row, first, a, b));
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                o.fill(largest_term(plan, row, a, b));
            }
        }
    }
}

/// Fills rows of O with the log-sum-exp of their terms A + B.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn log_sum_exp_rows(
    plan: &Contraction,
    rows: &[[u32; 2]],
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    store(o, first, log_sum_exp_terms::<W>(plan, row, first, a, b));
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                let shift = finite_or_zero(largest_term(plan, row, a, b));
                let mut sums = [0.0; 8];
                each_scalar_term!(plan, row, a, b, |terms| {
                    for (sum, &term) in sums.iter_mut().zip(&terms) {
                        *sum += exp_one(term - shift);
                    }
                });
                o.fill(shift + ln_of_sum(total(sums)));
            }
        }
    }
}
