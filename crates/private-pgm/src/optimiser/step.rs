use std::sync::Arc;

use super::average::Average;
use super::{Iterate, Objective};
use crate::factor::{CliqueLayout, CliqueVector, Marginals, Potentials};
use crate::loss::Loss;
use crate::numeric::distance::distance_products;
use crate::numeric::pointwise::{add_scaled, combine, products_and_change};
use crate::numeric::step::DistanceStep;
use crate::oracle::{StepRequest, StepResult};

/// The outcome of the acceptance test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    /// The loss is within the bound.
    Accept,
    /// The loss is above the bound: the step is too long.
    Reject,
    /// The step is so short that rounding decides.
    Inconclusive,
}

/// Takes, tests and rolls back steps from theta to theta' = theta - a grad L(omega), with omega =
/// (A mu + a nu) / A', A' = A + a, mu an average of weight A, and nu the marginals of theta.
///
/// Mirror descent has A = 0; the accelerated method moves to mu' = omega + (a / A') (nu' - nu).
/// Holds the buffers of losses that are not plain distances.
pub(super) struct Stepper {
    averages: bool,
    general: Option<General>,
}

struct General {
    omega: Marginals,
    /// L and its gradient at omega.
    here: Slope,
    /// The same at nu', where the next step begins if nothing is averaged.
    ahead: Option<Slope>,
    known: Known,
}

struct Slope {
    value: f64,
    gradient: CliqueVector,
}

/// What is known of the next omega.
#[derive(Clone, Copy, Default)]
enum Known {
    #[default]
    Nothing,
    /// The step was rolled back, and the next one begins at the same point.
    Here,
    /// It was tested by the loss where it led.
    Ahead,
}

impl Slope {
    fn none(layout: &Arc<CliqueLayout>) -> Self {
        Self { value: 0.0, gradient: CliqueVector::zeros(layout) }
    }

    fn find(&mut self, loss: &mut dyn Loss, marginals: &Marginals) -> f64 {
        self.value = loss.value_and_gradient(marginals, &mut self.gradient);
        self.value
    }
}

/// The weights of mu and nu in omega.
fn weights(a: f64, average: &Average) -> [f64; 2] {
    let new = a / (average.weight() + a);
    [1.0 - new, new]
}

/// The weighted sum of a mean and nu, written to `place`. If nothing before nu counts, as in mirror
/// descent and at the beginning of an average, that is nu itself, and the mean is not computed.
fn weighted<'m>(
    [old, new]: [f64; 2],
    mean: impl FnOnce() -> &'m Marginals,
    nu: &'m Marginals,
    place: &'m mut Marginals,
    parallel: bool,
) -> &'m Marginals {
    if old == 0.0 {
        return nu;
    }
    combine(old, mean().values(), new, nu.values(), place.values_mut(), parallel);
    place
}

impl Stepper {
    /// For mirror descent, where nothing is ever added to the average.
    pub(super) fn plain() -> Self {
        Self { averages: false, general: None }
    }

    /// For methods that average.
    pub(super) fn averaging() -> Self {
        Self { averages: true, general: None }
    }

    /// Moves theta to theta' and nu to nu'. The average, if it has any weight, is settled, nu' not
    /// yet in it. Returns L(omega).
    pub(super) fn advance(
        &mut self,
        objective: &mut Objective<'_>,
        a: f64,
        average: &mut Average,
        iterate: &mut Iterate,
    ) -> f64 {
        let Iterate { potentials, marginals, log_z } = iterate;
        let value;
        (*log_z, value) = self.descend(objective, a, average, None, potentials, marginals);
        value
    }

    /// Moves theta to theta' and writes nu' to `next`, for a step that is to be tested: nu stays.
    /// Returns ln Z of theta', and L(omega). The average, if it has any weight, is settled.
    pub(super) fn propose(
        &mut self,
        objective: &mut Objective<'_>,
        a: f64,
        average: &mut Average,
        nu: &Marginals,
        theta: &mut Potentials,
        next: &mut Marginals,
    ) -> (f64, f64) {
        self.descend(objective, a, average, Some(nu), theta, next)
    }

    /// Hands the step to the oracle, which takes it within its own passes over memory. Without `nu`
    /// that is what `marginals` are before. Returns ln Z of theta', and L(omega).
    fn descend(
        &mut self,
        objective: &mut Objective<'_>,
        a: f64,
        average: &mut Average,
        nu: Option<&Marginals>,
        theta: &mut Potentials,
        marginals: &mut Marginals,
    ) -> (f64, f64) {
        let weights = weights(a, average);
        let weight = objective.loss.as_distance().map(|distance| distance.weight);
        let descent = if let Some(distance) = objective.loss.as_distance() {
            let blend = average.take_pending();
            StepRequest::Distance {
                step: DistanceStep { blend, weights, length: a * distance.weight },
                mean: average.values_mut(),
                y: distance.y,
                nu: nu.map(|nu| nu.values()),
            }
        } else {
            let gradient = self.gradient(objective, weights, average, nu.unwrap_or(&*marginals));
            StepRequest::Gradient { length: a, gradient: gradient.values() }
        };
        let StepResult { log_z, square } =
            objective.oracle.descend(descent, theta, objective.total, marginals);
        let general = || self.general.as_ref().map_or(f64::NAN, |general| general.here.value);
        (log_z, weight.map_or_else(general, |weight| 0.5 * weight * square))
    }

