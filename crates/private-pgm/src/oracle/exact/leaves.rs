use std::ops::Range;

use crate::factor::{Marginals, Potentials};
use crate::numeric::extremes::extremes;
use crate::numeric::step::Stepped;
use crate::oracle::step_request::{StepRequest, two_parts};

/// The tables of some consecutive leaves: their potentials, and a place for what becomes of them,
/// exponentials on the way up and marginals on the way down.
pub(super) struct Leaves<'a> {
    /// The position of the first cell among those of all leaves.
    start: usize,
    potentials: Theta<'a>,
    values: &'a mut [f64],
}

enum Theta<'a> {
    Fixed(&'a [f64]),
    /// Potentials that take a step when they are read first.
    Moving {
        theta: &'a mut [f64],
        descent: StepRequest<'a>,
    },
}

impl<'a> Leaves<'a> {
    /// All leaves, with these potentials.
    pub(super) fn new(potentials: &'a Potentials, marginals: &'a mut Marginals) -> Self {
        let (potentials, values) = (Theta::Fixed(potentials.values()), marginals.values_mut());
        Self { start: 0, potentials, values }
    }

    /// All leaves, with potentials that take a step when they are read.
    pub(super) fn stepping(
        descent: StepRequest<'a>,
        potentials: &'a mut Potentials,
        marginals: &'a mut Marginals,
    ) -> Self {
        let potentials = Theta::Moving { theta: potentials.values_mut(), descent };
        Self { start: 0, potentials, values: marginals.values_mut() }
    }

    fn local(&self, cells: &Range<usize>) -> Range<usize> {
        cells.start - self.start..cells.end - self.start
    }

    /// Takes the step on some potentials, if there is one. Returns them, what it saw, and the place
    /// for what becomes of them.
    pub(super) fn read(&mut self, cells: Range<usize>) -> (&[f64], Stepped, &mut [f64]) {
        let cells = self.local(&cells);
        let values = &mut self.values[cells.clone()];
        match &mut self.potentials {
            Theta::Fixed(theta) => {
                let theta = &theta[cells];
                (theta, Stepped { extremes: extremes(theta, false), square: 0.0 }, values)
            }
            Theta::Moving { theta, descent } => {
                let theta = &mut theta[cells.clone()];
                let stepped = descent.take(cells, values, theta);
                (theta, stepped, values)
            }
        }
    }

    /// Potentials that have been read.
    pub(super) fn log(&self, cells: Range<usize>) -> &[f64] {
        let cells = self.local(&cells);
        match &self.potentials {
            Theta::Fixed(theta) => &theta[cells],
            Theta::Moving { theta, .. } => &theta[cells],
        }
    }

    /// What has become of some cells.
    pub(super) fn values(&self, cells: Range<usize>) -> &[f64] {
        &self.values[self.local(&cells)]
    }

    /// What has become of some cells.
    pub(super) fn values_mut(&mut self, cells: Range<usize>) -> &mut [f64] {
        let cells = self.local(&cells);
        &mut self.values[cells]
    }

    /// Some of the leaves.
    pub(super) fn part(&mut self, cells: Range<usize>) -> Leaves<'_> {
        self.halves(cells.clone(), cells.end..cells.end).0
    }

    /// Two parts, for two threads; the second is after the first.
    pub(super) fn halves(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
    ) -> (Leaves<'_>, Leaves<'_>) {
        let starts = (first.start, second.start);
        let (first, second) = (self.local(&first), self.local(&second));
        let (low, high) = match &mut self.potentials {
            Theta::Fixed(theta) => {
                (Theta::Fixed(&theta[first.clone()]), Theta::Fixed(&theta[second.clone()]))
            }
            Theta::Moving { theta, descent } => {
                let (low, high) = two_parts(theta, first.clone(), second.clone());
                let (low_descent, high_descent) = descent.halves(first.clone(), second.clone());
                (
                    Theta::Moving { theta: low, descent: low_descent },
                    Theta::Moving { theta: high, descent: high_descent },
                )
            }
        };
        let (low_values, high_values) = two_parts(self.values, first, second);
        (
            Leaves { start: starts.0, potentials: low, values: low_values },
            Leaves { start: starts.1, potentials: high, values: high_values },
        )
    }
}
