//! The tables of all nodes of a [`Program`], and whole passes over them.

use super::backward::Underflow;
use super::executor::{Executor, ForwardStats};
use super::leaves::Leaves;
use super::node_table::NodeTable;
use super::program::{Operation, Product, Program, Sum, Task};
use crate::factor::Potentials;

/// A share of the total that is below the rounding of every marginal.
const NOTICEABLE: f64 = 1e-25;

/// The tables of all nodes, kept between calls.
pub(super) struct Workspace {
    tables: Vec<NodeTable>,
    stats: ForwardStats,
}

impl Workspace {
    pub(super) fn new(program: &Program) -> Self {
        let instructions = &program.instructions;
        let mut rows = vec![0; instructions.len()];
        let mut absorbs = vec![false; instructions.len()];
        for (node, instruction) in instructions.iter().enumerate() {
            match &instruction.operation {
                Operation::Leaf(_) => {}
                Operation::Sum(Sum { child, absorbed, .. }) => {
                    rows[node - 1] = child.onto_kept.small_len();
                    absorbs[node - 1] = *absorbed;
                }
                Operation::Product(Product { left_node, left, right, absorbing, .. }) => {
                    rows[*left_node] = left.onto_kept.small_len();
                    rows[node - 1] = right.onto_kept.small_len();
                    if let Some(leaf) = absorbing {
                        absorbs[*leaf] = true;
                    }
                }
            }
        }
        let table = |node: usize| {
            let cells = instructions[node].cells;
            match instructions[node].operation {
                Operation::Leaf(_) => {
                    NodeTable::of_leaf(rows[node], if absorbs[node] { 0 } else { cells })
                }
                _ => NodeTable::of_node(cells, rows[node]),
            }
        };
        let tables = (0..instructions.len()).map(table).collect();
        Self { tables, stats: ForwardStats::default() }
    }

    /// The tables of all nodes, as the last call left them.
    pub(super) fn tables_mut(&mut self) -> &mut [NodeTable] {
        &mut self.tables
    }

    /// Computes every table and returns ln Z over the attributes that are in a table.
    pub(super) fn forward(&mut self, executor: &Executor<'_>, leaves: &mut Leaves<'_>) -> f64 {
        self.stats = ForwardStats::default();
        let each = |task: &Task| {
            let tables = &mut self.tables[task.nodes.clone()];
            match executor.program.leaf_cells(task.nodes.end - 1) {
                // The root is a leaf: a table over no attributes, with one cell.
                Some(cells) => {
                    let (log, step, _) = leaves.read(cells);
                    self.stats.square += step.square;
                    log[0]
                }
                None => {
                    let leaves = leaves.part(executor.program.cells(&task.leaves));
                    self.stats.add(executor.forward(task, tables, leaves));
                    tables.last_mut().expect("a task has nodes").finish_root()
                }
            }
        };
        executor.program.tasks.iter().map(each).sum()
    }

    /// The statistics of the last [`forward`](Self::forward) pass.
    pub(super) fn stats(&self) -> ForwardStats {
        self.stats
    }

    /// After [`forward`](Self::forward) with a finite result: writes the marginals of all leaves,
    /// scaled to sum to `total`. Returns whether underflow affected them.
    pub(super) fn backward(
        &mut self,
        executor: &Executor<'_>,
        total: f64,
        leaves: &mut Leaves<'_>,
    ) -> Underflow {
        let mut underflow = Underflow::default();
        for task in &executor.program.tasks {
            let tables = &mut self.tables[task.nodes.clone()];
            match executor.program.leaf_cells(task.nodes.end - 1) {
                Some(cells) => leaves.values_mut(cells).fill(total),
                None => {
                    tables.last_mut().expect("a task has nodes").adjoint.fill(total);
                    let leaves = leaves.part(executor.program.cells(&task.leaves));
                    underflow.add(executor.backward(task, tables, leaves, NOTICEABLE * total));
                }
            }
        }
        underflow
    }

    /// The largest score of a record: [`forward`](Self::forward) with maxima for sums.
    pub(super) fn maximum(&mut self, executor: &Executor<'_>, potentials: &Potentials) -> f64 {
        let each = |task: &Task| {
            let tables = &mut self.tables[task.nodes.clone()];
            match executor.program.leaf_cells(task.nodes.end - 1) {
                Some(cells) => potentials.values()[cells.start],
                None => {
                    executor.maximum(task, tables, potentials);
                    tables[tables.len() - 1].log[0]
                }
            }
        };
        executor.program.tasks.iter().map(each).sum()
    }
}
