//! The forward and the backward pass of one clique of the junction tree.

use super::InferenceError;
use super::calibration::Calibrated;
use super::log_product::log_product;
use super::plan::{Plan, Planner, Slot};
use crate::domain::Clique;
use crate::numeric::memory;

/// A factor of a clique's product.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A table that is assigned to the clique.
    Table(usize),
    /// The message from a child.
    Child(usize),
}

/// The logarithm of the product of a clique's sources, summed onto the separator to its parent,
/// with all intermediate tables.
///
/// The backward pass (reverse-mode differentiation of the same steps) yields for each source the
/// product of all other sources and the message from the parent. These are the messages to all
/// children, at about twice the cost of the forward pass for any number of children.
pub(super) struct CliquePass {
    plan: Plan,
    sources: Vec<Source>,
    output: Slot,
    /// The logarithms of each step's result.
    values: Vec<Vec<f64>>,
}

/// ln 1: the right operand of a step that has none.
const ONE: [f64; 1] = [0.0];

impl CliquePass {
    pub(super) fn forward(
        calibrated: &Calibrated,
        planner: &mut Planner,
        sources: Vec<Source>,
        separator: &Clique,
    ) -> Result<Self, InferenceError> {
        let mut plan = Plan::default();
        let mut factors: Vec<Slot> = Vec::with_capacity(sources.len());
        for &source in &sources {
            factors.push(plan.input(match source {
                Source::Table(table) => calibrated.tables[table].clique.clone(),
                Source::Child(child) => calibrated.separator(child),
            }));
        }
        let output = planner.combine(&mut plan, &factors, separator)?;
        let mut pass = Self { plan, sources, output, values: Vec::new() };
        for step in &pass.plan.steps {
            let right = step.right.map_or(&ONE[..], |right| pass.value(calibrated, right));
            let mut value = memory::zeros(step.cells);
            log_product(&step.forward, pass.value(calibrated, step.left), right, &mut value);
            pass.values.push(value);
        }
        Ok(pass)
    }

    fn value<'a>(&'a self, calibrated: &'a Calibrated, slot: Slot) -> &'a [f64] {
        match slot {
            Slot::Result(step) => &self.values[step],
            Slot::Input(input) => match self.sources[input] {
                Source::Table(table) => &calibrated.tables[table].log,
                Source::Child(child) => {
                    let message = calibrated.up[child].as_ref();
                    &message.expect("children come before their parents").log
                }
            },
        }
    }

    /// ln of the message to the parent.
    pub(super) fn output<'a>(&'a self, calibrated: &'a Calibrated) -> &'a [f64] {
        self.value(calibrated, self.output)
    }

    /// For each source, ln of the product of all other factors, given ln of the message from the
    /// parent.
    pub(super) fn backward(
        &self,
        calibrated: &Calibrated,
        planner: &mut Planner,
        from_parent: Vec<f64>,
    ) -> Vec<(Source, Vec<f64>)> {
        let mut adjoints: Vec<Option<Vec<f64>>> = vec![None; self.plan.steps.len()];
        let mut of_sources = Vec::with_capacity(self.sources.len());
        let mut send = |adjoints: &mut [Option<Vec<f64>>], slot, adjoint| match slot {
            Slot::Result(step) => adjoints[step] = Some(adjoint),
            Slot::Input(input) => of_sources.push((self.sources[input], adjoint)),
        };
        send(&mut adjoints, self.output, from_parent);
        for (position, step) in self.plan.steps.iter().enumerate().rev() {
            let own = adjoints[position].take().expect("every step leads to the output");
            let factors = [(step.left, step.right)].into_iter();
            let factors = factors.chain(step.right.map(|right| (right, Some(step.left))));
            for (target, sibling) in factors {
                let nothing = Clique::empty();
                let (other, value) = match sibling {
                    Some(sibling) => (self.plan.clique(sibling), self.value(calibrated, sibling)),
                    None => (&nothing, &ONE[..]),
                };
                let to = self.plan.clique(target);
                let mut adjoint = memory::zeros(self.value(calibrated, target).len());
                let contraction = planner.compile(&step.clique, other, to);
                log_product(&contraction, &own, value, &mut adjoint);
                send(&mut adjoints, target, adjoint);
            }
        }
        of_sources
    }
}
