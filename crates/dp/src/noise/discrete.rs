//! Exact samplers of discrete Laplace and discrete Gaussian noise.
//!
//! After Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020). Every
//! decision is an integer comparison on bits of the generator, without floating point or tables, so
//! that the probabilities are exact, including the tails. Every quantity fits its
//! integer type for every [`Scale`], and numbers grow only with events of probability e^-(2^60).
//!
//! Cost: 10 to 20 random words per draw on average, for every scale. The running time of a draw
//! depends on its value; these samplers do not protect against timing attacks.

use rand::Rng;

use super::bernoulli::{below, exp_minus, exp_minus_one, fraction};
use super::scale::Scale;

/// A draw from the discrete Laplace distribution: P(k) proportional to exp(-|k| / scale).
///
/// (Algorithm 2 of the paper.) With scale = n / 2^s, the number U + nV with U uniform below n, kept
/// with probability exp(-U/n), and V geometric with ratio 1/e, is geometric with ratio exp(-1/n).
/// Dividing by 2^s and rounding down gives the ratio exp(-2^s/n). Add a random sign, and reject
/// minus zero.
pub(super) fn laplace(rng: &mut impl Rng, scale: Scale) -> i128 {
    let n = scale.numerator();
    loop {
        let u = below(rng, n);
        if !exp_minus(rng, |rng| fraction(rng, u, n)) {
            continue;
        }
        let mut v = 0u64;
        while exp_minus_one(rng) {
            v += 1;
        }
        let magnitude = ((u128::from(u) + u128::from(n) * u128::from(v)) >> scale.shift()) as i128;
        let negative = below(rng, 2) == 1;
        if !(negative && magnitude == 0) {
            return if negative { -magnitude } else { magnitude };
        }
    }
}

/// A draw from the discrete Gaussian distribution: P(k) proportional to exp(-k^2 / (2 sigma^2)).
///
/// (Algorithm 3 of the paper, with sigma itself as the scale of the proposal.) A Laplace draw y is
/// kept with probability exp(-(|y|/sigma - 1)^2 / 2), as
/// exp(-|y|/sigma) exp(-(|y|/sigma - 1)^2 / 2) = exp(-1/2) exp(-y^2 / (2 sigma^2)).
/// With | |y|/sigma - 1 | = q + r for a whole q and r < 1 that probability is
/// exp(-1/2)^(q^2) exp(-r)^q exp(-r^2/2), and each factor is a Bernoulli variable that needs no
/// product of large numbers. About 3/4 of the proposals are accepted at large sigma, 6/10 at small.
pub(super) fn gaussian(rng: &mut impl Rng, sigma: Scale) -> i128 {
    let n = sigma.numerator();
    loop {
        let y = laplace(rng, sigma);
        // |y| 2^s is at most the U + nV that it came from, so it fits.
        let distance = (y.unsigned_abs() << sigma.shift()).abs_diff(u128::from(n));
        let (q, r) = if let Ok(distance) = u64::try_from(distance) {
            (u128::from(distance / n), distance % n)
        } else {
            (distance / u128::from(n), (distance % u128::from(n)) as u64)
        };
        let keep =
            exp_minus(rng, |rng| below(rng, 2) == 0 && fraction(rng, r, n) && fraction(rng, r, n))
                && (0..q).all(|_| exp_minus(rng, |rng| fraction(rng, r, n)))
                && (0..q.saturating_mul(q)).all(|_| exp_minus(rng, |rng| below(rng, 2) == 0));
        if keep {
            return y;
        }
    }
}

/// The standard deviation of [`laplace`]: sqrt(2 e^(-1/b)) / (1 - e^(-1/b)).
pub(super) fn laplace_stddev(scale: Scale) -> f64 {
    let rate = 1.0 / scale.get();
    (2.0 * (-rate).exp()).sqrt() / -(-rate).exp_m1()
}

