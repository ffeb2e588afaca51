//! A set of queries, and their weights in the first round of a segment of
//! [`History`](super::softmax::History).

use multiversion::multiversion;

use super::weights::{LANES, Lanes, SatisfiedBits, Start, add_slopes, add_sums};
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
}

impl QueryBlock {
    pub(super) fn take(&mut self, queries: &[u32], answers: &[f64], eta: f64) {
        let len = queries.len().next_multiple_of(LANES);
        for buffer in [&mut self.answers, &mut self.weights, &mut self.inverses, &mut self.growth] {
            buffer.resize(len, 0.0);
            buffer[queries.len()..].fill(0.0);
        }
        self.queries = queries.len();
        self.decay = (-eta).exp();
        for ((a, growth), &query) in self.answers.iter_mut().zip(&mut self.growth).zip(queries) {
            *a = answers[query as usize];
            *growth = eta * *a;
        }
        exp_all(&mut self.growth);
    }

    /// Computes s before round m + 1, with m = `updates`. `satisfied` has A for each query; an
    /// empty slice means that no query is satisfied. Returns the largest |s|.
    pub(super) fn begin(&mut self, updates: usize, satisfied: &[f64], eta: f64) -> f64 {
        let weights = &mut self.weights[..self.queries];
        match satisfied {
            [] => unsatisfied_exponents(&self.answers, updates as f64, eta, weights),
            _ => exponents(&self.answers, satisfied, updates as f64, eta, weights),
        }
        negate(weights, &mut self.inverses);
        maximum(weights).max(maximum(&self.inverses[..self.queries]))
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
    /// `satisfies` has a byte per block and round but the last; an empty slice means that no query
    /// is satisfied.
    pub(super) fn add_sums(&self, satisfies: &[u8], sums: &mut [Lanes]) {
        let zeros = vec![0; sums.len()];
        add_sums(self.start(), SatisfiedBits { bits: satisfies, zeros: &zeros }, sums);
    }

    /// Adds to the slope of each query the sum over the rounds of coefficient times (e^s - e^-s).
    pub(super) fn add_slopes(
        &self,
        queries: &[u32],
        satisfies: &[u8],
        coefficients: &[f64],
        slopes: &mut [f64],
    ) {
        let zeros = vec![0; coefficients.len()];
        let satisfied = SatisfiedBits { bits: satisfies, zeros: &zeros };
        add_slopes(self.start(), satisfied, coefficients, queries, slopes);
    }

    fn start(&self) -> Start<'_> {
        Start {
            weights: self.weights.as_chunks().0,
            inverses: self.inverses.as_chunks().0,
            growth: self.growth.as_chunks().0,
            decay: self.decay,
        }
    }
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
pub(super) fn negate(from: &[f64], to: &mut [f64]) {
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
