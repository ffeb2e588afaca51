//! Moving the largest value of each row of a table of logarithms in and out.
//!
//! A *row* here is all cells of a big table with one partner in the small table of a
//! [`Projection`].

use multiversion::multiversion;
use rayon::prelude::*;

use super::exp::{exp_all, ln_one};
use super::strided::Projection;

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// Tables with fewer cells are not shared among threads.
const PARALLEL: usize = 1 << 15;
/// Cells that one thread handles at a time.
const BLOCK: usize = 1 << 12;

/// The range of a table within which all rows can share a shift: products of two tables, each at
/// least exp(-range), stay far from underflow.
const NARROW: f64 = 200.0;

/// Writes a shift for each row to `small` and exp(cell - shift) to `to`. The shift is the row's
/// maximum, or that of the whole table if no cell is far below it; a row without finite cells has
/// the shift minus infinity and zeros.
pub fn exp_rows(
    projection: &Projection,
    big: &[f64],
    small: &mut [f64],
    to: &mut [f64],
    parallel: bool,
) {
    let n = projection.run();
    assert!(big.len() == to.len() && small.len() == projection.small_len());
    let [smallest, largest] = extremes(big);
    if largest - smallest < NARROW {
        // One shift for all rows does as well, and short rows have no maxima to wait for.
        small.fill(largest);
    } else {
        max_rows(projection, big, small);
    }
    if !parallel || big.len() < PARALLEL {
        return exp_runs(projection, projection.starts(), big, small, to);
    }
    let runs = BLOCK.div_ceil(n);
    let parts = projection.starts().par_chunks(runs).zip(big.par_chunks(runs * n));
    let parts = parts.zip(to.par_chunks_mut(runs * n));
    parts.for_each(|((starts, big), to)| exp_runs(projection, starts, big, small, to));
}

/// The smallest and the largest value.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn extremes(values: &[f64]) -> [f64; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 16], [f64::NEG_INFINITY; 16]);
    let mut blocks = values.chunks_exact(16);
    for block in &mut blocks {
        for i in 0..16 {
            low[i] = if block[i] < low[i] { block[i] } else { low[i] };
            high[i] = larger(high[i], block[i]);
        }
    }
    let rest = blocks.remainder().iter().copied();
    let low = low.iter().copied().chain(rest.clone()).fold(f64::INFINITY, f64::min);
    let high = high.iter().copied().chain(rest).fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn max_rows(projection: &Projection, big: &[f64], small: &mut [f64]) {
    let n = projection.run();
    small.fill(f64::NEG_INFINITY);
    for (&start, run) in projection.starts().iter().zip(big.chunks_exact(n)) {
        let start = start as usize;
        if projection.inner_kept() {
            for (s, &b) in small[start..start + n].iter_mut().zip(run) {
                *s = larger(*s, b);
            }
        } else {
            let mut lanes = [f64::NEG_INFINITY; 8];
            let mut eights = run.chunks_exact(8);
            for eight in &mut eights {
                (0..8).for_each(|i| lanes[i] = larger(lanes[i], eight[i]));
            }
            for (lane, &rest) in lanes.iter_mut().zip(eights.remainder()) {
                *lane = larger(*lane, rest);
            }
            // As a tree: a chain of eight comparisons would take as long as the rest of the row.
            let mut four = [0.0; 4];
            (0..4).for_each(|i| four[i] = larger(lanes[i], lanes[i + 4]));
            let best = larger(larger(four[0], four[2]), larger(four[1], four[3]));
            small[start] = larger(small[start], best);
        }
    }
}

