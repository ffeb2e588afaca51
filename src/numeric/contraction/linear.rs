//! The loops of a contraction of ordinary numbers.
//!
//! Several rows of O are built at once, a *tile*: their sums do not wait for each other, and where
//! they have the same factor from A, each number of it is loaded once for all of them.
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use multiversion::multiversion;

use super::blocks::{block, in_blocks, store, total};
use super::{Contraction, Inner, Tile};

/// Runs a kernel, made for the number of rows, on each tile.
macro_rules! each {
    ($kernel:ident, $shared:literal, $plan:ident, $tiles:ident, $first:ident, $a:ident, $b:ident,
     $o:ident) => {
        for tile in $tiles {
            let at =
                Place { a: tile.a as usize, b: tile.b as usize, row: tile.row as usize - $first };
            match tile.count {
                1 => $kernel::<1, $shared>($plan, at, $a, $b, $o),
                2 => $kernel::<2, $shared>($plan, at, $a, $b, $o),
                3 => $kernel::<3, $shared>($plan, at, $a, $b, $o),
                4 => $kernel::<4, $shared>($plan, at, $a, $b, $o),
                5 => $kernel::<5, $shared>($plan, at, $a, $b, $o),
                _ => $kernel::<6, $shared>($plan, at, $a, $b, $o),
            }
        }
    };
}
/// The rows of O in `tiles`; `o` begins with row `first_row`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn linear_tiles(
    plan: &Contraction,
    tiles: &[Tile],
    first_row: usize,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    match (plan.inner, plan.tiling.a_step == 0) {
        (Inner::RowRow, true) => each!(row_row, true, plan, tiles, first_row, a, b, o),
        (Inner::RowRow, false) => each!(row_row, false, plan, tiles, first_row, a, b, o),
        (Inner::RowScalar, true) => each!(row_scalar, true, plan, tiles, first_row, a, b, o),
        (Inner::RowScalar, false) => each!(row_scalar, false, plan, tiles, first_row, a, b, o),
        (Inner::Dot, true) => each!(dot, true, plan, tiles, first_row, a, b, o),
        (Inner::Dot, false) => each!(dot, false, plan, tiles, first_row, a, b, o),
        (Inner::Sum, _) => each!(sum, false, plan, tiles, first_row, a, b, o),
        (Inner::Repeat, _) => each!(repeat, false, plan, tiles, first_row, a, b, o),
    }
}

/// Where the first row of a tile and its factors are.
#[derive(Clone, Copy)]
struct Place {
    a: usize,
    b: usize,
    row: usize,
}

#[inline(always)]
fn row_row<const R: usize, const SHARED: bool>(
    plan: &Contraction,
    at: Place,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (n, tiling) = (plan.length, &plan.tiling);
    in_blocks!(8, n, |first, W| {
        let mut sums = [[0.0; W]; R];
        for &[a_term, b_term] in &plan.terms {
            let a_start = at.a + a_term as usize + first;
            let b_start = at.b + b_term as usize + first;
            for r in 0..R {
                let a_row = if SHARED { 0 } else { r * tiling.a_step };
                let x: &[f64; W] = block(a, a_start + a_row);
                let y: &[f64; W] = block(b, b_start + r * tiling.b_step);
                for i in 0..W {
                    sums[r][i] += x[i] * y[i];
                }
            }
        }
        for (r, &sums) in sums.iter().enumerate() {
            store(o, (at.row + r * tiling.row_step) * n + first, sums);
        }
    });
}

#[inline(always)]
fn row_scalar<const R: usize, const SHARED: bool>(
    plan: &Contraction,
    at: Place,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (n, tiling) = (plan.length, &plan.tiling);
    in_blocks!(8, n, |first, W| {
        let mut sums = [[0.0; W]; R];
        for &[a_term, b_term] in &plan.terms {
            let a_start = at.a + a_term as usize + first;
            let b_start = at.b + b_term as usize;
            for r in 0..R {
                let a_row = if SHARED { 0 } else { r * tiling.a_step };
                let x: &[f64; W] = block(a, a_start + a_row);
                let y = b[b_start + r * tiling.b_step];
                for i in 0..W {
                    sums[r][i] += x[i] * y;
                }
            }
        }
        for (r, &sums) in sums.iter().enumerate() {
            store(o, (at.row + r * tiling.row_step) * n + first, sums);
        }
    });
}

#[inline(always)]
fn dot<const R: usize, const SHARED: bool>(
    plan: &Contraction,
    at: Place,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (n, tiling) = (plan.length, &plan.tiling);
    let mut lanes = [[0.0; 8]; R];
    for &[a_term, b_term] in &plan.terms {
        let (a_start, b_start) = (at.a + a_term as usize, at.b + b_term as usize);
        in_blocks!(8, n, |first, W| {
            for r in 0..R {
                let a_row = if SHARED { 0 } else { r * tiling.a_step };
                let x: &[f64; W] = block(a, a_start + first + a_row);
                let y: &[f64; W] = block(b, b_start + first + r * tiling.b_step);
                for i in 0..W {
                    lanes[r][i] += x[i] * y[i];
                }
            }
        });
    }
    for (r, &lanes) in lanes.iter().enumerate() {
        o[at.row + r * tiling.row_step] = total(lanes);
    }
}

#[inline(always)]
fn sum<const R: usize, const SHARED: bool>(
    plan: &Contraction,
    at: Place,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let tiling = &plan.tiling;
    let mut lanes = [[0.0; 8]; R];
    for &[a_term, b_term] in &plan.terms {
        let (a_start, b_start) = (at.a + a_term as usize, at.b + b_term as usize);
        in_blocks!(8, plan.length, |first, W| {
            for r in 0..R {
                let x: &[f64; W] = block(a, a_start + first + r * tiling.a_step);
                let y = b[b_start + r * tiling.b_step];
                for i in 0..W {
                    lanes[r][i] += x[i] * y;
                }
            }
        });
    }
    for (r, &lanes) in lanes.iter().enumerate() {
        o[at.row + r * tiling.row_step] = total(lanes);
    }
}

#[inline(always)]
fn repeat<const R: usize, const SHARED: bool>(
    plan: &Contraction,
    at: Place,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (n, tiling) = (plan.length, &plan.tiling);
    for r in 0..R {
        let (a_start, b_start) = (at.a + r * tiling.a_step, at.b + r * tiling.b_step);
        let term = |&[a_term, b_term]: &[u32; 2]| {
            a[a_start + a_term as usize] * b[b_start + b_term as usize]
        };
        let row = (at.row + r * tiling.row_step) * n;
        o[row..row + n].fill(plan.terms.iter().map(term).sum());
    }
}
