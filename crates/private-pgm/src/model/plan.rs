//! Plans: which tables to multiply in which order, compiled, with every size checked before
//! anything is computed.

use std::collections::HashMap;
use std::sync::Arc;

use super::InferenceError;
use crate::domain::{Clique, Domain};
use crate::elimination_plan::{ContractionTree, Step as Node};
use crate::numeric::contraction::{Axis, Contraction};

/// Where a table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// One of the tables that a plan is run on.
    Input(usize),
    /// The result of a step.
    Step(usize),
}

/// O = sum of A * B, or of A alone.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) left: Slot,
    pub(super) right: Option<Slot>,
    pub(super) forward: Arc<Contraction>,
    pub(super) clique: Clique,
    pub(super) cells: usize,
}

/// Steps that use each input and each result once, but for the last one.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) inputs: Vec<Clique>,
    pub(super) steps: Vec<Step>,
}

impl Plan {
    /// Adds an input.
    pub(super) fn input(&mut self, clique: Clique) -> Slot {
        self.inputs.push(clique);
        Slot::Input(self.inputs.len() - 1)
    }

    /// The attributes of a table.
    pub(super) fn clique(&self, slot: Slot) -> &Clique {
        match slot {
            Slot::Input(input) => &self.inputs[input],
            Slot::Step(step) => &self.steps[step].clique,
        }
    }

    /// Runs the plan. `input` gives the tables, `contract` runs a step on its one or two factors.
    /// A table is dropped as soon as it is used.
    pub(super) fn run<T>(
        &self,
        input: impl Fn(usize) -> T,
        mut contract: impl FnMut(&Step, &T, Option<&T>) -> T,
    ) -> T {
        let mut results: Vec<Option<T>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let mut take = |slot| match slot {
                Slot::Input(position) => input(position),
                Slot::Step(position) => results[position].take().expect("each result is used once"),
            };
            let (left, right) = (take(step.left), step.right.map(&mut take));
            let result = contract(step, &left, right.as_ref());
            results.push(Some(result));
        }
        results.pop().flatten().unwrap_or_else(|| input(0))
    }
}

/// Adds steps to plans. Contractions of the same shape are compiled once.
pub(super) struct Planner<'a> {
    domain: &'a Domain,
    limit: usize,
    compiled: HashMap<Vec<Axis>, Arc<Contraction>>,
}

impl<'a> Planner<'a> {
    /// Plans in which no table has more than `limit` cells.
    pub(super) fn new(domain: &'a Domain, limit: usize) -> Self {
        Self { domain, limit, compiled: HashMap::new() }
    }

    /// The domain that plans are for.
    pub(super) fn domain(&self) -> &'a Domain {
        self.domain
    }

    /// The largest number of cells of a table.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The contraction of tables over `a` and `b` onto `o`.
    pub(super) fn compile(&mut self, a: &Clique, b: &Clique, o: &Clique) -> Arc<Contraction> {
        let axes: Vec<Axis> = a
            .union(b)
            .union(o)
            .iter()
            .map(|id| Axis {
                size: self.domain.size(id),
                in_a: a.contains(id),
                in_b: b.contains(id),
                in_o: o.contains(id),
            })
            .collect();
        let entry = self.compiled.entry(axes);
        Arc::clone(entry.or_insert_with_key(|axes| Arc::new(Contraction::new(axes))))
    }

    /// The product of `parts`, at least one, summed onto exactly the attributes `output`; constant
    /// along those that no part has.
    pub(super) fn combine(
        &mut self,
        plan: &mut Plan,
        parts: &[Slot],
        output: &Clique,
    ) -> Result<Slot, InferenceError> {
        let cliques: Vec<Clique> = parts.iter().map(|&part| plan.clique(part).clone()).collect();
        let tree = ContractionTree::onto(self.domain, &cliques, output);
        let mut slots = Vec::with_capacity(tree.nodes().len());
        for (position, node) in tree.nodes().iter().enumerate() {
            let slot = match (node.step, tree.children(position)) {
                (Node::Leaf(table), _) => parts[table],
                (_, (left, Some(right))) => {
                    let right = slots[right];
                    let (left, right) = match left {
                        Some(left) => (slots[left], Some(right)),
                        None => (right, None),
                    };
                    self.step(plan, left, right, node.clique.clone())?
                }
                _ => unreachable!("inner nodes have children"),
            };
            slots.push(slot);
        }
        let root = *slots.last().expect("there is a part");
        match plan.clique(root) == output {
            true => Ok(root),
            false => self.step(plan, root, None, output.clone()),
        }
    }

    fn step(
        &mut self,
        plan: &mut Plan,
        left: Slot,
        right: Option<Slot>,
        clique: Clique,
    ) -> Result<Slot, InferenceError> {
        let cells = check_cells(self.domain, &clique, self.limit)?;
        let nothing = Clique::empty();
        let forward = {
            let b = right.map_or(&nothing, |right| plan.clique(right));
            self.compile(plan.clique(left), b, &clique)
        };
        plan.steps.push(Step { left, right, forward, clique, cells });
        Ok(Slot::Step(plan.steps.len() - 1))
    }
}

/// The cells of a table over `clique`, if these are within the limit.
pub(super) fn check_cells(
    domain: &Domain,
    clique: &Clique,
    limit: usize,
) -> Result<usize, InferenceError> {
    domain
        .cells(clique)
        .filter(|&cells| cells <= limit)
        .ok_or_else(|| InferenceError::TooLarge { cells: domain.cells_f64(clique), limit })
}
