//! Runs a [`Program`]: sums forwards, marginals backwards, maxima forwards.
//!
//! # Arithmetic
//! A product O = sum over k of A B is computed on exponentials with something taken out: with M_A
//! the largest value of ln A, or, if other rows are far below it, the maximum over k, and M_B
//! likewise,
//!
//! > G = sum over k of exp(ln A - M_A) exp(ln B - M_B), ln O = ln G + M_A + M_B,
//!
//! so that nothing overflows, and the only exponentials and logarithms are those of table cells,
//! never of the far more numerous products. Where M_A and M_B are single numbers and no G is far
//! from 1, not even those are needed: G itself is what the next product takes.
//!
//! On the way back the adjoint r = N d ln Z / d G of a node becomes those of its children, d_A = the
//! sum of B' r with A', B' the exponentials above. A leaf's marginal is A' d_A. A node whose values
//! are its sums has r = d; else its marginal is m = value * d, and r = m / G.
//!
//! Where the maxima of A and B lie at different k, G can be tiny or even underflow. Such cells hardly
//! ever matter: they are first given the value of the threshold, which is too much, and only when
//! one of them turns out to have a noticeable marginal all the same, everything is done again with
//! the terms of the rows of all such cells summed in the log domain.

use super::join_spinning::join_spinning;
use super::leaves::Leaves;
use super::program::{Kind, Operand, Program, Task};
use super::table::Table;
use crate::factor::Potentials;
use crate::numeric::contraction::Contraction;
use crate::numeric::pointwise::multiply_assign;
use crate::numeric::shift::exp_rows;
use crate::numeric::step::Stepped;

/// A share of what is noticeable that all cells together do not make so.
const NOTHING: f64 = 1e-15;

/// Potentials that size have lost three digits.
const DRIFTED: f64 = 1000.0;

/// How a program is run.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) parallel: bool,
    /// Whether tiny sums are done again in the log domain.
    pub(super) recompute_in_log_space: bool,
}

/// What was seen on the way forward.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ForwardStats {
    /// |omega - y|^2, for a step on a distance. Its terms are added in the order of the tree, whatever
    /// the threads.
    pub(super) square: f64,
    /// How many messages are uneven.
    pub(super) uneven: usize,
    /// Whether a table's largest potential is so far from 0 that digits are lost.
    pub(super) drifted: bool,
}

impl ForwardStats {
    pub(super) fn add(&mut self, other: Self) {
        self.square += other.square;
        self.uneven += other.uneven;
        self.drifted |= other.drifted;
    }
}

