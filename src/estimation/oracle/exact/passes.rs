//! Forward and backward runs over a [`Program`].

use super::program::{Kind, Program, Task};
use crate::factor::{Marginals, Potentials};
use crate::numeric::contraction::Contraction;
use crate::numeric::exp::{exp_shifted, maximum};
use crate::numeric::pointwise::{add_exp, multiply_assign};

/// What differs between ordinary numbers, logarithms and maxima.
pub(super) trait Algebra {
    /// The number that changes nothing when multiplied with.
    const ONE: f64;

    /// Fills a leaf's table from its potentials; returns a number for the node's record.
    fn leaf(potentials: &[f64], value: &mut [f64]) -> f64;

    fn contract(
        plan: &Contraction,
        a: &[f64],
        b: &[f64],
        scale: f64,
        o: &mut [f64],
        parallel: bool,
    );

    /// Looks at a finished inner table; returns a number for the node's record.
    fn settle(value: &mut [f64]) -> f64;

    /// The factor by which `settle` multiplied the table, for the way back.
    fn scale(record: f64) -> f64;

    /// Turns a leaf's adjoint into its marginal. False when the result cannot be trusted.
    fn finish(value: &[f64], adjoint: &mut [f64]) -> bool;

    /// Whether a finished adjoint can be trusted.
    fn trust(adjoint: &[f64]) -> bool;

    /// The way back through a leaf that takes in a message, if this algebra has a short one:
    /// writes the leaf's marginal and the message's adjoint. See [`Contraction::absorb_back`].
    fn absorb(_: Absorption<'_>) -> Option<bool> {
        None
    }
}

/// What the way back through a leaf that takes in a message reads and writes.
pub(super) struct Absorption<'a> {
    plan: &'a Contraction,
    leaf: &'a [f64],
    message: &'a [f64],
    adjoint: &'a [f64],
    scale: f64,
    marginal: &'a mut [f64],
    message_adjoint: &'a mut [f64],
}

/// Ordinary numbers. A leaf is exp(theta - its maximum); an inner table is multiplied by a power
/// of two when it leaves the comfortable range.
///
/// # When the result can be trusted
/// All terms are positive, so the only harm is underflow: numbers below 1e-307 become 0. Scaled
/// so that the sum of value times adjoint over a node's cells is 1, a lost number v < 1e-307 at
/// a cell with adjoint d stands for a probability v d. When no adjoint exceeds 1e270, all that was
/// lost at a node of n cells has a probability below n 1e-37, and the adjoints, being sums of
/// values times adjoints, are wrong by no more than that in absolute terms, which by the same
/// argument one level down is harmless again. So it suffices to look at the largest adjoint of
/// every node.
pub(super) struct Linear;

const LARGEST_ADJOINT: f64 = 1e270;
/// 2^100
const COMFORTABLE: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;

impl Algebra for Linear {
    const ONE: f64 = 1.0;

    fn leaf(potentials: &[f64], value: &mut [f64]) -> f64 {
        let shift = maximum(potentials);
        if shift == f64::NEG_INFINITY {
            value.fill(0.0);
            return shift;
        }
        exp_shifted(potentials, shift, value);
        shift
    }

    fn contract(
        plan: &Contraction,
        a: &[f64],
        b: &[f64],
        scale: f64,
        o: &mut [f64],
        parallel: bool,
    ) {
        plan.multiply(a, b, scale, o, parallel);
    }

    fn settle(value: &mut [f64]) -> f64 {
        let largest = maximum(value);
        if largest > 1.0 / COMFORTABLE && largest < COMFORTABLE {
            return 1.0;
        }
        if largest == 0.0 || !largest.is_finite() {
            return f64::NAN;
        }
        let scale = (-largest.log2().round()).exp2();
        value.iter_mut().for_each(|v| *v *= scale);
        scale
    }

    fn scale(record: f64) -> f64 {
        record
    }

    fn finish(value: &[f64], adjoint: &mut [f64]) -> bool {
        // Not `>`: a NaN is not to be trusted either.
        multiply_assign(adjoint, value) <= LARGEST_ADJOINT
    }

