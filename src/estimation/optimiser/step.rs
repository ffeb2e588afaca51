use super::Objective;
use crate::factor::{CliqueVector, Marginals, Potentials};
use crate::numeric::pointwise::{add_scaled, combine, distance_products, distance_step, dot};

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

/// A step from theta to theta' = theta - a grad L(omega), with omega = (A mu + a nu) / A'.
///
/// Mirror descent has mu = nu and A' = a, and goes to mu' = nu'; the accelerated method goes to
/// mu' = omega + (a / A') (nu' - nu).
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    /// The length a.
    pub(super) a: f64,
    /// A', the sum of the lengths of all steps since the averaging began.
    pub(super) sum: f64,
    /// mu.
    pub(super) mean: &'a Marginals,
    /// nu, the marginals of theta.
    pub(super) nu: &'a Marginals,
}

impl Step<'_> {
    /// The weights of mu and nu in omega.
    fn weights(&self) -> [f64; 2] {
        let new = self.a / self.sum;
        [1.0 - new, new]
    }
}

/// Takes, judges and takes back steps. Holds what losses need that are not plain distances.
#[derive(Default)]
pub(super) struct Stepper {
    general: Option<General>,
}

struct General {
    omega: Marginals,
    gradient: CliqueVector,
    /// L(omega).
    value: f64,
}

impl Stepper {
    /// Moves theta to theta'.
    pub(super) fn take(
        &mut self,
        objective: &mut Objective<'_>,
        step: &Step<'_>,
        theta: &mut Potentials,
    ) {
        let [old, new] = step.weights();
        let (mean, nu) = (step.mean.values(), step.nu.values());
        if let Some(distance) = objective.loss.as_distance() {
            let length = step.a * distance.weight;
            return distance_step([old, new], [mean, nu], distance.y, length, theta.values_mut());
        }
        let general = self.general.get_or_insert_with(|| General {
            omega: Marginals::zeros(theta.layout()),
            gradient: CliqueVector::zeros(theta.layout()),
            value: 0.0,
        });
        combine(old, mean, new, nu, general.omega.values_mut());
        general.value = objective.loss.value_and_gradient(&general.omega, &mut general.gradient);
        add_scaled(-step.a, general.gradient.values(), theta.values_mut());
    }

    /// Moves theta' back to theta.
    pub(super) fn take_back(
        &mut self,
        objective: &mut Objective<'_>,
        step: &Step<'_>,
        theta: &mut Potentials,
    ) {
        if let Some(distance) = objective.loss.as_distance() {
            let (mean, nu) = (step.mean.values(), step.nu.values());
            let length = -step.a * distance.weight;
            distance_step(step.weights(), [mean, nu], distance.y, length, theta.values_mut());
        } else if let Some(general) = &self.general {
            add_scaled(step.a, general.gradient.values(), theta.values_mut());
        }
    }

    /// Whether L(mu') is at most L(omega) + <grad L(omega), mu' - omega> + D(nu', nu) / A', which is
    /// what the convergence of the method rests on.
    pub(super) fn judge(
        &mut self,
        objective: &mut Objective<'_>,
        step: &Step<'_>,
        [log_z, next_log_z]: [f64; 2],
        next: &Marginals,
    ) -> Verdict {
        let Step { a, sum, mean, nu } = *step;
        let [old, new] = step.weights();
        // <g, nu'>, <g, nu' - nu>, and what the linear part of L leaves over between omega and mu'.
        let (there, slope, excess);
        if let Some(distance) = objective.loss.as_distance() {
            let points = [mean.values(), nu.values()];
            let products = distance_products([old, new], points, distance.y, next.values());
            let [next_product, slope_product, square] = products.map(|p| distance.weight * p);
            (there, slope, excess) = (next_product, slope_product, 0.5 * new * new * square);
        } else {
            let Some(General { omega, gradient, value }) = &mut self.general else {
                return Verdict::Unclear;
            };
            there = dot(gradient.values(), next.values());
            combine(1.0, next.values(), -1.0, nu.values(), omega.values_mut());
            slope = dot(gradient.values(), omega.values());
            excess = match objective.loss.curvature(omega) {
                Some(curvature) => 0.5 * new * new * curvature,
                None => {
                    combine(old, mean.values(), new, next.values(), omega.values_mut());
                    objective.loss.value(omega) - *value - new * slope - 1e-14 * value.abs()
                }
            };
        }
        let mut divergence = objective.total * (log_z - next_log_z) - a * there;
        let sizes = objective.total * (log_z.abs() + next_log_z.abs()) + (a * there).abs();
        if divergence.abs() < 1e-10 * sizes {
            // Too much has cancelled. D(nu', nu) + D(nu, nu') = a <g, nu - nu'> has no large terms,
            // and for so short a step both divergences are the same.
            divergence = -0.5 * a * slope;
            if divergence <= 0.0 {
                return Verdict::Unclear;
            }
        }
        // A step into NaN is too long.
        match excess <= divergence / sum {
            true => Verdict::Good,
            false => Verdict::TooLong,
        }
    }
}
