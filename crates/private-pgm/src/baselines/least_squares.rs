//! What both least squares have in common: several measurements of one table as one linear system.

use std::time::Instant;

use super::{EstimatorError, in_time};
use crate::domain::{Clique, Domain};
use crate::fit::{EstimateError, Evidence, Observed};
use crate::loss::{LinearLossError, Measurement};
use crate::numeric::lsmr::{LsmrOptions, Termination, lsmr};
use crate::numeric::strided::Projection;

/// The measurements of the evidence, every one of them checked.
pub(super) fn answers_of<'a>(evidence: &Evidence<'a>) -> Result<&'a [Measurement], EstimatorError> {
    let Observed::Answers(measurements) = evidence.observed else {
        let message = "expected noisy answers to linear queries, found a likelihood";
        return Err(EstimatorError::Unsupported(message.into()));
    };
    if !evidence.zeros.is_empty() {
        let message =
            "expected no impossible combinations of values, which linear estimates cannot exclude";
        return Err(EstimatorError::Unsupported(message.into()));
    }
    for (index, measurement) in measurements.iter().enumerate() {
        measurement.check(evidence.domain).map_err(|reason| {
            EstimateError::Measurement(LinearLossError::Measurement { index, reason })
        })?;
    }
    Ok(measurements)
}

/// The sum of |r| and half the sum of r^2 over all measured answers, from each one's marginal.
pub(super) fn l1_l2(
    measurements: &[Measurement],
    mut marginal: impl FnMut(&Measurement) -> Vec<f64>,
) -> (f64, f64) {
    measurements.iter().fold((0.0, 0.0), |(l1, l2), measurement| {
        let mut answers = vec![0.0; measurement.query.rows()];
        let mut scratch = vec![0.0; measurement.query.scratch_len()];
        measurement.query.apply(&marginal(measurement), &mut answers, &mut scratch);
        let residuals =
            answers.iter().zip(&measurement.y).map(|(a, y)| (a - y) / measurement.stddev);
        residuals.fold((l1, l2), |(l1, l2), r| (l1 + r.abs(), l2 + 0.5 * r * r))
    })
}

/// The system of all rows Q P_C / stddev, P_C summing the table onto a measurement's clique.
pub(super) struct System<'a> {
    terms: Vec<Term<'a>>,
    cells: usize,
    rows: usize,
    marginal: Vec<f64>,
    answers: Vec<f64>,
    scratch: Vec<f64>,
}

struct Term<'a> {
    measurement: &'a Measurement,
    /// From the table to the measured marginal, when that has fewer attributes.
    projection: Option<Projection>,
}

/// A solution, and the way to it.
pub(super) struct Solved {
    /// The table.
    pub(super) table: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    pub(super) seconds: f64,
}