    fn trust(adjoint: &[f64]) -> bool {
        maximum(adjoint) <= LARGEST_ADJOINT
    }

    fn absorb(a: Absorption<'_>) -> Option<bool> {
        let largest = a.plan.absorb_back(
            a.leaf,
            a.message,
            a.adjoint,
            a.scale,
            a.marginal,
            a.message_adjoint,
        );
        Some(largest <= LARGEST_ADJOINT && Self::trust(a.message_adjoint))
    }
}

/// Logarithms: slower, and right for any potentials.
pub(super) struct Logarithm;

impl Algebra for Logarithm {
    const ONE: f64 = 0.0;

    fn leaf(potentials: &[f64], value: &mut [f64]) -> f64 {
        value.copy_from_slice(potentials);
        0.0
    }

    fn contract(plan: &Contraction, a: &[f64], b: &[f64], _: f64, o: &mut [f64], parallel: bool) {
        plan.log_multiply(a, b, o, parallel);
    }

    fn settle(_: &mut [f64]) -> f64 {
        1.0
    }

    fn scale(_: f64) -> f64 {
        1.0
    }

    fn finish(value: &[f64], adjoint: &mut [f64]) -> bool {
        add_exp(adjoint, value);
        true
    }

    fn trust(_: &[f64]) -> bool {
        true
    }
}

/// Logarithms with maxima for sums; forwards only.
pub(super) struct MaxPlus;

impl Algebra for MaxPlus {
    const ONE: f64 = 0.0;

    fn leaf(potentials: &[f64], value: &mut [f64]) -> f64 {
        Logarithm::leaf(potentials, value)
    }

    fn contract(plan: &Contraction, a: &[f64], b: &[f64], _: f64, o: &mut [f64], parallel: bool) {
        plan.max_multiply(a, b, o, parallel);
    }

    fn settle(_: &mut [f64]) -> f64 {
        1.0
    }

    fn scale(_: f64) -> f64 {
        1.0
    }

    fn finish(_: &[f64], _: &mut [f64]) -> bool {
        true
    }

    fn trust(_: &[f64]) -> bool {
        true
    }
}

/// The tables of one run.
pub(super) struct Workspace {
    values: Vec<f64>,
    adjoints: Vec<f64>,
    /// What each node wrote down for the way back.
    records: Vec<f64>,
}

impl Workspace {
    pub(super) fn new(program: &Program) -> Self {
        Self {
            values: vec![0.0; program.values],
            adjoints: vec![0.0; program.adjoints],
            records: vec![0.0; program.instructions.len()],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        8 * (self.values.len() + self.adjoints.len() + self.records.len())
    }

    /// The value of each component's root.
    pub(super) fn root_values<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = f64> + 'a {
        program.roots.iter().map(|&root| self.values[program.instructions[root].value.start])
    }

    /// The sum of the logarithms that the linear algebra took out of the tables.
    pub(super) fn log_scales(&self, program: &Program) -> f64 {
        let mut sum = 0.0;
        for (instruction, &record) in program.instructions.iter().zip(&self.records) {
            match instruction.kind {
                Kind::Leaf(_) => sum += record,
                _ if record == 1.0 => {}
                _ => sum -= record.ln(),
            }
        }
        sum
    }

    /// Computes every node's table, leaves first.
    pub(super) fn forward<A: Algebra>(
        &mut self,
        program: &Program,
        potentials: &Potentials,
        parallel: bool,
    ) {
        let (mut values, mut records) = (&mut self.values[..], &mut self.records[..]);
        for task in &program.tasks {
            let cells = span(program, task).len();
            let (own_values, rest) = values.split_at_mut(cells);
            let (own_records, other_records) = records.split_at_mut(task.nodes.len());
            forward_task::<A>(program, task, potentials, own_values, own_records, parallel);
            (values, records) = (rest, other_records);
        }
    }

