//! Plans of a query: compiled contractions in order, every table size checked before any
//! arithmetic.
//!
//! A plan differs from the program of the exact oracle, although both come from an
//! [`EliminationPlan`]. A plan joins several of them, runs once on tables of changing kinds
//! (numbers, logarithms, signed logarithms), and frees each table after its use. The oracle's
//! program runs thousands of times in a workspace that keeps all tables for the backward pass and
//! for reparametrization. The kernels and their cache are the same.

use std::sync::Arc;

use super::InferenceError;
use crate::domain::{Clique, Domain};
use crate::elimination_plan::{ContractionCache, EliminationPlan, NodeOperation};
use crate::numeric::contraction::Contraction;

/// A table of a plan: an input, or the result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Input(usize),
    Result(usize),
}

/// O = sum of A * B, or the sum of A where `right` is `None`.
#[derive(Debug)]
pub(super) struct PlanStep {
    pub(super) left: Slot,
    pub(super) right: Option<Slot>,
    pub(super) forward: Arc<Contraction>,
    /// The attributes of O.
    pub(super) clique: Clique,
    /// The cells of O.
    pub(super) cells: usize,
}

/// Steps in order. Each input and each result is used once; the last result is the output.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) inputs: Vec<Clique>,
    pub(super) steps: Vec<PlanStep>,
}

impl Plan {
    pub(super) fn input(&mut self, clique: Clique) -> Slot {
        self.inputs.push(clique);
        Slot::Input(self.inputs.len() - 1)
    }

    pub(super) fn clique(&self, slot: Slot) -> &Clique {
        match slot {
            Slot::Input(input) => &self.inputs[input],
            Slot::Result(step) => &self.steps[step].clique,
        }
    }

    /// Runs the plan. `input` returns the tables, `contract` computes a step from its one or two
    /// operands. A table is dropped after the step that uses it.
    pub(super) fn run<T>(
        &self,
        input: impl Fn(usize) -> T,
        mut contract: impl FnMut(&PlanStep, &T, Option<&T>) -> T,
    ) -> T {
        let mut results: Vec<Option<T>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let mut take = |slot| match slot {
                Slot::Input(position) => input(position),
                Slot::Result(position) => {
                    results[position].take().expect("each result is used once")
                }
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
    kernels: ContractionCache<'a>,
    limit: usize,
}

impl<'a> Planner<'a> {
    /// Plans in which no table has more than `limit` cells.
    pub(super) fn new(domain: &'a Domain, limit: usize) -> Self {
        Self { kernels: ContractionCache::new(domain), limit }
    }

    pub(super) fn domain(&self) -> &'a Domain {
        self.kernels.domain()
    }

    /// The largest number of cells of any table.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The contraction of tables over `a` and `b` onto `o`.
    pub(super) fn compile(&mut self, a: &Clique, b: &Clique, o: &Clique) -> Arc<Contraction> {
        self.kernels.get(a, b, o)
    }

    /// Adds the product of `factors`, at least one, summed onto exactly the attributes `output`.
    /// The result is constant along attributes of `output` that no factor has.
    pub(super) fn combine(
        &mut self,
        plan: &mut Plan,
        factors: &[Slot],
        output: &Clique,
    ) -> Result<Slot, InferenceError> {
        let cliques: Vec<Clique> =
            factors.iter().map(|&factor| plan.clique(factor).clone()).collect();
        let tree = EliminationPlan::onto(self.domain(), &cliques, output);
        let mut slots = Vec::with_capacity(tree.nodes().len());
        for (position, node) in tree.nodes().iter().enumerate() {
            let slot = match (node.operation, tree.children(position)) {
                (NodeOperation::Leaf(table), _) => factors[table],
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
        let root = *slots.last().expect("there is a factor");
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
        let cells = check_cells(self.domain(), &clique, self.limit)?;
        let nothing = Clique::empty();
        let forward = {
            let b = right.map_or(&nothing, |right| plan.clique(right));
            self.compile(plan.clique(left), b, &clique)
        };
        plan.steps.push(PlanStep { left, right, forward, clique, cells });
        Ok(Slot::Result(plan.steps.len() - 1))
    }
}

/// The number of cells of a table over `clique`; an error above the limit.
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
