//! The kernels of [`History`](super::softmax::History): weights of eight queries at a time, updated
//! from round to round by multiplication.
#![expect(clippy::needless_range_loop, reason = "Zip::new is not inlined across codegen units")]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

/// Queries per vector operation.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f64; LANES];

/// The first round of a segment, in blocks of queries.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) weights: &'a [Lanes],
    pub(super) inverses: &'a [Lanes],
    pub(super) growth: &'a [Lanes],
    pub(super) decay: f64,
}

/// Which queries the records of a segment satisfy.
#[derive(Clone, Copy)]
pub(super) struct SatisfiedBits<'a> {
    pub(super) bits: &'a [u8],
    /// Zeros, for an empty `bits`.
    pub(super) zeros: &'a [u8],
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

/// Blocks that advance together, so that none waits for its own last multiplication: as many as fit
/// in 32 registers of eight numbers. With smaller registers one block takes all of them.
const GROUP: usize = 4;

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

impl Block {
    #[inline(always)]
    fn new(Start { weights, inverses, growth, decay }: Start<'_>, index: usize) -> Self {
        let no = growth[index];
        let (mut yes, mut inverse_no, mut inverse_yes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            yes[lane] = no[lane] * decay;
            inverse_no[lane] = 1.0 / no[lane];
            inverse_yes[lane] = inverse_no[lane] / decay;
        }
        let (weights, inverses) = (weights[index], inverses[index]);
        Self { weights, inverses, no, yes, inverse_no, inverse_yes }
    }

    #[inline(always)]
    fn step(&mut self, satisfies: u8) {
        // No shortcut where the record satisfies none of the eight: a processor cannot predict it.
        let mask = &MASKS[usize::from(satisfies)];
        let factors = blend(&self.no, &self.yes, mask);
        let inverse_factors = blend(&self.inverse_no, &self.inverse_yes, mask);
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
pub(super) fn add_sums(start: Start<'_>, satisfied: SatisfiedBits<'_>, sums: &mut [Lanes]) {
    let blocks = start.weights.len();
    let whole = if target_cfg_f!(target_feature = "avx512f") { blocks / GROUP * GROUP } else { 0 };
    for first in (0..whole).step_by(GROUP) {
        add_sums_of::<GROUP>(start, satisfied, first, sums);
    }
    for first in whole..blocks {
        add_sums_of::<1>(start, satisfied, first, sums);
    }
}

/// The sums of `N` blocks from `first` on.
#[inline(always)]
fn add_sums_of<const N: usize>(
    start: Start<'_>,
    satisfied: SatisfiedBits<'_>,
    first: usize,
    sums: &mut [Lanes],
) {
    let Some((last, before)) = sums.split_last_mut() else { return };
    let steps = before.len();
    let (mut blocks, bits) = group::<N>(start, satisfied, first, steps);
    for step in 0..steps {
        let mut sum = before[step];
        for k in 0..N {
            blocks[k].add_sum(&mut sum);
            blocks[k].step(bits[k][step]);
        }
        before[step] = sum;
    }
    for k in 0..N {
        blocks[k].add_sum(last);
    }
}

/// `N` blocks from `first` on, and their bits.
#[inline(always)]
fn group<'a, const N: usize>(
    start: Start<'_>,
    satisfied: SatisfiedBits<'a>,
    first: usize,
    steps: usize,
) -> ([Block; N], [&'a [u8]; N]) {
    let mut blocks = [Block::new(start, first); N];
    let mut bits = [satisfied.block(first, steps); N];
    for k in 1..N {
        blocks[k] = Block::new(start, first + k);
        bits[k] = satisfied.block(first + k, steps);
    }
    (blocks, bits)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn add_slopes(
    start: Start<'_>,
    satisfied: SatisfiedBits<'_>,
    coefficients: &[f64],
    queries: &[u32],
    slopes: &mut [f64],
) {
    let blocks = start.weights.len();
    let whole = if target_cfg_f!(target_feature = "avx512f") { blocks / GROUP * GROUP } else { 0 };
    for first in (0..whole).step_by(GROUP) {
        add_slopes_of::<GROUP>(start, satisfied, coefficients, (first, queries), slopes);
    }
    for first in whole..blocks {
        add_slopes_of::<1>(start, satisfied, coefficients, (first, queries), slopes);
    }
}

/// The slopes of the queries in `N` blocks from `first` on.
#[inline(always)]
fn add_slopes_of<const N: usize>(
    start: Start<'_>,
    satisfied: SatisfiedBits<'_>,
    coefficients: &[f64],
    (first, queries): (usize, &[u32]),
    slopes: &mut [f64],
) {
    let Some((&last, before)) = coefficients.split_last() else { return };
    let (mut blocks, bits) = group::<N>(start, satisfied, first, before.len());
    let mut totals = [[0.0; LANES]; N];
    for step in 0..before.len() {
        for k in 0..N {
            blocks[k].add_difference(before[step], &mut totals[k]);
            blocks[k].step(bits[k][step]);
        }
    }
    for k in 0..N {
        blocks[k].add_difference(last, &mut totals[k]);
    }
    let queries = &queries[first * LANES..];
    for (&query, total) in queries.iter().zip(totals.as_flattened()) {
        slopes[query as usize] += total;
    }
}
