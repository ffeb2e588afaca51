//! Exact Bernoulli samplers, from random bits and integer arithmetic.

use rand::Rng;

/// An exactly uniform integer in `0..bound` (Lemire 2019: multiplication with rejection).
///
/// Implemented here because the sampler of the `rand` crate is exact only with a certain feature:
/// exactness must not depend on a build setting.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    debug_assert!(bound > 0);
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        let low = product as u64;
        // 2^64 mod bound values are rejected; the modulo is computed only when necessary.
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// True with probability `numerator / denominator`, which is at most 1.
pub(crate) fn fraction(rng: &mut impl Rng, numerator: u64, denominator: u64) -> bool {
    below(rng, denominator) < numerator
}

/// 20! / k! for k = 0, ..., 20; 20! is the largest factorial below 2^64.
const FACTORIAL_RATIOS: [u64; 21] = {
    let mut ratios = [1; 21];
    let mut k = 20;
    while k > 0 {
        ratios[k - 1] = ratios[k] * k as u64;
        k -= 1;
    }
    ratios
};

/// The number of Bernoulli variables with probabilities 1, 1/2, 1/3, ... that are true before the
/// first false one: at least k with probability 1/k!.
///
/// One random word decides all of them: W uniform below 20! is below 20!/k! with probability 1/k!,
/// and given that, below 20!/(k+1)! with probability 1/(k+1). If W is 0, more variables are drawn.
fn harmonic_run(rng: &mut impl Rng) -> u64 {
    let w = below(rng, FACTORIAL_RATIOS[0]);
    let mut run = 1;
    while run < 20 && w < FACTORIAL_RATIOS[run + 1] {
        run += 1;
    }
    let mut run = run as u64;
    if run == 20 {
        while below(rng, run + 1) == 0 {
            run += 1;
        }
    }
    run
}

/// True with probability exp(-gamma), given a sampler that is true with probability gamma <= 1.
///
/// Bernoulli(gamma/k) is drawn for k = 1, 2, ... until it is false. It is false first at k with
/// probability gamma^(k-1)/(k-1)! - gamma^k/k!; over the odd k these add up to the series of
/// exp(-gamma) (Canonne, Kamath, Steinke 2020, algorithm 1). Bernoulli(gamma/k) is the conjunction
/// of Bernoulli(gamma) and Bernoulli(1/k); the latter are drawn first, all at once.
pub(crate) fn exp_minus<R: Rng>(rng: &mut R, mut gamma: impl FnMut(&mut R) -> bool) -> bool {
    // The most likely outcome, before any other randomness is used.
    if !gamma(rng) {
        return true;
    }
    let run = harmonic_run(rng);
    let mut successes = 1;
    while successes < run && gamma(rng) {
        successes += 1;
    }
    successes % 2 == 0
}

/// True with probability exp(-numerator / denominator), for a fraction of any size.
pub(crate) fn exp_minus_fraction<R: Rng>(
    rng: &mut R,
    mut numerator: u128,
    denominator: u64,
) -> bool {
    // A factor exp(-1) for each whole one. Ends at the first false one, after 1.6 rounds on average
    // for any whole part, so that subtractions take less time than a division.
    while numerator >= u128::from(denominator) {
        if !exp_minus_one(rng) {
            return false;
        }
        numerator -= u128::from(denominator);
    }
    exp_minus(rng, |rng| fraction(rng, numerator as u64, denominator))
}

/// True with probability 1/e.
pub(crate) fn exp_minus_one(rng: &mut impl Rng) -> bool {
    harmonic_run(rng).is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::super::frequencies::assert_frequencies;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn bernoulli_frequencies_agree_with_their_probabilities() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut check = |p: f64, coin: &mut dyn FnMut(&mut ChaCha20Rng) -> bool| {
            let heads = (0..200_000).filter(|_| coin(&mut rng)).count() as u64;
            // A normal variable is past 4.9 standard deviations once in a million.
            let deviation = (heads as f64 - 200_000.0 * p) / (200_000.0 * p * (1.0 - p)).sqrt();
            assert!(deviation.abs() < 4.9, "p = {p}: {deviation} standard deviations");
        };
        check(1.0 / 3.0, &mut |rng| fraction(rng, 1, 3));
        check((-1f64).exp(), &mut exp_minus_one);
        check((-0.3f64).exp(), &mut |rng| exp_minus_fraction(rng, 3, 10));
        check((-2.5f64).exp(), &mut |rng| exp_minus_fraction(rng, 5, 2));
        let large = (1u64 << 62) - 1;
        check((-0.5f64).exp(), &mut |rng| exp_minus_fraction(rng, u128::from(large / 2), large));
    }

    #[test]
    fn harmonic_runs_have_the_probabilities_of_the_factorials() {
        let factorial = |k: u64| (1..=k).product::<u64>();
        for (k, ratio) in (0..).zip(FACTORIAL_RATIOS) {
            assert_eq!(ratio * factorial(k), factorial(20));
        }
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut counts = vec![0; 5];
        (0..100_000).for_each(|_| counts[harmonic_run(&mut rng).min(5) as usize - 1] += 1);
        // Exactly k: 1/k! - 1/(k+1)!; the last counts all from 5 on.
        let exactly = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 8.0, 1.0 / 30.0, 1.0 / 120.0];
        assert_frequencies(&counts, &exactly);
    }

    #[test]
    fn degenerate_probabilities_are_exact() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        assert!((0..1000).all(|_| exp_minus_fraction(&mut rng, 0, 7)));
        assert!((0..1000).all(|_| !exp_minus_fraction(&mut rng, u128::MAX, 7)));
        assert!((0..1000).all(|_| below(&mut rng, 1) == 0));
    }

    #[test]
    fn integers_below_a_bound_are_uniform() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut counts = [0u64; 7];
        (0..70_000).for_each(|_| counts[below(&mut rng, 7) as usize] += 1);
        assert_frequencies(&counts, &[1.0 / 7.0; 7]);
        // 2^64 words on 3 2^62 values: without rejection every third value is twice as likely.
        let mut thirds = [0u64; 3];
        (0..60_000).for_each(|_| thirds[(below(&mut rng, 3 << 62) % 3) as usize] += 1);
        assert_frequencies(&thirds, &[1.0 / 3.0; 3]);
    }
}