impl<'a> System<'a> {
    /// The bytes that a system over `clique` and its solution take, at most.
    pub(super) fn bytes<'m>(
        domain: &Domain,
        clique: &Clique,
        measurements: impl IntoIterator<Item = &'m Measurement>,
    ) -> f64 {
        let cells = domain.cells_f64(clique);
        let longest = clique.iter().map(|id| domain.size(id)).max().unwrap_or(1) as f64;
        let (mut rows, mut largest, mut projections) = (0.0, 0.0f64, 0.0);
        for measurement in measurements {
            let query = &measurement.query;
            rows += query.rows() as f64;
            largest = largest.max((query.cols() + query.rows() + query.scratch_len()) as f64);
            if measurement.clique != *clique {
                // A position of four bytes for each row along the last axis, the longest, and as
                // many again while the list grows.
                projections += 8.0 * cells / longest;
            }
        }
        8.0 * (4.0 * cells + rows + largest) + projections
    }

    /// The system of `measurements`, whose cliques are within `clique`.
    pub(super) fn new(
        domain: &Domain,
        clique: &Clique,
        measurements: impl IntoIterator<Item = &'a Measurement>,
    ) -> Self {
        let shape = domain.shape(clique);
        let term = |measurement: &'a Measurement| {
            let kept: Vec<bool> = clique.iter().map(|id| measurement.clique.contains(id)).collect();
            let whole = kept.iter().all(|&kept| kept);
            let projection = (!whole).then(|| Projection::new(&shape, &kept));
            Term { measurement, projection }
        };
        let terms: Vec<Term> = measurements.into_iter().map(term).collect();
        let queries = || terms.iter().map(|term| &term.measurement.query);
        let largest = |sizes: &mut dyn Iterator<Item = usize>| vec![0.0; sizes.max().unwrap_or(0)];
        Self {
            cells: shape.iter().product(),
            rows: queries().map(|query| query.rows()).sum(),
            marginal: largest(&mut queries().map(|query| query.cols())),
            answers: largest(&mut queries().map(|query| query.rows())),
            scratch: largest(&mut queries().map(|query| query.scratch_len())),
            terms,
        }
    }

    /// The shortest table among those that explain the answers best.
    pub(super) fn solve(
        self,
        stopping: LsmrOptions,
        deadline: Option<Instant>,
    ) -> Result<Solved, EstimatorError> {
        let began = Instant::now();
        let Self { terms, cells, rows, marginal, answers, scratch } = self;
        let mut b = Vec::with_capacity(rows);
        for Term { measurement, .. } in &terms {
            b.extend(measurement.y.iter().map(|y| y / measurement.stddev));
        }
        // The two products take turns with one scratch space.
        let space = std::cell::RefCell::new((marginal, answers, scratch));
        let add_product = |table: &[f64], out: &mut [f64]| {
            let (marginal, answers, scratch) = &mut *space.borrow_mut();
            let mut rest = out;
            for term in &terms {
                let (out, others) = rest.split_at_mut(term.measurement.query.rows());
                term.add_product(table, out, marginal, answers, scratch);
                rest = others;
            }
        };
        let add_transposed = |y: &[f64], table: &mut [f64]| {
            let (marginal, answers, scratch) = &mut *space.borrow_mut();
            let mut rest = y;
            for term in &terms {
                let (y, others) = rest.split_at(term.measurement.query.rows());
                term.add_transposed(y, table, marginal, answers, scratch);
                rest = others;
            }
        };
        let goes_on = |_| in_time(deadline);
        let solution = lsmr(b, cells, stopping, add_product, add_transposed, goes_on);
        let iterations = solution.iterations;
        if solution.termination == Termination::Stopped {
            return Err(EstimatorError::Timeout { iterations });
        }
        let converged = solution.termination == Termination::Converged;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Solved { table: solution.x, iterations, converged, seconds })
    }
}

impl Term<'_> {
    /// Adds Q P x / stddev.
    fn add_product(
        &self,
        table: &[f64],
        out: &mut [f64],
        marginal: &mut [f64],
        answers: &mut [f64],
        scratch: &mut [f64],
    ) {
        let query = &self.measurement.query;
        let marginal = match &self.projection {
            Some(projection) => {
                let marginal = &mut marginal[..query.cols()];
                projection.sum(table, marginal);
                marginal
            }
            None => table,
        };
        let answers = &mut answers[..query.rows()];
        query.apply(marginal, answers, scratch);
        let weight = self.measurement.stddev.recip();
        out.iter_mut().zip(answers).for_each(|(out, answer)| *out += weight * *answer);
    }

    /// Adds P^T Q^T y / stddev.
    fn add_transposed(
        &self,
        y: &[f64],
        table: &mut [f64],
        marginal: &mut [f64],
        answers: &mut [f64],
        scratch: &mut [f64],
    ) {
        let query = &self.measurement.query;
        let weight = self.measurement.stddev.recip();
        let answers = &mut answers[..query.rows()];
        answers.iter_mut().zip(y).for_each(|(answer, y)| *answer = weight * y);
        let marginal = &mut marginal[..query.cols()];
        query.apply_transpose(answers, marginal, scratch);
        match &self.projection {
            Some(projection) => projection.broadcast(marginal, table, |cell, m| *cell += m),
            None => table.iter_mut().zip(&*marginal).for_each(|(cell, m)| *cell += m),
        }
    }
}
