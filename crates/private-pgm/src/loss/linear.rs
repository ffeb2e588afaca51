mod operator;
mod row_runs;

use std::sync::Arc;

use thiserror::Error;

use super::cover::CliqueIndex;
use super::penalty::{Norm, huber, norms, penalise};
use super::{Distance, Loss, Measurement, MeasurementError};
use crate::domain::Clique;
use crate::factor::{CliqueLayout, CliqueVector, Marginals};
use crate::numeric::memory;
use crate::numeric::pointwise::dot;
use crate::numeric::strided::Projection;
use row_runs::RowRuns;

/// The loss of noisy linear measurements: a [`Norm`] of the residuals r = (Q mu - y) / stddev, so
/// that answers are weighted by their precision (supplement C.2).
///
/// A measurement is evaluated on the smallest clique of the layout that contains its own. A call
/// does not allocate. It costs one pass over the table per measurement and per factor of its query
/// matrix; a measurement of all cells that is the only one on its clique needs one pass in total,
/// and one with a sparse matrix a pass over the entries of the matrix.
pub struct LinearLoss {
    layout: Arc<CliqueLayout>,
    norm: Norm,
    terms: Vec<Term>,
    /// The tables whose gradient is a sum of several terms, or of none, and must be zeroed first.
    summed_tables: Vec<usize>,
    smoothness: f64,
    /// All answers in the order of the layout, and their weight, if the L2 loss is a distance.
    distance: Option<(Vec<f64>, f64)>,
    scratch: Scratch,
}

/// One measurement and its table in the layout.
struct Term {
    measurement: Measurement,
    table: usize,
    /// From the table to the measured marginal, when that has fewer attributes.
    projection: Option<Projection>,
    /// The rows of a sparse query matrix.
    runs: Option<RowRuns>,
    /// Whether no other term contributes to the gradient of the table.
    alone: bool,
}

#[derive(Default)]
struct Scratch {
    marginal: Vec<f64>,
    answers: Vec<f64>,
    slopes: Vec<f64>,
    between: Vec<f64>,
}

/// Why measurements do not define a loss over a layout.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LinearLossError {
    /// No clique of the layout contains the measured one.
    #[error("no clique of the model contains the attributes of measurement {index}, {clique:?}")]
    NotCovered {
        /// The position of the measurement, from 0.
        index: usize,
        /// Its clique.
        clique: Clique,
    },
    /// A measurement is invalid.
    #[error("measurement {index}: {reason}")]
    Measurement {
        /// The position of the measurement, from 0.
        index: usize,
        /// Why it is invalid.
        reason: MeasurementError,
    },
}

impl LinearLoss {
    /// The loss of `measurements` over the marginals of `layout`. The clique of each measurement
    /// must be contained in a clique of the layout.
    pub fn new(
        layout: Arc<CliqueLayout>,
        measurements: Vec<Measurement>,
        norm: Norm,
    ) -> Result<Self, LinearLossError> {
        let index_of_cliques = CliqueIndex::new(layout.cliques());
        let mut terms = Vec::with_capacity(measurements.len());
        let mut terms_of_table = vec![0usize; layout.cliques().len()];
        let mut scratch = Scratch::default();
        let mut smoothness = 0.0;
        for (index, measurement) in measurements.into_iter().enumerate() {
            measurement
                .check(layout.domain())
                .map_err(|reason| LinearLossError::Measurement { index, reason })?;
            let covering = index_of_cliques.containing(&measurement.clique);
            let smallest = covering.into_iter().min_by_key(|&table| layout.range(table).len());
            let table = smallest.ok_or_else(|| LinearLossError::NotCovered {
                index,
                clique: measurement.clique.clone(),
            })?;
            smoothness += measurement.query.max_column_l2_squared() / measurement.stddev.powi(2);
            let projection = projection(&layout, table, &measurement.clique);
            terms_of_table[table] += 1;
            scratch.reserve(&measurement, projection.is_some());
            let runs = RowRuns::of(&measurement.query);
            terms.push(Term { measurement, table, projection, runs, alone: false });
        }
        for term in &mut terms {
            term.alone = term.projection.is_none() && terms_of_table[term.table] == 1;
        }
        let mut summed = vec![true; terms_of_table.len()];
        terms.iter().filter(|term| term.alone).for_each(|term| summed[term.table] = false);
        let summed_tables = (0..summed.len()).filter(|&table| summed[table]).collect();
        let distance = distance(&layout, &terms);
        Ok(Self { layout, norm, terms, summed_tables, smoothness, distance, scratch })
    }

