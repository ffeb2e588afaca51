//! Tensor contractions of two tables: O = sum of A * B over some axes.
//!
//! All tables have their axes in one common order. A [`Contraction`] is compiled once for the axes
//! of the three tables and then run many times, in one of three semirings: linear space (sum of
//! products), log space (log-sum-exp) and log space with maxima for sums (max-sum).
//!
//! The last axis is the inner loop. The axes before it become two lists of offsets, one for the
//! rows of O and one for the terms that are summed into a row. Rows of O are computed in registers,
//! in blocks and several at a time, so that O is written once. Each number is summed in one fixed
//! order, for every instruction set and number of threads.

mod absorb;
mod blocks;
mod dots;
mod linear;
mod logarithm;
mod rows;
#[cfg(test)]
mod tests;
mod tiling;

use std::ops::Range;

use rayon::prelude::*;

use absorb::{absorb_rows, full_rows};
use blocks::factors;
use linear::linear_tiles;
use logarithm::{log_sum_exp_rows, max_rows};
use tiling::{Cut, Part, RowAxis, Tiling};

/// One axis of a contraction: its length, and the tables that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Axis {
    /// The number of values along the axis.
    pub(crate) size: usize,
    /// Whether the first factor has it.
    pub(crate) in_a: bool,
    /// Whether the second factor has it.
    pub(crate) in_b: bool,
    /// Whether the result keeps it; otherwise it is summed out.
    pub(crate) in_o: bool,
}

impl Axis {
    fn presence(&self) -> (bool, bool, bool) {
        (self.in_a, self.in_b, self.in_o)
    }
}

/// Which tables have the inner axis, after A and B have been swapped if necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inner {
    /// A, B and O: rows are multiplied.
    RowRow,
    /// A and O: rows of A times scalars of B.
    RowScalar,
    /// A and B: inner products.
    Dot,
    /// A only: sums of A's rows.
    Sum,
    /// O only: each number is repeated along the row.
    Repeat,
}

/// The compiled contraction O = sum of A * B for given axes.
#[derive(Debug)]
pub(crate) struct Contraction {
    inner: Inner,
    length: usize,
    swapped: bool,
    /// For each row of O, where its factors start in A and in B.
    rows: Vec<[u32; 2]>,
    /// For each term of the sum, the offsets of its factors from those starts.
    terms: Vec<[u32; 2]>,
    /// The order of the rows in linear space.
    tiling: Tiling,
    /// Which factor (after a swap) has every axis, if the backward step is one pass over it.
    full: Option<usize>,
    /// The rows of that pass, see [`full_rows`].
    full_rows: Vec<[u32; 2]>,
}

/// Contractions with fewer multiply-adds run on one thread. Our choice.
const PARALLEL_WORK: usize = 1 << 17;

impl Contraction {
    /// Compiles the contraction with these axes, outermost first.
    ///
    /// # Panics
    /// If a table has 2^32 cells or more.
    pub(crate) fn new(axes: &[Axis]) -> Self {
        let mut outer = merge(axes);
        let inner_axis =
            outer.pop().unwrap_or(Axis { size: 1, in_a: true, in_b: true, in_o: true });
        let (inner, swap_for_inner) = Inner::of(&inner_axis);
        let mut offsets = Offsets::new(&outer, &inner_axis);
        let has_all = |has: fn(&Axis) -> bool| outer.iter().chain([&inner_axis]).all(has);
        let full = match [has_all(|axis| axis.in_a), has_all(|axis| axis.in_b)] {
            [true, _] => Some(0),
            [_, true] => Some(1),
            _ => None,
        };
        // From here on A is the factor that has the inner axis, or the one that tiles share.
        offsets.swap_axes(swap_for_inner);
        let symmetric = matches!(inner, Inner::RowRow | Inner::Dot);
        let (along, shares_b) = tiling::choose(&offsets.row_axes, offsets.cells, symmetric);
        offsets.swap_axes(shares_b);
        let swapped = swap_for_inner != shares_b;
        let Offsets { mut rows, mut terms, row_axes, .. } = offsets;
        if swapped {
            rows.iter_mut().chain(&mut terms).for_each(|offsets| offsets.swap(0, 1));
        }
        let tiling = Tiling::new(&row_axes, along, inner == Inner::Dot, &rows);
        let length = inner_axis.size;
        let full = full
            .map(|full| if swapped { 1 - full } else { full })
            .filter(|_| rows.len() * terms.len() * length < PARALLEL_WORK);
        let full_rows = full_rows([&rows, &terms], full, length);
        Self { inner, length, swapped, rows, terms, tiling, full, full_rows }
    }

