//! Runs a [`Program`]: sums forwards, marginals backwards, maxima forwards.
//!
//! # Arithmetic
//! A product O = sum over k of A B is computed with the largest value of each row taken out: with
//! M_A the maximum of ln A over k, and M_B likewise,
//!
//! > G = sum over k of exp(ln A - M_A) exp(ln B - M_B), ln O = ln G + M_A + M_B,
//!
//! (or a maximum over the whole table where its cells are close together), so that nothing overflows, and the only exponentials and logarithms are those of table cells,
//! never of the far more numerous products. On the way back the marginal m_O of a node becomes
//! those of its children, m_A = A' times the sum of B' m_O / G with A', B' the exponentials above.
//! Where the maxima of A and B lie at different k, G can be tiny or even underflow. Such cells hardly
//! ever matter: they are first given the value of the threshold, which is too much, and only when
//! one of them turns out to have a noticeable marginal all the same, everything is done again with
//! the terms of all such cells summed in the log domain.

use super::program::{Kind, Operand, Program, Task};
use crate::factor::{Marginals, Potentials};
use crate::numeric::contraction::Contraction;
use crate::numeric::pointwise::{divide_assign, multiply_assign};
use crate::numeric::shift::{exp_rows, ln_plus_rows};
use crate::numeric::strided::Projection;

/// Sums below this are not trusted. All that rounding to zero can have taken from a larger sum is
/// below 1e-50 of it.
const TINY: f64 = 1e-250;

/// A share of the total that changes no digit of a marginal.
const NOTICEABLE: f64 = 1e-25;

/// The numbers of one node.
struct Table {
    /// ln of the table; empty for a leaf, whose potentials they are.
    log: Vec<f64>,
    /// exp(log - shift); empty for a root.
    value: Vec<f64>,
    /// The maxima of the table's rows as the parent sees them.
    shift: Vec<f64>,
    /// G of the node's own product; empty for a leaf.
    sums: Vec<f64>,
    /// The node's marginal; empty for a leaf, whose marginal goes to the caller.
    mass: Vec<f64>,
}

/// The tables of all nodes.
pub(super) struct Workspace {
    tables: Vec<Table>,
}

impl Workspace {
    pub(super) fn new(program: &Program) -> Self {
        let instructions = &program.instructions;
        let mut shifts = vec![None; instructions.len()];
        for (node, instruction) in instructions.iter().enumerate() {
            match &instruction.kind {
                Kind::Leaf(_) => {}
                Kind::Sum { child, .. } => shifts[node - 1] = Some(child.onto_kept.small_len()),
                Kind::Product { left_node, left, right, .. } => {
                    shifts[*left_node] = Some(left.onto_kept.small_len());
                    shifts[node - 1] = Some(right.onto_kept.small_len());
                }
            }
        }
        let table = |(node, shift): (usize, Option<usize>)| {
            let cells = instructions[node].cells;
            let inner = if matches!(instructions[node].kind, Kind::Leaf(_)) { 0 } else { cells };
            Table {
                log: vec![0.0; inner],
                value: vec![0.0; if shift.is_some() { cells } else { 0 }],
                shift: vec![0.0; shift.unwrap_or(0)],
                sums: vec![0.0; inner],
                mass: vec![0.0; inner],
            }
        };
        Self { tables: shifts.into_iter().enumerate().map(table).collect() }
    }

    pub(super) fn bytes(&self) -> usize {
        let cells = |table: &Table| {
            table.log.len() + table.value.len() + table.shift.len() + 2 * table.sums.len()
        };
        8 * self.tables.iter().map(cells).sum::<usize>()
    }

    /// Computes the logarithm of every table and returns ln Z, of the attributes in tables.
    pub(super) fn forward(&mut self, run: &Run<'_>) -> f64 {
        self.each_component(run, |run, task, tables| run.forward(task, tables))
    }

    /// Computes the largest value of a record instead of the sum over all.
    pub(super) fn maximum(&mut self, run: &Run<'_>) -> f64 {
        self.each_component(run, |run, task, tables| run.maximum(task, tables))
    }

    fn each_component(
        &mut self,
        run: &Run<'_>,
        mut compute: impl FnMut(&Run<'_>, &Task, &mut [Table]),
    ) -> f64 {
        let mut sum = 0.0;
        for task in &run.program.tasks {
            let tables = &mut self.tables[task.nodes.clone()];
            compute(run, task, tables);
            sum += run.log(task.nodes.end - 1, &tables[tables.len() - 1])[0];
        }
        sum
    }

    /// After [`forward`](Self::forward) with a finite result: the marginals of all leaves, scaled
    /// to sum to `total`. False when tiny sums mattered and the run did not mend them.
    pub(super) fn backward(
        &mut self,
        run: &Run<'_>,
        total: f64,
        marginals: &mut Marginals,
    ) -> bool {
        let layout = &run.program.layout;
        let mut trusted = true;
        for task in &run.program.tasks {
            let tables = &mut self.tables[task.nodes.clone()];
            let start = layout.range(task.leaves.start).start;
            let end = layout.range(task.leaves.end - 1).end;
            let marginals = &mut marginals.values_mut()[start..end];
            match tables {
                // A table over no attributes, or only over attributes with a single value.
                [leaf] if leaf.sums.is_empty() => marginals.fill(total),
                _ => {
                    tables[tables.len() - 1].mass.fill(total);
                    trusted &= run.backward(task, tables, marginals, NOTICEABLE * total);
                }
            }
        }
        trusted
    }
}

/// What a run reads.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) potentials: &'a Potentials,
    pub(super) parallel: bool,
    /// Whether tiny sums are done again in the log domain.
    pub(super) mend: bool,
}

