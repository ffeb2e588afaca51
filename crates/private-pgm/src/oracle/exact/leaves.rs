use std::ops::Range;

use crate::factor::{Marginals, Potentials};
use crate::numeric::extremes::extremes;
use crate::numeric::step::StepStats;
use crate::oracle::step_request::{StepRequest, split_two};

/// The tables of consecutive leaves: their potentials, and a buffer that holds their exponentials
/// after the forward pass and their marginals after the backward pass.
pub(super) struct Leaves<'a> {
    /// The position of the first cell among those of all leaves.
    start: usize,
    potentials: LeafPotentials<'a>,
    values: &'a mut [f64],
}

enum LeafPotentials<'a> {
    Fixed(&'a [f64]),
    /// Each table takes its step when it is first read.
    Stepping {
        theta: &'a mut [f64],
        request: StepRequest<'a>,
    },
}

impl<'a> Leaves<'a> {
    /// All leaves, with these potentials.
    pub(super) fn new(potentials: &'a Potentials, marginals: &'a mut Marginals) -> Self {
        let potentials = LeafPotentials::Fixed(potentials.values());
        Self { start: 0, potentials, values: marginals.values_mut() }
    }

    /// All leaves, with potentials that take a step when they are read.
    pub(super) fn with_step(
        request: StepRequest<'a>,
        potentials: &'a mut Potentials,
        marginals: &'a mut Marginals,
    ) -> Self {
        let potentials = LeafPotentials::Stepping { theta: potentials.values_mut(), request };
        Self { start: 0, potentials, values: marginals.values_mut() }
    }

    fn local(&self, cells: &Range<usize>) -> Range<usize> {
        cells.start - self.start..cells.end - self.start
    }

    /// Takes the step, if there is one, on the potentials of these cells. Returns the potentials,
    /// the statistics of the step and the buffer for their exponentials.
    pub(super) fn read(&mut self, cells: Range<usize>) -> (&[f64], StepStats, &mut [f64]) {
        let cells = self.local(&cells);
        let values = &mut self.values[cells.clone()];
        match &mut self.potentials {
            LeafPotentials::Fixed(theta) => {
                let theta = &theta[cells];
                (theta, StepStats { extremes: extremes(theta, false), square: 0.0 }, values)
            }
            LeafPotentials::Stepping { theta, request } => {
                let theta = &mut theta[cells.clone()];
                let stats = request.apply(cells, values, theta);
                (theta, stats, values)
            }
        }
    }

    /// The potentials of cells that have been [`read`](Self::read).
    pub(super) fn log(&self, cells: Range<usize>) -> &[f64] {
        let cells = self.local(&cells);
        match &self.potentials {
            LeafPotentials::Fixed(theta) => &theta[cells],
            LeafPotentials::Stepping { theta, .. } => &theta[cells],
        }
    }

    /// The exponentials or marginals of some cells.
    pub(super) fn values(&self, cells: Range<usize>) -> &[f64] {
        &self.values[self.local(&cells)]
    }

    pub(super) fn values_mut(&mut self, cells: Range<usize>) -> &mut [f64] {
        let cells = self.local(&cells);
        &mut self.values[cells]
    }

    /// The leaves with these cells.
    pub(super) fn part(&mut self, cells: Range<usize>) -> Leaves<'_> {
        self.split(cells.clone(), cells.end..cells.end).0
    }

    /// Two parts, for two threads. `second` starts at or after the end of `first`.
    pub(super) fn split(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
    ) -> (Leaves<'_>, Leaves<'_>) {
        let starts = (first.start, second.start);
        let (first, second) = (self.local(&first), self.local(&second));
        let (low, high) = match &mut self.potentials {
            LeafPotentials::Fixed(theta) => (
                LeafPotentials::Fixed(&theta[first.clone()]),
                LeafPotentials::Fixed(&theta[second.clone()]),
            ),
            LeafPotentials::Stepping { theta, request } => {
                let (low, high) = split_two(theta, first.clone(), second.clone());
                let (low_request, high_request) = request.split(first.clone(), second.clone());
                (
                    LeafPotentials::Stepping { theta: low, request: low_request },
                    LeafPotentials::Stepping { theta: high, request: high_request },
                )
            }
        };
        let (low_values, high_values) = split_two(self.values, first, second);
        (
            Leaves { start: starts.0, potentials: low, values: low_values },
            Leaves { start: starts.1, potentials: high, values: high_values },
        )
    }
}
