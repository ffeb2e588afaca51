use super::{Iterate, Objective};
use crate::factor::{CliqueVector, Marginals};
use crate::numeric::pointwise::{combine, dot};

/// What there is to say of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The loss is within the bound.
    Good,
    /// It is not.
    TooLong,
    /// The step is so short that rounding decides.
    Unclear,
}

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
    /// Whether L(mu') is at most L(omega) + <grad L(omega), mu' - omega> + D(nu', nu) / A', which is
    /// what the convergence of the method rests on. Overwrites `scratch`.
    pub(super) fn judge(
        &self,
        objective: &mut Objective<'_>,
        now: &Iterate,
        next: &Iterate,
        mean: &Marginals,
        scratch: &mut Marginals,
    ) -> Verdict {
        let Self { a, sum, value, gradient } = *self;
        let total = objective.total;
        let there = dot(gradient.values(), next.marginals.values());
        combine(1.0, next.marginals.values(), -1.0, now.marginals.values(), scratch.values_mut());
        let slope = dot(gradient.values(), scratch.values());
        let mut divergence = total * (now.log_z - next.log_z) - a * there;
        let sizes = total * (now.log_z.abs() + next.log_z.abs()) + (a * there).abs();
        if divergence.abs() < 1e-10 * sizes {
            // Too much has cancelled. D(nu', nu) + D(nu, nu') = a <g, nu - nu'> has no large terms,
            // and for so short a step both divergences are the same.
            divergence = -0.5 * a * slope;
            if divergence <= 0.0 {
                return Verdict::Unclear;
            }
        }
        let new = a / sum;
        let excess = match objective.loss.curvature(scratch) {
            Some(curvature) => 0.5 * new * new * curvature,
            None => {
                let (old, marginals) = (1.0 - new, next.marginals.values());
                combine(old, mean.values(), new, marginals, scratch.values_mut());
                objective.loss.value(scratch) - value - new * slope - 1e-14 * value.abs()
            }
        };
        // A step into NaN is too long.
        match excess <= divergence / sum {
            true => Verdict::Good,
            false => Verdict::TooLong,
        }
    }
}
