//! The kernels of [`History`](super::softmax::History) for blocks of queries that the same records
//! satisfy.
//!
//! Such blocks form a run. The factors e^-eta of the rounds are common to a run and are taken out
//! of the sums over its queries. What is left are powers of e^(eta a).
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::weights::{LANES, Lanes, Start};

/// Runs of blocks, in their order.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    /// The number of blocks of each.
    pub(super) blocks: &'a [usize],
    /// For each run and each round but the last, whether the record satisfies its queries.
    pub(super) satisfies: &'a [bool],
}

impl Runs<'_> {
    /// e^(-eta A) and e^(eta A) before each round, with A from the first round on.
    fn factors(self, run: usize, rounds: usize, decay: f64, factors: &mut [[f64; 2]]) {
        let satisfies = &self.satisfies[run * (rounds - 1)..][..rounds - 1];
        let mut factor = [1.0, 1.0];
        factors[0] = factor;
        for (satisfies, next) in satisfies.iter().zip(&mut factors[1..]) {
            if *satisfies {
                factor = [factor[0] * decay, factor[1] / decay];
            }
            *next = factor;
        }
    }
}

/// Blocks that advance together. Their numbers are in registers: 32 of eight values, or 16 of four.
const GROUP: usize = 4;

/// A block: e^s and e^-s of its queries, and their growth from round to round.
struct Block {
    weights: [Lanes; 2],
    growth: [Lanes; 2],
}

impl Block {
    #[inline(always)]
    fn new(start: Start<'_>, index: usize) -> Self {
        let growth = start.growth[index];
        let mut inverse = [0.0; LANES];
        for lane in 0..LANES {
            inverse[lane] = 1.0 / growth[lane];
        }
        Self { weights: [start.weights[index], start.inverses[index]], growth: [growth, inverse] }
    }
}

/// Adds the weights of all queries and negations to the sums of their round and lane.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn add_sums(start: Start<'_>, runs: Runs<'_>, sums: &mut [Lanes]) {
    let group = if target_cfg_f!(target_feature = "avx512f") { GROUP } else { 1 };
    let mut factors = vec![[0.0; 2]; sums.len()];
    let mut powers = vec![[[0.0; LANES]; 2]; sums.len()];
    let mut first = 0;
    for (run, &blocks) in runs.blocks.iter().enumerate() {
        powers.fill([[0.0; LANES]; 2]);
        let whole = first + blocks / group * group;
        for index in (first..whole).step_by(group) {
            match group {
                1 => add_powers::<1>(start, index, &mut powers),
                _ => add_powers::<GROUP>(start, index, &mut powers),
            }
        }
        first += blocks;
        for index in whole..first {
            add_powers::<1>(start, index, &mut powers);
        }
        runs.factors(run, sums.len(), start.decay, &mut factors);
        for ((sum, [up, down]), [factor, inverse]) in sums.iter_mut().zip(&powers).zip(&factors) {
            for lane in 0..LANES {
                sum[lane] += factor * up[lane] + inverse * down[lane];
            }
        }
    }
}

/// For each round, adds the weights of `N` blocks from `index` on as if no record satisfied them.
#[inline(always)]
fn add_powers<const N: usize>(start: Start<'_>, index: usize, powers: &mut [[Lanes; 2]]) {
    let mut blocks: [Block; N] = std::array::from_fn(|k| Block::new(start, index + k));
    for powers in powers {
        for side in 0..2 {
            let mut sum = powers[side];
            for block in &mut blocks {
                let (weights, growth) = (&mut block.weights[side], &block.growth[side]);
                for lane in 0..LANES {
                    sum[lane] += weights[lane];
                    weights[lane] *= growth[lane];
                }
            }
            powers[side] = sum;
        }
    }
}

