//! Kernels for rows of O of any length that sum over the inner axis.
//!
//! A tile is a rectangle of cells of O: some rows of A times some rows of B, so that each number
//! that is loaded takes part in several products.
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use std::slice::from_mut;

use super::blocks::{block, store, total};
use super::tiling::{ACROSS, MAX_ROWS, Part, Tile};
use super::{Contraction, Inner};

/// Cells of O whose lanes are summed together. Sums that were just stored register by register
/// cannot be loaded in another width without waiting; other tiles lie between.
const BATCH: usize = 128;

/// The most cells of a tile.
const CELLS: usize = 12;

/// What is left to add up for one cell of O: eight lanes over the numbers up to a multiple of
/// eight, four lanes over the next four, and the sums over the next two and the last one.
///
/// Aligned, because a register that is stored across two cache lines takes twice as long.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lanes([f64; 16]);

struct Batch {
    lanes: [Lanes; BATCH],
    cells: [u32; BATCH],
    len: usize,
}

impl Batch {
    /// Writes the sums of all lanes to their cells, in one fixed order each.
    #[inline(always)]
    fn finish(&mut self, o: &mut [f64]) {
        for (lanes, &cell) in self.lanes[..self.len].iter().zip(&self.cells) {
            let (eight, four): (&[f64; 8], &[f64; 4]) = (block(&lanes.0, 0), block(&lanes.0, 8));
            o[cell as usize] = total(*eight) + total(*four) + lanes.0[12] + lanes.0[13];
        }
        self.len = 0;
    }
}

/// Computes the cells of O in `part`, with registers of `H` numbers (8 or 4).
#[inline(always)]
pub(super) fn dots<const H: usize>(
    plan: &Contraction,
    part: Part,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    let (across, along) = (&plan.tiling.across, &plan.tiling.along);
    let mut batch = Batch { lanes: [Lanes([0.0; 16]); BATCH], cells: [0; BATCH], len: 0 };
    for tile in part.tiles {
        if batch.len + CELLS > BATCH {
            batch.finish(o);
        }
        let row = tile.row as usize - part.first_row;
        let lanes = &mut batch.lanes[batch.len..];
        let cells = &mut batch.cells[batch.len..];
        let rows = (0..tile.across as usize).flat_map(|i| {
            (0..tile.along as usize).map(move |j| row + i * across.row_step + j * along.row_step)
        });
        for (cell, row) in cells.iter_mut().zip(rows) {
            *cell = row as u32;
        }
        batch.len += (tile.across * tile.along) as usize;
        tile_sums::<H>(plan, tile, a, b, lanes);
    }
    batch.finish(o);
}

/// Fills the lanes of a tile's cells.
#[inline(always)]
fn tile_sums<const H: usize>(
    plan: &Contraction,
    tile: &Tile,
    a: &[f64],
    b: &[f64],
    lanes: &mut [Lanes],
) {
    let along = &plan.tiling.along;
    if plan.inner == Inner::Sum || along.steps[0] > 0 {
        // The rows have no factor in common.
        for (j, lanes) in lanes.iter_mut().enumerate().take(tile.along as usize) {
            let [a_at, b_at] =
                [tile.a as usize + j * along.steps[0], tile.b as usize + j * along.steps[1]];
            match plan.inner {
                Inner::Sum => sums::<H, 1, 1, true>(plan, [a_at, b_at], a, b, from_mut(lanes)),
                _ => sums::<H, 1, 1, false>(plan, [a_at, b_at], a, b, from_mut(lanes)),
            }
        }
        return;
    }
    let at = [tile.a as usize, tile.b as usize];
    macro_rules! rectangle {
        ($($P:literal $Q:literal),*) => {
            match (tile.across, tile.along) {
                $(($P, $Q) => sums::<H, $P, $Q, false>(plan, at, a, b, lanes),)*
                _ => unreachable!("tiles are no larger"),
            }
        };
    }
    const { assert!(ACROSS[0] == 3 && ACROSS[1] == 4 && MAX_ROWS == 6) };
    rectangle!(1 1, 1 2, 1 3, 1 4, 1 5, 1 6, 2 1, 2 2, 2 3, 2 4, 3 1, 3 2, 3 3, 3 4)
}

