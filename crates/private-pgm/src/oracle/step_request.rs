use std::ops::Range;

use crate::numeric::step::{DistanceStep, Stepped, gradient_step};

/// A step of potentials that an oracle takes for an optimiser, table by table, each just before it
/// is read: passes over memory of their own cost more than all arithmetic when there are many
/// tables.
#[derive(Debug)]
pub enum StepRequest<'a> {
    /// theta -= length * gradient.
    Gradient {
        /// The length of the step.
        length: f64,
        /// One number a cell.
        gradient: &'a [f64],
    },
    /// A step on the squared distance from y, and the averaging before it.
    Distance {
        /// The numbers of the step.
        step: DistanceStep,
        /// The average mu.
        mean: &'a mut [f64],
        /// What the distance is from.
        y: &'a [f64],
        /// The marginals before the step, if they are to stay: not where the new ones go.
        nu: Option<&'a [f64]>,
    },
}

impl StepRequest<'_> {
    /// The same step on two parts of the cells, the second after the first.
    pub(super) fn halves(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
    ) -> (StepRequest<'_>, StepRequest<'_>) {
        match self {
            Self::Gradient { length, gradient } => {
                let part =
                    |cells| StepRequest::Gradient { length: *length, gradient: &gradient[cells] };
                (part(first), part(second))
            }
            Self::Distance { step, mean, y, nu } => {
                let (low, high) = two_parts(mean, first.clone(), second.clone());
                let part = |mean, cells: Range<usize>| {
                    let nu = nu.map(|nu| &nu[cells.clone()]);
                    StepRequest::Distance { step: *step, mean, y: &y[cells], nu }
                };
                (part(low, first), part(high, second))
            }
        }
    }

    /// Steps the potentials `theta` of these cells. `place` is where the new marginals will go.
    pub(super) fn take(
        &mut self,
        cells: Range<usize>,
        place: &[f64],
        theta: &mut [f64],
    ) -> Stepped {
        match self {
            Self::Gradient { length, gradient } => gradient_step(*length, &gradient[cells], theta),
            Self::Distance { step, mean, y, nu } => {
                let nu = nu.map_or(place, |nu| &nu[cells.clone()]);
                step.take(&mut mean[cells.clone()], nu, &y[cells], theta)
            }
        }
    }
}

/// Two parts of a slice, the second after the first.
pub(super) fn two_parts(
    all: &mut [f64],
    first: Range<usize>,
    second: Range<usize>,
) -> (&mut [f64], &mut [f64]) {
    let (low, high) = all.split_at_mut(second.start);
    (&mut low[first], &mut high[..second.len()])
}

/// Where a step led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepResult {
    /// ln Z of the new potentials.
    pub log_z: f64,
    /// |omega - y|^2 before the step, for a step on a distance; 0 for others.
    pub square: f64,
}
