//! Products of two tables, summed over some axes: O = sum of A * B.
//!
//! All tables keep their axes in one common order. A [`Contraction`] is compiled once from what
//! axes each of the three tables has, and then run many times, in one of three algebras:
//! ordinary numbers, logarithms (log-sum-exp), or logarithms with maxima instead of sums.
//!
//! The last axis is the inner loop. Everything before it is reduced to two lists of offsets, one
//! for the rows of O and one for the terms that are summed into a row. Rows of O are built in
//! registers, block by block and several at a time, so that O is written once. Each number is
//! summed in one fixed order, whatever the instruction set and the number of threads.

mod absorb;
mod blocks;
mod linear;
mod logarithm;
#[cfg(test)]
mod tests;
mod tiling;

use std::ops::Range;

use rayon::prelude::*;

use absorb::{absorb_rows, walk};
use blocks::factors;
use linear::linear_tiles;
use logarithm::{logarithm_rows, max_rows};
use tiling::{Cut, RowAxis, Tile, Tiling};

/// One axis of a contraction: its length, and the tables that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Number of values along the axis.
    pub size: usize,
    /// Whether the first factor has it.
    pub in_a: bool,
    /// Whether the second factor has it.
    pub in_b: bool,
    /// Whether the result keeps it; otherwise it is summed out.
    pub in_o: bool,
}

impl Axis {
    fn presence(&self) -> (bool, bool, bool) {
        (self.in_a, self.in_b, self.in_o)
    }
}

/// Who has the inner axis, after A and B were swapped where that helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inner {
    /// A, B and O: rows are multiplied.
    RowRow,
    /// A and O: rows of A times numbers of B.
    RowScalar,
    /// A and B: inner products.
    Dot,
    /// A alone: sums of A's rows.
    Sum,
    /// O alone: each number is repeated along the row.
    Repeat,
}

/// O = sum of A * B for given axes, compiled.
#[derive(Debug)]
pub struct Contraction {
    inner: Inner,
    length: usize,
    swapped: bool,
    /// For each row of O, where its factors start in A and in B.
    rows: Vec<[u32; 2]>,
    /// For each term of the sum, how much further on its factors are.
    terms: Vec<[u32; 2]>,
    /// How ordinary numbers go through the rows.
    tiling: Tiling,
    /// Which factor (after a swap) has every axis, if the way back is one pass through that.
    full: Option<usize>,
    /// How that pass goes.
    walk: Vec<[u32; 2]>,
}

/// Multiply-adds below which a contraction is not worth sharing among threads.
const PARALLEL_WORK: usize = 1 << 17;

impl Contraction {
    /// Compiles the contraction with these axes, outermost first.
    ///
    /// # Panics
    /// When a table has 2^32 cells or more.
    pub fn new(axes: &[Axis]) -> Self {
        let mut merged: Vec<Axis> = Vec::new();
        for axis in axes {
            match merged.last_mut() {
                _ if axis.size == 1 || axis.presence() == (false, false, false) => {}
                Some(last) if last.presence() == axis.presence() => last.size *= axis.size,
                _ => merged.push(*axis),
            }
        }
        let inner_axis =
            merged.pop().unwrap_or(Axis { size: 1, in_a: true, in_b: true, in_o: true });
        let (inner, mut swapped) = match inner_axis.presence() {
            (true, true, true) => (Inner::RowRow, false),
            (true, false, true) => (Inner::RowScalar, false),
            (false, true, true) => (Inner::RowScalar, true),
            (true, true, false) => (Inner::Dot, false),
            (true, false, false) => (Inner::Sum, false),
            (false, true, false) => (Inner::Sum, true),
            (false, false, _) => (Inner::Repeat, false),
        };
        let mut strides = [
            if inner_axis.in_a { inner_axis.size } else { 1 },
            if inner_axis.in_b { inner_axis.size } else { 1 },
        ];
        let mut row_axes = Vec::new();
        let (mut rows, mut terms) = (vec![[0u32; 2]], vec![[0u32; 2]]);
        for axis in merged.iter().rev() {
            let steps =
                [if axis.in_a { strides[0] } else { 0 }, if axis.in_b { strides[1] } else { 0 }];
            if axis.in_o {
                row_axes.push(RowAxis { size: axis.size, steps, row_step: rows.len() });
            }
            let list = if axis.in_o { &mut rows } else { &mut terms };
            *list = (0..axis.size)
                .flat_map(|i| {
                    list.iter()
                        .map(move |&o| [at(o[0], i * steps[0]), at(o[1], i * steps[1])])
                        .collect::<Vec<_>>()
                })
                .collect();
            for (stride, present) in strides.iter_mut().zip([axis.in_a, axis.in_b]) {
                if present {
                    *stride *= axis.size;
                }
            }
        }
        let has_all = |has: fn(&Axis) -> bool| merged.iter().chain([&inner_axis]).all(has);
        let mut full = match [has_all(|axis| axis.in_a), has_all(|axis| axis.in_b)] {
            [true, _] => Some(0),
            [_, true] => Some(1),
            _ => None,
        };
        let swap = |swapped: bool, offsets: &mut [usize; 2]| {
            if swapped {
                offsets.swap(0, 1);
            }
        };
        // From here on A is the factor that has the inner axis, or the one that tiles share.
        row_axes.iter_mut().for_each(|axis| swap(swapped, &mut axis.steps));
        swap(swapped, &mut strides);
        let symmetric = matches!(inner, Inner::RowRow | Inner::Dot);
        let (mut axis, shares_b) = tiling::choose(&row_axes, strides, symmetric);
        axis.iter_mut().for_each(|axis| swap(shares_b, &mut axis.steps));
        swapped ^= shares_b;
        if swapped {
            rows.iter_mut().chain(&mut terms).for_each(|offsets| offsets.swap(0, 1));
            full = full.map(|full| 1 - full);
        }
        let tiling = Tiling::new(axis, &rows);
        let length = inner_axis.size;
        let full = full.filter(|_| rows.len() * terms.len() * length < PARALLEL_WORK);
        let walk = walk([&rows, &terms], full, length);
        Self { inner, length, swapped, rows, terms, tiling, full, walk }
    }

