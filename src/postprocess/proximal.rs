//! Functions with a simple proximal operator (KDD 2015, section 4.2).

use super::admm::{Estimate, SettingsError, Solution};

/// A convex function f that is a sum over the entries.
pub(crate) trait Proximal: Sync {
    /// Replaces v by argmin f(z) + rho/2 |z - v|^2. `v` is a range of the entries that begins at
    /// `start`.
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]);
}

/// A convex set.
pub(crate) trait Projection: Sync {
    /// Replaces v by the nearest point of the set.
    fn project(&self, v: &mut [f64]);
}

/// The distance of an estimate from noisy answers: alpha |y|_1 + (1 - alpha) |y|_2^2, (23), where y
/// is the difference in some unit.
///
/// alpha = 1 is maximum likelihood under Laplace noise, and alpha = 0 is least squares. For these
/// two, the unit changes the path of the iterations and not the optimum. In between, the square has
/// the larger weight for differences above alpha / (1 - alpha) units.
///
/// For alpha < 1 the distance is strictly convex, so the nearest answers A x are unique. For alpha
/// = 1 many may be optimal. Which one the iterations reach depends on the unit, on rho and on the
/// start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    alpha: f64,
    unit: f64,
}

impl Objective {
    /// With alpha from 0 to 1 and differences in counts, as in section 5.
    pub fn new(alpha: f64) -> Result<Self, SettingsError> {
        let valid = (0.0..=1.0).contains(&alpha);
        valid.then_some(Self { alpha, unit: 1.0 }).ok_or(SettingsError::Alpha(alpha))
    }

    /// With another unit. 1 is used in place of a unit that is not a positive number.
    pub fn in_units_of(self, unit: f64) -> Self {
        Self { unit: if unit > 0.0 && unit.is_finite() { unit } else { 1.0 }, ..self }
    }

    /// From counts to units.
    pub(super) fn scaled(&self, counts: &[f64]) -> Vec<f64> {
        counts.iter().map(|count| count / self.unit).collect()
    }

    /// From units to counts, with negative values set to 0.
    fn counts(&self, scaled: &[f64]) -> Vec<f64> {
        scaled.iter().map(|value| (value * self.unit).max(0.0)).collect()
    }

    /// The counts of a solution in units.
    pub(super) fn estimate(&self, solution: Solution) -> Estimate {
        let Solution { x, iterations, residuals } = solution;
        Estimate { counts: self.counts(&x), iterations, residuals }
    }

    /// The distance from a target in units.
    pub(super) fn near<'a>(&self, target: &'a [f64]) -> ElasticNet<'a> {
        ElasticNet { alpha: self.alpha, target }
    }
}

/// alpha |z - target|_1 + (1 - alpha) |z - target|_2^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ElasticNet<'a> {
    alpha: f64,
    target: &'a [f64],
}

impl Proximal for ElasticNet<'_> {
    /// The threshold Theta of (14) around the target; soft thresholding (13) for alpha = 1.
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]) {
        let (threshold, shrink) = (self.alpha / rho, rho / (2.0 * (1.0 - self.alpha) + rho));
        for (v, target) in v.iter_mut().zip(&self.target[start..]) {
            let y = *v - target;
            *v = target + shrink * (y - y.clamp(-threshold, threshold));
        }
    }
}

/// 0 for nonnegative entries, otherwise infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonNegative;

impl Proximal for NonNegative {
    fn minimise(&self, _: f64, _: usize, v: &mut [f64]) {
        v.iter_mut().for_each(|v| *v = v.max(0.0));
    }
}

/// F for nonnegative entries, otherwise infinite.
///
/// For one entry, f(z) + rho/2 (z - v)^2 is convex, so its minimum over z >= 0 is its unconstrained
/// minimum, or 0 if that is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonNegativePart<F>(pub(crate) F);

impl<F: Proximal> Proximal for NonNegativePart<F> {
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]) {
        self.0.minimise(rho, start, v);
        NonNegative.minimise(rho, start, v);
    }
}

/// 0 at one point, otherwise infinite: known values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exactly<'a>(pub(crate) &'a [f64]);

impl Proximal for Exactly<'_> {
    fn minimise(&self, _: f64, start: usize, v: &mut [f64]) {
        v.copy_from_slice(&self.0[start..][..v.len()]);
    }
}
