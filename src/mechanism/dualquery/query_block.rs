//! The kernels of [`History`](super::softmax::History): weights of eight queries at a time, updated
//! from round to round by multiplication.

use std::array::from_fn;

use multiversion::multiversion;

use private_pgm::numeric::exp::{exp_all, maximum};

/// Queries per vector operation.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f64; LANES];

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

    /// Computes s before round m + 1, with m = `updates`. `satisfied` has A for each query; missing
    /// values are 0. Returns the largest |s|.
    pub(super) fn begin(&mut self, updates: usize, satisfied: &[f64], eta: f64) -> f64 {
        let satisfied = satisfied.iter().copied().chain(std::iter::repeat(0.0));
        let (weights, inverses) =
            (&mut self.weights[..self.queries], &mut self.inverses[..self.queries]);
        let s = self.answers.iter().zip(satisfied).map(|(a, yes)| eta * (updates as f64 * a - yes));
        for ((weight, inverse), s) in weights.iter_mut().zip(&mut *inverses).zip(s) {
            (*weight, *inverse) = (s, -s);
        }
        maximum(weights).max(maximum(inverses))
    }

    /// Replaces s by e^(s - shift), and -s by e^(-s - shift).
    pub(super) fn exponentiate(&mut self, shift: f64) {
        for weights in [&mut self.weights, &mut self.inverses] {
            let weights = &mut weights[..self.queries];
            weights.iter_mut().for_each(|s| {
                *s = if *s - shift > LOWEST { *s - shift } else { f64::NEG_INFINITY }
            });
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

/// The first round of a segment, in blocks of queries.
#[derive(Clone, Copy)]
struct Start<'a> {
    weights: &'a [Lanes],
    inverses: &'a [Lanes],
    growth: &'a [Lanes],
    decay: f64,
}

/// Which queries the records of a segment satisfy.
#[derive(Clone, Copy)]
struct SatisfiedBits<'a> {
    bits: &'a [u8],
    /// Zeros, for an empty `bits`.
    zeros: &'a [u8],
}

impl<'a> SatisfiedBits<'a> {
    /// The bits of a block in its first `steps` rounds.
    #[inline(always)]
    fn block(self, index: usize, steps: usize) -> &'a [u8] {
        match self.bits {
            [] => &self.zeros[..steps],
            bits => &bits[index * steps..][..steps],
        }
    }
}

/// For each byte, a mask of the lanes whose bit is set. Vector units blend by masks; a condition
/// per lane would be a branch.
static MASKS: [[u64; LANES]; 256] = {
    let mut masks = [[0; LANES]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut lane = 0;
        while lane < LANES {
            masks[byte][lane] = if (byte >> lane) & 1 == 1 { u64::MAX } else { 0 };
            lane += 1;
        }
        byte += 1;
    }
    masks
};

/// `yes` where the mask is set, otherwise `no`.
#[inline(always)]
fn blend(no: &Lanes, yes: &Lanes, mask: &[u64; LANES]) -> Lanes {
    let mut blended = [0.0; LANES];
    for lane in 0..LANES {
        let (no, yes) = (no[lane].to_bits(), yes[lane].to_bits());
        blended[lane] = f64::from_bits(no ^ ((no ^ yes) & mask[lane]));
    }
    blended
}

/// The weights of a block of queries and of their negations during a segment.
#[derive(Clone, Copy)]
struct Block {
    weights: Lanes,
    inverses: Lanes,
    /// The factors of the weights if the record does not satisfy the query, and if it does.
    no: Lanes,
    yes: Lanes,
    inverse_no: Lanes,
    inverse_yes: Lanes,
}

#[expect(clippy::needless_range_loop, reason = "Zip::new is not inlined across codegen units")]
impl Block {
    #[inline(always)]
    fn new(Start { weights, inverses, growth, decay }: Start<'_>, index: usize) -> Self {
        let no = growth[index];
        let inverse_no: Lanes = from_fn(|lane| 1.0 / no[lane]);
        Self {
            weights: weights[index],
            inverses: inverses[index],
            no,
            yes: from_fn(|lane| no[lane] * decay),
            inverse_no,
            inverse_yes: from_fn(|lane| inverse_no[lane] / decay),
        }
    }

    #[inline(always)]
    fn step(&mut self, satisfies: u8) {
        let (factors, inverse_factors) = match &MASKS[usize::from(satisfies)] {
            // Most records satisfy none of the eight.
            _ if satisfies == 0 => (self.no, self.inverse_no),
            mask => {
                (blend(&self.no, &self.yes, mask), blend(&self.inverse_no, &self.inverse_yes, mask))
            }
        };
        for lane in 0..LANES {
            self.weights[lane] *= factors[lane];
            self.inverses[lane] *= inverse_factors[lane];
        }
    }

    #[inline(always)]
    fn add_sum(&self, sums: &mut Lanes) {
        for lane in 0..LANES {
            sums[lane] += self.weights[lane] + self.inverses[lane];
        }
    }

    #[inline(always)]
    fn add_difference(&self, coefficient: f64, slopes: &mut Lanes) {
        for lane in 0..LANES {
            slopes[lane] += coefficient * (self.weights[lane] - self.inverses[lane]);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_sums(start: Start<'_>, satisfied: SatisfiedBits<'_>, sums: &mut [Lanes]) {
    let Some((last, before)) = sums.split_last_mut() else { return };
    let steps = before.len();
    for index in 0..start.weights.len() {
        let mut block = Block::new(start, index);
        for (sums, &satisfies) in before.iter_mut().zip(satisfied.block(index, steps)) {
            block.add_sum(sums);
            block.step(satisfies);
        }
        block.add_sum(last);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_slopes(
    start: Start<'_>,
    satisfied: SatisfiedBits<'_>,
    coefficients: &[f64],
    queries: &[u32],
    slopes: &mut [f64],
) {
    let Some((&last, before)) = coefficients.split_last() else { return };
    let steps = before.len();
    for (index, queries) in queries.chunks(LANES).enumerate() {
        let mut block = Block::new(start, index);
        let mut total = [0.0; LANES];
        for (&coefficient, &satisfies) in before.iter().zip(satisfied.block(index, steps)) {
            block.add_difference(coefficient, &mut total);
            block.step(satisfies);
        }
        block.add_difference(last, &mut total);
        for (&query, total) in queries.iter().zip(total) {
            slopes[query as usize] += total;
        }
    }
}