    /// The number of multiply-adds of one execution.
    pub(crate) fn work(&self) -> usize {
        self.rows.len() * self.terms.len() * self.length
    }

    /// Whether it has enough work for several threads.
    pub(crate) fn is_shared(&self) -> bool {
        self.work() >= PARALLEL_WORK
    }

    /// The number of cells in a row of O.
    pub(crate) fn row_length(&self) -> usize {
        match self.inner {
            Inner::RowRow | Inner::RowScalar | Inner::Repeat => self.length,
            Inner::Dot | Inner::Sum => 1,
        }
    }

    /// O = sum of A * B, in linear space.
    pub(crate) fn multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        assert_eq!(o.len(), self.rows.len() * self.row_length());
        let parts = match parallel && self.is_shared() {
            true => 2 * rayon::current_num_threads(),
            false => 1,
        };
        self.multiply_between(&self.tiling.cuts, parts, a, b, o);
    }

    /// The rows of O between the first and the last of these cuts, in about `parts` parallel parts.
    fn multiply_between(&self, cuts: &[Cut], parts: usize, a: &[f64], b: &[f64], o: &mut [f64]) {
        let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
        if parts == 1 || cuts.len() == 2 {
            let tiles = &self.tiling.tiles[first.tile..last.tile];
            return linear_tiles(self, Part { tiles, first_row: first.row }, a, b, o);
        }
        let middle = cuts.len() / 2;
        let rows = cuts[middle].row - first.row;
        let (low, high) = o.split_at_mut(rows * self.row_length());
        rayon::join(
            || self.multiply_between(&cuts[..=middle], parts / 2, a, b, low),
            || self.multiply_between(&cuts[middle..], parts - parts / 2, a, b, high),
        );
    }

    /// O = ln of sum of exp(A + B), in log space.
    pub(crate) fn log_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.fill_rows(a, b, o, parallel, |plan, _, rows, a, b, o| {
            log_sum_exp_rows(plan, rows, a, b, o)
        });
    }

    /// [`log_multiply`](Self::log_multiply) for the rows of O that `wanted` accepts, given their
    /// index and cells; other rows are left unchanged.
    pub(crate) fn log_multiply_where(
        &self,
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        wanted: impl Fn(usize, Range<usize>) -> bool + Sync,
        parallel: bool,
    ) {
        let width = self.row_length();
        self.fill_rows(a, b, o, parallel, |plan, first, rows, a, b, o| {
            for (i, (row, o)) in rows.chunks(1).zip(o.chunks_exact_mut(width)).enumerate() {
                let start = (first + i) * width;
                if wanted(first + i, start..start + width) {
                    log_sum_exp_rows(plan, row, a, b, o);
                }
            }
        });
    }

    /// O = max of A + B, in log space with maxima for sums.
    pub(crate) fn max_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.fill_rows(a, b, o, parallel, |plan, _, rows, a, b, o| max_rows(plan, rows, a, b, o));
    }

    /// If one factor has every axis, as when a table receives a message: whether it is the second
    /// one. `None` if no factor has, and if the backward step is large enough for several threads.
    pub(crate) fn absorbs(&self) -> Option<bool> {
        self.full.map(|full| (full == 1) != self.swapped)
    }

    /// The backward step of O = sum of `full` * `other` in one pass, for a contraction that
    /// [`absorbs`](Self::absorbs). With D the adjoint of O: multiplies `full` by other * D, and
    /// writes the sum of full * D over the axes that `other` lacks to `adjoint`. No number may be
    /// negative. Products full * D below 1e-152 are flushed to zero.
    pub(crate) fn absorb_back(
        &self,
        full: &mut [f64],
        other: &[f64],
        d: &[f64],
        adjoint: &mut [f64],
    ) {
        assert!(other.len() == adjoint.len() && full.len() == self.full_rows.len() * self.length);
        absorb_rows(self, full, other, d, adjoint);
    }

    /// Calls `visit` with the positions in A and B of every term of one cell of O.
    pub(crate) fn each_term(&self, cell: usize, mut visit: impl FnMut(usize, usize)) {
        let width = self.row_length();
        let (row, column) = (self.rows[cell / width], cell % width);
        // The stride of the inner axis in each factor, and how much of it the cell sums over.
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

    /// Fills O with `fill(plan, first, rows, a, b, o)`, on several threads if that is worthwhile;
    /// `o` holds the rows `rows`, the first of which has index `first`.
    fn fill_rows(
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
            let part = self.rows.len().div_ceil(4 * rayon::current_num_threads());
            o.par_chunks_mut(part * width)
                .zip(self.rows.par_chunks(part))
                .enumerate()
                .for_each(|(i, (o, rows))| fill(self, i * part, rows, a, b, o));
        } else {
            fill(self, 0, &self.rows, a, b, o);
        }
    }
}

