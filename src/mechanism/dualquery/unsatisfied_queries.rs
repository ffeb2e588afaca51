//! Queries that no record of the game satisfies. These are most queries.
//!
//! Before round t = m + 1, such a query with the answer a has the weight e^x and its negation e^-x,
//! with x = eta m a. Nearly all of these answers are small. For them, power series replace the
//! update of weights from round to round. With M the last m and u = eta M a,
//!
//! sum of (e^x + e^-x) = 2 sum over k of (m/M)^2k P_k / (2k)!, P_k the sum of u^2k,
//!
//! so one pass over the queries serves all rounds, and a second one finds their slopes.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::weights::{LANES, Lanes};

/// The largest u for which the series is used. Our choice.
const LARGEST: f64 = 1.0;
/// Terms of the series. The next term is below 1 / 20! = 4e-19 of the sum.
const TERMS: usize = 10;
/// Up to this u, [`FEW_TERMS`] have the same accuracy: 0.0625^10 / 10! = 3e-19.
const SMALL: f64 = 0.0625;
const FEW_TERMS: usize = 5;
/// Queries that are summed with the same number of terms. Our choice: a chunk is 1 kB.
const CHUNK: usize = 128;

/// P_k for each k.
pub(super) type Powers = [f64; TERMS];

/// The sums of powers of the unsatisfied queries at one point.
#[derive(Default)]
pub(super) struct UnsatisfiedQueries {
    /// u is this times the answer.
    scale: f64,
    /// P_k by lane, but P_0.
    powers: [Lanes; TERMS],
    /// P_0.
    queries: f64,
}

/// A sum of odd powers of u.
#[derive(Default)]
pub(super) struct OddSeries {
    scale: f64,
    coefficients: [f64; TERMS],
}

impl UnsatisfiedQueries {
    /// Without queries. `scale` is eta M for answers that are fractions of the records.
    pub(super) fn new(scale: f64) -> Self {
        Self { scale, ..Self::default() }
    }

    /// Adds queries with these answers. Answers whose u is larger than [`LARGEST`] are replaced by
    /// 0, and passed to `large` with their positions; they are not added. A query with answer 0 has
    /// no slope, but its weight counts: [`discount`](Self::discount) those that are no queries.
    pub(super) fn take(&mut self, answers: &mut [f64], mut large: impl FnMut(usize, f64)) {
        self.queries += answers.len() as f64;
        for (index, chunk) in answers.chunks_mut(CHUNK).enumerate() {
            let mut most = largest(chunk) * self.scale;
            if most > LARGEST {
                for (place, answer) in chunk.iter_mut().enumerate() {
                    if answer.abs() * self.scale > LARGEST {
                        large(index * CHUNK + place, std::mem::take(answer));
                        self.queries -= 1.0;
                    }
                }
                most = LARGEST;
            }
            match most <= SMALL {
                true => add_powers::<FEW_TERMS>(chunk, self.scale, &mut self.powers),
                false => add_powers::<TERMS>(chunk, self.scale, &mut self.powers),
            }
        }
    }

    /// Takes back as many of the zeros that were added.
    pub(super) fn discount(&mut self, zeros: usize) {
        self.queries -= zeros as f64;
    }

    /// P_k for each k.
    pub(super) fn powers(&self) -> Powers {
        let mut powers = self.powers.map(|lanes| lanes.iter().sum());
        powers[0] = self.queries;
        powers
    }

    /// The derivative of the sum over the rounds (share, coefficient) of coefficient times
    /// (e^x - e^-x), as a function of the answer.
    pub(super) fn slopes(&self, rounds: impl Iterator<Item = (f64, f64)>) -> OddSeries {
        let mut coefficients = [0.0; TERMS];
        for (share, coefficient) in rounds {
            let mut term = 2.0 * coefficient * share;
            for (k, sum) in coefficients.iter_mut().enumerate() {
                *sum += term;
                term *= share * share / ((2 * k + 2) * (2 * k + 3)) as f64;
            }
        }
        OddSeries { scale: self.scale, coefficients }
    }
}

/// The sum of e^x + e^-x before the round with m = `share` M, from the sums of powers.
pub(super) fn even_series(powers: &Powers, share: f64) -> f64 {
    powers.iter().enumerate().rev().fold(0.0, |rest, (k, power)| {
        let next = ((2 * k + 1) * (2 * k + 2)) as f64;
        2.0 * power + rest * share * share / next
    })
}

