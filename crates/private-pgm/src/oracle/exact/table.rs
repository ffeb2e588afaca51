use std::ops::Range;

use super::program::Operand;
use crate::numeric::contraction::Contraction;
use crate::numeric::extremes::extremes;
use crate::numeric::pointwise::{divide_assign, flush_slice_to_zero, multiply_assign};
use crate::numeric::shift::{Rows, Shift, exp_rows, ln_plus_rows};

/// Sums below this are not trusted where the largest values of both factors are 1. What exponentials below
/// 1e-152, which are taken for 0, can have been of a larger sum is below 1e-22 of it for each of its terms.
const TINY: f64 = 1e-130;

/// The logarithms of the smallest and of the largest sum that stand for themselves: a product of either
/// with an exponential is a normal number.
const SMALLEST: f64 = -280.0;
const LARGEST: f64 = 20.0;

/// The logarithm of the share of the largest sum that the smallest one of an even table has at least:
/// far enough from sums that do not stand for themselves for a few more steps.
const EVEN: f64 = 0.5 * SMALLEST;

/// The numbers of one node.
///
/// ln of the table is ln of the sums plus what was taken out of the children. If that is one number
/// and no sum is far from 1, the sums serve as values themselves: the table is *plain*. Otherwise the
/// logarithms are formed, and the values are their exponentials with another shift taken out.
pub(super) struct Table {
    /// G of the node's own product; empty for a leaf.
    pub(super) sums: Vec<f64>,
    /// Sums below this are not trusted.
    tiny: f64,
    /// What to add to ln G, for a plain table.
    plain: Option<f64>,
    /// The largest value that the parent multiplies.
    largest: f64,
    /// Whether no sum is far below the largest.
    even: bool,
    /// ln of the table, if it is not plain; empty for a leaf, whose potentials they are.
    pub(super) log: Vec<f64>,
    /// exp(log - shift), if the table is not plain; empty for a leaf.
    value: Vec<f64>,
    /// What was taken out of the table for the parent,
    pub(super) shift: Shift,
    /// row by row as the parent sees it, if it is not one number.
    pub(super) rows: Rows,
    /// On the way back: the derivative of N ln Z by the values, or, for a table that is not plain,
    /// the marginal. Empty for a leaf that absorbs its sibling.
    pub(super) adjoint: Vec<f64>,
    /// Whether it is a message whose evenness matters.
    pub(super) message: bool,
}

impl Table {
    /// A leaf's, with so many rows, and so many cells on the way back.
    pub(super) fn of_leaf(rows: usize, adjoint: usize) -> Self {
        Self::new(0, rows, adjoint)
    }

    /// An inner node's, with so many cells and rows.
    pub(super) fn of_node(cells: usize, rows: usize) -> Self {
        Self::new(cells, rows, cells)
    }

    fn new(cells: usize, rows: usize, adjoint: usize) -> Self {
        let zeros = |cells| vec![0.0; cells];
        Self {
            sums: zeros(cells),
            tiny: TINY,
            plain: None,
            largest: 1.0,
            even: true,
            log: zeros(cells),
            value: zeros(cells),
            shift: Shift::Common(0.0),
            message: false,
            rows: Rows::new(rows),
            adjoint: zeros(adjoint),
        }
    }

    /// The exponentials that the parent multiplies.
    pub(super) fn value(&self) -> &[f64] {
        if self.plain.is_some() { &self.sums } else { &self.value }
    }

    pub(super) fn value_and_adjoint(&mut self) -> (&[f64], &mut [f64]) {
        let value = if self.plain.is_some() { &self.sums } else { &self.value };
        (value, &mut self.adjoint)
    }

    /// ln of one cell.
    pub(super) fn log_at(&self, cell: usize) -> f64 {
        match self.plain {
            Some(constant) => self.sums[cell].ln() + constant,
            None => self.log[cell],
        }
    }

    /// Whether it is a message of which some sum was far below the largest.
    pub(super) fn is_uneven_message(&self) -> bool {
        self.message && !self.even
    }

