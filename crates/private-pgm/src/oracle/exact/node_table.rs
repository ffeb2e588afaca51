use std::ops::Range;

use super::executor::LogSpace;
use super::program::Operand;
use crate::numeric::contraction::Contraction;
use crate::numeric::extremes::extremes;
use crate::numeric::memory;
use crate::numeric::pointwise::{
    RowLimits, divide_assign, flag_rows, flush_slice_to_zero, multiply_assign,
};
use crate::numeric::shift::{RowMaxima, Shift, exp_rows, ln_plus_rows};

/// Sums below this are not trusted where the largest values of both factors are 1. Exponentials
/// below 1e-152 are flushed to zero, so that each term of a larger sum has lost less than 1e-22
/// of it.
const TINY: f64 = 1e-130;

/// Rows are summed in log space from this share of a noticeable marginal on, and rows whose sums
/// are within this factor of tiny are watched, because potentials change from call to call. Our
/// choice.
const MARGIN: f64 = 1e-20;

/// The logarithms of the smallest and of the largest sum of a table in linear space: a product of
/// either with an exponential is a normal number.
const SMALLEST: f64 = -280.0;
const LARGEST: f64 = 20.0;

/// The logarithm of the smallest ratio of a sum to the largest sum of a table with a narrow range.
/// It leaves room for a few more steps before the table leaves linear space.
const NARROW: f64 = 0.5 * SMALLEST;

/// The numbers of one node of the contraction tree.
///
/// ln of the table is ln of the sums plus the shifts of the children. If these shifts add up to
/// one number and all sums are within range, the table is in *linear space*: the sums are the
/// values for the parent. Otherwise it is in *log space*: the logarithms are formed, and the values
/// are their exponentials after another shift.
pub(super) struct NodeTable {
    /// G of the node's own product; empty for a leaf.
    pub(super) sums: Vec<f64>,
    /// Sums below this are not trusted.
    tiny: f64,
    /// For a table in linear space, ln of the table minus ln of the sums.
    linear_offset: Option<f64>,
    /// The largest value for the parent.
    largest: f64,
    /// Whether no sum is far below the largest.
    narrow: bool,
    /// ln of the table, in log space; empty for a leaf, which has potentials instead.
    pub(super) log: Vec<f64>,
    /// exp(log - shift), in log space; empty for a leaf.
    value: Vec<f64>,
    /// What was subtracted from ln of the table for the parent.
    pub(super) shift: Shift,
    /// The shift of each row, as the parent groups cells into rows, for [`Shift::OfRows`].
    pub(super) rows: RowMaxima,
    /// In the backward pass: the derivative of N ln Z by the values, or, in log space, the
    /// marginal. Empty for a leaf that absorbs its sibling.
    pub(super) adjoint: Vec<f64>,
    /// The rows with tiny sums that had a noticeable marginal in a backward pass, or nearly so: the
    /// next forward pass in log space sums them there. They stay marked while they have tiny sums,
    /// because an upper bound was noticed: the true marginal may be far below. Empty until there
    /// are any.
    noticed: Vec<bool>,
    /// Whether it is a message of [`Conditioning`](super::conditioning::Conditioning).
    pub(super) message: bool,
}

impl NodeTable {
    /// For a leaf with `rows` rows and `adjoint` cells of adjoint.
    pub(super) fn of_leaf(rows: usize, adjoint: usize) -> Self {
        Self::new(0, rows, adjoint)
    }

    /// For an inner node with `cells` cells in `rows` rows.
    pub(super) fn of_node(cells: usize, rows: usize) -> Self {
        Self::new(cells, rows, cells)
    }

    fn new(cells: usize, rows: usize, adjoint: usize) -> Self {
        use memory::zeros;
        Self {
            sums: zeros(cells),
            tiny: TINY,
            linear_offset: None,
            largest: 1.0,
            narrow: true,
            log: zeros(cells),
            value: zeros(cells),
            shift: Shift::Common(0.0),
            noticed: Vec::new(),
            message: false,
            rows: RowMaxima::new(rows),
            adjoint: zeros(adjoint),
        }
    }

    /// The values that the parent multiplies.
    pub(super) fn value(&self) -> &[f64] {
        if self.linear_offset.is_some() { &self.sums } else { &self.value }
    }

    pub(super) fn value_and_adjoint(&mut self) -> (&[f64], &mut [f64]) {
        let value = if self.linear_offset.is_some() { &self.sums } else { &self.value };
        (value, &mut self.adjoint)
    }

    /// ln of one cell.
    pub(super) fn log_at(&self, cell: usize) -> f64 {
        match self.linear_offset {
            Some(offset) => self.sums[cell].ln() + offset,
            None => self.log[cell],
        }
    }

    /// Whether it is a message with a sum far below the largest.
    pub(super) fn is_wide_message(&self) -> bool {
        self.message && !self.narrow
    }

