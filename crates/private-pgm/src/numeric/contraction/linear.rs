//! Kernels of contractions in linear space.
//!
//! A *tile* is several rows of O that are computed together. Their sums are independent, and where
//! they share the factor from A, each of its numbers is loaded once for all rows. Short rows are
//! computed one by one, in a single pass over their terms.
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use multiversion::multiversion;

use super::blocks::{block, in_blocks, of_length, store, sum, total};
use super::{Contraction, Inner, Tile};

/// Runs a kernel, specialised for the number of rows and for two properties of the factors, on each
/// tile.
macro_rules! each {
    ($kernel:ident, $shared:literal, $scalar:literal, $plan:ident, $tiles:ident, $first:ident,
     $a:ident, $b:ident, $o:ident) => {
        for tile in $tiles {
            let at = TileStart {
                a: tile.a as usize,
                b: tile.b as usize,
                row: tile.row as usize - $first,
            };
            match tile.count {
                1 => $kernel::<1, $shared, $scalar>($plan, at, $a, $b, $o),
                2 => $kernel::<2, $shared, $scalar>($plan, at, $a, $b, $o),
                3 => $kernel::<3, $shared, $scalar>($plan, at, $a, $b, $o),
                4 => $kernel::<4, $shared, $scalar>($plan, at, $a, $b, $o),
                5 => $kernel::<5, $shared, $scalar>($plan, at, $a, $b, $o),
                _ => $kernel::<6, $shared, $scalar>($plan, at, $a, $b, $o),
            }
        }
    };
}

/// Computes the rows of O in `tiles`; `o` begins with row `first_row`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn linear_tiles(
    plan: &Contraction,
    tiles: &[Tile],
    first_row: usize,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    of_length!(plan.length, rows_of(plan, tiles, first_row, a, b, o));
}

/// [`linear_tiles`] for rows of `N` numbers, or of any length if `N` is 0.
#[inline(always)]
fn rows_of<const N: usize>(
    plan: &Contraction,
    tiles: &[Tile],
    first_row: usize,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    if N > 0 {
        return match plan.inner {
            Inner::RowRow => short::<N, false, false>(plan, tiles, first_row, a, b, o),
            Inner::RowScalar => short::<N, true, false>(plan, tiles, first_row, a, b, o),
            Inner::Dot => short::<N, false, true>(plan, tiles, first_row, a, b, o),
            Inner::Sum => short::<N, true, true>(plan, tiles, first_row, a, b, o),
            Inner::Repeat => each!(repeat, false, false, plan, tiles, first_row, a, b, o),
        };
    }
    match (plan.inner, plan.tiling.a_step == 0) {
        (Inner::RowRow, true) => each!(rows, true, false, plan, tiles, first_row, a, b, o),
        (Inner::RowRow, false) => each!(rows, false, false, plan, tiles, first_row, a, b, o),
        (Inner::RowScalar, true) => each!(rows, true, true, plan, tiles, first_row, a, b, o),
        (Inner::RowScalar, false) => each!(rows, false, true, plan, tiles, first_row, a, b, o),
        (Inner::Dot, true) => each!(dots, true, false, plan, tiles, first_row, a, b, o),
        (Inner::Dot, false) => each!(dots, false, false, plan, tiles, first_row, a, b, o),
        (Inner::Sum, _) => each!(dots, false, true, plan, tiles, first_row, a, b, o),
        (Inner::Repeat, _) => each!(repeat, false, false, plan, tiles, first_row, a, b, o),
    }
}