impl Inner {
    /// The kind of inner loop for this axis, and whether A and B are swapped for it.
    fn of(axis: &Axis) -> (Self, bool) {
        match axis.presence() {
            (true, true, true) => (Inner::RowRow, false),
            (true, false, true) => (Inner::RowScalar, false),
            (false, true, true) => (Inner::RowScalar, true),
            (true, true, false) => (Inner::Dot, false),
            (true, false, false) => (Inner::Sum, false),
            (false, true, false) => (Inner::Sum, true),
            (false, false, _) => (Inner::Repeat, false),
        }
    }
}

/// Merges neighbouring axes that are in the same tables, and drops axes of size 1.
fn merge(axes: &[Axis]) -> Vec<Axis> {
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes {
        match merged.last_mut() {
            _ if axis.size == 1 || axis.presence() == (false, false, false) => {}
            Some(last) if last.presence() == axis.presence() => last.size *= axis.size,
            _ => merged.push(*axis),
        }
    }
    merged
}

/// Where rows and terms are in A and B.
struct Offsets {
    rows: Vec<[u32; 2]>,
    terms: Vec<[u32; 2]>,
    row_axes: Vec<RowAxis>,
    /// The number of cells of A and of B.
    cells: [usize; 2],
}

impl Offsets {
    /// For these axes, outermost first, before the inner one.
    fn new(outer: &[Axis], inner: &Axis) -> Self {
        let size_if = |present: bool| if present { inner.size } else { 1 };
        let mut strides = [size_if(inner.in_a), size_if(inner.in_b)];
        let mut row_axes = Vec::new();
        let (mut rows, mut terms) = (vec![[0u32; 2]], vec![[0u32; 2]]);
        for axis in outer.iter().rev() {
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
        Self { rows, terms, row_axes, cells: strides }
    }

    /// Exchanges A and B in the axes, if `swapped`.
    fn swap_axes(&mut self, swapped: bool) {
        self.row_axes.iter_mut().for_each(|axis| swap_if(swapped, &mut axis.steps));
        swap_if(swapped, &mut self.cells);
    }
}

fn swap_if(swapped: bool, pair: &mut [usize; 2]) {
    if swapped {
        pair.swap(0, 1);
    }
}

fn at(start: u32, offset: usize) -> u32 {
    u32::try_from(start as usize + offset).expect("tables of fewer than 2^32 cells")
}
