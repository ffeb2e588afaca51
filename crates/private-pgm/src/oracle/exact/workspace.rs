//! The tables of all nodes of a [`Program`], and whole calls on them.

use super::leaves::Leaves;
use super::program::{Kind, Program, Task};
use super::run::{ForwardStats, Run};
use super::table::Table;
use crate::factor::Potentials;

/// A share of the total that changes no digit of a marginal.
const NOTICEABLE: f64 = 1e-25;

/// The tables of all nodes.
pub(super) struct Workspace {
    tables: Vec<Table>,
    seen: ForwardStats,
}

impl Workspace {
    pub(super) fn new(program: &Program) -> Self {
        let instructions = &program.instructions;
        let mut rows = vec![0; instructions.len()];
        let mut absorbs = vec![false; instructions.len()];
        for (node, instruction) in instructions.iter().enumerate() {
            match &instruction.kind {
                Kind::Leaf(_) => {}
                Kind::Sum { child, absorbed, .. } => {
                    rows[node - 1] = child.onto_kept.small_len();
                    absorbs[node - 1] = *absorbed;
                }
                Kind::Product { left_node, left, right, absorbing, .. } => {
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
            match instructions[node].kind {
                Kind::Leaf(_) => Table::of_leaf(rows[node], if absorbs[node] { 0 } else { cells }),
                _ => Table::of_node(cells, rows[node]),
            }
        };
        Self { tables: (0..instructions.len()).map(table).collect(), seen: ForwardStats::default() }
    }

    /// The tables of all nodes, as the last call left them.
    pub(super) fn tables_mut(&mut self) -> &mut [Table] {
        &mut self.tables
    }

    /// Computes every table and returns ln Z, of the attributes in tables.
    pub(super) fn forward(&mut self, run: &Run<'_>, leaves: &mut Leaves<'_>) -> f64 {
        self.seen = ForwardStats::default();
        let each = |task: &Task| {
            let tables = &mut self.tables[task.nodes.clone()];
            match run.program.leaf_cells(task.nodes.end - 1) {
                // A table over no attributes.
                Some(cells) => {
                    let (log, stepped, _) = leaves.read(cells);
                    self.seen.square += stepped.square;
                    log[0]
                }
                None => {
                    let leaves = leaves.part(run.program.cells(&task.leaves));
                    self.seen.add(run.forward(task, tables, leaves));
                    tables.last_mut().expect("a task has nodes").conclude_root()
                }
            }
        };
        run.program.tasks.iter().map(each).sum()
    }

    /// What the last call of [`forward`](Self::forward) saw.
    pub(super) fn seen(&self) -> ForwardStats {
        self.seen
    }

    /// After [`forward`](Self::forward) with a finite result: the marginals of all leaves, scaled
    /// to sum to `total`. Returns whether tiny sums mattered.
    pub(super) fn backward(&mut self, run: &Run<'_>, total: f64, leaves: &mut Leaves<'_>) -> bool {
        let mut mattered = false;
        for task in &run.program.tasks {
            let tables = &mut self.tables[task.nodes.clone()];
            match run.program.leaf_cells(task.nodes.end - 1) {
                Some(cells) => leaves.values_mut(cells).fill(total),
                None => {
                    tables.last_mut().expect("a task has nodes").adjoint.fill(total);
                    let leaves = leaves.part(run.program.cells(&task.leaves));
                    mattered |= run.backward(task, tables, leaves, NOTICEABLE * total);
                }
            }
        }
        mattered
    }

    /// The largest value of a record instead of the sum over all.
    pub(super) fn maximum(&mut self, run: &Run<'_>, potentials: &Potentials) -> f64 {
        let each = |task: &Task| {
            let tables = &mut self.tables[task.nodes.clone()];
            match run.program.leaf_cells(task.nodes.end - 1) {
                Some(cells) => potentials.values()[cells.start],
                None => {
                    run.maximum(task, tables, potentials);
                    tables[tables.len() - 1].log[0]
                }
            }
        };
        run.program.tasks.iter().map(each).sum()
    }
}