impl Run<'_> {
    /// Runs two closures, the work of a task's split, at the same time if that is allowed.
    fn both<R: Send>(
        &self,
        task: &Task,
        first: impl FnOnce() -> R + Send,
        second: impl FnOnce() -> R + Send,
    ) -> (R, R) {
        match self.parallel {
            true if task.in_step => join_spinning(first, second),
            true => rayon::join(first, second),
            false => (first(), second()),
        }
    }

    /// The tables of the two tasks of a split.
    fn split_tables<'t>(
        task: &Task,
        [left, right]: &[Task; 2],
        tables: &'t mut [Table],
    ) -> (&'t mut [Table], &'t mut [Table]) {
        let start = task.nodes.start;
        tables[left.nodes.start - start..right.nodes.end - start].split_at_mut(left.nodes.len())
    }

    /// The leaves of the two tasks of a split.
    fn split_leaves<'l>(
        &self,
        [left, right]: &[Task; 2],
        leaves: &'l mut Leaves<'_>,
    ) -> (Leaves<'l>, Leaves<'l>) {
        leaves.halves(self.program.cells(&left.leaves), self.program.cells(&right.leaves))
    }

    /// The exponentials of a node.
    fn value<'t>(&self, node: usize, table: &'t Table, leaves: &'t Leaves<'_>) -> &'t [f64] {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.values(cells),
            None => table.value(),
        }
    }

    /// ln of one cell of a node.
    fn log(&self, node: usize, table: &Table, leaves: &Leaves<'_>, cell: usize) -> f64 {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.log(cells)[cell],
            None => table.log_at(cell),
        }
    }

    /// ln of all cells of a node.
    fn logs<'t>(&self, node: usize, table: &'t mut Table, leaves: &'t Leaves<'_>) -> &'t [f64] {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.log(cells),
            None => {
                table.form_log(self.parallel);
                &table.log
            }
        }
    }

    /// The tables of a task's nodes, in their order.
    pub(super) fn forward(
        &self,
        task: &Task,
        tables: &mut [Table],
        mut leaves: Leaves<'_>,
    ) -> ForwardStats {
        let mut seen = ForwardStats::default();
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            let (left_leaves, right_leaves) = self.split_leaves(split, &mut leaves);
            let (left, right) = self.both(
                task,
                || self.forward(&split[0], left, left_leaves),
                || self.forward(&split[1], right, right_leaves),
            );
            seen.add(left);
            seen.add(right);
        }
        let start = task.nodes.start;
        for node in task.own_nodes() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            match &self.program.instructions[node].kind {
                Kind::Leaf(_) => {}
                Kind::Sum { forward, child, .. } => {
                    let table = &mut below[node - 1 - start];
                    seen.add(self.exponentiate(node - 1, child, table, &mut leaves));
                    let value = self.value(node - 1, table, &leaves);
                    forward.multiply(value, &[1.0], &mut own.sums, self.parallel);
                    own.finish_forward(&[(child, table)], self.parallel);
                    if self.recompute_in_log_space {
                        let log = self.logs(node - 1, table, &leaves);
                        own.recompute_in_log_space(forward, [log, &[0.0]], self.parallel);
                    }
                }
                Kind::Product { forward, left_node, left, right, .. } => {
                    let (a, b) = children(below, left_node - start);
                    seen.add(self.exponentiate(*left_node, left, a, &mut leaves));
                    seen.add(self.exponentiate(node - 1, right, b, &mut leaves));
                    let value_a = self.value(*left_node, a, &leaves);
                    let value_b = self.value(node - 1, b, &leaves);
                    forward.multiply(value_a, value_b, &mut own.sums, self.parallel);
                    own.finish_forward(&[(left, a), (right, b)], self.parallel);
                    if self.recompute_in_log_space {
                        let logs =
                            [self.logs(*left_node, a, &leaves), self.logs(node - 1, b, &leaves)];
                        own.recompute_in_log_space(forward, logs, self.parallel);
                    }
                }
            }
            seen.uneven += usize::from(own.is_uneven_message());
        }
        seen
    }

    /// Makes the values of a node for its parent. Returns what was seen of a leaf.
    fn exponentiate(
        &self,
        node: usize,
        operand: &Operand,
        table: &mut Table,
        leaves: &mut Leaves<'_>,
    ) -> ForwardStats {
        let Some(cells) = self.program.leaf_cells(node) else {
            table.exponentiate(operand, self.parallel);
            return ForwardStats::default();
        };
        let (log, Stepped { extremes, square }, value) = leaves.read(cells);
        let onto = &operand.onto_kept;
        table.shift = exp_rows(onto, log, extremes, &mut table.rows, value, self.parallel);
        let drifted = extremes[1].is_finite() && extremes[1].abs() > DRIFTED;
        ForwardStats { square, uneven: 0, drifted }
    }

    /// The way back, from the adjoint of the task's last node. Returns whether tiny sums mattered: more than
    /// `noticeable`.
    pub(super) fn backward(
        &self,
        task: &Task,
        tables: &mut [Table],
        mut leaves: Leaves<'_>,
        noticeable: f64,
    ) -> bool {
        let mut mattered = false;
        let start = task.nodes.start;
        for node in task.own_nodes().rev() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            let mut differentiate = || {
                let lost = own.differentiate(self.parallel);
                mattered |= lost > noticeable || lost.is_nan();
                lost
            };
            match &self.program.instructions[node].kind {
                Kind::Leaf(_) => {}
                Kind::Sum { forward, child, absorbed } => {
                    differentiate();
                    let table = &mut below[node - 1 - start];
                    match self.program.leaf_cells(node - 1) {
                        Some(cells) if *absorbed => {
                            let full = leaves.values_mut(cells);
                            forward.absorb_back(full, &[1.0], &own.adjoint, &mut [0.0]);
                        }
                        _ => {
                            child.back.multiply(
                                &[1.0],
                                &own.adjoint,
                                &mut table.adjoint,
                                self.parallel,
                            );
                            self.propagate_adjoint(node - 1, table, &mut leaves);
                        }
                    }
                }
                Kind::Product { forward, left_node, left, right, absorbing } => {
                    let lost = differentiate();
                    let (a, b) = children(below, left_node - start);
                    let nodes = (*left_node, node - 1);
                    match absorbing.map(|leaf| (leaf, self.program.leaf_cells(leaf))) {
                        Some((leaf, Some(cells))) => {
                            let sibling = if leaf == nodes.0 { &mut *b } else { &mut *a };
                            let full = leaves.values_mut(cells);
                            let (value, adjoint) = sibling.value_and_adjoint();
                            forward.absorb_back(full, value, &own.adjoint, adjoint);
                            sibling.receive(self.parallel);
                        }
                        _ => {
                            let value = self.value(nodes.1, b, &leaves);
                            left.back.multiply(value, &own.adjoint, &mut a.adjoint, self.parallel);
                            let value = self.value(nodes.0, a, &leaves);
                            right.back.multiply(value, &own.adjoint, &mut b.adjoint, self.parallel);
                            self.propagate_adjoint(nodes.0, a, &mut leaves);
                            self.propagate_adjoint(nodes.1, b, &mut leaves);
                        }
                    }
                    if self.recompute_in_log_space && lost > 0.0 {
                        let least = NOTHING * noticeable;
                        self.mend_masses(forward, nodes, (a, b), own, &mut leaves, least);
                    }
                }
            }
        }
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            let (left_leaves, right_leaves) = self.split_leaves(split, &mut leaves);
            let (left, right) = self.both(
                task,
                || self.backward(&split[0], left, left_leaves, noticeable),
                || self.backward(&split[1], right, right_leaves, noticeable),
            );
            mattered |= left || right;
        }
        mattered
    }

    /// After the derivative by a node's values was written: a leaf has its marginal, another node
    /// what it needs.
    fn propagate_adjoint(&self, node: usize, table: &mut Table, leaves: &mut Leaves<'_>) {
        match self.program.leaf_cells(node) {
            Some(cells) => {
                multiply_assign(leaves.values_mut(cells), &table.adjoint, self.parallel);
            }
            None => table.receive_all(self.parallel),
        }
    }

    /// Adds what the cells of a node with tiny sums give to its children; `sums` holds minus their
    /// masses, of which those below `least` are nothing.
    fn mend_masses(
        &self,
        forward: &Contraction,
        nodes: (usize, usize),
        (a, b): (&mut Table, &mut Table),
        own: &Table,
        leaves: &mut Leaves<'_>,
        least: f64,
    ) {
        let add = |node: usize, table: &mut Table, leaves: &mut Leaves<'_>, cell, mass| match self
            .program
            .leaf_cells(node)
        {
            Some(cells) => leaves.values_mut(cells)[cell] += mass,
            None => table.add_mass(cell, mass),
        };
        for (cell, &sum) in own.sums.iter().enumerate().filter(|&(_, &sum)| sum < -least) {
            forward.each_term(cell, |at_a, at_b| {
                let term = self.log(nodes.0, a, leaves, at_a) + self.log(nodes.1, b, leaves, at_b);
                let mass = -sum * (term - own.log[cell]).exp();
                add(nodes.0, a, leaves, at_a, mass);
                add(nodes.1, b, leaves, at_b, mass);
            });
        }
    }

    /// The same as [`forward`](Self::forward) with maxima for sums, on logarithms.
    pub(super) fn maximum(&self, task: &Task, tables: &mut [Table], potentials: &Potentials) {
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
            match &self.program.instructions[node].kind {
                Kind::Leaf(_) => {}
                Kind::Sum { forward, .. } => {
                    forward.max_multiply(log(node - 1), &[0.0], &mut own[0].log, self.parallel);
                }
                Kind::Product { forward, left_node, .. } => {
                    let (a, b) = (log(*left_node), log(node - 1));
                    forward.max_multiply(a, b, &mut own[0].log, self.parallel);
                }
            }
        }
    }
}

/// The tables of the left child and of the right one, which is the last.
fn children(below: &mut [Table], left: usize) -> (&mut Table, &mut Table) {
    let (lefts, rights) = below.split_at_mut(left + 1);
    (&mut lefts[left], rights.last_mut().expect("the right child is just before"))
}
