//! Several measurements of one table as one linear system, for local and full least squares.

use std::cell::RefCell;
use std::time::Instant;

use super::in_time;
use crate::domain::{Clique, Domain};
use crate::fit::{EstimateError, EstimatorError, Evidence, Observed};
use crate::loss::{LinearLossError, Measurement};
use crate::numeric::lsmr::{LsmrOptions, Termination, lsmr};
use crate::numeric::memory;
use crate::numeric::strided::Projection;

/// The measurements of the evidence, each of them checked. An error if the evidence is a likelihood
/// or has structural zeros.
pub(crate) fn linear_measurements<'a>(
    evidence: &Evidence<'a>,
) -> Result<&'a [Measurement], EstimatorError> {
    let Observed::Answers(measurements) = evidence.observed else {
        let message = "expected noisy answers to linear queries, found a likelihood";
        return Err(EstimatorError::Unsupported(message.into()));
    };
    if !evidence.zeros.is_empty() {
        let message =
            "expected no structural zeros: a linear estimate cannot exclude combinations of values";
        return Err(EstimatorError::Unsupported(message.into()));
    }
    for (index, measurement) in measurements.iter().enumerate() {
        measurement.check(evidence.domain).map_err(|reason| {
            EstimateError::Measurement(LinearLossError::Measurement { index, reason })
        })?;
    }
    Ok(measurements)
}

/// The L1 loss, the sum of |r|, and the L2 loss, the sum of r^2 / 2, over all residuals
/// r = (Q mu - y) / stddev. `marginal` returns the mu of a measurement.
pub(crate) fn l1_l2(
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

/// The linear system with the rows Q P_C / stddev of all measurements, where P_C sums the table
/// onto the clique of the measurement.
pub(super) struct StackedSystem<'a> {
    blocks: Vec<Block<'a>>,
    cells: usize,
    rows: usize,
    buffers: Buffers,
}

/// The rows of one measurement.
struct Block<'a> {
    measurement: &'a Measurement,
    /// From the table onto the measured marginal; `None` if they have the same attributes.
    projection: Option<Projection>,
}

/// Buffers that are large enough for every block.
struct Buffers {
    marginal: Vec<f64>,
    answers: Vec<f64>,
    scratch: Vec<f64>,
}

/// The least-squares solution of a system.
pub(super) struct Solution {
    pub(super) table: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    pub(super) seconds: f64,
}

impl<'a> StackedSystem<'a> {
    /// An upper bound on the bytes of a system over `clique` and of its solution.
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
                // A projection has an offset of four bytes per row along the last, longest axis,
                // and twice that while the list of offsets grows.
                projections += 8.0 * cells / longest;
            }
        }
        8.0 * (4.0 * cells + rows + largest) + projections
    }

    /// The system of `measurements`, whose cliques are subsets of `clique`.
    pub(super) fn new(
        domain: &Domain,
        clique: &Clique,
        measurements: impl IntoIterator<Item = &'a Measurement>,
    ) -> Self {
        let shape = domain.shape(clique);
        let block = |measurement: &'a Measurement| {
            let kept: Vec<bool> = clique.iter().map(|id| measurement.clique.contains(id)).collect();
            let whole = kept.iter().all(|&kept| kept);
            let projection = (!whole).then(|| Projection::new(&shape, &kept));
            Block { measurement, projection }
        };
        let blocks: Vec<Block> = measurements.into_iter().map(block).collect();
        let queries = || blocks.iter().map(|block| &block.measurement.query);
        let largest =
            |sizes: &mut dyn Iterator<Item = usize>| memory::zeros(sizes.max().unwrap_or(0));
        Self {
            cells: shape.iter().product(),
            rows: queries().map(|query| query.rows()).sum(),
            buffers: Buffers {
                marginal: largest(&mut queries().map(|query| query.cols())),
                answers: largest(&mut queries().map(|query| query.rows())),
                scratch: largest(&mut queries().map(|query| query.scratch_len())),
            },
            blocks,
        }
    }

    /// The minimum-norm least-squares solution, by LSMR.
    pub(super) fn solve(
        self,
        stopping: LsmrOptions,
        deadline: Option<Instant>,
    ) -> Result<Solution, EstimatorError> {
        let began = Instant::now();
        let Self { blocks, cells, rows, buffers } = self;
        let mut b = Vec::with_capacity(rows);
        for Block { measurement, .. } in &blocks {
            b.extend(measurement.y.iter().map(|y| y / measurement.stddev));
        }
        // LSMR calls the two products alternately, so they can share the buffers.
        let buffers = RefCell::new(buffers);
        let add_product = |table: &[f64], out: &mut [f64]| {
            let mut rest = out;
            for block in &blocks {
                let (out, others) = rest.split_at_mut(block.measurement.query.rows());
                block.add_product(table, out, &mut buffers.borrow_mut());
                rest = others;
            }
        };
        let add_transposed = |y: &[f64], table: &mut [f64]| {
            let mut rest = y;
            for block in &blocks {
                let (y, others) = rest.split_at(block.measurement.query.rows());
                block.add_transposed(y, table, &mut buffers.borrow_mut());
                rest = others;
            }
        };
        let continues = |_| in_time(deadline);
        let solution = lsmr(b, cells, stopping, add_product, add_transposed, continues);
        let iterations = solution.iterations;
        if solution.termination == Termination::Stopped {
            return Err(EstimatorError::Timeout { iterations });
        }
        let converged = solution.termination == Termination::Converged;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Solution { table: solution.x, iterations, converged, seconds })
    }
}

impl Block<'_> {
    /// Adds Q P x / stddev to `out`.
    fn add_product(&self, table: &[f64], out: &mut [f64], buffers: &mut Buffers) {
        let Buffers { marginal, answers, scratch } = buffers;
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

    /// Adds P^T Q^T y / stddev to `table`.
    fn add_transposed(&self, y: &[f64], table: &mut [f64], buffers: &mut Buffers) {
        let Buffers { marginal, answers, scratch } = buffers;
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
