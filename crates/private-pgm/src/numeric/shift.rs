//! Exponentials of a table of logarithms after a shift, and logarithms that add the shift back.
//!
//! The shift is the largest value of the table, or of each row. A *row* is all cells of a big table
//! that map to one cell of the small table of a [`Projection`].

use multiversion::multiversion;
use rayon::prelude::*;

use super::exp::{exp_above, ln_one};
use super::extremes::larger;
use super::flush_to_zero::FLUSH_LOG;
use super::strided::Projection;

/// Tables with fewer cells are processed by one thread. Our choice.
pub(crate) const PARALLEL: usize = 1 << 15;
/// Cells per block of work for a thread.
pub(super) const BLOCK: usize = 1 << 14;

/// Rows whose maxima lie within this range share one shift: products of two tables, each with an
/// exp(-range) in every row, stay far from underflow.
const NARROW: f64 = 145.0;

/// What was subtracted from a table of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shift {
    /// One number from all cells.
    Common(f64),
    /// The maximum of each row from its cells.
    OfRows,
}

/// The row maxima of a table whose cells change gradually between calls.
#[derive(Clone, Debug)]
pub(crate) struct RowMaxima {
    /// The largest cell of each row. Valid after [`Shift::OfRows`].
    pub(crate) maxima: Vec<f64>,
    /// For each row, the position of a cell that was near the largest cell of the table; empty
    /// until such cells are found. While all of them stay near it, the row maxima need not be
    /// computed.
    row_max_hints: Vec<usize>,
}

impl RowMaxima {
    /// For a table with this number of rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { maxima: super::memory::zeros(rows), row_max_hints: Vec::new() }
    }

    /// Whether the rows of a table can share a shift: no row is far below the largest cell, except
    /// for rows of structural zeros. Computes the row maxima if the hints do not decide.
    fn can_share_shift(
        &mut self,
        projection: &Projection,
        big: &[f64],
        [smallest, largest]: [f64; 2],
    ) -> bool {
        let is_narrow = |smallest: f64| largest - smallest < NARROW;
        let narrow_cell = |&cell: &usize| is_narrow(big[cell]);
        if is_narrow(smallest)
            || (!self.row_max_hints.is_empty() && self.row_max_hints.iter().all(narrow_cell))
        {
            return true;
        }
        max_rows(projection, big, &mut self.maxima);
        let excluded = |&row: &f64| row == f64::NEG_INFINITY;
        let narrow_row = |row: &f64| is_narrow(*row) || excluded(row);
        let share = largest > f64::NEG_INFINITY && self.maxima.iter().all(narrow_row);
        if share {
            self.row_max_hints.resize(self.maxima.len(), 0);
            find_rows(projection, big, &self.maxima, &mut self.row_max_hints);
        }
        share
    }
}

/// Writes exp(cell - shift) to `to`, flushed to zero below 1e-152.
///
/// The shift is the largest cell of `big` if no row is far below it, otherwise the maximum of the
/// cell's row, written to `rows`. A row of structural zeros gives zeros. `extremes` are those of
/// `big`. `rows` must always be used with the same projection; its previous contents affect the
/// running time only.
pub(crate) fn exp_rows(
    projection: &Projection,
    big: &[f64],
    extremes: [f64; 2],
    rows: &mut RowMaxima,
    to: &mut [f64],
    parallel: bool,
) -> Shift {
    let n = projection.run();
    assert!(big.len() == to.len() && rows.maxima.len() == projection.small_len());
    let common = rows.can_share_shift(projection, big, extremes);
    let (largest, small) = (extremes[1], &rows.maxima);
    let parallel = parallel && big.len() >= PARALLEL;
    if common {
        if parallel {
            let parts = big.par_chunks(BLOCK).zip(to.par_chunks_mut(BLOCK));
            parts.for_each(|(big, to)| exp_minus(big, largest, to));
        } else {
            exp_minus(big, largest, to);
        }
        return Shift::Common(largest);
    }
    if parallel {
        let runs = BLOCK.div_ceil(n);
        let parts = projection.starts().par_chunks(runs).zip(big.par_chunks(runs * n));
        let parts = parts.zip(to.par_chunks_mut(runs * n));
        parts.for_each(|((starts, big), to)| exp_runs(projection, starts, big, small, to));
    } else {
        exp_runs(projection, projection.starts(), big, small, to);
    }
    Shift::OfRows
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
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
                for i in 0..8 {
                    lanes[i] = larger(lanes[i], eight[i]);
                }
            }
            for (lane, &rest) in lanes.iter_mut().zip(eights.remainder()) {
                *lane = larger(*lane, rest);
            }
            // A tree reduction: a chain of eight comparisons would take as long as the rest.
            let mut four = [0.0; 4];
            for i in 0..4 {
                four[i] = larger(lanes[i], lanes[i + 4]);
            }
            let best = larger(larger(four[0], four[2]), larger(four[1], four[3]));
            small[start] = larger(small[start], best);
        }
    }
}

