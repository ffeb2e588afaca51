//! Kernels for rows of O of any length that keep the inner axis.
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use super::blocks::{block, store};
use super::tiling::{MAX_ROWS, Part, Tile};
use super::{Contraction, Inner};

/// Runs `$block!(width, first)` for blocks of `W`, then 8 numbers that cover `0..$n`. The last
/// block ends with the row and may overlap the one before it, since both write the same numbers.
/// Only rows of fewer than 8 numbers have blocks of one.
macro_rules! cover {
    ($block:ident, $n:expr) => {{
        let mut first = 0;
        while $n - first >= W {
            $block!(W, first);
            first += W;
        }
        if W > 8 && $n - first >= 8 {
            $block!(8, first);
            first += 8;
        }
        if $n >= 8 && first < $n {
            $block!(8, $n - 8);
            first = $n;
        }
        while first < $n {
            $block!(1, first);
            first += 1;
        }
    }};
}

/// Computes the rows of O in `part`, in blocks of `W` numbers.
#[inline(always)]
pub(super) fn rows<const W: usize>(
    plan: &Contraction,
    part: Part,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let shares_a = plan.tiling.along.steps[0] == 0;
    match (plan.inner == Inner::RowScalar, shares_a) {
        (true, true) => of_kind::<W, true, true>(plan, part, a, b, o),
        (true, false) => of_kind::<W, true, false>(plan, part, a, b, o),
        (false, true) => of_kind::<W, false, true>(plan, part, a, b, o),
        (false, false) => of_kind::<W, false, false>(plan, part, a, b, o),
    }
}

/// Rows of A times scalars of B (`SCALAR`) or times rows of B. With `SHARED` the rows of a tile
/// have the factor from A in common.
#[inline(always)]
fn of_kind<const W: usize, const SCALAR: bool, const SHARED: bool>(
    plan: &Contraction,
    part: Part,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (along, n) = (&plan.tiling.along, plan.length);
    let mut buffer = vec![0.0; if SCALAR { MAX_ROWS * plan.terms.len() } else { 0 }];
    macro_rules! tile {
        ($R:literal, $tile:expr) => {{
            let row = $tile.row as usize - part.first_row;
            let (scalars, _) = buffer.as_chunks_mut::<$R>();
            gather_scalars(plan, $tile, b, scalars);
            macro_rules! block {
                ($V:tt, $first:expr) => {{
                    let first = $first;
                    let sums = match SCALAR {
                        true => scalar_sums::<$V, $R, SHARED>(plan, $tile, first, a, scalars),
                        false => row_sums::<$V, $R, SHARED>(plan, $tile, first, a, b),
                    };
                    for (r, &sums) in sums.iter().enumerate() {
                        store(o, (row + r * along.row_step) * n + first, sums);
                    }
                }};
            }
            cover!(block, n);
        }};
    }
    for tile in part.tiles {
        match tile.along {
            1 => tile!(1, tile),
            2 => tile!(2, tile),
            3 => tile!(3, tile),
            4 => tile!(4, tile),
            5 => tile!(5, tile),
            _ => tile!(6, tile),
        }
    }
}

/// Copies the scalars of B that the R rows of a tile are multiplied by, term after term, because
/// every block of the rows reads all of them. Copies none to an empty buffer.
#[inline(always)]
fn gather_scalars<const R: usize>(
    plan: &Contraction,
    tile: &Tile,
    b: &[f64],
    scalars: &mut [[f64; R]],
) {
    let step = plan.tiling.along.steps[1];
    for (scalars, &[_, b_term]) in scalars.iter_mut().zip(&plan.terms) {
        for r in 0..R {
            scalars[r] = b[tile.b as usize + b_term as usize + r * step];
        }
    }
}

/// For R rows of a tile: the sums over all terms of `V` numbers of A, `first` numbers into the
/// rows, times the row's scalar.
#[inline(always)]
fn scalar_sums<const V: usize, const R: usize, const SHARED: bool>(
    plan: &Contraction,
    tile: &Tile,
    first: usize,
    a: &[f64],
    scalars: &[[f64; R]],
) -> [[f64; V]; R] {
    let a_first = tile.a as usize + first;
    let mut sums = [[0.0; V]; R];
    for (&[a_term, _], scalars) in plan.terms.iter().zip(scalars) {
        for r in 0..R {
            let a_row = if SHARED { 0 } else { r * plan.tiling.along.steps[0] };
            let x: &[f64; V] = block(a, a_first + a_term as usize + a_row);
            for i in 0..V {
                sums[r][i] = x[i].mul_add(scalars[r], sums[r][i]);
            }
        }
    }
    sums
}

/// For R rows of a tile: the sums over all terms of `V` products, `first` numbers into the rows.
#[inline(always)]
fn row_sums<const V: usize, const R: usize, const SHARED: bool>(
    plan: &Contraction,
    tile: &Tile,
    first: usize,
    a: &[f64],
    b: &[f64],
) -> [[f64; V]; R] {
    let [a_step, b_step] = plan.tiling.along.steps;
    let (a_first, b_first) = (tile.a as usize + first, tile.b as usize + first);
    let mut sums = [[0.0; V]; R];
    for &[a_term, b_term] in &plan.terms {
        for r in 0..R {
            let a_row = if SHARED { 0 } else { r * a_step };
            let x: &[f64; V] = block(a, a_first + a_term as usize + a_row);
            let y: &[f64; V] = block(b, b_first + b_term as usize + r * b_step);
            for i in 0..V {
                sums[r][i] = x[i].mul_add(y[i], sums[r][i]);
            }
        }
    }
    sums
}