    /// The measurements in the order given to [`LinearLoss::new`].
    pub fn measurements(&self) -> impl ExactSizeIterator<Item = &Measurement> {
        self.terms.iter().map(|term| &term.measurement)
    }

    /// The penalty of the residuals.
    pub fn norm(&self) -> Norm {
        self.norm
    }

    /// The L1 and the L2 loss in one pass, with any norm: the sum of |r| and half the sum of r^2.
    pub fn l1_and_l2(&mut self, marginals: &Marginals) -> (f64, f64) {
        self.check_layout(marginals);
        let mut l2 = 0.0;
        let l1 = self.sum_over_answers(marginals, |term, answers| {
            let (absolute, squared) = norms(answers, &term.measurement.y, term.weight());
            l2 += 0.5 * squared;
            absolute
        });
        (l1, l2)
    }

    /// Changes the penalty of the residuals.
    pub fn set_norm(&mut self, norm: Norm) {
        self.norm = norm;
    }

    fn sum_over_answers(
        &mut self,
        tables: &CliqueVector,
        mut part: impl FnMut(&Term, &[f64]) -> f64,
    ) -> f64 {
        let Scratch { marginal, answers, between, .. } = &mut self.scratch;
        self.terms
            .iter()
            .map(|term| part(term, term.answers(tables, marginal, answers, between)))
            .sum()
    }

    fn check_layout(&self, tables: &CliqueVector) {
        let same = Arc::ptr_eq(&self.layout, tables.layout()) || self.layout == *tables.layout();
        debug_assert!(same, "the tables and the loss have different cliques");
    }
}

impl Loss for LinearLoss {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    fn value_and_gradient(&mut self, marginals: &Marginals, gradient: &mut CliqueVector) -> f64 {
        self.check_layout(marginals);
        self.check_layout(gradient);
        for &table in &self.summed_tables {
            gradient.table_mut(table).fill(0.0);
        }
        let add = |term: &Term| {
            term.value_and_gradient(self.norm, marginals, gradient, &mut self.scratch)
        };
        self.terms.iter().map(add).sum()
    }

    fn value(&mut self, marginals: &Marginals) -> f64 {
        let (l1, l2) = self.l1_and_l2(marginals);
        match self.norm {
            Norm::L1 => l1,
            Norm::L2 => l2,
            Norm::Huber(width) => self.sum_over_answers(marginals, |term, answers| {
                let weight = term.weight();
                let residuals = answers.iter().zip(&term.measurement.y);
                residuals.map(|(answer, y)| huber((answer - y) * weight, width).0).sum()
            }),
        }
    }

    fn l1_l2(&mut self, marginals: &Marginals) -> Option<(f64, f64)> {
        Some(self.l1_and_l2(marginals))
    }

    fn as_distance(&self) -> Option<Distance<'_>> {
        let (y, weight) = self.distance.as_ref().filter(|_| self.norm == Norm::L2)?;
        Some(Distance { y, weight: *weight })
    }

    fn curvature(&mut self, direction: &CliqueVector) -> Option<f64> {
        if self.norm != Norm::L2 {
            return None;
        }
        Some(self.sum_over_answers(direction, |term, answers| {
            term.weight().powi(2) * dot(answers, answers)
        }))
    }

    /// The sum over the measurements of the largest squared column norm of Q over stddev^2, divided
    /// by the width for the Huber loss. `None` for the L1 loss, whose gradient is discontinuous.
    ///
    /// Proof. The loss is quadratic: its second-order term is the sum of
    /// |Q (mu' - mu)|_2^2 / (2 stddev^2). The marginal mu is M p, where each column of M is a unit
    /// vector (a record is in one cell), so each column of Q M is one of Q. With d = p' - p, the
    /// triangle inequality gives
    /// |Q M d|_2 <= sum over x of |d_x| |column x of Q M|_2 <= |d|_1 times the largest column norm.
    fn smoothness(&self) -> Option<f64> {
        match self.norm {
            Norm::L1 => None,
            Norm::L2 => Some(self.smoothness),
            Norm::Huber(width) => Some(self.smoothness / width),
        }
    }
}

impl Term {
    fn weight(&self) -> f64 {
        self.measurement.stddev.recip()
    }

