use super::{Iterate, Objective};
use crate::factor::{CliqueVector, Marginals};
use crate::numeric::pointwise::{combine, dot};

/// A step from theta to theta' = theta - a grad L(omega) that is being judged.
///
/// Mirror descent has omega = mu and A' = a, and goes to mu' = nu'; the accelerated method goes to
/// mu' = omega + (a / A') (nu' - nu).
pub(super) struct Step<'a> {
    /// The length a.
    pub(super) a: f64,
    /// A', the sum of the lengths of all steps since the averaging began.
    pub(super) sum: f64,
    /// L(omega).
    pub(super) value: f64,
    /// grad L(omega).
    pub(super) gradient: &'a CliqueVector,
}

impl Step<'_> {
    /// Whether L(mu') exceeds L(omega) + <grad L(omega), mu' - omega> + D(nu', nu) / A', which is
    /// what the convergence of the method rests on. Overwrites `scratch`.
    pub(super) fn is_too_long(
        &self,
        objective: &mut Objective<'_>,
        now: &Iterate,
        next: &Iterate,
        mean: &Marginals,
        scratch: &mut Marginals,
    ) -> bool {
        let Self { a, sum, value, gradient } = *self;
        let total = objective.total;
        let there = dot(gradient.values(), next.marginals.values());
        let here = dot(gradient.values(), now.marginals.values());
        let divergence = total * (now.log_z - next.log_z) - a * there;
        let sizes = total * (now.log_z.abs() + next.log_z.abs()) + (a * there).abs();
        let rounding = 1e-15 * sizes;
        let new = a / sum;
        combine(1.0, next.marginals.values(), -1.0, now.marginals.values(), scratch.values_mut());
        let excess = match objective.loss.curvature(scratch) {
            Some(curvature) => 0.5 * new * new * curvature,
            None => {
                let (old, marginals) = (1.0 - new, next.marginals.values());
                combine(old, mean.values(), new, marginals, scratch.values_mut());
                let slope = new * (there - here);
                objective.loss.value(scratch) - value - slope - 1e-14 * value.abs()
            }
        };
        let bound = (divergence + rounding) / sum;
        // A step into NaN is too long.
        excess > bound || excess.is_nan() || bound.is_nan()
    }
}
