//! The kernels of [`History`](super::softmax::History): weights that are multiplied from round to
//! round, for eight queries at a time.

use multiversion::multiversion;

use private_pgm::numeric::exp::{exp_all, maximum};

/// Queries that are worked on at a time.
pub(super) const LANES: usize = 8;
/// A number for each of them.
pub(super) type Lanes = [f64; LANES];

/// Smaller weights, as powers of e, count as 0.
const LOWEST: f64 = -500.0;

/// Some queries, their answers, and their weights in the first round of a stretch. There is room for
/// the last block to be full; what is there has the weight 0.
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
    /// Takes in the answers of these queries.
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

    /// s before round m + 1, `updates` being m, of queries of which `satisfied` records have said
    /// yes before, none where that is not told. Returns the largest |s|.
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

    /// From s to e^(s - shift), and the same for -s.
    pub(super) fn exponentiate(&mut self, shift: f64) {
        for weights in [&mut self.weights, &mut self.inverses] {
            let weights = &mut weights[..self.queries];
            weights.iter_mut().for_each(|s| {
                *s = if *s - shift > LOWEST { *s - shift } else { f64::NEG_INFINITY }
            });
            exp_all(weights);
        }
    }

    /// Adds the weights of all queries and negations to the sums of their round and lane. `says_yes`
    /// has a byte for each block and each round but the last; nothing stands for no.
    pub(super) fn add_sums(&self, says_yes: &[u8], sums: &mut [Lanes]) {
        let silence = vec![0; sums.len()];
        add_sums(self.start(), Says { bits: says_yes, silence: &silence }, sums);
    }

    /// Adds to the slope of each query the sum over the rounds of coefficient times (e^s - e^-s).
    pub(super) fn add_slopes(
        &self,
        queries: &[u32],
        says_yes: &[u8],
        coefficients: &[f64],
        slopes: &mut [f64],
    ) {
        let silence = vec![0; coefficients.len()];
        let says = Says { bits: says_yes, silence: &silence };
        add_slopes(self.start(), says, coefficients, queries, slopes);
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

/// The first round of a stretch, in blocks of queries.
#[derive(Clone, Copy)]
struct Start<'a> {
    weights: &'a [Lanes],
    inverses: &'a [Lanes],
    growth: &'a [Lanes],
    decay: f64,
}

/// What the records of a stretch say.
#[derive(Clone, Copy)]
struct Says<'a> {
    bits: &'a [u8],
    /// A no for every round.
    silence: &'a [u8],
}

impl<'a> Says<'a> {
    /// To a block of queries, in its first `steps` rounds.
    #[inline(always)]
    fn block(self, index: usize, steps: usize) -> &'a [u8] {
        match self.bits {
            [] => &self.silence[..steps],
            bits => &bits[index * steps..][..steps],
        }
    }
}

/// For each byte, the lanes whose bit is set: blending by masks is what vector units do, where a
/// condition for each lane would be a branch.
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

/// `yes` where the mask is set, and `no` elsewhere.
#[inline(always)]
fn blend(no: &Lanes, yes: &Lanes, mask: &[u64; LANES]) -> Lanes {
    let mut blended = [0.0; LANES];
    for lane in 0..LANES {
        let (no, yes) = (no[lane].to_bits(), yes[lane].to_bits());
        blended[lane] = f64::from_bits(no ^ ((no ^ yes) & mask[lane]));
    }
    blended
}

/// The weights of a block of queries and of their negations on their way through a stretch.
#[derive(Clone, Copy)]
struct Block {
    weights: Lanes,
    inverses: Lanes,
    /// By what the weights grow when the record says no, and when it says yes.
    no: Lanes,
    yes: Lanes,
    inverse_no: Lanes,
    inverse_yes: Lanes,
}

impl Block {
    #[inline(always)]
    fn new(Start { weights, inverses, growth, decay }: Start<'_>, index: usize) -> Self {
        let no = growth[index];
        let inverse_no = no.map(|factor| 1.0 / factor);
        Self {
            weights: weights[index],
            inverses: inverses[index],
            no,
            yes: no.map(|factor| factor * decay),
            inverse_no,
            inverse_yes: inverse_no.map(|factor| factor / decay),
        }
    }

    #[inline(always)]
    fn step(&mut self, says_yes: u8) {
        let (factors, inverse_factors) = match &MASKS[usize::from(says_yes)] {
            // Most records say yes to none of them.
            _ if says_yes == 0 => (self.no, self.inverse_no),
            mask => {
                (blend(&self.no, &self.yes, mask), blend(&self.inverse_no, &self.inverse_yes, mask))
            }
        };
        self.weights.iter_mut().zip(factors).for_each(|(weight, factor)| *weight *= factor);
        let inverses = self.inverses.iter_mut().zip(inverse_factors);
        inverses.for_each(|(inverse, factor)| *inverse *= factor);
    }

    #[inline(always)]
    fn add_sum(&self, sums: &mut Lanes) {
        let pairs = self.weights.iter().zip(&self.inverses);
        sums.iter_mut().zip(pairs).for_each(|(sum, (w, inverse))| *sum += w + inverse);
    }

    #[inline(always)]
    fn add_difference(&self, coefficient: f64, slopes: &mut Lanes) {
        let pairs = self.weights.iter().zip(&self.inverses);
        let terms = pairs.map(|(w, inverse)| coefficient * (w - inverse));
        slopes.iter_mut().zip(terms).for_each(|(slope, term)| *slope += term);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_sums(start: Start<'_>, says: Says<'_>, sums: &mut [Lanes]) {
    let Some((last, before)) = sums.split_last_mut() else { return };
    let steps = before.len();
    for index in 0..start.weights.len() {
        let mut block = Block::new(start, index);
        for (sums, &says_yes) in before.iter_mut().zip(says.block(index, steps)) {
            block.add_sum(sums);
            block.step(says_yes);
        }
        block.add_sum(last);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_slopes(
    start: Start<'_>,
    says: Says<'_>,
    coefficients: &[f64],
    queries: &[u32],
    slopes: &mut [f64],
) {
    let Some((&last, before)) = coefficients.split_last() else { return };
    let steps = before.len();
    for (index, queries) in queries.chunks(LANES).enumerate() {
        let mut block = Block::new(start, index);
        let mut total = [0.0; LANES];
        for (&coefficient, &says_yes) in before.iter().zip(says.block(index, steps)) {
            block.add_difference(coefficient, &mut total);
            block.step(says_yes);
        }
        block.add_difference(last, &mut total);
        for (&query, total) in queries.iter().zip(total) {
            slopes[query as usize] += total;
        }
    }
}
