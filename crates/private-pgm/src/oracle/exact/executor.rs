//! Runs a [`Program`]: the forward pass, and the same pass with maxima for sums.
//!
//! # Arithmetic
//!
//! A product O = sum over k of A B is computed on shifted exponentials. M_A is the largest value
//! of ln A, or the maximum over k for each row if other rows lie far below it; likewise M_B. Then
//!
//! > G = sum over k of exp(ln A - M_A) exp(ln B - M_B), ln O = ln G + M_A + M_B.
//!
//! Nothing overflows, and exponentials and logarithms are taken per table cell, never per term.
//! Where M_A and M_B are single numbers and every G is within range, no logarithm is needed: G
//! itself is the factor of the next product.
//!
//! The backward pass turns the adjoint r = N d ln Z / d G of a node into those of its children:
//! d_A = the sum of B' r, where A' and B' are the shifted exponentials. A leaf's marginal is
//! A' d_A. A node in linear space has r = d. Otherwise its marginal is m = value * d, and
//! r = m / G.
//!
//! # Underflow
//!
//! Where the maxima of A and B lie at different k, G can be tiny or underflow. Such a cell rarely
//! has a noticeable marginal. It is first given the value of the threshold, an upper bound. Only
//! when the backward pass finds that such a cell has a noticeable marginal is everything
//! recomputed, with the rows of the noticeable cells summed in log space. Potentials change little
//! from call to call: the next call sums the same rows in log space from the start, and its
//! backward pass finds the rows of the call after it.

use super::join_spinning::join_spinning;
use super::leaves::Leaves;
use super::node_table::NodeTable;
use super::program::{Operand, Operation, Product, Program, Sum, Task};
use crate::factor::Potentials;
use crate::numeric::shift::exp_rows;
use crate::numeric::step::StepStats;

/// Potentials of this magnitude have lost three digits after the decimal point.
const DRIFTED: f64 = 1000.0;

/// Which tiny sums are recomputed in log space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogSpace {
    None,
    /// Those that the last backward pass found noticeable.
    Noticed,
    All,
}

/// A program and how to run it.
pub(super) struct Executor<'a> {
    pub(super) program: &'a Program,
    pub(super) parallel: bool,
    /// Which tiny sums are recomputed in log space.
    pub(super) log_space: LogSpace,
}

/// Statistics of a forward pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ForwardStats {
    /// |omega - y|^2, for a distance step. Terms are added in the order of the tree, so that the
    /// sum does not depend on the threads.
    pub(super) square: f64,
    /// The number of messages with a wide range of values.
    pub(super) wide_messages: usize,
    /// Whether a table's largest potential is so far from 0 that digits are lost.
    pub(super) drifted: bool,
}

impl ForwardStats {
    pub(super) fn add(&mut self, other: Self) {
        self.square += other.square;
        self.wide_messages += other.wide_messages;
        self.drifted |= other.drifted;
    }
}