    /// Given the sums, and the children as the node sees them, finds the table. Every sum of a
    /// table that is not plain counts as at least `tiny`, even if it should not.
    pub(super) fn finish_forward(&mut self, children: &[(&Operand, &Table)], parallel: bool) {
        let mut constant = 0.0;
        let mut one_number = true;
        self.tiny = children.iter().map(|(_, child)| child.largest).product::<f64>() * TINY;
        for (_, child) in children {
            match child.shift {
                Shift::Common(shift) => constant += shift,
                Shift::OfRows => one_number = false,
            }
        }
        let [smallest, largest] =
            if one_number { extremes(&self.sums, parallel) } else { [0.0, f64::INFINITY] };
        let stands_for_itself = smallest >= SMALLEST.exp() && largest <= LARGEST.exp();
        self.plain = stands_for_itself.then_some(constant);
        self.largest = if stands_for_itself { largest } else { 1.0 };
        let is_even = |smallest: f64| smallest > largest * EVEN.exp();
        // What is impossible is not uneven.
        let excludes = self.message && one_number && smallest == 0.0;
        self.even = is_even(if excludes { smallest_positive(&self.sums) } else { smallest });
        if self.plain.is_none() {
            let of_rows = children.iter().filter(|(_, child)| child.shift == Shift::OfRows);
            let rows =
                of_rows.map(|(operand, child)| (&*operand.from_node, &child.rows.maxima[..]));
            ln_plus_rows(&self.sums, self.tiny, constant, rows, &mut self.log, parallel);
        }
    }

    /// Makes values for the parent.
    pub(super) fn exponentiate(&mut self, operand: &Operand, parallel: bool) {
        self.shift = match self.plain {
            Some(constant) => Shift::Common(constant),
            None => {
                let Self { log, value, rows, .. } = self;
                let range = extremes(log, parallel);
                exp_rows(&operand.onto_kept, log, range, rows, value, parallel)
            }
        };
    }

    /// At the root, which has one cell: its logarithm.
    pub(super) fn conclude_root(&mut self) -> f64 {
        self.form_log(false);
        if self.plain.take().is_some() {
            self.tiny = self.tiny.min(self.sums[0]);
        }
        self.log[0]
    }

    /// After the derivative by the values was written, without what is faint: makes it the marginal if
    /// need be.
    pub(super) fn receive(&mut self, parallel: bool) {
        if self.plain.is_none() {
            multiply_assign(&mut self.adjoint, &self.value, parallel);
        }
    }

    /// The same where faint derivatives were written, too.
    pub(super) fn receive_all(&mut self, parallel: bool) {
        match self.plain {
            Some(_) => flush_slice_to_zero(&mut self.adjoint, parallel),
            None => self.receive(parallel),
        }
    }

    /// Adds a mass to the marginal of one cell.
    pub(super) fn add_mass(&mut self, cell: usize, mass: f64) {
        self.adjoint[cell] += if self.plain.is_some() { mass / self.sums[cell] } else { mass };
    }

    /// Makes what was received the derivative by the sums. Where a sum is tiny, that becomes 0 and
    /// the sum minus the marginal; returns the sum of all these marginals.
    pub(super) fn differentiate(&mut self, parallel: bool) -> f64 {
        match self.plain {
            Some(_) => 0.0,
            None => divide_assign(&mut self.adjoint, &mut self.sums, self.tiny, parallel),
        }
    }

    /// Makes sure that the logarithms of all cells are at hand. The table may still be plain.
    pub(super) fn form_log(&mut self, parallel: bool) {
        if let Some(constant) = self.plain {
            // Sums that stand for themselves are trusted, however small.
            ln_plus_rows(&self.sums, f64::MIN_POSITIVE, constant, [], &mut self.log, parallel);
        }
    }

    /// Sums the terms of rows with tiny sums in the log domain, given the logarithms of the children.
    pub(super) fn recompute_in_log_space(
        &mut self,
        forward: &Contraction,
        logs: [&[f64]; 2],
        parallel: bool,
    ) {
        if self.plain.is_none() {
            let Self { sums, log, tiny, .. } = self;
            let has_tiny = |cells: Range<usize>| sums[cells].iter().any(|sum| sum < tiny);
            forward.log_multiply_where(logs[0], logs[1], log, has_tiny, parallel);
        }
    }
}

fn smallest_positive(values: &[f64]) -> f64 {
    values.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min)
}
