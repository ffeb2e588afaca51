//! A lower bound on the Kullback-Leibler divergence of outputs, for claims in rho.
//!
//! rho-zCDP bounds the Renyi divergence of every order alpha > 1 by rho alpha, and so in the limit
//! the Kullback-Leibler divergence by rho. For every function g of an output and all distributions
//! P and Q, KL(P, Q) >= E_P g - E_Q e^g + 1, with equality if g is the privacy loss (Nguyen,
//! Wainwright, Jordan 2010). One run on either data set gives X = g(one) - e^g(other) + 1, whose
//! mean over independent pairs is bounded from below by the empirical Bernstein inequality (Maurer,
//! Pontil 2009, theorem 4).
//!
//! An (epsilon, delta) of a rho of 0.02 shows in events of probability delta only, which no audit
//! sees. The divergence shows in every run.

/// g = factor times the privacy loss, within limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DivergenceTest {
    /// Above 1 if a sampler is suspected to add less noise than it states. Negative for the
    /// divergence from the other data set to the first.
    factor: f64,
    limit: f64,
}

const FACTORS: [f64; 6] = [1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
/// Our choice, next to quantiles of the sizes of the losses.
const LIMITS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

impl DivergenceTest {
    /// The test with the largest bound if its mean and variance were seen in `runs` runs, and that
    /// bound. It is valid on fresh runs only.
    pub(super) fn choose(
        ones: &[f64],
        others: &[f64],
        confidence: f64,
        runs: usize,
    ) -> (Self, f64) {
        let (mut best, mut largest) = (Self { factor: 1.0, limit: 1.0 }, f64::NEG_INFINITY);
        let sizes = ones.iter().chain(others).map(|loss| loss.abs());
        let mut sizes: Vec<f64> = sizes.filter(|size| size.is_finite() && *size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        let quantile = |part: f64| sizes.get((part * sizes.len() as f64) as usize).copied();
        let seen = [0.9, 0.99, 0.999].into_iter().filter_map(quantile).chain(sizes.last().copied());
        let limits: Vec<f64> = seen.chain(LIMITS).collect();
        for factor in FACTORS {
            for limit in limits.iter().map(|limit| (limit * factor.abs()).min(8.0)) {
                let test = Self { factor, limit };
                let bound = test.bound_in(ones, others, confidence, runs);
                if bound > largest {
                    (best, largest) = (test, bound);
                }
            }
        }
        (best, largest)
    }

    /// With probability `confidence` a rho is at least this, or 0.
    pub(super) fn bound(self, ones: &[f64], others: &[f64], confidence: f64) -> f64 {
        self.bound_in(ones, others, confidence, ones.len()).max(0.0)
    }

    /// What was seen in these runs.
    pub(super) fn describe(self, ones: &[f64], others: &[f64]) -> String {
        let limit = self.limit / self.factor.abs();
        let mean = |losses: &[f64]| {
            let within = losses.iter().map(|loss| loss.clamp(-limit, limit));
            within.sum::<f64>() / losses.len() as f64
        };
        format!("a mean privacy loss of {:.4} against {:.4}", mean(ones), mean(others))
    }

    fn bound_in(self, ones: &[f64], others: &[f64], confidence: f64, runs: usize) -> f64 {
        let Self { factor, limit } = self;
        let g = |loss: &f64| (factor * loss).clamp(-limit, limit);
        let (from, to) = if factor > 0.0 { (ones, others) } else { (others, ones) };
        let values: Vec<f64> = from.iter().zip(to).map(|(p, q)| g(p) - g(q).exp_m1()).collect();
        let range = 2.0 * limit + limit.exp() - (-limit).exp();
        lower_mean(&values, range, 1.0 - confidence, runs)
    }
}

/// mean - sqrt(2 V ln(2/alpha) / n) - 7 range ln(2/alpha) / (3 (n - 1)) for V the sample variance.
fn lower_mean(values: &[f64], range: f64, alpha: f64, runs: usize) -> f64 {
    let (count, n) = (values.len() as f64, runs as f64);
    if count < 2.0 || n < 2.0 {
        return f64::NEG_INFINITY;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let log = (2.0 / alpha).ln();
    mean - (2.0 * squares / (count - 1.0) * log / n).sqrt() - 7.0 * range * log / (3.0 * (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Privacy losses of a Gaussian mechanism with this ratio of shift to sigma: rho = mu^2 / 2.
    fn losses(mu: f64, runs: usize, seed: u64) -> [Vec<f64>; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0 };
        let mut side = |sign: f64| -> Vec<f64> {
            (0..runs).map(|_| mu * normal() + sign * mu * mu / 2.0).collect()
        };
        [side(1.0), side(-1.0)]
    }

    #[test]
    fn bounds_are_near_rho_and_not_above_it() {
        let rho = 0.02f64;
        let [one, other] = losses((2.0 * rho).sqrt(), 60_000, 1);
        let (test, _) = DivergenceTest::choose(&one[..10_000], &other[..10_000], 0.95, 50_000);
        let bound = test.bound(&one[10_000..], &other[10_000..], 0.95);
        assert!(bound > 0.7 * rho && bound < rho, "{bound} {test:?}");
        // The bound is wrong far more rarely than it may be.
        let wrong = (0..200).filter(|seed| {
            let [one, other] = losses((2.0 * rho).sqrt(), 500, 100 + seed);
            test.bound(&one, &other, 0.95) > rho
        });
        assert!(wrong.count() <= 10);
    }

    #[test]
    fn less_noise_than_stated_shows_in_a_multiple_of_the_stated_loss() {
        // Half of the noise: the stated loss is half of (mu z + mu^2 / 2 + mu^2 / 2) with twice mu.
        let (rho, runs) = (0.02f64, 40_000);
        let mu = (2.0 * rho).sqrt();
        let [one, other] = losses(mu, runs, 2);
        let narrow = |loss: &f64, sign: f64| 0.5 * (loss - sign * mu * mu / 2.0);
        let one: Vec<f64> = one.iter().map(|x| narrow(x, 1.0) + mu * mu / 2.0).collect();
        let other: Vec<f64> = other.iter().map(|x| narrow(x, -1.0) - mu * mu / 2.0).collect();
        let (test, _) = DivergenceTest::choose(&one, &other, 0.95, runs);
        assert!(test.factor.abs() > 1.5, "{test:?}");
        assert!(test.bound(&one, &other, 0.95) > 2.0 * rho);
    }

    #[test]
    fn the_lower_mean_is_that_of_the_formula() {
        let values = [0.0, 1.0, 1.0, 0.0];
        let log = 40f64.ln();
        let expected = 0.5 - (2.0 / 3.0 * log / 4.0).sqrt() - 7.0 * log / 9.0;
        assert!((lower_mean(&values, 1.0, 0.05, 4) - expected).abs() < 1e-12);
    }
}