impl Executor<'_> {
    /// Runs two closures, the halves of a task's split, in parallel if that is allowed.
    pub(super) fn both<R: Send>(
        &self,
        task: &Task,
        first: impl FnOnce() -> R + Send,
        second: impl FnOnce() -> R + Send,
    ) -> (R, R) {
        match self.parallel {
            true if task.spin => join_spinning(first, second),
            true => rayon::join(first, second),
            false => (first(), second()),
        }
    }

    /// The tables of the two tasks of a split.
    pub(super) fn split_tables<'t>(
        task: &Task,
        [left, right]: &[Task; 2],
        tables: &'t mut [NodeTable],
    ) -> (&'t mut [NodeTable], &'t mut [NodeTable]) {
        let start = task.nodes.start;
        tables[left.nodes.start - start..right.nodes.end - start].split_at_mut(left.nodes.len())
    }

    /// The leaves of the two tasks of a split.
    pub(super) fn split_leaves<'l>(
        &self,
        [left, right]: &[Task; 2],
        leaves: &'l mut Leaves<'_>,
    ) -> (Leaves<'l>, Leaves<'l>) {
        leaves.split(self.program.cells(&left.leaves), self.program.cells(&right.leaves))
    }

    /// The shifted exponentials of a node.
    pub(super) fn value<'t>(
        &self,
        node: usize,
        table: &'t NodeTable,
        leaves: &'t Leaves<'_>,
    ) -> &'t [f64] {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.values(cells),
            None => table.value(),
        }
    }

    /// ln of all cells of a node.
    fn logs<'t>(&self, node: usize, table: &'t mut NodeTable, leaves: &'t Leaves<'_>) -> &'t [f64] {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.log(cells),
            None => {
                table.form_log(self.parallel);
                &table.log
            }
        }
    }

    /// Computes the tables of a task's nodes in their order.
    pub(super) fn forward(
        &self,
        task: &Task,
        tables: &mut [NodeTable],
        mut leaves: Leaves<'_>,
    ) -> ForwardStats {
        let mut stats = ForwardStats::default();
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            let (left_leaves, right_leaves) = self.split_leaves(split, &mut leaves);
            let (left, right) = self.both(
                task,
                || self.forward(&split[0], left, left_leaves),
                || self.forward(&split[1], right, right_leaves),
            );
            stats.add(left);
            stats.add(right);
        }
        let start = task.nodes.start;
        for node in task.own_nodes() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            match &self.program.instructions[node].operation {
                Operation::Leaf(_) => {}
                Operation::Sum(sum) => {
                    let table = &mut below[node - 1 - start];
                    stats.add(self.exponentiate(node - 1, &sum.child, table, &mut leaves));
                    self.forward_sum(node, sum, table, own, &leaves);
                }
                Operation::Product(product) => {
                    let Product { left_node, left, right, .. } = product;
                    let (a, b) = children(below, left_node - start);
                    stats.add(self.exponentiate(*left_node, left, a, &mut leaves));
                    stats.add(self.exponentiate(node - 1, right, b, &mut leaves));
                    self.forward_product(node, product, (a, b), own, &leaves);
                }
            }
            stats.wide_messages += usize::from(own.is_wide_message());
        }
        stats
    }

    /// Sums a child's values onto the node's attributes.
    fn forward_sum(
        &self,
        node: usize,
        Sum { forward, child, .. }: &Sum,
        table: &mut NodeTable,
        own: &mut NodeTable,
        leaves: &Leaves<'_>,
    ) {
        let value = self.value(node - 1, table, leaves);
        forward.multiply(value, &[1.0], &mut own.sums, self.parallel);
        own.finish_forward(&[(child, table)], self.parallel);
        if own.needs_log_space(self.log_space) {
            let log = self.logs(node - 1, table, leaves);
            let logs = [log, &[0.0][..]];
            own.recompute_in_log_space(forward, logs, self.log_space, self.parallel);
        }
    }

    /// Multiplies the children's values and sums them onto the node's attributes.
    fn forward_product(
        &self,
        node: usize,
        Product { forward, left_node, left, right, .. }: &Product,
        (a, b): (&mut NodeTable, &mut NodeTable),
        own: &mut NodeTable,
        leaves: &Leaves<'_>,
    ) {
        let value_a = self.value(*left_node, a, leaves);
        let value_b = self.value(node - 1, b, leaves);
        forward.multiply(value_a, value_b, &mut own.sums, self.parallel);
        own.finish_forward(&[(left, a), (right, b)], self.parallel);
        if own.needs_log_space(self.log_space) {
            let logs = [self.logs(*left_node, a, leaves), self.logs(node - 1, b, leaves)];
            own.recompute_in_log_space(forward, logs, self.log_space, self.parallel);
        }
    }

    /// Computes the values of a node for its parent. Returns the statistics of a leaf.
    fn exponentiate(
        &self,
        node: usize,
        operand: &Operand,
        table: &mut NodeTable,
        leaves: &mut Leaves<'_>,
    ) -> ForwardStats {
        let Some(cells) = self.program.leaf_cells(node) else {
            table.exponentiate(operand, self.parallel);
            return ForwardStats::default();
        };
        let (log, StepStats { extremes, square }, value) = leaves.read(cells);
        let onto = &operand.onto_kept;
        table.shift = exp_rows(onto, log, extremes, &mut table.rows, value, self.parallel);
        let drifted = extremes[1].is_finite() && extremes[1].abs() > DRIFTED;
        ForwardStats { square, wide_messages: 0, drifted }
    }

    /// The forward pass with maxima for sums, on logarithms: each root gets the largest score.
    pub(super) fn maximum(&self, task: &Task, tables: &mut [NodeTable], potentials: &Potentials) {
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            self.both(
                task,
                || self.maximum(&split[0], left, potentials),
                || self.maximum(&split[1], right, potentials),
            );
        }
        let start = task.nodes.start;
        for node in task.own_nodes() {
            let (below, own) = tables.split_at_mut(node - start);
            let log = |child: usize| match self.program.leaf_cells(child) {
                Some(cells) => &potentials.values()[cells],
                None => &below[child - start].log,
            };
            match &self.program.instructions[node].operation {
                Operation::Leaf(_) => {}
                Operation::Sum(Sum { forward, .. }) => {
                    forward.max_multiply(log(node - 1), &[0.0], &mut own[0].log, self.parallel);
                }
                Operation::Product(Product { forward, left_node, .. }) => {
                    let (a, b) = (log(*left_node), log(node - 1));
                    forward.max_multiply(a, b, &mut own[0].log, self.parallel);
                }
            }
        }
    }
}

/// The tables of the left child and of the right child, which is the last of `below`.
pub(super) fn children(below: &mut [NodeTable], left: usize) -> (&mut NodeTable, &mut NodeTable) {
    let (lefts, rights) = below.split_at_mut(left + 1);
    (&mut lefts[left], rights.last_mut().expect("the right child directly precedes its parent"))
}
