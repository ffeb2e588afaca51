//! Products of two tables, summed over some axes: O = sum of A * B.
//!
//! All tables keep their axes in one common order. A [`Contraction`] is compiled once from what
//! axes each of the three tables has, and then run many times, in one of three algebras:
//! ordinary numbers, logarithms (log-sum-exp), or logarithms with maxima instead of sums.
//!
//! The last axis is the inner loop. Everything before it is reduced to two lists of offsets, one
//! for the rows of O and one for the terms that are summed into a row. A row of O is built in
//! registers, block by block, so that O is written once. Each number is summed in one fixed
//! order, whatever the instruction set and the number of threads.

mod kernels;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use kernels::{absorb_rows, factors, linear_rows, logarithm_rows, max_rows};

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
    /// Whether the first factor (after a swap) has every axis.
    absorbs: bool,
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
        let (inner, swapped) = match inner_axis.presence() {
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
        let absorbs = inner == Inner::RowScalar && merged.iter().all(|axis| axis.in_a && axis.in_b);
        let (mut rows, mut terms) = (vec![[0u32; 2]], vec![[0u32; 2]]);
        for axis in merged.iter().rev() {
            let step =
                [if axis.in_a { strides[0] } else { 0 }, if axis.in_b { strides[1] } else { 0 }];
            let list = if axis.in_o { &mut rows } else { &mut terms };
            *list = (0..axis.size)
                .flat_map(|i| {
                    list.iter()
                        .map(move |&o| [at(o[0], i * step[0]), at(o[1], i * step[1])])
                        .collect::<Vec<_>>()
                })
                .collect();
            for (stride, present) in strides.iter_mut().zip([axis.in_a, axis.in_b]) {
                if present {
                    *stride *= axis.size;
                }
            }
        }
        if swapped {
            rows.iter_mut().chain(&mut terms).for_each(|offsets| offsets.swap(0, 1));
        }
        Self { inner, length: inner_axis.size, swapped, rows, terms, absorbs }
    }

    /// The number of multiply-adds of one run.
    pub fn work(&self) -> usize {
        self.rows.len() * self.terms.len() * self.length
    }

    fn row_length(&self) -> usize {
        match self.inner {
            Inner::RowRow | Inner::RowScalar | Inner::Repeat => self.length,
            Inner::Dot | Inner::Sum => 1,
        }
    }

    /// O = sum of A * B, for ordinary numbers.
    pub fn multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, linear_rows);
    }

    /// O = ln of sum of exp(A + B): the same for logarithms.
    pub fn log_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, logarithm_rows);
    }

    /// O = max of A + B.
    pub fn max_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, max_rows);
    }

    /// When one factor has every axis, as when a table takes in a message: whether that is the
    /// second one. `None` when no factor does, and in some cases that have no short way back.
    pub fn absorbs(&self) -> Option<bool> {
        self.absorbs.then_some(self.swapped)
    }

    /// The way back through O = sum of `full` * `other` in one pass, for a contraction that
    /// [`absorbs`](Self::absorbs). With D the adjoint of O: writes full * other * D to `product`
    /// and the sum of full * D over the axes that `other` lacks to `adjoint`.
    pub fn absorb_back(
        &self,
        full: &[f64],
        other: &[f64],
        d: &[f64],
        product: &mut [f64],
        adjoint: &mut [f64],
    ) {
        assert!(self.absorbs);
        assert_eq!(full.len(), product.len());
        assert_eq!(other.len(), adjoint.len());
        absorb_rows(self, full, other, d, product, adjoint);
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

    fn run(
        &self,
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        parallel: bool,
        fill: impl Fn(&Contraction, &[[u32; 2]], &[f64], &[f64], &mut [f64]) + Sync,
    ) {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        let width = self.row_length();
        assert_eq!(o.len(), self.rows.len() * width);
        if parallel && self.rows.len() >= 4 && self.work() >= PARALLEL_WORK {
            let share = self.rows.len().div_ceil(4 * rayon::current_num_threads());
            o.par_chunks_mut(share * width)
                .zip(self.rows.par_chunks(share))
                .for_each(|(o, rows)| fill(self, rows, a, b, o));
        } else {
            fill(self, &self.rows, a, b, o);
        }
    }
}

fn at(start: u32, further: usize) -> u32 {
    u32::try_from(start as usize + further).expect("tables of fewer than 2^32 cells")
}
