//! The distributions that a ledger states, computed from its numbers and not by the samplers.

use dp::{Draw as Entry, Mechanism};
use rand::Rng;

use crate::statistics::{Draw, between, normal};

/// Scales beyond this number of grid steps are compared with the continuous distribution, from
/// which the discrete one differs by less than 1e-6.
const LARGE: f64 = 4000.0;

/// Noise on the grid of an entry.
pub(crate) enum Stated {
    Laplace { steps: f64 },
    Gaussian { sigma: f64, table: Option<Table> },
}

/// P(k <= i - reach) for i = 0, 1, ..., and the first two moments of k^2.
pub(crate) struct Table {
    reach: i64,
    below: Vec<f64>,
    square: f64,
    square_variance: f64,
}

impl Stated {
    pub(crate) fn new(entry: &Entry) -> Result<Self, String> {
        let spacing = entry.spacing.ok_or("noise that is not on a grid")?;
        let steps = entry.scale / spacing;
        match entry.mechanism {
            Mechanism::DiscreteLaplace => Ok(Self::Laplace { steps }),
            Mechanism::DiscreteGaussian => {
                let table = (steps <= LARGE).then(|| Table::new(steps));
                Ok(Self::Gaussian { sigma: steps, table })
            }
            other => Err(format!("noise of the kind {other:?}")),
        }
    }

    /// A draw of this many grid steps, which need not be whole if there are many per scale.
    pub(crate) fn compare(&self, noise: f64, rng: &mut impl Rng) -> Draw {
        match self {
            Self::Laplace { steps } => laplace(noise, *steps, rng),
            Self::Gaussian { table: Some(table), sigma } => table.compare(noise, *sigma, rng),
            Self::Gaussian { table: None, sigma } => {
                let x = noise / sigma;
                Draw { uniform: normal(x), score: x * x - 1.0, information: 2.0 }
            }
        }
    }
}

/// P(k) = (1 - q) / (1 + q) q^|k| with q = e^(-1/b). |k| has the mean 2 q / (1 - q^2) and the mean
/// square 2 q / (1 - q)^2.
fn laplace(noise: f64, b: f64, rng: &mut impl Rng) -> Draw {
    let (q, gap) = ((-1.0 / b).exp(), -(-1.0 / b).exp_m1());
    let (mean, square) = (2.0 * q / (gap * (1.0 + q)), 2.0 * q / (gap * gap));
    let size = noise.abs();
    // P(k >= size) and P(k > size).
    let (from, beyond) = ((-size / b).exp() / (1.0 + q), (-size / b).exp() * q / (1.0 + q));
    let tail = between(beyond, from, rng);
    let uniform = if noise < 0.0 { tail } else { 1.0 - tail };
    let information = (square - mean * mean) / (b * b);
    Draw { uniform, score: (size - mean) / b, information }
}

impl Table {
    fn new(sigma: f64) -> Self {
        let reach = (9.0 * sigma) as i64 + 12;
        let weights = (-reach..=reach).map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp());
        let whole: f64 = weights.clone().sum();
        let (mut below, mut sum, mut square, mut fourth) = (vec![0.0], 0.0, 0.0, 0.0);
        for (k, weight) in (-reach..=reach).zip(weights) {
            let p = weight / whole;
            sum += p;
            below.push(sum);
            square += p * (k * k) as f64;
            fourth += p * ((k * k) as f64).powi(2);
        }
        Self { reach, below, square, square_variance: fourth - square * square }
    }

    fn compare(&self, noise: f64, sigma: f64, rng: &mut impl Rng) -> Draw {
        let place = (noise.round() as i64).clamp(-self.reach, self.reach) + self.reach;
        let [low, high] = [self.below[place as usize], self.below[place as usize + 1]];
        let variance = sigma * sigma;
        Draw {
            uniform: between(low, high, rng),
            score: (noise * noise - self.square) / variance,
            information: self.square_variance / (variance * variance),
        }
    }
}

/// A choice among these scores at the temperature of an entry, on its grid.
pub(crate) fn choice(
    entry: &Entry,
    scores: &[f64],
    chosen: usize,
    rng: &mut impl Rng,
) -> Result<Draw, String> {
    let spacing = entry.spacing.ok_or("a choice without a grid")?;
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let level = |score: f64| (score / spacing).floor() * spacing;
    let exponents: Vec<f64> =
        scores.iter().map(|&score| (level(score) - level(best)) / entry.scale).collect();
    let whole: f64 = exponents.iter().map(|x| x.exp()).sum();
    let probability = |x: f64| x.exp() / whole;
    let mean: f64 = exponents.iter().map(|&x| probability(x) * x).sum();
    let square: f64 = exponents.iter().map(|&x| probability(x) * x * x).sum();
    let before: f64 = exponents[..chosen].iter().map(|&x| probability(x)).sum();
    let uniform = between(before, before + probability(exponents[chosen]), rng);
    // The derivative by the inverse temperature.
    let score = exponents[chosen] - mean;
    Ok(Draw { uniform, score, information: (square - mean * mean).max(0.0) })
}

#[test]
fn distributions_have_the_moments_that_they_state() {
    use rand::SeedableRng;
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
    for scale in [0.3, 1.0, 7.5] {
        let weights: [fn(f64, f64) -> f64; 2] =
            [|k, b| (-k.abs() / b).exp(), |k, s| (-0.5 * (k / s).powi(2)).exp()];
        let stated = [
            Stated::Laplace { steps: scale },
            Stated::Gaussian { sigma: scale, table: Some(Table::new(scale)) },
        ];
        for (weight, stated) in weights.into_iter().zip(stated) {
            let whole: f64 = (-400..=400).map(|k| weight(f64::from(k), scale)).sum();
            let (mut mean, mut square, mut below) = (0.0, 0.0, 0.0);
            for k in (-400..=400).map(f64::from) {
                let p = weight(k, scale) / whole;
                let draw = stated.compare(k, &mut rng);
                mean += p * draw.score;
                square += p * draw.score * draw.score;
                assert!(draw.uniform > below - 1e-12 && draw.uniform < below + p + 1e-12, "{k}");
                below += p;
            }
            let information = stated.compare(0.0, &mut rng).information;
            assert!(mean.abs() < 1e-9 && (square / information - 1.0).abs() < 1e-9, "{scale}");
        }
    }
}
