//! The likelihood of the sampled queries given the marginals: the evidence for estimators other
//! than the mechanism's own (supplement C.3).

use std::sync::Arc;

use multiversion::multiversion;

use super::queries::{Queries, Sample};
use super::query_block::negate;
use super::rounds::Game;
use super::softmax::{History, Workspace};
use private_pgm::domain::Clique;
use private_pgm::factor::{CliqueLayout, CliqueVector, Marginals};
use private_pgm::fit::Likelihood;
use private_pgm::loss::Loss;
use private_pgm::numeric::pointwise::dot;
use private_pgm::numeric::strided::Projection;

/// The sampled queries and the record of each round.
pub(super) struct SampledQueries {
    queries: Queries,
    likelihood: Arc<Evaluation>,
}

/// The negative log-likelihood as a function of the answers a = W mu / N:
///
/// L(a) = - sum over t and i of ln Q^t(q_i^t) = c - <b, a> + S sum over t of ln Z_t(a),
/// b_q  = eta sum over t of (t - 1) n_tq,
/// c    = eta sum over t and q of n_tq A_tq,
///
/// with ln Z_t as in [`History`]. n_tq is the number of times that q was drawn in round t, minus
/// the number of times that its negation was. L is convex because each ln Z_t is.
struct Evaluation {
    history: History,
    samples: f64,
    total: f64,
    /// b.
    linear: Vec<f64>,
    /// c.
    constant: f64,
    smoothness: f64,
}

impl SampledQueries {
    pub(super) fn new(
        game: &Game,
        queries: &Queries,
        samples: &[Vec<Sample>],
        records: &[Vec<u32>],
    ) -> Self {
        let mut linear = vec![0.0; queries.len()];
        let mut constant = 0.0;
        let mut satisfied = vec![0.0; queries.len()];
        let history = History::new(game.eta, queries.len(), records.len(), |round| {
            for sample in &samples[round] {
                linear[sample.query] += game.eta * round as f64 * sample.sign();
                constant += game.eta * satisfied[sample.query] * sample.sign();
            }
            let answers = queries.answers(&records[round]);
            satisfied.iter_mut().zip(&answers).for_each(|(a, x)| *a += x);
            answers
        });
        let total = game.records as f64;
        let updates: f64 = (0..records.len()).map(|round| (round * round) as f64).sum();
        let smoothness = game.samples as f64 * updates * (game.eta / (2.0 * total)).powi(2);
        let samples = game.samples as f64;
        let evaluation = Evaluation { history, samples, total, linear, constant, smoothness };
        Self { queries: queries.clone(), likelihood: Arc::new(evaluation) }
    }
}

impl Likelihood for SampledQueries {
    fn cliques(&self) -> Vec<Clique> {
        self.queries.parts().iter().map(|part| part.clique.clone()).collect()
    }

    fn loss(&self, layout: &Arc<CliqueLayout>) -> Box<dyn Loss> {
        let place = |clique: &Clique| {
            let table = layout.covering(clique).expect("the layout contains all cliques");
            let covering = &layout.cliques()[table];
            let kept: Vec<bool> = covering.iter().map(|id| clique.contains(id)).collect();
            let projection = (covering != clique)
                .then(|| Projection::new(&layout.domain().shape(covering), &kept));
            Place { table, projection, is_first: false }
        };
        let parts = self.queries.parts();
        let mut places: Vec<Place> = parts.iter().map(|part| place(&part.clique)).collect();
        let mut seen = vec![false; layout.cliques().len()];
        for place in &mut places {
            place.is_first = !std::mem::replace(&mut seen[place.table], true);
        }
        let is_filled = |&table: &usize| places.iter().any(|place| place.fills(table));
        let unfilled = (0..seen.len()).filter(|table| !is_filled(table)).collect();
        let longest = |of: fn(&private_pgm::query::QueryMatrix) -> usize| {
            vec![0.0; parts.iter().map(|part| of(&part.query)).max().unwrap_or(0)]
        };
        Box::new(SampledLoss {
            layout: Arc::clone(layout),
            places,
            unfilled,
            marginal: longest(|query| query.cols()),
            between: longest(|query| query.scratch_len()),
            answers: vec![0.0; self.queries.len()],
            slopes: vec![0.0; self.queries.len()],
            work: self.likelihood.history.workspace(),
            queries: self.queries.clone(),
            likelihood: Arc::clone(&self.likelihood),
        })
    }
}

