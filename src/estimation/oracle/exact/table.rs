use super::program::Operand;
use crate::numeric::contraction::Contraction;
use crate::numeric::extremes::extremes;
use crate::numeric::pointwise::{divide_assign, multiply_assign};
use crate::numeric::shift::{NARROW, Rows, Shift, exp_rows, ln_plus_rows};

/// Sums below this are not trusted. All that rounding to zero can have taken from a larger sum is
/// below 1e-40 of it.
const TINY: f64 = 1e-250;

/// The logarithm of the largest sum that stands for itself.
const LARGEST: f64 = 20.0;

/// The numbers of one node.
///
/// ln of the table is ln of the sums plus what was taken out of the children. If that is one number
/// and no sum is far from 1, the sums serve as values themselves: the table is *plain*. Otherwise the
/// logarithms are formed, and the values are their exponentials with another shift taken out.
pub(super) struct Table {
    /// G of the node's own product; empty for a leaf.
    pub(super) sums: Vec<f64>,
    /// What to add to ln G, for a plain table.
    plain: Option<f64>,
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
    /// For a leaf: what a step on a distance saw of its square.
    pub(super) square: f64,
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
            plain: None,
            log: zeros(cells),
            value: zeros(cells),
            shift: Shift::Common(0.0),
            square: 0.0,
            rows: Rows::new(rows),
            adjoint: zeros(adjoint),
        }
    }

    /// The node's own tables, without a leaf's, which are elsewhere.
    pub(super) fn bytes(&self) -> usize {
        8 * (3 * self.sums.len() + 2 * self.rows.maxima.len() + self.adjoint.len())
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

    /// Given the sums, and the children as the node sees them, finds the table. Every sum of a
    /// table that is not plain is at least [`TINY`], even if it should not be.
    pub(super) fn conclude(&mut self, children: &[(&Operand, &Table)], parallel: bool) {
        let mut constant = 0.0;
        let mut one_number = true;
        for (_, child) in children {
            match child.shift {
                Shift::Common(shift) => constant += shift,
                Shift::OfRows => one_number = false,
            }
        }
        let stands_for_itself = || {
            let [smallest, largest] = extremes(&self.sums, parallel);
            smallest >= (-NARROW).exp() && largest <= LARGEST.exp()
        };
        self.plain = (one_number && stands_for_itself()).then_some(constant);
        if self.plain.is_none() {
            let of_rows = children.iter().filter(|(_, child)| child.shift == Shift::OfRows);
            let rows =
                of_rows.map(|(operand, child)| (&*operand.from_node, &child.rows.maxima[..]));
            ln_plus_rows(&self.sums, TINY, constant, rows, &mut self.log, parallel);
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
        self.log[0] = self.log_at(0);
        self.plain = None;
        self.log[0]
    }

    /// After the derivative by the values was written: makes it the marginal if need be.
    pub(super) fn receive(&mut self, parallel: bool) {
        if self.plain.is_none() {
            multiply_assign(&mut self.adjoint, &self.value, parallel);
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
            None => divide_assign(&mut self.adjoint, &mut self.sums, TINY, parallel),
        }
    }

    /// Sums the terms of cells with tiny sums in the log domain, given their logarithms.
    pub(super) fn mend(&mut self, forward: &Contraction, term: impl Fn(usize, usize) -> f64) {
        if self.plain.is_some() {
            return;
        }
        for cell in (0..self.sums.len()).filter(|&cell| self.sums[cell] < TINY) {
            let mut best = f64::NEG_INFINITY;
            forward.each_term(cell, |at_a, at_b| best = best.max(term(at_a, at_b)));
            self.log[cell] = best;
            if best > f64::NEG_INFINITY {
                let mut sum = 0.0;
                forward.each_term(cell, |at_a, at_b| {
                    let distance = term(at_a, at_b) - best;
                    if distance > -45.0 {
                        sum += distance.exp();
                    }
                });
                self.log[cell] += sum.ln();
            }
        }
    }
}