    /// The number of multiply-adds of one run.
    pub fn work(&self) -> usize {
        self.rows.len() * self.terms.len() * self.length
    }

    /// Whether it is worth sharing among threads.
    pub fn is_shared(&self) -> bool {
        self.work() >= PARALLEL_WORK
    }

    fn row_length(&self) -> usize {
        match self.inner {
            Inner::RowRow | Inner::RowScalar | Inner::Repeat => self.length,
            Inner::Dot | Inner::Sum => 1,
        }
    }

    /// O = sum of A * B, for ordinary numbers.
    pub fn multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        assert_eq!(o.len(), self.rows.len() * self.row_length());
        let shares = match parallel && self.is_shared() {
            true => 2 * rayon::current_num_threads(),
            false => 1,
        };
        self.multiply_between(&self.tiling.cuts, shares, a, b, o);
    }

    /// The rows of O between the first and the last of these cuts, in so many shares.
    fn multiply_between(&self, cuts: &[Cut], shares: usize, a: &[f64], b: &[f64], o: &mut [f64]) {
        let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
        if shares == 1 || cuts.len() == 2 {
            let tiles = &self.tiling.tiles[first.tile..last.tile];
            return linear_tiles(self, tiles, first.row, a, b, o);
        }
        let middle = cuts.len() / 2;
        let rows = cuts[middle].row - first.row;
        let (low, high) = o.split_at_mut(rows * self.row_length());
        rayon::join(
            || self.multiply_between(&cuts[..=middle], shares / 2, a, b, low),
            || self.multiply_between(&cuts[middle..], shares - shares / 2, a, b, high),
        );
    }

    /// O = ln of sum of exp(A + B): the same for logarithms.
    pub fn log_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, |plan, _, rows, a, b, o| logarithm_rows(plan, rows, a, b, o));
    }

    /// The same for the rows of O that are wanted, by their cells; the others stay as they are.
    pub fn log_multiply_where(
        &self,
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        wanted: impl Fn(Range<usize>) -> bool + Sync,
        parallel: bool,
    ) {
        let width = self.row_length();
        self.run(a, b, o, parallel, |plan, first, rows, a, b, o| {
            for (i, (row, o)) in rows.chunks(1).zip(o.chunks_exact_mut(width)).enumerate() {
                let start = (first + i) * width;
                if wanted(start..start + width) {
                    logarithm_rows(plan, row, a, b, o);
                }
            }
        });
    }

    /// O = max of A + B.
    pub fn max_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, |plan, _, rows, a, b, o| max_rows(plan, rows, a, b, o));
    }

    /// When one factor has every axis, as when a table takes in a message: whether that is the
    /// second one. `None` when no factor does, and when the way back is better shared among
    /// threads.
    pub fn absorbs(&self) -> Option<bool> {
        self.full.map(|full| (full == 1) != self.swapped)
    }

    /// The way back through O = sum of `full` * `other` in one pass, for a contraction that
    /// [`absorbs`](Self::absorbs). With D the adjoint of O: multiplies `full` by other * D, and
    /// writes the sum of full * D over the axes that `other` lacks to `adjoint`. No number may be
    /// negative, and a full * D below 1e-152 is taken for 0.
    pub fn absorb_back(&self, full: &mut [f64], other: &[f64], d: &[f64], adjoint: &mut [f64]) {
        assert!(other.len() == adjoint.len() && full.len() == self.walk.len() * self.length);
        absorb_rows(self, full, other, d, adjoint);
    }

    /// Calls `visit` with the positions in A and B of every term of one cell of O.
    pub fn each_term(&self, cell: usize, mut visit: impl FnMut(usize, usize)) {
        let width = self.row_length();
        let (row, column) = (self.rows[cell / width], cell % width);
        // How far the inner axis moves in each factor, and over how much of it the cell sums.
        let (a_step, b_step, length) = match self.inner {
            Inner::RowRow => (1, 1, 1),
            Inner::RowScalar => (1, 0, 1),
            Inner::Dot => (1, 1, self.length),
            Inner::Sum => (1, 0, self.length),
            Inner::Repeat => (0, 0, 1),
        };
        for &term in &self.terms {
            let (a, b) = factors(row, term);
            for i in column..column + length {
                let (a, b) = (a + i * a_step, b + i * b_step);
                if self.swapped { visit(b, a) } else { visit(a, b) }
            }
        }
    }

    /// Fills O, or its parts on several threads, given the first of some rows and the rows.
    fn run(
        &self,
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        parallel: bool,
        fill: impl Fn(&Contraction, usize, &[[u32; 2]], &[f64], &[f64], &mut [f64]) + Sync,
    ) {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        let width = self.row_length();
        assert_eq!(o.len(), self.rows.len() * width);
        if parallel && self.rows.len() >= 4 && self.is_shared() {
            let share = self.rows.len().div_ceil(4 * rayon::current_num_threads());
            o.par_chunks_mut(share * width)
                .zip(self.rows.par_chunks(share))
                .enumerate()
                .for_each(|(i, (o, rows))| fill(self, i * share, rows, a, b, o));
        } else {
            fill(self, 0, &self.rows, a, b, o);
        }
    }
}

fn at(start: u32, further: usize) -> u32 {
    u32::try_from(start as usize + further).expect("tables of fewer than 2^32 cells")
}
