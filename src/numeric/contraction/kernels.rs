//! The loops of a contraction, one function an algebra, each compiled for several instruction sets.

use multiversion::multiversion;

use super::{Contraction, Inner};
use crate::numeric::exp::exp_one;

/// Runs `$body` for blocks of 16, 8, 4, 2 and 1 values that cover `0..$n`, with the block's start
/// bound to `$first` and its width to the constant `$W`.
macro_rules! in_blocks {
    ($n:expr, |$first:ident, $W:ident| $body:expr) => {{
        let n: usize = $n;
        let mut $first = 0;
        while n - $first >= 16 {
            const $W: usize = 16;
            $body;
            $first += 16;
        }
        if n - $first >= 8 {
            const $W: usize = 8;
            $body;
            $first += 8;
        }
        if n - $first >= 4 {
            const $W: usize = 4;
            $body;
            $first += 4;
        }
        if n - $first >= 2 {
            const $W: usize = 2;
            $body;
            $first += 2;
        }
        if n - $first >= 1 {
            const $W: usize = 1;
            $body;
        }
    }};
}

#[inline(always)]
fn block<const W: usize>(table: &[f64], start: usize) -> &[f64; W] {
    table[start..start + W].try_into().expect("W values")
}

#[inline(always)]
fn store<const W: usize>(o: &mut [f64], start: usize, values: [f64; W]) {
    o[start..start + W].copy_from_slice(&values);
}

/// Where the factors of one term of one row start.
#[inline(always)]
pub(super) fn factors(row: [u32; 2], term: [u32; 2]) -> (usize, usize) {
    (row[0] as usize + term[0] as usize, row[1] as usize + term[1] as usize)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn linear_rows(
    plan: &Contraction,
    rows: &[[u32; 2]],
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (n, terms) = (plan.length, &plan.terms[..]);
    match plan.inner {
        Inner::RowRow => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                in_blocks!(n, |first, W| {
                    let mut sums = [0.0; W];
                    for &term in terms {
                        let (a_start, b_start) = factors(row, term);
                        let a: &[f64; W] = block(a, a_start + first);
                        let b: &[f64; W] = block(b, b_start + first);
                        (0..W).for_each(|i| sums[i] += a[i] * b[i]);
                    }
                    store(o, first, sums);
                });
            }
        }
        Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                in_blocks!(n, |first, W| {
                    let mut sums = [0.0; W];
                    for &term in terms {
                        let (a_start, b_start) = factors(row, term);
                        let a: &[f64; W] = block(a, a_start + first);
                        let b = b[b_start];
                        (0..W).for_each(|i| sums[i] += a[i] * b);
                    }
                    store(o, first, sums);
                });
            }
        }
        Inner::Dot => {
            for (o, &row) in o.iter_mut().zip(rows) {
                let mut lanes = [0.0; 16];
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    in_blocks!(n, |first, W| {
                        let a: &[f64; W] = block(a, a_start + first);
                        let b: &[f64; W] = block(b, b_start + first);
                        (0..W).for_each(|i| lanes[i] += a[i] * b[i]);
                    });
                }
                *o = total(lanes);
            }
        }
        Inner::Sum => {
            for (o, &row) in o.iter_mut().zip(rows) {
                let mut lanes = [0.0; 16];
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    let b = b[b_start];
                    in_blocks!(n, |first, W| {
                        let a: &[f64; W] = block(a, a_start + first);
                        (0..W).for_each(|i| lanes[i] += a[i] * b);
                    });
                }
                *o = total(lanes);
            }
        }
        Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                let mut sum = 0.0;
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    sum += a[a_start] * b[b_start];
                }
                o.fill(sum);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn absorb_rows(
    plan: &Contraction,
    full: &[f64],
    other: &[f64],
    d: &[f64],
    product: &mut [f64],
    adjoint: &mut [f64],
) {
    let n = plan.length;
    adjoint.fill(0.0);
    if plan.inner == Inner::Dot {
        for (&d, &row) in d.iter().zip(&plan.rows) {
            for &term in &plan.terms {
                let (full_start, other_start) = factors(row, term);
                in_blocks!(n, |first, W| {
                    let full: &[f64; W] = block(full, full_start + first);
                    let other: &[f64; W] = block(other, other_start + first);
                    let mut adjoints: [f64; W] = *block(adjoint, other_start + first);
                    let mut products = [0.0; W];
                    for i in 0..W {
                        let both = full[i] * d;
                        adjoints[i] += both;
                        products[i] = both * other[i];
                    }
                    store(product, full_start + first, products);
                    store(adjoint, other_start + first, adjoints);
                });
            }
        }
        return;
    }
    for (d, &row) in d.chunks_exact(n).zip(&plan.rows) {
        for &term in &plan.terms {
            let (full_start, other_start) = factors(row, term);
            let factor = other[other_start];
            let mut lanes = [0.0; 16];
            in_blocks!(n, |first, W| {
                let full: &[f64; W] = block(full, full_start + first);
                let d: &[f64; W] = block(d, first);
                let mut products = [0.0; W];
                for i in 0..W {
                    let both = full[i] * d[i];
                    lanes[i] += both;
                    products[i] = factor * both;
                }
                store(product, full_start + first, products);
            });
            adjoint[other_start] += total(lanes);
        }
    }
}

/// The sum of sixteen lanes, always in the same order.
#[inline(always)]
fn total(lanes: [f64; 16]) -> f64 {
    let mut eight = [0.0; 8];
    (0..8).for_each(|i| eight[i] = lanes[i] + lanes[i + 8]);
    let mut four = [0.0; 4];
    (0..4).for_each(|i| four[i] = eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

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

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn max_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    let mut best = [f64::NEG_INFINITY; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        (0..W).for_each(|i| best[i] = larger(best[i], x[i]));
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

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
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
                        (0..W).for_each(|i| best[i] = larger(best[i], x[i]));
                    });
                    let shift = best.map(finite);
                    let mut sums = [0.0; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        (0..W).for_each(|i| sums[i] += exp_one(x[i] - shift[i]));
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