impl Run<'_> {
    /// ln of a node's table.
    fn log<'a>(&'a self, node: usize, table: &'a Table) -> &'a [f64] {
        match self.program.instructions[node].kind {
            Kind::Leaf(leaf) => self.potentials.table(leaf),
            _ => &table.log,
        }
    }

    /// Runs two closures, at the same time if that is allowed.
    fn both<R: Send>(
        &self,
        first: impl FnOnce() -> R + Send,
        second: impl FnOnce() -> R + Send,
    ) -> (R, R) {
        if self.parallel { rayon::join(first, second) } else { (first(), second()) }
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

    fn forward(&self, task: &Task, tables: &mut [Table]) {
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            self.both(|| self.forward(&split[0], left), || self.forward(&split[1], right));
        }
        let start = task.nodes.start;
        for node in task.own_nodes() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            match &self.program.instructions[node].kind {
                Kind::Leaf(_) => {}
                Kind::Sum { forward, child } => {
                    let table = &mut below[node - 1 - start];
                    self.exponentiate(node - 1, child, table);
                    forward.multiply(&table.value, &[1.0], &mut own.sums, self.parallel);
                    let rows: [(&Projection, &[f64]); 1] = [(&child.from_node, &table.shift)];
                    ln_plus_rows(&own.sums, TINY, &rows, &mut own.log, self.parallel);
                }
                Kind::Product { forward, left_node, left, right } => {
                    let (lefts, rights) = below.split_at_mut(left_node + 1 - start);
                    let a = &mut lefts[left_node - start];
                    let b = rights.last_mut().expect("the right child is just before");
                    self.exponentiate(*left_node, left, a);
                    self.exponentiate(node - 1, right, b);
                    forward.multiply(&a.value, &b.value, &mut own.sums, self.parallel);
                    let rows: [(&Projection, &[f64]); 2] =
                        [(&left.from_node, &a.shift), (&right.from_node, &b.shift)];
                    ln_plus_rows(&own.sums, TINY, &rows, &mut own.log, self.parallel);
                    if self.mend {
                        let (a, b) = (self.log(*left_node, a), self.log(node - 1, b));
                        mend_logarithms(forward, a, b, own);
                    }
                }
            }
        }
    }

    /// Takes a table's row maxima out and leaves the exponentials of the rest.
    fn exponentiate(&self, node: usize, operand: &Operand, table: &mut Table) {
        let Table { log, shift, value, .. } = table;
        let log = match self.program.instructions[node].kind {
            Kind::Leaf(leaf) => self.potentials.table(leaf),
            _ => log,
        };
        exp_rows(&operand.onto_kept, log, shift, value, self.parallel);
    }

    fn backward(
        &self,
        task: &Task,
        tables: &mut [Table],
        marginals: &mut [f64],
        noticeable: f64,
    ) -> bool {
        let mut trusted = true;
        let start = task.nodes.start;
        for node in task.own_nodes().rev() {
            let (below, own) = tables.split_at_mut(node - start);
            let own = &mut own[0];
            match &self.program.instructions[node].kind {
                Kind::Leaf(_) => {}
                Kind::Sum { child, .. } => {
                    divide_assign(&mut own.mass, &mut own.sums, TINY, self.parallel);
                    let table = &mut below[node - 1 - start];
                    let Table { value, mass, .. } = table;
                    let out = self.target(task, node - 1, mass, marginals);
                    child.back.multiply(&[1.0], &own.mass, out, self.parallel);
                    multiply_assign(out, value, self.parallel);
                }
                Kind::Product { forward, left_node, left, right } => {
                    let lost = divide_assign(&mut own.mass, &mut own.sums, TINY, self.parallel);
                    trusted &= self.mend || lost <= noticeable;
                    let (lefts, rights) = below.split_at_mut(left_node + 1 - start);
                    let a = &mut lefts[left_node - start];
                    let b = rights.last_mut().expect("the right child is just before");
                    let nodes = (*left_node, node - 1);
                    if !self.absorb(task, forward, nodes, a, b, &own.mass, marginals) {
                        let out = self.target(task, nodes.0, &mut a.mass, marginals);
                        left.back.multiply(&b.value, &own.mass, out, self.parallel);
                        multiply_assign(out, &a.value, self.parallel);
                        let out = self.target(task, nodes.1, &mut b.mass, marginals);
                        right.back.multiply(&a.value, &own.mass, out, self.parallel);
                        multiply_assign(out, &b.value, self.parallel);
                    }
                    if self.mend && lost > 0.0 {
                        self.mend_masses(task, forward, nodes, a, b, own, marginals);
                    }
                }
            }
        }
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            let cells = |leaves: &std::ops::Range<usize>| {
                let layout = &self.program.layout;
                layout.range(leaves.start).start..layout.range(leaves.end - 1).end
            };
            let base = cells(&task.leaves).start;
            let (first, second) = (cells(&split[0].leaves), cells(&split[1].leaves));
            let (left_marginals, right_marginals) =
                marginals[first.start - base..second.end - base].split_at_mut(first.len());
            let (left, right) = self.both(
                || self.backward(&split[0], left, left_marginals, noticeable),
                || self.backward(&split[1], right, right_marginals, noticeable),
            );
            trusted = trusted && left && right;
        }
        trusted
    }

    /// Where the marginal of a node is written: a leaf's goes to the caller.
    fn target<'t>(
        &self,
        task: &Task,
        node: usize,
        mass: &'t mut [f64],
        marginals: &'t mut [f64],
    ) -> &'t mut [f64] {
        match self.program.instructions[node].kind {
            Kind::Leaf(leaf) => {
                let layout = &self.program.layout;
                let base = layout.range(task.leaves.start).start;
                let range = layout.range(leaf);
                &mut marginals[range.start - base..range.end - base]
            }
            _ => mass,
        }
    }

    /// The way back through a leaf that took in a message, in one pass. False when this is not
    /// what the node did.
    #[allow(clippy::too_many_arguments)]
    fn absorb(
        &self,
        task: &Task,
        forward: &Contraction,
        nodes: (usize, usize),
        a: &mut Table,
        b: &mut Table,
        ratio: &[f64],
        marginals: &mut [f64],
    ) -> bool {
        let (leaf_node, leaf, message) = match forward.absorbs() {
            Some(false) => (nodes.0, a, b),
            Some(true) => (nodes.1, b, a),
            None => return false,
        };
        if !leaf.mass.is_empty() || message.mass.is_empty() {
            return false;
        }
        let out = self.target(task, leaf_node, &mut [], marginals);
        forward.absorb_back(&leaf.value, &message.value, ratio, out, &mut message.mass);
        multiply_assign(&mut message.mass, &message.value, self.parallel);
        true
    }

    /// Adds what the cells of a node with tiny sums give to its children; `sums` holds minus their
    /// masses.
    #[allow(clippy::too_many_arguments)]
    fn mend_masses(
        &self,
        task: &Task,
        forward: &Contraction,
        nodes: (usize, usize),
        a: &mut Table,
        b: &mut Table,
        own: &Table,
        marginals: &mut [f64],
    ) {
        let log = |node: usize, table: &Table, cell: usize| self.log(node, table)[cell];
        for (cell, &sum) in own.sums.iter().enumerate().filter(|&(_, &sum)| sum < 0.0) {
            forward.each_term(cell, |at_a, at_b| {
                let terms = log(nodes.0, a, at_a) + log(nodes.1, b, at_b);
                let mass = -sum * (terms - own.log[cell]).exp();
                self.target(task, nodes.0, &mut a.mass, marginals)[at_a] += mass;
                self.target(task, nodes.1, &mut b.mass, marginals)[at_b] += mass;
            });
        }
    }

    fn maximum(&self, task: &Task, tables: &mut [Table]) {
        if let Some(split) = task.split.as_deref() {
            let (left, right) = Self::split_tables(task, split, tables);
            self.both(|| self.maximum(&split[0], left), || self.maximum(&split[1], right));
        }
        let start = task.nodes.start;
        for node in task.own_nodes() {
            let (below, own) = tables.split_at_mut(node - start);
            let log = |child: usize| self.log(child, &below[child - start]);
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

/// Sums the terms of cells with tiny sums in the log domain.
fn mend_logarithms(forward: &Contraction, a: &[f64], b: &[f64], own: &mut Table) {
    for cell in (0..own.sums.len()).filter(|&cell| own.sums[cell] < TINY) {
        let mut best = f64::NEG_INFINITY;
        forward.each_term(cell, |at_a, at_b| best = best.max(a[at_a] + b[at_b]));
        own.log[cell] = best;
        if best > f64::NEG_INFINITY {
            let mut sum = 0.0;
            forward.each_term(cell, |at_a, at_b| {
                let distance = a[at_a] + b[at_b] - best;
                if distance > -45.0 {
                    sum += distance.exp();
                }
            });
            own.log[cell] += sum.ln();
        }
    }
}