    /// Turns the tables into marginals, roots first; `seed` gives each root's adjoint from its
    /// value. False when the result cannot be trusted.
    pub(super) fn backward<A: Algebra>(
        &mut self,
        program: &Program,
        marginals: &mut Marginals,
        seed: impl Fn(f64) -> f64,
        parallel: bool,
    ) -> bool {
        let mut trusted = true;
        let mut marginals = marginals.values_mut();
        let mut adjoints = &mut self.adjoints[..];
        let ways = Way { program, values: &self.values, records: &self.records, parallel };
        for (task, &root) in program.tasks.iter().zip(&program.roots) {
            let (own_marginals, other_marginals) =
                marginals.split_at_mut(ways.marginal_span(&task.nodes).len());
            let (own_adjoints, other_adjoints) =
                adjoints.split_at_mut(ways.adjoint_span(&task.nodes).len());
            let instruction = &program.instructions[root];
            let first = seed(self.values[instruction.value.start]);
            match instruction.kind {
                Kind::Leaf(_) => {
                    own_marginals.fill(first);
                    trusted &= A::finish(&self.values[instruction.value.clone()], own_marginals);
                }
                _ => {
                    // A root is a single number, the last of its component's adjoints.
                    let last = own_adjoints.len() - 1;
                    own_adjoints[last] = first;
                    trusted &= ways.backward::<A>(task, own_adjoints, own_marginals);
                }
            }
            (marginals, adjoints) = (other_marginals, other_adjoints);
        }
        trusted
    }
}

fn span(program: &Program, task: &Task) -> std::ops::Range<usize> {
    program.instructions[task.nodes.start].value.start
        ..program.instructions[task.nodes.end - 1].value.end
}

fn forward_task<A: Algebra>(
    program: &Program,
    task: &Task,
    potentials: &Potentials,
    values: &mut [f64],
    records: &mut [f64],
    parallel: bool,
) {
    let base = span(program, task).start;
    if let Some([left, right]) = task.split.as_deref() {
        let (left_span, right_span) = (span(program, left), span(program, right));
        let both = &mut values[left_span.start - base..right_span.end - base];
        let (left_values, right_values) = both.split_at_mut(left_span.len());
        let both =
            &mut records[left.nodes.start - task.nodes.start..right.nodes.end - task.nodes.start];
        let (left_records, right_records) = both.split_at_mut(left.nodes.len());
        let mut run_left =
            || forward_task::<A>(program, left, potentials, left_values, left_records, parallel);
        let mut run_right =
            || forward_task::<A>(program, right, potentials, right_values, right_records, parallel);
        if parallel {
            rayon::join(run_left, run_right);
        } else {
            run_left();
            run_right();
        }
    }
    let (before, after) = task.own_nodes();
    for node in before.chain(after) {
        let instruction = &program.instructions[node];
        let start = instruction.value.start - base;
        let (done, rest) = values.split_at_mut(start);
        let own = &mut rest[..instruction.value.len()];
        let table = |child: usize| {
            let range = &program.instructions[child].value;
            &done[range.start - base..range.end - base]
        };
        records[node - task.nodes.start] = match &instruction.kind {
            Kind::Leaf(leaf) => A::leaf(potentials.table(*leaf), own),
            Kind::Sum { child, forward, .. } => {
                A::contract(forward, table(*child), &[A::ONE], 1.0, own, parallel);
                A::settle(own)
            }
            Kind::Product { left, right, forward, .. } => {
                A::contract(forward, table(*left), table(*right), 1.0, own, parallel);
                A::settle(own)
            }
        };
    }
}

/// What the way back only reads.
struct Way<'a> {
    program: &'a Program,
    values: &'a [f64],
    records: &'a [f64],
    parallel: bool,
}

