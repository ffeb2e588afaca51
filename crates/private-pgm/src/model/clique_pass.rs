//! What one clique of the junction tree does while messages are sent: a plan, there and back.

use super::InferenceError;
use super::calibration::Calibrated;
use super::log_product::log_product;
use super::plan::{Plan, Planner, Slot};
use crate::domain::Clique;

/// What a clique multiplies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A table that lives in it.
    Table(usize),
    /// The message from one of its children.
    Child(usize),
}

/// The logarithm of the product of a clique's sources, summed onto the separator to its parent,
/// with every table on the way.
///
/// Read backwards (reverse-mode differentiation), the same steps give for each source the product
/// of all the others and the message from the parent: the messages to all children, at about twice
/// the cost of the way there however many they are.
pub(super) struct CliquePass {
    plan: Plan,
    sources: Vec<Source>,
    output: Slot,
    values: Vec<Vec<f64>>,
}

/// ln 1: the factor of a product that has only one.
const ONE: [f64; 1] = [0.0];

impl CliquePass {
    pub(super) fn forward(
        calibrated: &Calibrated,
        planner: &mut Planner,
        sources: Vec<Source>,
        separator: &Clique,
    ) -> Result<Self, InferenceError> {
        let mut plan = Plan::default();
        let mut parts: Vec<Slot> = Vec::with_capacity(sources.len());
        for &source in &sources {
            parts.push(plan.input(match source {
                Source::Table(table) => calibrated.tables[table].clique.clone(),
                Source::Child(child) => calibrated.separator(child),
            }));
        }
        let output = planner.combine(&mut plan, &parts, separator)?;
        let mut pass = Self { plan, sources, output, values: Vec::new() };
        for step in &pass.plan.steps {
            let right = step.right.map_or(&ONE[..], |right| pass.value(calibrated, right));
            let mut value = vec![0.0; step.cells];
            log_product(&step.forward, pass.value(calibrated, step.left), right, &mut value);
            pass.values.push(value);
        }
        Ok(pass)
    }

    fn value<'a>(&'a self, calibrated: &'a Calibrated, slot: Slot) -> &'a [f64] {
        match slot {
            Slot::Step(step) => &self.values[step],
            Slot::Input(input) => match self.sources[input] {
                Source::Table(table) => &calibrated.tables[table].log,
                Source::Child(child) => {
                    let message = calibrated.up[child].as_ref();
                    &message.expect("children come before their parents").log
                }
            },
        }
    }

    /// The message to the parent.
    pub(super) fn output<'a>(&'a self, calibrated: &'a Calibrated) -> &'a [f64] {
        self.value(calibrated, self.output)
    }

    /// For each source, the product of everything else, given the message from the parent.
    pub(super) fn backward(
        &self,
        calibrated: &Calibrated,
        planner: &mut Planner,
        above: Vec<f64>,
    ) -> Vec<(Source, Vec<f64>)> {
        let mut adjoints: Vec<Option<Vec<f64>>> = vec![None; self.plan.steps.len()];
        let mut of_sources = Vec::with_capacity(self.sources.len());
        let mut send = |adjoints: &mut [Option<Vec<f64>>], slot, adjoint| match slot {
            Slot::Step(step) => adjoints[step] = Some(adjoint),
            Slot::Input(input) => of_sources.push((self.sources[input], adjoint)),
        };
        send(&mut adjoints, self.output, above);
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
                let mut adjoint = vec![0.0; self.value(calibrated, target).len()];
                let contraction = planner.compile(&step.clique, other, to);
                log_product(&contraction, &own, value, &mut adjoint);
                send(&mut adjoints, target, adjoint);
            }
        }
        of_sources
    }
}