/// exp(cell - shift) for the inner runs whose partners begin at `starts`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn exp_runs(projection: &Projection, starts: &[u32], big: &[f64], small: &[f64], to: &mut [f64]) {
    let n = projection.run();
    // Subtracting minus infinity would make a NaN.
    let finite = |shift: f64| if shift == f64::NEG_INFINITY { 0.0 } else { shift };
    for (&start, (run, to)) in starts.iter().zip(big.chunks_exact(n).zip(to.chunks_exact_mut(n))) {
        let start = start as usize;
        if projection.inner_kept() {
            for ((to, &b), &s) in to.iter_mut().zip(run).zip(&small[start..start + n]) {
                *to = b - finite(s);
            }
        } else {
            let shift = finite(small[start]);
            to.iter_mut().zip(run).for_each(|(to, &b)| *to = b - shift);
        }
    }
    // In one go over all runs: a run alone may be too short to fill the vector units.
    exp_all(to);
}

/// Writes ln(x) for every x, or ln(`floor`) where that is more, plus the partner of the cell in each
/// of the small tables. `floor` is a normal number.
pub fn ln_plus_rows(
    from: &[f64],
    floor: f64,
    rows: &[(&Projection, &[f64])],
    to: &mut [f64],
    parallel: bool,
) {
    assert_eq!(from.len(), to.len());
    if parallel && from.len() >= PARALLEL {
        let parts = from.par_chunks(BLOCK).zip(to.par_chunks_mut(BLOCK));
        parts.for_each(|(from, to)| ln_all(from, floor, to));
    } else {
        ln_all(from, floor, to);
    }
    for &(projection, small) in rows {
        let n = projection.run();
        if !parallel || to.len() < PARALLEL {
            add_runs(projection, projection.starts(), small, to);
            continue;
        }
        let runs = BLOCK.div_ceil(n);
        let parts = projection.starts().par_chunks(runs).zip(to.par_chunks_mut(runs * n));
        parts.for_each(|(starts, to)| add_runs(projection, starts, small, to));
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn ln_all(from: &[f64], floor: f64, to: &mut [f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = ln_one(larger(floor, from));
    }
}

/// big += its partner in small, for the inner runs whose partners begin at `starts`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_runs(projection: &Projection, starts: &[u32], small: &[f64], big: &mut [f64]) {
    let n = projection.run();
    for (&start, run) in starts.iter().zip(big.chunks_exact_mut(n)) {
        let start = start as usize;
        if projection.inner_kept() {
            for (b, &s) in run.iter_mut().zip(&small[start..start + n]) {
                *b += s;
            }
        } else {
            let s = small[start];
            run.iter_mut().for_each(|b| *b += s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_out_and_come_back_whatever_the_shape() {
        for (shape, kept) in [
            (vec![3, 4, 5], [true, false, true]),
            (vec![3, 4, 5], [true, true, false]),
            (vec![40, 30, 50], [false, true, false]),
            (vec![30, 40, 50], [true, false, true]),
        ] {
            let n: usize = shape.iter().product();
            let projection = Projection::new(&shape, &kept);
            let big: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1009) as f64 / 10.0).collect();
            let mut small = vec![0.0; projection.small_len()];
            let (mut alone, mut shared) = (vec![0.0; n], vec![0.0; n]);
            exp_rows(&projection, &big, &mut small, &mut alone, false);
            exp_rows(&projection, &big, &mut small, &mut shared, true);
            assert_eq!(alone, shared);
            let mut back = vec![0.0; n];
            ln_plus_rows(&alone, 1e-300, &[(&projection, &small)], &mut back, true);
            for (x, y) in big.iter().zip(&back) {
                assert!((x - y).abs() < 1e-12 * (1.0 + x), "{x} {y}");
            }
        }
    }

    #[test]
    fn a_row_of_exclusions_gives_zeros() {
        let projection = Projection::new(&[2, 3], &[true, false]);
        let zero = f64::NEG_INFINITY;
        let (mut small, mut to) = ([0.0; 2], [1.0; 6]);
        exp_rows(&projection, &[zero, zero, zero, 1.0, zero, 1.0], &mut small, &mut to, false);
        assert_eq!(small, [zero, 1.0]);
        assert_eq!(to, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    }
}