impl Way<'_> {
    fn adjoint_span(&self, nodes: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.program.instructions[nodes.start].adjoint.start
            ..self.program.instructions[nodes.end - 1].adjoint.end
    }

    fn marginal_span(&self, nodes: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        let leaves = self.program.leaves(nodes);
        let layout = &self.program.layout;
        layout.range(leaves.start).start..layout.range(leaves.end - 1).end
    }

    fn value(&self, node: usize) -> &[f64] {
        &self.values[self.program.instructions[node].value.clone()]
    }

    /// The leaf and the message of a product in which a leaf takes in a message.
    fn absorption(&self, node: usize) -> Option<(usize, usize, &Contraction)> {
        let Kind::Product { left, right, forward, .. } = &self.program.instructions[node].kind
        else {
            return None;
        };
        let (full, other) = if forward.absorbs()? { (*right, *left) } else { (*left, *right) };
        let is_leaf = |node: usize| matches!(self.program.instructions[node].kind, Kind::Leaf(_));
        (is_leaf(full) && !is_leaf(other)).then_some((full, other, forward))
    }

    fn backward<A: Algebra>(
        &self,
        task: &Task,
        adjoints: &mut [f64],
        marginals: &mut [f64],
    ) -> bool {
        let adjoint_base = self.adjoint_span(&task.nodes).start;
        let marginal_base = self.marginal_span(&task.nodes).start;
        let mut trusted = true;
        let (before, after) = task.own_nodes();
        // What hangs below the split is not needed to go on with the rest of the run, and the
        // nodes before it are none of its business: parents first is all that matters.
        for node in before.chain(after).rev() {
            let instruction = &self.program.instructions[node];
            if matches!(instruction.kind, Kind::Leaf(_)) {
                continue;
            }
            let (below, own) = adjoints.split_at_mut(instruction.adjoint.start - adjoint_base);
            let own = &own[..instruction.adjoint.len()];
            let scale = A::scale(self.records[node]);
            if let Some((leaf, message, forward)) = self.absorption(node) {
                let range = self.marginal_span(&(leaf..leaf + 1));
                let target = &self.program.instructions[message].adjoint;
                let done = A::absorb(Absorption {
                    plan: forward,
                    leaf: self.value(leaf),
                    message: self.value(message),
                    adjoint: own,
                    scale,
                    marginal: &mut marginals
                        [range.start - marginal_base..range.end - marginal_base],
                    message_adjoint: &mut below
                        [target.start - adjoint_base..target.end - adjoint_base],
                });
                if let Some(trust) = done {
                    trusted &= trust;
                    continue;
                }
            }
            let mut send = |child: usize, plan: &Contraction, sibling: &[f64]| {
                let target = &self.program.instructions[child];
                match target.kind {
                    Kind::Leaf(leaf) => {
                        let range = self.program.layout.range(leaf);
                        let out =
                            &mut marginals[range.start - marginal_base..range.end - marginal_base];
                        A::contract(plan, sibling, own, scale, out, self.parallel);
                        trusted &= A::finish(self.value(child), out);
                    }
                    _ => {
                        let range = &target.adjoint;
                        let out = &mut below[range.start - adjoint_base..range.end - adjoint_base];
                        A::contract(plan, sibling, own, scale, out, self.parallel);
                        trusted &= A::trust(out);
                    }
                }
            };
            match &instruction.kind {
                Kind::Leaf(_) => {}
                Kind::Sum { child, to_child, .. } => send(*child, to_child, &[A::ONE]),
                Kind::Product { left, right, to_left, to_right, .. } => {
                    send(*left, to_left, self.value(*right));
                    send(*right, to_right, self.value(*left));
                }
            }
        }
        let Some([left, right]) = task.split.as_deref() else {
            return trusted;
        };
        let both_adjoints = {
            let (l, r) = (self.adjoint_span(&left.nodes), self.adjoint_span(&right.nodes));
            adjoints[l.start - adjoint_base..r.end - adjoint_base].split_at_mut(l.len())
        };
        let both_marginals = {
            let (l, r) = (self.marginal_span(&left.nodes), self.marginal_span(&right.nodes));
            marginals[l.start - marginal_base..r.end - marginal_base].split_at_mut(l.len())
        };
        let mut run_left = || self.backward::<A>(left, both_adjoints.0, both_marginals.0);
        let mut run_right = || self.backward::<A>(right, both_adjoints.1, both_marginals.1);
        let (left, right) = if self.parallel {
            rayon::join(run_left, run_right)
        } else {
            (run_left(), run_right())
        };
        trusted && left && right
    }
}