/// The standard deviation of [`gaussian`], which is sigma up to an error of e^(-2 pi^2 sigma^2)
/// from sigma = 4 on, and summed numerically below.
pub(super) fn gaussian_stddev(sigma: Scale) -> f64 {
    let sigma = sigma.get();
    if sigma > 4.0 {
        return sigma;
    }
    let weight = |k: f64| (-0.5 * (k / sigma) * (k / sigma)).exp();
    let (mut mass, mut second) = (1.0, 0.0);
    for k in (1..200).map(f64::from) {
        mass += 2.0 * weight(k);
        second += 2.0 * k * k * weight(k);
    }
    (second / mass).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::frequencies::{assert_frequencies, folded, histogram};
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    fn draws(
        seed: u64,
        count: usize,
        sample: fn(&mut ChaCha20Rng, Scale) -> i128,
        scale: f64,
    ) -> Vec<i128> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let scale = Scale::at_least(scale).unwrap();
        (0..count).map(|_| sample(&mut rng, scale)).collect()
    }

    #[test]
    fn laplace_frequencies_agree_with_the_probabilities() {
        for (seed, scale, reach) in [(1, 0.3, 2), (2, 1.0, 6), (3, 2.7, 15), (4, 10.0 / 3.0, 18)] {
            let counts = histogram(draws(seed, 300_000, laplace, scale), reach);
            assert_frequencies(&counts, &folded(|k| (-k.abs() / scale).exp(), reach, 400));
        }
    }

    #[test]
    fn gaussian_frequencies_agree_with_the_probabilities() {
        for (seed, sigma, reach) in [(1, 0.4, 1), (2, 1.0, 3), (3, 2.7, 9), (4, 10.0 / 3.0, 11)] {
            let counts = histogram(draws(seed, 300_000, gaussian, sigma), reach);
            let weight = |k: f64| (-k * k / (2.0 * sigma * sigma)).exp();
            assert_frequencies(&counts, &folded(weight, reach, 400));
        }
    }

    /// At large scales single outcomes are rare: deciles of the continuous limit, and moments.
    #[test]
    fn large_scales_have_the_right_deciles_and_moments() {
        let count = 100_000;
        for (seed, scale) in [(1, 1e4 / 3.0), (2, 1e9 + 0.5), (3, 1e15), (4, Scale::MAX)] {
            let laplace = draws(seed, count, laplace, scale);
            let mut eleven = vec![0; 11];
            for &y in &laplace {
                let x = y as f64 / scale;
                let below = if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 };
                eleven[((below * 11.0) as usize).min(10)] += 1;
            }
            assert_frequencies(&eleven, &[1.0 / 11.0; 11]);
            // E|x| = 1, E x^2 = 2, E x^4 = 24 for Laplace; 1, 3, 15 for powers 2, 4, 6 of a
            // Gaussian.
            let gaussian = draws(seed, count, gaussian, scale);
            assert_moments(&laplace, scale, &[(1, 0.0, 2.0), (2, 2.0, 24.0), (4, 24.0, 40320.0)]);
            assert_moments(&gaussian, scale, &[(1, 0.0, 1.0), (2, 1.0, 3.0), (4, 3.0, 105.0)]);
        }
    }

    /// (power p, E x^p, E x^2p): the mean of x^p is within 5 of its standard errors.
    fn assert_moments(values: &[i128], scale: f64, moments: &[(i32, f64, f64)]) {
        for &(power, expected, square) in moments {
            let n = values.len() as f64;
            let mean = values.iter().map(|&y| (y as f64 / scale).powi(power)).sum::<f64>() / n;
            let error = ((square - expected * expected) / n).sqrt();
            assert!((mean - expected).abs() < 5.0 * error, "power {power}: {mean}");
        }
    }

    #[test]
    fn tiny_scales_give_no_noise_and_do_not_overflow() {
        for scale in [5e-324, 1e-300, 1e-20, 1e-4, 0.01] {
            assert!(draws(5, 2000, laplace, scale).iter().all(|&y| y == 0), "{scale}");
            assert!(draws(5, 2000, gaussian, scale).iter().all(|&y| y == 0), "{scale}");
        }
    }

    #[test]
    fn standard_deviations_are_those_of_the_draws() {
        for (seed, scale) in [(1, 0.5), (2, 1.0), (3, 7.0)] {
            let fraction = Scale::at_least(scale).unwrap();
            for (values, stddev) in [
                (draws(seed, 200_000, laplace, scale), laplace_stddev(fraction)),
                (draws(seed, 200_000, gaussian, scale), gaussian_stddev(fraction)),
            ] {
                let squares = values.iter().map(|&y| (y * y) as f64).sum::<f64>();
                let measured = (squares / values.len() as f64).sqrt();
                assert!((measured / stddev - 1.0).abs() < 0.02, "{scale}: {measured} {stddev}");
            }
        }
    }
}
