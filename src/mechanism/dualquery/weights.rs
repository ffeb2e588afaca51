//! The kernels of [`History`](super::softmax::History): weights that are multiplied from round to
//! round, for eight queries at a time.

use multiversion::multiversion;

/// Queries that are worked on at a time.
pub(super) const LANES: usize = 8;
/// A number for each of them.
pub(super) type Lanes = [f64; LANES];

/// The first round of a stretch, in blocks of queries.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    /// e^s.
    pub(super) weights: &'a [Lanes],
    /// e^-s.
    pub(super) inverses: &'a [Lanes],
    /// e^(eta a).
    pub(super) growth: &'a [Lanes],
    /// e^-eta.
    pub(super) decay: f64,
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
        let mask = &MASKS[usize::from(says_yes)];
        let factors = blend(&self.no, &self.yes, mask);
        let inverse_factors = blend(&self.inverse_no, &self.inverse_yes, mask);
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

/// Adds the weights of all queries and negations to the sums of their round and lane.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn add_sums(start: Start<'_>, says_yes: &[u8], sums: &mut [Lanes]) {
    let Some((last, before)) = sums.split_last_mut() else { return };
    let steps = before.len();
    for index in 0..start.weights.len() {
        let mut block = Block::new(start, index);
        for (sums, &says_yes) in before.iter_mut().zip(&says_yes[index * steps..][..steps]) {
            block.add_sum(sums);
            block.step(says_yes);
        }
        block.add_sum(last);
    }
}

/// Adds to the slope of each query the sum over the rounds of coefficient times (e^s - e^-s).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn add_slopes(
    start: Start<'_>,
    says_yes: &[u8],
    coefficients: &[f64],
    slopes: &mut [f64],
) {
    let Some((&last, before)) = coefficients.split_last() else { return };
    let steps = before.len();
    for (index, slopes) in slopes.chunks_mut(LANES).enumerate() {
        let mut block = Block::new(start, index);
        let mut total = [0.0; LANES];
        for (&coefficient, &says_yes) in before.iter().zip(&says_yes[index * steps..][..steps]) {
            block.add_difference(coefficient, &mut total);
            block.step(says_yes);
        }
        block.add_difference(last, &mut total);
        slopes.iter_mut().zip(total).for_each(|(slope, total)| *slope += total);
    }
}