/// Adds to the slope of each query the sum over the rounds of coefficient times (weight - inverse),
/// a polynomial in the growth, by Horner's rule.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn add_slopes(
    start: Start<'_>,
    runs: Runs<'_>,
    coefficients: &[f64],
    slopes: &mut [Lanes],
) {
    let group = if target_cfg_f!(target_feature = "avx512f") { GROUP } else { 1 };
    let mut scaled = vec![[0.0; 2]; coefficients.len()];
    let mut first = 0;
    for (run, &blocks) in runs.blocks.iter().enumerate() {
        runs.factors(run, coefficients.len(), start.decay, &mut scaled);
        for (scaled, coefficient) in scaled.iter_mut().zip(coefficients) {
            *scaled = scaled.map(|factor| factor * coefficient);
        }
        let whole = first + blocks / group * group;
        for index in (first..whole).step_by(group) {
            match group {
                1 => add_polynomials::<1>(start, index, &scaled, slopes),
                _ => add_polynomials::<GROUP>(start, index, &scaled, slopes),
            }
        }
        first += blocks;
        for index in whole..first {
            add_polynomials::<1>(start, index, &scaled, slopes);
        }
    }
}

#[inline(always)]
fn add_polynomials<const N: usize>(
    start: Start<'_>,
    index: usize,
    coefficients: &[[f64; 2]],
    slopes: &mut [Lanes],
) {
    let blocks: [Block; N] = std::array::from_fn(|k| Block::new(start, index + k));
    let mut sums = [[[0.0; LANES]; 2]; N];
    for coefficients in coefficients.iter().rev() {
        for k in 0..N {
            for side in 0..2 {
                let (sum, growth) = (&mut sums[k][side], &blocks[k].growth[side]);
                for lane in 0..LANES {
                    sum[lane] = f64::mul_add(sum[lane], growth[lane], coefficients[side]);
                }
            }
        }
    }
    for k in 0..N {
        let ([weights, inverses], [up, down]) = (&blocks[k].weights, &sums[k]);
        for lane in 0..LANES {
            slopes[index + k][lane] += weights[lane] * up[lane] - inverses[lane] * down[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_agree_with_single_queries(
            blocks in prop::collection::vec(1usize..11, 1..4),
            rounds in 1usize..12,
            eta in 0.1f64..3.0,
            seed in prop::collection::vec(any::<bool>(), 40),
            coefficients in prop::collection::vec(-2.0f64..2.0, 12),
        ) {
            let all: usize = blocks.iter().sum();
            let lanes = |of: &dyn Fn(f64) -> f64| -> Vec<Lanes> {
                (0..all * LANES).map(|i| of((i as f64 * 0.37).sin())).collect::<Vec<f64>>()
                    .as_chunks().0.to_vec()
            };
            let (weights, inverses) = (lanes(&f64::exp), lanes(&|x| (-x).exp()));
            let growth = lanes(&|x| (0.3 * x + 0.2).exp());
            let start = Start {
                weights: &weights, inverses: &inverses, growth: &growth, decay: (-eta).exp(),
            };
            let satisfies: Vec<bool> = seed[..blocks.len() * (rounds - 1)].to_vec();
            let runs = Runs { blocks: &blocks, satisfies: &satisfies };
            let mut sums = vec![[0.5; LANES]; rounds];
            let mut slopes = vec![[0.25; LANES]; all];
            add_sums(start, runs, &mut sums);
            add_slopes(start, runs, &coefficients[..rounds], &mut slopes);

            let mut expected = vec![[0.5; LANES]; rounds];
            let mut block = 0;
            for (run, &blocks) in blocks.iter().enumerate() {
                for _ in 0..blocks {
                    for lane in 0..LANES {
                        let mut weight = weights[block][lane];
                        let mut inverse = inverses[block][lane];
                        let (mut slope, mut size) = (0.25, 0.25);
                        for round in 0..rounds {
                            expected[round][lane] += weight + inverse;
                            slope += coefficients[round] * (weight - inverse);
                            size += coefficients[round].abs() * (weight + inverse);
                            let satisfied =
                                round + 1 < rounds && satisfies[run * (rounds - 1) + round];
                            let factor =
                                growth[block][lane] * if satisfied { (-eta).exp() } else { 1.0 };
                            weight *= factor;
                            inverse /= factor;
                        }
                        prop_assert!((slopes[block][lane] - slope).abs() <= 1e-13 * size);
                    }
                    block += 1;
                }
            }
            for (sum, expected) in sums.as_flattened().iter().zip(expected.as_flattened()) {
                prop_assert!((sum - expected).abs() <= 1e-12 * expected, "{sum} {expected}");
            }
        }
    }
}