    /// Moves theta' back to theta. Nothing may have been added to the average.
    pub(super) fn roll_back(
        &mut self,
        objective: &mut Objective<'_>,
        a: f64,
        average: &mut Average,
        nu: &Marginals,
        theta: &mut Potentials,
    ) {
        if let Some(distance) = objective.loss.as_distance() {
            let (weights, blend) = (weights(a, average), average.take_pending());
            let step = DistanceStep { blend, weights, length: -a * distance.weight };
            step.take(average.values_mut(), nu.values(), distance.y, theta.values_mut());
        } else if let Some(general) = &mut self.general {
            add_scaled(a, general.here.gradient.values(), theta.values_mut());
            // Where nothing is averaged omega is nu, however long the step.
            general.known = if self.averages { Known::Nothing } else { Known::Here };
        }
    }

    /// Lets the oracle replace potentials that make it underflow, `exactly` before a check.
    pub(super) fn reparametrize(
        &mut self,
        objective: &mut Objective<'_>,
        iterate: &mut Iterate,
        exactly: bool,
    ) {
        if objective.reparametrize(iterate, exactly)
            && let Some(general) = &mut self.general
        {
            general.known = Known::Nothing;
        }
    }

    /// grad L(omega).
    fn gradient(
        &mut self,
        objective: &mut Objective<'_>,
        weights: [f64; 2],
        average: &mut Average,
        nu: &Marginals,
    ) -> &CliqueVector {
        let parallel = objective.oracle.is_parallel();
        let General { omega, here, ahead, known } = self.general.get_or_insert_with(|| General {
            omega: Marginals::zeros(nu.layout()),
            here: Slope::none(nu.layout()),
            ahead: None,
            known: Known::Nothing,
        });
        match (std::mem::take(known), ahead) {
            (Known::Here, _) => {}
            (Known::Ahead, Some(ahead)) => std::mem::swap(here, ahead),
            _ => {
                let omega = weighted(weights, || average.settle(nu, parallel), nu, omega, parallel);
                here.find(objective.loss, omega);
            }
        }
        &here.gradient
    }

    /// Whether L(mu') is at most L(omega) + <grad L(omega), mu' - omega> + D(nu', nu) / A', which
    /// is what the convergence of the method rests on. The step must have been
    /// [proposed](Self::propose) just before.
    pub(super) fn accepts(
        &mut self,
        objective: &mut Objective<'_>,
        a: f64,
        average: &Average,
        nu: &Marginals,
        [log_z, next_log_z]: [f64; 2],
        next: &Marginals,
    ) -> Acceptance {
        let parallel = objective.oracle.is_parallel();
        let weights @ [_, new] = weights(a, average);
        // <g, nu'>, <g, nu' - nu>, and what the linear part of L leaves over between omega and mu'.
        let (there, slope, excess);
        if let Some(distance) = objective.loss.as_distance() {
            let (points, y) = ([average.settled().values(), nu.values()], distance.y);
            let products = distance_products(weights, points, y, next.values(), parallel);
            let [next_product, slope_product, square] = products.map(|p| distance.weight * p);
            (there, slope, excess) = (next_product, slope_product, 0.5 * new * new * square);
        } else {
            let Some(General { omega, here, ahead, known }) = &mut self.general else {
                return Acceptance::Inconclusive;
            };
            let (gradient, change) = (here.gradient.values(), omega.values_mut());
            [there, slope] = products_and_change(gradient, next.values(), nu.values(), change);
            excess = match objective.loss.curvature(omega) {
                Some(curvature) => 0.5 * new * new * curvature,
                None => {
                    let next_value = if self.averages {
                        let mean = weighted(weights, || average.settled(), next, omega, parallel);
                        objective.loss.value(mean)
                    } else {
                        // Most steps are good, and then the next one needs the gradient here.
                        *known = Known::Ahead;
                        let ahead = ahead.get_or_insert_with(|| Slope::none(next.layout()));
                        ahead.find(objective.loss, next)
                    };
                    next_value - here.value - new * slope - 1e-14 * here.value.abs()
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
                return Acceptance::Inconclusive;
            }
        }
        // A step into NaN is too long.
        match excess <= divergence / (average.weight() + a) {
            true => Acceptance::Accept,
            false => Acceptance::Reject,
        }
    }
}
