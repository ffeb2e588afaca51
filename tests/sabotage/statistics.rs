//! Tests of samples whose distribution is known.
//!
//! *False alarms.* A comparison fails a correct program with a probability of at most
//! [`FALSE_ALARM`] for a seed chosen at random (seeds are fixed, so that a result never changes).
//! There are fewer than a thousand comparisons, so together that is 1e-5.
//!
//! *Strength.* The scale test is the score test, with the statistic that is most powerful against
//! small factors. It finds a factor of [`FACTOR`] with a probability of 0.999 if the information of
//! the sample is at least [`INFORMATION`]; smaller samples are refused.

use rand::{Rng, RngExt};

pub(crate) const FALSE_ALARM: f64 = 1e-8;

/// The factor of a scale or temperature that the tests have to find.
pub(crate) const FACTOR: f64 = 1.05;

/// Two-sided quantile of the normal distribution at [`FALSE_ALARM`].
const Z: f64 = 5.73;

/// The least information about the logarithm of the scale: ln(FACTOR) sqrt(INFORMATION) is above
/// Z + 3.09, and a normal variable is below 3.09 with probability 0.999.
pub(crate) const INFORMATION: f64 = 32_700.0;

/// One draw, compared with its stated distribution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// The value of the distribution function, uniform between 0 and 1; between the two values at a
    /// step of the distribution a random one.
    pub(crate) uniform: f64,
    /// The derivative of the log-likelihood by the logarithm of the scale (its negative for a
    /// temperature), with mean 0.
    pub(crate) score: f64,
    /// The variance of `score`.
    pub(crate) information: f64,
}

/// Bins of equal probability. An odd number, so that the tail of chi-squared has a closed form.
const BINS: usize = 51;

/// Draws of one kind, from many releases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    draws: usize,
    score: f64,
    pub(crate) information: f64,
    bins: Vec<u64>,
    /// Draws among the 1/2000 at either end.
    extreme: u64,
}

impl Sample {
    pub(crate) fn add(&mut self, draw: Draw) {
        self.bins.resize(BINS, 0);
        self.draws += 1;
        self.score += draw.score;
        self.information += draw.information;
        self.bins[((draw.uniform * BINS as f64) as usize).min(BINS - 1)] += 1;
        self.extreme += u64::from((draw.uniform - 0.5).abs() > 0.5 - 1.0 / 2000.0);
    }

    /// Scale, shape and tails.
    pub(crate) fn test(&self) -> Result<(), String> {
        if self.draws == 0 {
            return Ok(());
        }
        let scale = self.score / self.information.max(f64::MIN_POSITIVE).sqrt();
        if scale.abs() > Z {
            let factor = (self.score / self.information).exp();
            return Err(format!("a scale that differs by about {factor:.3} ({scale:.1} sigma)"));
        }
        let expected = self.draws as f64 / BINS as f64;
        let squares = self.bins.iter().map(|&count| (count as f64 - expected).powi(2));
        let statistic = squares.sum::<f64>() / expected;
        if chi_squared_tail(statistic, BINS - 1) < FALSE_ALARM {
            return Err(format!("another shape (chi-squared {statistic:.0} in {BINS} bins)"));
        }
        let expected = self.draws as f64 / 1000.0;
        if poisson_tail(self.extreme, expected) < FALSE_ALARM {
            let found = self.extreme;
            return Err(format!("other tails ({found} draws where {expected:.0} are expected)"));
        }
        Ok(())
    }

    /// Whether there are enough draws to find [`FACTOR`].
    pub(crate) fn is_strong(&self) -> bool {
        self.information >= INFORMATION
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.draws == 0
    }
}

/// Pairs of draws that should be independent, such as neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pairs {
    count: f64,
    signed: f64,
    sizes: f64,
}

impl Pairs {
    /// The uniform values of two draws.
    pub(crate) fn add(&mut self, one: f64, other: f64) {
        // Both with mean 0 and variance 1.
        let signed = |uniform: f64| 12f64.sqrt() * (uniform - 0.5);
        let size = |uniform: f64| 12f64.sqrt() * ((2.0 * uniform - 1.0).abs() - 0.5);
        self.count += 1.0;
        self.signed += signed(one) * signed(other);
        self.sizes += size(one) * size(other);
    }

    pub(crate) fn test(&self) -> Result<(), String> {
        // Products have mean 0 and variance 1.
        for (what, sum) in [("values", self.signed), ("sizes", self.sizes)] {
            // A mean of fewer products is not normal.
            if self.count >= 1000.0 && (sum / self.count.sqrt()).abs() > Z {
                return Err(format!("{what} with a correlation of {:.3}", sum / self.count));
            }
        }
        Ok(())
    }
}

/// P(X > x) for n degrees of freedom, n even: exp(-x/2) sum over i < n/2 of (x/2)^i / i!.
fn chi_squared_tail(statistic: f64, degrees: usize) -> f64 {
    let half = statistic / 2.0;
    let mut term = (-half).exp();
    let mut sum = term;
    for i in 1..degrees / 2 {
        term *= half / i as f64;
        sum += term;
    }
    sum
}

/// Twice the probability of a Poisson variable that is at least as far out on its side. It bounds
/// that of a binomial one with the same mean up to a factor near 1 in the middle and is larger in
/// the tails.
fn poisson_tail(found: u64, mean: f64) -> f64 {
    // Where the first terms would underflow, the variable is nearly normal.
    if mean > 500.0 {
        return 2.0 * normal(-(found as f64 - mean).abs() / mean.sqrt());
    }
    let mut term = (-mean).exp();
    let (mut below, mut exactly) = (0.0, term);
    for k in 0..found {
        below += term;
        term *= mean / (k + 1) as f64;
        exactly = term;
    }
    2.0 * (below + exactly).min(1.0 - below)
}

/// The distribution function of the standard normal distribution, by its power series.
pub(crate) fn normal(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A number between two values of a distribution function.
pub(crate) fn between(low: f64, high: f64, rng: &mut impl Rng) -> f64 {
    (low + (high - low) * rng.random::<f64>()).clamp(0.0, 1.0 - 1e-16)
}

#[test]
fn tails_agree_with_printed_tables() {
    // Critical values of the usual tables.
    for (statistic, degrees, p) in [(5.991, 2, 0.05), (18.307, 10, 0.05), (29.588, 10, 0.001)] {
        assert!((chi_squared_tail(statistic, degrees) / p - 1.0).abs() < 1e-3);
    }
    for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_963_985, 0.025), (5.73, 1.0 - 5e-9)] {
        assert!((normal(x) - p).abs() < 1e-9, "{x}: {}", normal(x));
    }
    // P(X <= 2) for mean 5 is 0.124652, P(X >= 9) is 0.068094.
    assert!((poisson_tail(2, 5.0) - 2.0 * 0.124_652).abs() < 1e-5);
    assert!((poisson_tail(9, 5.0) - 2.0 * 0.068_094).abs() < 1e-5);
    assert!(FACTOR.ln() * INFORMATION.sqrt() > Z + 3.09);
}
