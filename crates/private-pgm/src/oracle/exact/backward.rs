//! The backward pass: adjoints from the root to the leaves. See [`super::executor`] for the
//! arithmetic.

use super::executor::{Executor, LogSpace, children};
use super::leaves::Leaves;
use super::node_table::NodeTable;
use super::program::{Operation, Product, Sum, Task};
use crate::numeric::contraction::Contraction;
use crate::numeric::pointwise::multiply_assign;

/// Terms with a smaller share of their sum, as a logarithm, receive no part of its marginal: all
/// of them together are below the rounding of the sum.
const NEGLIGIBLE_SHARE: f64 = -80.0;

/// Where underflow affected marginals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Underflow {
    /// The marginals of some node's tiny sums are noticeable in total.
    pub(super) noticeable: bool,
    /// Some of these sums were not recomputed in log space.
    pub(super) missed: bool,
}

impl Underflow {
    pub(super) fn add(&mut self, other: Self) {
        self.noticeable |= other.noticeable;
        self.missed |= other.missed;
    }
}

impl Executor<'_> {
    /// Propagates the adjoint of the task's last node to its leaves, whose marginals it writes.
    /// Returns whether underflow affected more than `noticeable` mass of some node.
    pub(super) fn backward(
        &self,
        task: &Task,
        tables: &mut [NodeTable],
        mut leaves: Leaves<'_>,
        noticeable: f64,
    ) -> Underflow {
        let mut underflow = Underflow::default();
        let start = task.nodes.start;
        for node in task.own_nodes().rev() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            let (lost, forward) = match &self.program.instructions[node].operation {
                Operation::Leaf(_) => continue,
                Operation::Sum(sum) => {
                    let child = &mut below[node - 1 - start];
                    (self.backward_sum(node, sum, child, own, &mut leaves), &sum.forward)
                }
                Operation::Product(product) => {
                    let (tables, node) =
                        (children(below, product.left_node - start), (node, product));
                    let lost = self.backward_product(node, tables, own, &mut leaves, noticeable);
                    (lost, &product.forward)
                }
            };
            underflow.noticeable |= lost > noticeable || lost.is_nan();
            underflow.missed |= own.notice_underflow(forward, lost, noticeable);
        }
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            let (left_leaves, right_leaves) = self.split_leaves(split, &mut leaves);
            let (left, right) = self.both(
                task,
                || self.backward(&split[0], left, left_leaves, noticeable),
                || self.backward(&split[1], right, right_leaves, noticeable),
            );
            underflow.add(left);
            underflow.add(right);
        }
        underflow
    }

    /// Returns the mass of the node's underflowed cells.
    fn backward_sum(
        &self,
        node: usize,
        Sum { forward, child, absorbed }: &Sum,
        table: &mut NodeTable,
        own: &mut NodeTable,
        leaves: &mut Leaves<'_>,
    ) -> f64 {
        let lost = own.differentiate(self.parallel);
        match self.program.leaf_cells(node - 1) {
            Some(cells) if *absorbed => {
                let full = leaves.values_mut(cells);
                forward.absorb_back(full, &[1.0], &own.adjoint, &mut [0.0]);
            }
            _ => {
                child.back.multiply(&[1.0], &own.adjoint, &mut table.adjoint, self.parallel);
                self.propagate_adjoint(node - 1, table, leaves);
            }
        }
        lost
    }

    /// Returns the mass of the node's underflowed cells.
    fn backward_product(
        &self,
        (node, product): (usize, &Product),
        (a, b): (&mut NodeTable, &mut NodeTable),
        own: &mut NodeTable,
        leaves: &mut Leaves<'_>,
        noticeable: f64,
    ) -> f64 {
        let Product { forward, left_node, left, right, absorbing } = product;
        let lost = own.differentiate(self.parallel);
        let nodes = (*left_node, node - 1);
        match absorbing.map(|leaf| (leaf, self.program.leaf_cells(leaf))) {
            Some((leaf, Some(cells))) => {
                let sibling = if leaf == nodes.0 { &mut *b } else { &mut *a };
                let full = leaves.values_mut(cells);
                let (value, adjoint) = sibling.value_and_adjoint();
                forward.absorb_back(full, value, &own.adjoint, adjoint);
                sibling.finish_flushed_adjoint(self.parallel);
            }
            _ => {
                let value = self.value(nodes.1, b, leaves);
                left.back.multiply(value, &own.adjoint, &mut a.adjoint, self.parallel);
                let value = self.value(nodes.0, a, leaves);
                right.back.multiply(value, &own.adjoint, &mut b.adjoint, self.parallel);
                self.propagate_adjoint(nodes.0, a, leaves);
                self.propagate_adjoint(nodes.1, b, leaves);
            }
        }
        if self.log_space != LogSpace::None && lost > 0.0 {
            // All smaller masses of the table are not noticeable in total.
            let least = noticeable / own.sums.len() as f64;
            self.add_underflowed_masses(forward, nodes, (a, b), own, leaves, least);
        }
        lost
    }

    /// Finishes a node whose adjoint by its values has been written: a leaf gets its marginal,
    /// another node what its own backward step needs.
    fn propagate_adjoint(&self, node: usize, table: &mut NodeTable, leaves: &mut Leaves<'_>) {
        match self.program.leaf_cells(node) {
            Some(cells) => {
                multiply_assign(leaves.values_mut(cells), &table.adjoint, self.parallel);
            }
            None => table.finish_adjoint(self.parallel),
        }
    }

    /// Distributes the masses of a node's underflowed cells over the terms of these cells, in log
    /// space. `own.sums` holds minus these masses; those below `least` are ignored.
    fn add_underflowed_masses(
        &self,
        forward: &Contraction,
        nodes: (usize, usize),
        (a, b): (&mut NodeTable, &mut NodeTable),
        own: &NodeTable,
        leaves: &mut Leaves<'_>,
        least: f64,
    ) {
        for (cell, &sum) in own.sums.iter().enumerate().filter(|&(_, &sum)| sum < -least) {
            forward.each_term(cell, |at_a, at_b| {
                let term = self.log(nodes.0, a, leaves, at_a) + self.log(nodes.1, b, leaves, at_b);
                let log_share = term - own.log[cell];
                if log_share > NEGLIGIBLE_SHARE {
                    let mass = -sum * log_share.exp();
                    self.add_mass(nodes.0, a, leaves, at_a, mass);
                    self.add_mass(nodes.1, b, leaves, at_b, mass);
                }
            });
        }
    }

    /// Adds to the marginal of one cell of a node.
    fn add_mass(
        &self,
        node: usize,
        table: &mut NodeTable,
        leaves: &mut Leaves<'_>,
        cell: usize,
        mass: f64,
    ) {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.values_mut(cells)[cell] += mass,
            None => table.add_mass(cell, mass),
        }
    }

    /// ln of one cell of a node.
    fn log(&self, node: usize, table: &NodeTable, leaves: &Leaves<'_>, cell: usize) -> f64 {
        match self.program.leaf_cells(node) {
            Some(cells) => leaves.log(cells)[cell],
            None => table.log_at(cell),
        }
    }
}