    /// Q mu; the table itself when Q is the identity on the whole table.
    fn answers<'a>(
        &self,
        marginals: &'a CliqueVector,
        marginal: &'a mut [f64],
        answers: &'a mut [f64],
        between: &mut [f64],
    ) -> &'a [f64] {
        let query = &self.measurement.query;
        let mu: &[f64] = match &self.projection {
            None => marginals.table(self.table),
            Some(projection) => {
                let marginal = &mut marginal[..query.cols()];
                projection.sum(marginals.table(self.table), marginal);
                marginal
            }
        };
        if query.is_identity() {
            return mu;
        }
        let answers = &mut answers[..query.rows()];
        match &self.runs {
            Some(runs) => runs.apply(mu, answers),
            None => query.apply(mu, answers, between),
        }
        answers
    }

    fn value_and_gradient(
        &self,
        norm: Norm,
        marginals: &Marginals,
        gradient: &mut CliqueVector,
        Scratch { marginal, answers, slopes, between }: &mut Scratch,
    ) -> f64 {
        let Measurement { query, y, .. } = &self.measurement;
        let gradient = gradient.table_mut(self.table);
        let answers = self.answers(marginals, marginal, answers, between);
        let add = |g: &mut f64, slope: f64| *g += slope;
        if query.is_identity() && self.projection.is_none() {
            return match self.alone {
                true => penalise(norm, answers, y, self.weight(), gradient, |g, slope| *g = slope),
                false => penalise(norm, answers, y, self.weight(), gradient, add),
            };
        }
        let slopes = &mut slopes[..y.len()];
        let value = penalise(norm, answers, y, self.weight(), slopes, |s, slope| *s = slope);
        if self.alone && self.runs.is_none() {
            query.apply_transpose(slopes, gradient, between);
            return value;
        }
        if self.alone {
            gradient.fill(0.0);
        }
        self.add_transpose(slopes, marginal, between, gradient);
        value
    }

    /// Adds Q^T y to the table of this measurement. `marginal` and `between` are overwritten.
    fn add_transpose(
        &self,
        slopes: &[f64],
        marginal: &mut [f64],
        between: &mut [f64],
        table: &mut [f64],
    ) {
        let query = &self.measurement.query;
        if let (Some(runs), None) = (&self.runs, &self.projection) {
            return runs.add_transpose(slopes, table);
        }
        let back: &[f64] = if query.is_identity() {
            slopes
        } else {
            let back = &mut marginal[..query.cols()];
            match &self.runs {
                None => query.apply_transpose(slopes, back, between),
                Some(runs) => {
                    back.fill(0.0);
                    runs.add_transpose(slopes, back);
                }
            }
            back
        };
        let add = |cell: &mut f64, slope: f64| *cell += slope;
        match &self.projection {
            None => table.iter_mut().zip(back).for_each(|(cell, &slope)| add(cell, slope)),
            Some(projection) => projection.broadcast(back, table, add),
        }
    }
}

impl Scratch {
    fn reserve(&mut self, measurement: &Measurement, is_projected: bool) {
        let query = &measurement.query;
        let grow = |buffer: &mut Vec<f64>, len| buffer.resize(buffer.len().max(len), 0.0);
        if query.is_identity() && !is_projected {
            return;
        }
        grow(&mut self.marginal, query.cols());
        grow(&mut self.answers, query.rows());
        grow(&mut self.slopes, query.rows());
        grow(&mut self.between, query.scratch_len());
    }
}

/// The answers of all tables, concatenated, and 1 / stddev^2, if every cell of every table is
/// measured once with the same noise.
fn distance(layout: &CliqueLayout, terms: &[Term]) -> Option<(Vec<f64>, f64)> {
    let first = terms.first()?.measurement.stddev;
    let is_whole_table = |term: &Term| {
        term.alone && term.measurement.query.is_identity() && term.measurement.stddev == first
    };
    if terms.len() != layout.cliques().len() || !terms.iter().all(is_whole_table) {
        return None;
    }
    let mut y = memory::zeros(layout.len());
    for term in terms {
        y[layout.range(term.table)].copy_from_slice(&term.measurement.y);
    }
    Some((y, first.powi(-2)))
}

/// From a table to the marginal on `clique`; `None` when that is the whole table.
fn projection(layout: &CliqueLayout, table: usize, clique: &Clique) -> Option<Projection> {
    let covering = &layout.cliques()[table];
    let kept: Vec<bool> = covering.iter().map(|id| clique.contains(id)).collect();
    (covering != clique).then(|| Projection::new(&layout.domain().shape(covering), &kept))
}