/// The negative log-likelihood. A value costs two exponentials per query and a multiplication per
/// round and query; a gradient costs twice that.
struct SampledLoss {
    layout: Arc<CliqueLayout>,
    queries: Queries,
    places: Vec<Place>,
    /// Tables whose gradient no part initialises.
    unfilled: Vec<usize>,
    likelihood: Arc<Evaluation>,
    marginal: Vec<f64>,
    between: Vec<f64>,
    answers: Vec<f64>,
    slopes: Vec<f64>,
    work: Workspace,
}

/// The table of the layout that contains the marginal of a part.
struct Place {
    table: usize,
    /// From the table to the marginal, if the marginal has fewer attributes.
    projection: Option<Projection>,
    /// Whether no earlier part uses the same table.
    is_first: bool,
}

impl Place {
    /// Whether the part's gradient initialises this table. The gradients of other parts are added.
    fn fills(&self, table: usize) -> bool {
        self.table == table && self.is_first && self.projection.is_none()
    }
}

impl SampledLoss {
    /// a = W mu / N.
    fn answer(&mut self, marginals: &Marginals) {
        let scale = self.likelihood.total.recip();
        let mut rest = &mut self.answers[..];
        for (part, place) in self.queries.parts().iter().zip(&self.places) {
            let table = marginals.table(place.table);
            let marginal = match &place.projection {
                None => table,
                Some(projection) => {
                    let marginal = &mut self.marginal[..part.query.cols()];
                    projection.sum(table, marginal);
                    marginal
                }
            };
            let (answers, more) = rest.split_at_mut(part.query.rows());
            part.query.apply(marginal, answers, &mut self.between);
            multiply(answers, scale);
            rest = more;
        }
    }
}

impl Loss for SampledLoss {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    fn value_and_gradient(&mut self, marginals: &Marginals, gradient: &mut CliqueVector) -> f64 {
        self.answer(marginals);
        let Evaluation { history, samples, total, linear, constant, .. } = &*self.likelihood;
        negate(linear, &mut self.slopes);
        let normalisers = history.log_normalisers_and_slopes(
            &self.answers,
            *samples,
            &mut self.slopes,
            &mut self.work,
        );
        for &table in &self.unfilled {
            gradient.table_mut(table).fill(0.0);
        }
        let mut rest = &mut self.slopes[..];
        for (part, place) in self.queries.parts().iter().zip(&self.places) {
            let (slopes, more) = rest.split_at_mut(part.query.rows());
            rest = more;
            divide(slopes, *total);
            let table = gradient.table_mut(place.table);
            if place.fills(place.table) {
                part.query.apply_transpose(slopes, table, &mut self.between);
                continue;
            }
            let back = &mut self.marginal[..part.query.cols()];
            part.query.apply_transpose(slopes, back, &mut self.between);
            match &place.projection {
                None => table.iter_mut().zip(&*back).for_each(|(g, slope)| *g += slope),
                Some(projection) => projection.broadcast(back, table, |g, slope| *g += slope),
            }
        }
        constant - dot(linear, &self.answers) + samples * normalisers
    }

    fn value(&mut self, marginals: &Marginals) -> f64 {
        self.answer(marginals);
        let Evaluation { history, samples, linear, constant, .. } = &*self.likelihood;
        let normalisers = history.log_normalisers(&self.answers, &mut self.work);
        constant - dot(linear, &self.answers) + samples * normalisers
    }

    /// S (eta / (2 N))^2 times the sum over t of (t - 1)^2, for tables that sum to N.
    ///
    /// Proof. Along a direction d of the answers, the second derivative of S ln Z_t is S times the
    /// variance under Q^t of the change of s. That change is eta (t - 1) d_q for a query and its
    /// negative for the negation. Its absolute value is at most eta (t - 1) max |d_q|, so the
    /// variance is at most the square of that. If tables p and p' both sum to N, the positive and
    /// the negative part of p' - p have the same sum, |p' - p|_1 / 2. A query with entries 0 and 1
    /// therefore changes by at most that, and |d_q| <= |p' - p|_1 / (2 N).
    fn smoothness(&self) -> Option<f64> {
        Some(self.likelihood.smoothness)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn multiply(values: &mut [f64], factor: f64) {
    for value in values {
        *value *= factor;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn divide(values: &mut [f64], divisor: f64) {
    for value in values {
        *value /= divisor;
    }
}
