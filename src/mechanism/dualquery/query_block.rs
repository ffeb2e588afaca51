//! A set of queries, and their weights in the first round of a segment of
//! [`History`](super::softmax::History).

use multiversion::multiversion;

use super::uniform_blocks::{self, Runs};
use super::weights::{self, LANES, Lanes, SatisfiedBits, Start};
use private_pgm::numeric::exp::{exp_all, maximum};

/// Weights whose logarithm is smaller count as 0.
const LOWEST: f64 = -500.0;

/// A set of queries with their answers and their weights in the first round of a segment. Buffers
/// are padded to full blocks with weight 0.
#[derive(Default)]
pub(super) struct QueryBlock {
    queries: usize,
    answers: Vec<f64>,
    /// s, then e^s.
    weights: Vec<f64>,
    /// -s, then e^-s.
    inverses: Vec<f64>,
    /// e^(eta a).
    growth: Vec<f64>,
    /// e^-eta.
    decay: f64,
    slopes: Vec<f64>,
}

impl QueryBlock {
    /// This many queries, with answers of 0.
    pub(super) fn of(queries: usize) -> Self {
        let answers = vec![0.0; queries];
        Self { queries, answers, ..Self::default() }
    }

    /// Removes all queries.
    pub(super) fn clear(&mut self) {
        self.queries = 0;
        self.answers.clear();
    }

    /// Adds a query after the others, with its answer.
    pub(super) fn push(&mut self, answer: f64) {
        self.answers.truncate(self.queries);
        self.answers.push(answer);
        self.queries += 1;
    }

    /// The answers, and padding.
    pub(super) fn answers_mut(&mut self) -> &mut [f64] {
        &mut self.answers
    }

    /// The slopes, and padding.
    pub(super) fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Prepares the weights of all queries, with slopes of 0.
    pub(super) fn prepare(&mut self, eta: f64) {
        let queries = self.queries;
        self.answers.resize(queries.next_multiple_of(LANES), 0.0);
        for buffer in [&mut self.weights, &mut self.inverses, &mut self.growth, &mut self.slopes] {
            buffer.resize(self.answers.len(), 0.0);
            buffer[queries..].fill(0.0);
        }
        self.slopes.fill(0.0);
        self.decay = (-eta).exp();
        self.growth.iter_mut().zip(&self.answers).for_each(|(growth, a)| *growth = eta * a);
        exp_all(&mut self.growth);
    }

    /// Computes s before round m + 1, with m = `updates`. `satisfied` has A for each query; an
    /// empty slice means that no query is satisfied. Returns the largest |s|.
    pub(super) fn begin(&mut self, updates: usize, satisfied: &[f64], eta: f64) -> f64 {
        let queries = self.queries;
        let weights = &mut self.weights[..queries];
        match satisfied {
            [] => unsatisfied_exponents(&self.answers, updates as f64, eta, weights),
            _ => exponents(&self.answers, satisfied, updates as f64, eta, weights),
        }
        negate(weights, &mut self.inverses);
        maximum(weights).max(maximum(&self.inverses[..queries]))
    }

    /// Replaces s by e^(s - shift), and -s by e^(-s - shift).
    pub(super) fn exponentiate(&mut self, shift: f64) {
        for weights in [&mut self.weights, &mut self.inverses] {
            let weights = &mut weights[..self.queries];
            subtract(shift, weights);
            exp_all(weights);
        }
    }

    /// Adds the weights of all queries and negations to the sums of their round and lane.
    pub(super) fn add_sums(&self, satisfied: Satisfied<'_>, sums: &mut [Lanes]) {
        let zeros = vec![0; sums.len()];
        let [uniform, mixed] = self.start(satisfied.runs);
        uniform_blocks::add_sums(uniform, satisfied.runs, sums);
        weights::add_sums(mixed, SatisfiedBits { bits: satisfied.bits, zeros: &zeros }, sums);
    }

    /// Adds to the slope of each query the sum over the rounds of coefficient times (e^s - e^-s).
    pub(super) fn add_slopes(&mut self, satisfied: Satisfied<'_>, coefficients: &[f64]) {
        let zeros = vec![0; coefficients.len()];
        let mut slopes = std::mem::take(&mut self.slopes);
        let [uniform, mixed] = self.start(satisfied.runs);
        let (of_uniform, of_mixed) = slopes.as_chunks_mut().0.split_at_mut(uniform.weights.len());
        uniform_blocks::add_slopes(uniform, satisfied.runs, coefficients, of_uniform);
        let bits = SatisfiedBits { bits: satisfied.bits, zeros: &zeros };
        weights::add_slopes(mixed, bits, coefficients, of_mixed);
        self.slopes = slopes;
    }

    /// The blocks of the runs, and the others.
    fn start(&self, runs: Runs<'_>) -> [Start<'_>; 2] {
        let uniform: usize = runs.blocks.iter().sum();
        let (weights, others) = self.weights.as_chunks().0.split_at(uniform);
        let (inverses, other_inverses) = self.inverses.as_chunks().0.split_at(uniform);
        let (growth, other_growth) = self.growth.as_chunks().0.split_at(uniform);
        let decay = self.decay;
        [
            Start { weights, inverses, growth, decay },
            Start { weights: others, inverses: other_inverses, growth: other_growth, decay },
        ]
    }
}

/// Which queries the records of a segment satisfy. The first blocks form runs.
#[derive(Clone, Copy)]
pub(super) struct Satisfied<'a> {
    pub(super) runs: Runs<'a>,
    /// For the other blocks, a byte per block and round but the last; empty if no record satisfies
    /// any of them.
    pub(super) bits: &'a [u8],
}

impl Satisfied<'_> {
    /// No record satisfies any query.
    pub(super) const NONE: Self = Self { runs: Runs { blocks: &[], satisfies: &[] }, bits: &[] };
}

/// s = eta (m a - A).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn exponents(answers: &[f64], satisfied: &[f64], updates: f64, eta: f64, s: &mut [f64]) {
    let (answers, satisfied) = (&answers[..s.len()], &satisfied[..s.len()]);
    for i in 0..s.len() {
        s[i] = eta * (updates * answers[i] - satisfied[i]);
    }
}

/// [`exponents`] of queries that no record satisfies.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn unsatisfied_exponents(answers: &[f64], updates: f64, eta: f64, s: &mut [f64]) {
    let answers = &answers[..s.len()];
    for i in 0..s.len() {
        s[i] = eta * (updates * answers[i]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn negate(from: &[f64], to: &mut [f64]) {
    let to = &mut to[..from.len()];
    for i in 0..from.len() {
        to[i] = -from[i];
    }
}

/// s - shift, or minus infinity where that is not above [`LOWEST`].
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn subtract(shift: f64, s: &mut [f64]) {
    for s in s {
        let shifted = *s - shift;
        *s = if shifted > LOWEST { shifted } else { f64::NEG_INFINITY };
    }
}