/// Fills the lanes of the cells of P rows of A, the first of which starts at `at[0]`, times Q rows
/// of B. With `SCALAR` B lacks the inner axis.
#[inline(always)]
fn sums<const H: usize, const P: usize, const Q: usize, const SCALAR: bool>(
    plan: &Contraction,
    at: [usize; 2],
    a: &[f64],
    b: &[f64],
    lanes: &mut [Lanes],
) {
    let n = plan.length;
    let lanes = &mut lanes[..P * Q];
    // Loops with constant bounds over the cells keep the sums of all cells in registers.
    macro_rules! each_cell {
        ($sums:expr, |$lanes:ident, $cell:ident| $body:expr) => {{
            let sums = $sums;
            for i in 0..P {
                for j in 0..Q {
                    let ($lanes, $cell) = (&mut lanes[i * Q + j].0, sums[i][j]);
                    $body;
                }
            }
        }};
    }
    macro_rules! eights {
        ($V:literal, $from:literal) => {
            each_cell!(sums_of_eights::<$V, $from, P, Q, SCALAR>(plan, at, a, b), |lanes, sums| {
                store(lanes, $from, sums)
            })
        };
    }
    if H == 8 {
        eights!(8, 0);
    } else {
        // Twelve cells of eight lanes do not fit in sixteen registers of four numbers.
        eights!(4, 0);
        eights!(4, 4);
    }
    if n % 8 >= 4 {
        let first = n / 8 * 8;
        each_cell!(sums_of_one::<4, P, Q, SCALAR>(plan, at, first, a, b), |lanes, sums| {
            store(lanes, 8, sums)
        });
    }
    if n % 4 >= 2 {
        let first = n / 4 * 4;
        each_cell!(sums_of_one::<2, P, Q, SCALAR>(plan, at, first, a, b), |lanes, sums| {
            lanes[12] = total(sums)
        });
    }
    if n % 2 == 1 {
        each_cell!(sums_of_one::<1, P, Q, SCALAR>(plan, at, n - 1, a, b), |lanes, sums| {
            lanes[13] = sums[0]
        });
    }
}

/// For every cell and for `V` of eight lanes from lane `FROM` on: the sums over all terms and over
/// all whole blocks of eight numbers.
#[inline(always)]
fn sums_of_eights<
    const V: usize,
    const FROM: usize,
    const P: usize,
    const Q: usize,
    const SCALAR: bool,
>(
    plan: &Contraction,
    [a_at, b_at]: [usize; 2],
    a: &[f64],
    b: &[f64],
) -> [[[f64; V]; Q]; P] {
    let (a_step, b_step) = (plan.tiling.across.steps[0], plan.tiling.along.steps[1]);
    let blocks = plan.length / 8;
    let mut sums = [[[0.0; V]; Q]; P];
    for &[a_term, b_term] in &plan.terms {
        let (a_start, b_start) = (a_at + a_term as usize, b_at + b_term as usize);
        let mut x: [&[[f64; 8]]; P] = [&[]; P];
        for i in 0..P {
            x[i] = &a[a_start + i * a_step..].as_chunks().0[..blocks];
        }
        let mut y: [&[[f64; 8]]; Q] = [&[]; Q];
        if !SCALAR {
            for j in 0..Q {
                y[j] = &b[b_start + j * b_step..].as_chunks().0[..blocks];
            }
        }
        for k in 0..blocks {
            for i in 0..P {
                for j in 0..Q {
                    for lane in 0..V {
                        let y = if SCALAR { b[b_start] } else { y[j][k][FROM + lane] };
                        sums[i][j][lane] = x[i][k][FROM + lane].mul_add(y, sums[i][j][lane]);
                    }
                }
            }
        }
    }
    sums
}

/// For every cell: the sums over all terms of `V` products, `first` numbers into the rows.
#[inline(always)]
fn sums_of_one<const V: usize, const P: usize, const Q: usize, const SCALAR: bool>(
    plan: &Contraction,
    [a_at, b_at]: [usize; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
) -> [[[f64; V]; Q]; P] {
    let (a_step, b_step) = (plan.tiling.across.steps[0], plan.tiling.along.steps[1]);
    let mut sums = [[[0.0; V]; Q]; P];
    for &[a_term, b_term] in &plan.terms {
        let (a_start, b_start) = (a_at + a_term as usize, b_at + b_term as usize);
        for j in 0..Q {
            let y: [f64; V] = match SCALAR {
                true => [b[b_start]; V],
                false => *block(b, b_start + j * b_step + first),
            };
            for i in 0..P {
                let x: &[f64; V] = block(a, a_start + i * a_step + first);
                for lane in 0..V {
                    sums[i][j][lane] = x[lane].mul_add(y[lane], sums[i][j][lane]);
                }
            }
        }
    }
    sums
}