    /// Completes the table, given its sums and the children as the node groups them. In log space
    /// every sum is raised to at least `tiny`, an upper bound of its true value.
    pub(super) fn finish_forward(&mut self, children: &[(&Operand, &NodeTable)], parallel: bool) {
        let mut offset = 0.0;
        let mut common_shift = true;
        self.tiny = children.iter().map(|(_, child)| child.largest).product::<f64>() * TINY;
        for (_, child) in children {
            match child.shift {
                Shift::Common(shift) => offset += shift,
                Shift::OfRows => common_shift = false,
            }
        }
        let [smallest, largest] =
            if common_shift { extremes(&self.sums, parallel) } else { [0.0, f64::INFINITY] };
        let is_linear = smallest >= SMALLEST.exp() && largest <= LARGEST.exp();
        self.linear_offset = is_linear.then_some(offset);
        self.largest = if is_linear { largest } else { 1.0 };
        let is_narrow = |smallest: f64| smallest > largest * NARROW.exp();
        // Structural zeros do not widen the range.
        let has_zeros = self.message && common_shift && smallest == 0.0;
        self.narrow = is_narrow(if has_zeros { smallest_positive(&self.sums) } else { smallest });
        if self.linear_offset.is_none() {
            let of_rows = children.iter().filter(|(_, child)| child.shift == Shift::OfRows);
            let rows =
                of_rows.map(|(operand, child)| (&*operand.from_node, &child.rows.maxima[..]));
            ln_plus_rows(&self.sums, self.tiny, offset, rows, &mut self.log, parallel);
        }
    }

    /// Computes the values for the parent.
    pub(super) fn exponentiate(&mut self, operand: &Operand, parallel: bool) {
        self.shift = match self.linear_offset {
            Some(offset) => Shift::Common(offset),
            None => {
                let Self { log, value, rows, .. } = self;
                let range = extremes(log, parallel);
                exp_rows(&operand.onto_kept, log, range, rows, value, parallel)
            }
        };
    }

    /// Completes a root, which has one cell, and returns its logarithm.
    pub(super) fn finish_root(&mut self) -> f64 {
        self.form_log(false);
        if self.linear_offset.take().is_some() {
            self.tiny = self.tiny.min(self.sums[0]);
        }
        self.log[0]
    }

    /// Completes an adjoint whose small entries are already flushed to zero: in log space the
    /// derivative by the values becomes the marginal.
    pub(super) fn finish_flushed_adjoint(&mut self, parallel: bool) {
        if self.linear_offset.is_none() {
            multiply_assign(&mut self.adjoint, &self.value, parallel);
        }
    }

    /// Completes an adjoint, flushing small entries to zero.
    pub(super) fn finish_adjoint(&mut self, parallel: bool) {
        match self.linear_offset {
            Some(_) => flush_slice_to_zero(&mut self.adjoint, parallel),
            None => self.finish_flushed_adjoint(parallel),
        }
    }

    /// Adds to the marginal of one cell.
    pub(super) fn add_mass(&mut self, cell: usize, mass: f64) {
        let linear = self.linear_offset.is_some();
        self.adjoint[cell] += if linear { mass / self.sums[cell] } else { mass };
    }

    /// Turns the completed adjoint into the derivative by the sums. Where a sum is tiny, that
    /// derivative becomes 0 and the sum is replaced by minus the marginal. Returns the sum of
    /// these marginals.
    pub(super) fn differentiate(&mut self, parallel: bool) -> f64 {
        match self.linear_offset {
            Some(_) => 0.0,
            None => divide_assign(&mut self.adjoint, &mut self.sums, self.tiny, parallel),
        }
    }

    /// Writes the logarithms of all cells to `log`. The table may stay in linear space.
    pub(super) fn form_log(&mut self, parallel: bool) {
        if let Some(offset) = self.linear_offset {
            // Sums in linear space are trusted down to the smallest normal number.
            ln_plus_rows(&self.sums, f64::MIN_POSITIVE, offset, [], &mut self.log, parallel);
        }
    }

    /// After [`differentiate`](Self::differentiate) has returned `lost`: marks the rows with tiny
    /// sums whose marginals are noticeable, so that the next forward pass in log space sums them
    /// there. Returns whether the last one has not.
    pub(super) fn notice_underflow(
        &mut self,
        forward: &Contraction,
        lost: f64,
        noticeable: f64,
    ) -> bool {
        let threshold = noticeable / self.sums.len() as f64;
        let margin = MARGIN * threshold;
        if self.message || self.linear_offset.is_some() {
            return false;
        }
        let is_new = self.noticed.is_empty();
        if is_new && (lost.is_nan() || lost <= margin) {
            return false;
        }
        let width = forward.row_length();
        self.noticed.resize(self.sums.len() / width, false);
        let limits = RowLimits { margin, threshold, near: self.tiny / MARGIN };
        flag_rows(&self.sums, width, limits, &mut self.noticed)
    }

    /// Whether [`recompute_in_log_space`](Self::recompute_in_log_space) has anything to do.
    pub(super) fn needs_log_space(&self, which: LogSpace) -> bool {
        self.linear_offset.is_none()
            && match which {
                LogSpace::None => false,
                LogSpace::Noticed => self.noticed.contains(&true),
                LogSpace::All => true,
            }
    }

    /// Sums rows that contain tiny sums in log space, given the logarithms of the children: all of
    /// them, or those that were [noticed](Self::notice_underflow).
    pub(super) fn recompute_in_log_space(
        &mut self,
        forward: &Contraction,
        logs: [&[f64]; 2],
        which: LogSpace,
        parallel: bool,
    ) {
        let Self { sums, log, tiny, noticed, .. } = self;
        let all = which == LogSpace::All;
        let is_wanted = |row: usize, cells: Range<usize>| {
            (all || noticed[row]) && sums[cells].iter().any(|sum| sum < tiny)
        };
        forward.log_multiply_where(logs[0], logs[1], log, is_wanted, parallel);
    }
}

fn smallest_positive(values: &[f64]) -> f64 {
    values.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min)
}
