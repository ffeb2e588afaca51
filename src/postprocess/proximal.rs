//! Functions with a simple proximal step (KDD 2015, section 4.2).

use super::admm::SettingsError;

/// A convex function f, a sum over the entries, that is minimised together with a distance.
pub trait Proximal: Sync {
    /// Replaces v by argmin f(z) + rho/2 |z - v|^2, where `v` is a part of the entries, from `start` on.
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]);
}

/// A convex set.
pub trait Projection: Sync {
    /// Replaces v by the nearest point of the set.
    fn project(&self, v: &mut [f64]);
}

/// How far an estimate is from noisy answers: alpha |y|_1 + (1 - alpha) |y|_2^2, (23), where y is the
/// difference in some unit.
///
/// alpha = 1 is maximum likelihood under Laplace noise, alpha = 0 least squares; for these the unit
/// changes the way of the iterations, and not what is optimal. In between it says from which
/// difference on the square counts for more: alpha / (1 - alpha) units.
///
/// For alpha < 1 it is strictly convex, so that the answers A x nearest to the noisy ones are unique. For
/// alpha = 1 many may be optimal, at one distance: where the iterations end among them depends on the unit,
/// on rho and on the start.
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

    /// The same with another unit, which must be a positive number: 1 is taken in place of others.
    pub fn in_units_of(self, unit: f64) -> Self {
        Self { unit: if unit > 0.0 && unit.is_finite() { unit } else { 1.0 }, ..self }
    }

    /// Counts in units.
    pub(super) fn scaled(&self, counts: &[f64]) -> Vec<f64> {
        counts.iter().map(|count| count / self.unit).collect()
    }

    /// Units in counts, without those below 0.
    pub(super) fn counts(&self, scaled: &[f64]) -> Vec<f64> {
        scaled.iter().map(|value| (value * self.unit).max(0.0)).collect()
    }

    /// The distance from a target, which is in units already.
    pub(super) fn near<'a>(&self, target: &'a [f64]) -> ElasticNet<'a> {
        ElasticNet { alpha: self.alpha, target }
    }
}

/// alpha |z - target|_1 + (1 - alpha) |z - target|_2^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet<'a> {
    alpha: f64,
    target: &'a [f64],
}

impl Proximal for ElasticNet<'_> {
    /// The threshold Theta of (14) around the target: soft thresholding (13) for alpha = 1.
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]) {
        let (threshold, shrink) = (self.alpha / rho, rho / (2.0 * (1.0 - self.alpha) + rho));
        for (v, target) in v.iter_mut().zip(&self.target[start..]) {
            let y = *v - target;
            *v = target + shrink * (y - y.clamp(-threshold, threshold));
        }
    }
}

/// 0 where no entry is negative, infinite elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonNegative;

impl Proximal for NonNegative {
    fn minimise(&self, _: f64, _: usize, v: &mut [f64]) {
        v.iter_mut().for_each(|v| *v = v.max(0.0));
    }
}

/// Another function, and infinite where an entry is negative.
///
/// For one entry, f(z) + rho/2 (z - v)^2 is convex, so that its minimum over z >= 0 is its minimum, or 0
/// where that is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithoutNegative<F>(pub F);

impl<F: Proximal> Proximal for WithoutNegative<F> {
    fn minimise(&self, rho: f64, start: usize, v: &mut [f64]) {
        self.0.minimise(rho, start, v);
        NonNegative.minimise(rho, start, v);
    }
}

/// 0 at one point, infinite elsewhere: what is known exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exactly<'a>(pub &'a [f64]);

impl Proximal for Exactly<'_> {
    fn minimise(&self, _: f64, start: usize, v: &mut [f64]) {
        v.copy_from_slice(&self.0[start..][..v.len()]);
    }
}