/// Rows of `N` numbers, one after the other. With `SCALAR` the factor from B lacks the inner axis,
/// with `SUMMED` O lacks it.
#[inline(always)]
fn short<const N: usize, const SCALAR: bool, const SUMMED: bool>(
    plan: &Contraction,
    tiles: &[Tile],
    first_row: usize,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let tiling = &plan.tiling;
    for tile in tiles {
        for r in 0..tile.count as usize {
            let (a_start, b_start) =
                (tile.a as usize + r * tiling.a_step, tile.b as usize + r * tiling.b_step);
            let row = tile.row as usize - first_row + r * tiling.row_step;
            let mut sums = [0.0; N];
            for &[a_term, b_term] in &plan.terms {
                let (a_at, b_at) = (a_start + a_term as usize, b_start + b_term as usize);
                let x: &[f64; N] = block(a, a_at);
                let y: [f64; N] = if SCALAR { [b[b_at]; N] } else { *block(b, b_at) };
                for i in 0..N {
                    sums[i] = x[i].mul_add(y[i], sums[i]);
                }
            }
            if SUMMED {
                o[row] = sum(sums);
            } else {
                store(o, row * N, sums);
            }
        }
    }
}

/// The first row of a tile, and where its factors start.
#[derive(Clone, Copy)]
struct TileStart {
    a: usize,
    b: usize,
    row: usize,
}

/// For each row of a tile, W sums over all terms and over a range of the inner axis: lane i sums
/// the products at `from` + i, `from` + i + W, ... up to `to`. With `SHARED` the rows share the
/// factor from A, with `SCALAR` the factor from B lacks the inner axis.
#[inline(always)]
fn lanes<const W: usize, const R: usize, const SHARED: bool, const SCALAR: bool>(
    plan: &Contraction,
    at: TileStart,
    (from, to): (usize, usize),
    a: &[f64],
    b: &[f64],
) -> [[f64; W]; R] {
    let tiling = &plan.tiling;
    let mut sums = [[0.0; W]; R];
    for &[a_term, b_term] in &plan.terms {
        let (a_start, b_start) = (at.a + a_term as usize, at.b + b_term as usize);
        let mut first = from;
        while first < to {
            for r in 0..R {
                let a_row = if SHARED { 0 } else { r * tiling.a_step };
                let b_row = b_start + r * tiling.b_step;
                let x: &[f64; W] = block(a, a_start + a_row + first);
                let y: [f64; W] = if SCALAR { [b[b_row]; W] } else { *block(b, b_row + first) };
                for i in 0..W {
                    sums[r][i] = x[i].mul_add(y[i], sums[r][i]);
                }
            }
            first += W;
        }
    }
    sums
}

/// Rows that keep the inner axis: block by block.
#[inline(always)]
fn rows<const R: usize, const SHARED: bool, const SCALAR: bool>(
    plan: &Contraction,
    at: TileStart,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let n = plan.length;
    in_blocks!(8, n, |first, W| {
        let sums = lanes::<W, R, SHARED, SCALAR>(plan, at, (first, first + W), a, b);
        for (r, &sums) in sums.iter().enumerate() {
            store(o, (at.row + r * plan.tiling.row_step) * n + first, sums);
        }
    });
}

/// Rows that sum over the inner axis. The block widths are processed one after the other, so that
/// each keeps its sums in registers.
#[inline(always)]
fn dots<const R: usize, const SHARED: bool, const SCALAR: bool>(
    plan: &Contraction,
    at: TileStart,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let n = plan.length;
    let mut totals = [0.0; R];
    macro_rules! width {
        ($W:literal, $from:expr, $to:expr) => {
            if $from < $to {
                let sums = lanes::<$W, R, SHARED, SCALAR>(plan, at, ($from, $to), a, b);
                for r in 0..R {
                    totals[r] += total(sums[r]);
                }
            }
        };
    }
    width!(8, 0, n / 8 * 8);
    width!(4, n / 8 * 8, n / 4 * 4);
    width!(2, n / 4 * 4, n / 2 * 2);
    width!(1, n / 2 * 2, n);
    for (r, &total) in totals.iter().enumerate() {
        o[at.row + r * plan.tiling.row_step] = total;
    }
}

/// Rows whose cells are all equal.
#[inline(always)]
fn repeat<const R: usize, const SHARED: bool, const SCALAR: bool>(
    plan: &Contraction,
    at: TileStart,
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