impl OddSeries {
    /// Replaces answers by slopes. None has a u above [`LARGEST`].
    pub(super) fn replace(&self, answers: &mut [f64]) {
        for chunk in answers.chunks_mut(CHUNK) {
            match largest(chunk) * self.scale <= SMALL {
                true => replace::<FEW_TERMS>(&self.coefficients, self.scale, chunk),
                false => replace::<TERMS>(&self.coefficients, self.scale, chunk),
            }
        }
    }
}

/// The largest absolute value.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn largest(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0f64; LANES];
    for block in blocks {
        for lane in 0..LANES {
            let size = block[lane].abs();
            lanes[lane] = if size > lanes[lane] { size } else { lanes[lane] };
        }
    }
    rest.iter().chain(&lanes).fold(0.0, |most, x| x.abs().max(most))
}

/// Adds the sums of u^2k for 0 < k < `K`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_powers<const K: usize>(values: &[f64], scale: f64, powers: &mut [Lanes; TERMS]) {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    if target_cfg_f!(target_feature = "avx512f") {
        add_powers_of::<K, LANES>(blocks, &last, scale, 0, powers);
    } else {
        // As many sums as there are registers.
        add_powers_of::<K, { LANES / 2 }>(blocks, &last, scale, 0, powers);
        add_powers_of::<K, { LANES / 2 }>(blocks, &last, scale, LANES / 2, powers);
    }
}

/// Those of `W` lanes from `first` on.
#[inline(always)]
fn add_powers_of<const K: usize, const W: usize>(
    blocks: &[Lanes],
    last: &Lanes,
    scale: f64,
    first: usize,
    powers: &mut [Lanes; TERMS],
) {
    let mut sums = [[0.0; W]; K];
    for block in blocks.iter().chain([last]) {
        let (mut square, mut power) = ([0.0; W], [1.0; W]);
        for lane in 0..W {
            let u = block[first + lane] * scale;
            square[lane] = u * u;
        }
        for sums in &mut sums[1..] {
            for lane in 0..W {
                power[lane] *= square[lane];
                sums[lane] += power[lane];
            }
        }
    }
    for k in 1..K {
        for lane in 0..W {
            powers[k][first + lane] += sums[k][lane];
        }
    }
}

/// Replaces answers by u times the sum of c_k u^2k over k < `K`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn replace<const K: usize>(coefficients: &[f64; TERMS], scale: f64, values: &mut [f64]) {
    let (blocks, rest) = values.as_chunks_mut::<LANES>();
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter_mut().chain([&mut last]) {
        let (mut u, mut square, mut sum): (Lanes, Lanes, Lanes) = Default::default();
        for lane in 0..LANES {
            u[lane] = block[lane] * scale;
            square[lane] = u[lane] * u[lane];
        }
        for &c in coefficients[..K].iter().rev() {
            for lane in 0..LANES {
                sum[lane] = sum[lane].mul_add(square[lane], c);
            }
        }
        for lane in 0..LANES {
            block[lane] = sum[lane] * u[lane];
        }
    }
    rest.copy_from_slice(&last[..rest.len()]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Answers of very different sizes, in chunks with few and with many terms.
        #[test]
        fn series_agree_with_exponentials(
            answers in prop::collection::vec((-14.0..2.0f64).prop_map(f64::exp2), 1..400),
            scale in 0.1f64..2.0,
            shares in prop::collection::vec((0.0..=1.0f64, -2.0..2.0f64), 1..5),
        ) {
            let mut values = answers.clone();
            let mut queries = UnsatisfiedQueries::new(scale);
            let mut large = Vec::new();
            queries.take(&mut values, |place, answer| large.push((place, answer)));
            for (place, &answer) in answers.iter().enumerate() {
                let is_large = answer * scale > LARGEST;
                prop_assert_eq!(large.contains(&(place, answer)), is_large);
                prop_assert_eq!(values[place], if is_large { 0.0 } else { answer });
            }
            let small = || answers.iter().filter(|&answer| answer * scale <= LARGEST);
            for &(share, _) in &shares {
                let weight = |answer: &f64| 2.0 * (scale * share * answer).cosh();
                let expected: f64 = small().map(weight).sum();
                let sum = even_series(&queries.powers(), share);
                prop_assert!((sum - expected).abs() <= 1e-14 * expected, "{sum} {expected}");
            }
            queries.slopes(shares.iter().copied()).replace(&mut values);
            for (slope, answer) in values.iter().zip(&answers) {
                let u = if answer * scale > LARGEST { 0.0 } else { answer * scale };
                let parts = shares.iter().map(|&(share, c)| 2.0 * c * (share * u).sinh());
                let size: f64 = parts.clone().map(f64::abs).sum();
                let expected: f64 = parts.sum();
                prop_assert!((slope - expected).abs() <= 1e-14 * size, "{slope} {expected}");
            }
        }
    }
}
