use std::ops::Range;

use crate::numeric::step::{DistanceStep, StepStats, gradient_step};

/// A step of the potentials that an oracle takes on behalf of an optimiser.
///
/// The oracle applies it table by table, just before it reads each table. With many tables a
/// separate pass over memory would cost more than all arithmetic.
#[derive(Debug)]
pub enum StepRequest<'a> {
    /// theta' = theta - length * gradient.
    Gradient {
        /// The step length.
        length: f64,
        /// The gradient, one number per cell.
        gradient: &'a [f64],
    },
    /// A step on the squared distance from y, and the averaging before it: see [`DistanceStep`].
    Distance {
        /// Weights and length of the step.
        step: DistanceStep,
        /// The average mu, which the step updates.
        mean: &'a mut [f64],
        /// The target y of the distance.
        y: &'a [f64],
        /// The marginals nu before the step. `None` when the buffer for the new marginals holds
        /// them; they are then overwritten.
        nu: Option<&'a [f64]>,
    },
}

impl StepRequest<'_> {
    /// The same step on two parts of the cells. `second` starts at or after the end of `first`.
    pub(super) fn split(
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
                let (low, high) = split_two(mean, first.clone(), second.clone());
                let part = |mean, cells: Range<usize>| {
                    let nu = nu.map(|nu| &nu[cells.clone()]);
                    StepRequest::Distance { step: *step, mean, y: &y[cells], nu }
                };
                (part(low, first), part(high, second))
            }
        }
    }

    /// Steps the potentials `theta` of these cells. `output` is the buffer for the new marginals.
    pub(super) fn apply(
        &mut self,
        cells: Range<usize>,
        output: &[f64],
        theta: &mut [f64],
    ) -> StepStats {
        match self {
            Self::Gradient { length, gradient } => gradient_step(*length, &gradient[cells], theta),
            Self::Distance { step, mean, y, nu } => {
                let nu = nu.map_or(output, |nu| &nu[cells.clone()]);
                step.take(&mut mean[cells.clone()], nu, &y[cells], theta)
            }
        }
    }
}

/// Two disjoint parts of a slice. `second` starts at or after the end of `first`.
pub(super) fn split_two(
    all: &mut [f64],
    first: Range<usize>,
    second: Range<usize>,
) -> (&mut [f64], &mut [f64]) {
    let (low, high) = all.split_at_mut(second.start);
    (&mut low[first], &mut high[..second.len()])
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepResult {
    /// ln Z of the new potentials.
    pub log_z: f64,
    /// |omega - y|^2 before the step, for [`StepRequest::Distance`]; 0 for other steps.
    pub square: f64,
}