/// Writes the position of a cell of each row that equals the row's maximum.
fn find_rows(projection: &Projection, big: &[f64], maxima: &[f64], cells: &mut [usize]) {
    let n = projection.run();
    for (run, &start) in projection.starts().iter().enumerate() {
        for i in 0..n {
            let row = start as usize + if projection.inner_kept() { i } else { 0 };
            if big[run * n + i] == maxima[row] {
                cells[row] = run * n + i;
            }
        }
    }
}

/// exp(cell - shift) for the inner runs whose cells of the small table begin at `starts`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
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
    // One loop over all runs: a single run may be too short to vectorise.
    to.iter_mut().for_each(|to| *to = exp_above(FLUSH_LOG, *to));
}

/// exp(x - shift) for every x, flushed to zero.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn exp_minus(from: &[f64], shift: f64, to: &mut [f64]) {
    assert_eq!(from.len(), to.len());
    for (to, from) in to.iter_mut().zip(from) {
        *to = exp_above(FLUSH_LOG, from - shift);
    }
}

/// Writes ln(max(x, `floor`)) plus `constant` plus the cell of each small table that x maps to.
/// `floor` must be a positive normal number.
pub(crate) fn ln_plus_rows<'a>(
    from: &[f64],
    floor: f64,
    constant: f64,
    rows: impl IntoIterator<Item = (&'a Projection, &'a [f64])>,
    to: &mut [f64],
    parallel: bool,
) {
    assert_eq!(from.len(), to.len());
    let parallel = parallel && from.len() >= PARALLEL;
    if parallel {
        let parts = from.par_chunks(BLOCK).zip(to.par_chunks_mut(BLOCK));
        parts.for_each(|(from, to)| ln_all(from, floor, constant, to));
    } else {
        ln_all(from, floor, constant, to);
    }
    for (projection, small) in rows {
        if parallel {
            let runs = BLOCK.div_ceil(projection.run());
            let length = runs * projection.run();
            let parts = projection.starts().par_chunks(runs).zip(to.par_chunks_mut(length));
            parts.for_each(|(starts, to)| add_runs(projection, starts, small, to));
        } else {
            add_runs(projection, projection.starts(), small, to);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn ln_all(from: &[f64], floor: f64, constant: f64, to: &mut [f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = ln_one(larger(floor, from)) + constant;
    }
}

/// Adds to each cell of `big` the cell of `small` that it maps to.
pub(crate) fn add_rows(projection: &Projection, small: &[f64], big: &mut [f64]) {
    assert!(small.len() == projection.small_len());
    add_runs(projection, projection.starts(), small, big);
}

/// [`add_rows`] for the inner runs whose cells of the small table begin at `starts`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
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
    use crate::numeric::extremes::extremes;

    #[test]
    fn logarithms_invert_shifted_exponentials_for_any_shape() {
        for (shape, kept) in [
            (vec![3, 4, 5], [true, false, true]),
            (vec![3, 4, 5], [true, true, false]),
            (vec![40, 30, 50], [false, true, false]),
            (vec![30, 40, 50], [true, false, true]),
        ] {
            let n: usize = shape.iter().product();
            let projection = Projection::new(&shape, &kept);
            // RowMaxima that are close together share a shift; rows that are not have their own.
            for distance in [0.0, 300.0] {
                let mut big: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1009) as f64 / 10.0).collect();
                let rows: Vec<f64> =
                    (0..projection.small_len()).map(|row| distance * (row % 3) as f64).collect();
                projection.broadcast(&rows, &mut big, |cell, row| *cell += row);
                let range = extremes(&big, true);
                let mut rows_of_both = RowMaxima::new(projection.small_len());
                let (mut alone, mut shared) = (vec![0.0; n], vec![0.0; n]);
                let shift =
                    exp_rows(&projection, &big, range, &mut rows_of_both, &mut alone, false);
                exp_rows(&projection, &big, range, &mut rows_of_both, &mut shared, true);
                assert_eq!(alone, shared);
                let (constant, rows) = match shift {
                    Shift::Common(shift) => (shift, None),
                    Shift::OfRows => (0.0, Some((&projection, &rows_of_both.maxima[..]))),
                };
                assert_eq!(rows.is_some(), distance > 0.0);
                let mut back = vec![0.0; n];
                ln_plus_rows(&alone, 1e-300, constant, rows, &mut back, true);
                for (x, y) in big.iter().zip(&back) {
                    assert!((x - y).abs() < 1e-12 * (1.0 + x), "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn adding_rows_is_a_broadcast() {
        for kept in [[true, true, false], [true, false, true], [false, true, true], [false; 3]] {
            let projection = Projection::new(&[3, 4, 5], &kept);
            let small: Vec<f64> = (0..projection.small_len()).map(|i| i as f64 - 7.0).collect();
            let mut big: Vec<f64> = (0..60).map(|i| f64::from(i % 11)).collect();
            let mut expected = big.clone();
            add_rows(&projection, &small, &mut big);
            projection.broadcast(&small, &mut expected, |cell, row| *cell += row);
            assert_eq!(big, expected);
        }
    }

    #[test]
    fn a_small_cell_in_a_row_does_not_prevent_a_common_shift() {
        let projection = Projection::new(&[2, 2], &[true, false]);
        let (big, mut rows, mut to) = ([0.0, -300.0, -2.0, -3.0], RowMaxima::new(2), [0.0; 4]);
        let shift = exp_rows(&projection, &big, extremes(&big, false), &mut rows, &mut to, false);
        assert_eq!(shift, Shift::Common(0.0));
        assert!((to[1].ln() + 300.0).abs() < 1e-12);
    }

    #[test]
    fn results_do_not_depend_on_earlier_row_maxima() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for kept in [[true, true, false], [true, false, true], [false, true, true], [false; 3]] {
            let projection = Projection::new(&[3, 4, 5], &kept);
            let mut known = RowMaxima::new(projection.small_len());
            let mut big = vec![0.0; 60];
            let mut shared = 0;
            for _ in 0..200 {
                // Cells move apart and together, and some rows become excluded.
                for cell in &mut big {
                    let far = [0.0, -100.0, -200.0, f64::NEG_INFINITY];
                    if random(4) == 0 {
                        *cell = far[random(4) as usize] + random(10) as f64;
                    }
                }
                let range = extremes(&big, false);
                let mut fresh = RowMaxima::new(projection.small_len());
                let (mut ours, mut expected) = ([0.0; 60], [0.0; 60]);
                let shift = exp_rows(&projection, &big, range, &mut known, &mut ours, false);
                let other = exp_rows(&projection, &big, range, &mut fresh, &mut expected, false);
                assert_eq!((shift, ours), (other, expected));
                if shift == Shift::OfRows {
                    assert_eq!(known.maxima, fresh.maxima);
                } else {
                    shared += 1;
                }
            }
            assert!(shared > 10, "the tables shared a shift {shared} times");
        }
    }

    #[test]
    fn a_row_of_structural_zeros_gives_zeros() {
        let projection = Projection::new(&[2, 3], &[true, false]);
        let zero = f64::NEG_INFINITY;
        let (mut rows, mut to) = (RowMaxima::new(2), [1.0; 6]);
        let big = [zero, zero, zero, 1.0, zero, 1.0];
        let shift = exp_rows(&projection, &big, extremes(&big, false), &mut rows, &mut to, false);
        assert_eq!(shift, Shift::Common(1.0));
        assert_eq!(to, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        let shift = exp_rows(&projection, &[zero; 6], [zero; 2], &mut rows, &mut to, false);
        assert_eq!((shift, &rows.maxima[..]), (Shift::OfRows, &[zero; 2][..]));
        assert_eq!(to, [0.0; 6]);
    }
}
