use std::collections::VecDeque;

use super::{ConvergenceMonitor, Iterate, Objective, Optimiser, Outcome, Reason};
use crate::factor::{CliqueVector, Potentials};
use crate::numeric::pointwise::{add_scaled, dot};

/// Direct optimisation: quasi-Newton steps (L-BFGS) on L(mu(theta)) as a function of theta.
///
/// The derivative by theta is J g, with g = grad L(mu) and J the Jacobian of mu(theta), which is
/// the covariance of the model and symmetric. So J g is also the change of mu when theta moves
/// along g, and two calls of the oracle give it by a central difference, to some nine digits.
///
/// The function is not convex in theta, and when the optimum is on the boundary of the marginal
/// polytope it has no minimiser; the paper found the method no better than mirror descent
/// (supplement A.3), and so do we. It is here to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lbfgs {
    /// How many pairs of steps and gradient changes are kept.
    pub memory: usize,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Self { memory: 10 }
    }
}

/// How far the largest potential moves in a central difference.
const DIFFERENCE: f64 = 1e-4;
/// The share of the predicted decrease that a step must reach (Armijo).
const DECREASE: f64 = 1e-4;
/// The largest move of a potential in the first step, before anything is known of the curvature.
const FIRST_MOVE: f64 = 1.0;
const HALVINGS: usize = 40;

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inner: f64,
}

impl Optimiser for Lbfgs {
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        monitor: &mut ConvergenceMonitor<'_>,
    ) -> Outcome {
        let mut now = objective.evaluate(start);
        let mut slope = CliqueVector::zeros(objective.layout());
        let mut value = objective.loss.value_and_gradient(&now.marginals, &mut slope);
        let mut gradient = through_oracle(objective, &now, &slope, monitor);
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        loop {
            let mut direction = descent(&pairs, &gradient);
            let mut decrease = -dot(&gradient, &direction);
            if decrease <= 0.0 {
                pairs.clear();
                direction = descent(&pairs, &gradient);
                decrease = -dot(&gradient, &direction);
            }
            let mut length = 1.0;
            let mut next = None;
            for _ in 0..HALVINGS {
                let mut potentials = now.potentials.clone();
                add_scaled(length, &direction, potentials.values_mut());
                let candidate = objective.evaluate(potentials);
                let reached = objective.loss.value_and_gradient(&candidate.marginals, &mut slope);
                if reached <= value - DECREASE * length * decrease && candidate.log_z.is_finite() {
                    next = Some((candidate, reached));
                    break;
                }
                if let Some(reason) = monitor.record_rejected() {
                    return monitor.finish(objective, now, reason);
                }
                length *= 0.5;
            }
            let Some((candidate, reached)) = next else {
                return monitor.finish(objective, now, Reason::Stalled);
            };
            (now, value) = (candidate, reached);
            if let Some(reason) = monitor.record_accepted(objective, &now, || &now.marginals) {
                return monitor.finish(objective, now, reason);
            }
            let new = through_oracle(objective, &now, &slope, monitor);
            let step: Vec<f64> = direction.iter().map(|d| length * d).collect();
            let change: Vec<f64> = new.iter().zip(&gradient).map(|(new, old)| new - old).collect();
            let inner = dot(&step, &change);
            if inner > 0.0 {
                pairs.push_back(Pair { step, change, inner });
                if pairs.len() > self.memory {
                    pairs.pop_front();
                }
            }
            gradient = new;
        }
    }
}

/// The derivative of the loss by the potentials.
fn through_oracle(
    objective: &mut Objective<'_>,
    at: &Iterate,
    slope: &CliqueVector,
    monitor: &mut ConvergenceMonitor<'_>,
) -> Vec<f64> {
    let largest = slope.values().iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
    if largest == 0.0 {
        return vec![0.0; slope.values().len()];
    }
    let h = DIFFERENCE / largest;
    let mut ends = [h, -h].map(|h| {
        monitor.record_rejected();
        let mut moved = at.potentials.clone();
        add_scaled(h, slope.values(), moved.values_mut());
        objective.evaluate(moved).marginals
    });
    let [above, below] = &mut ends;
    add_scaled(-1.0, below.values(), above.values_mut());
    above.values().iter().map(|difference| difference / (2.0 * h)).collect()
}

/// Minus the gradient, times what the pairs say about the inverse of the Hessian (two-loop
/// recursion; Nocedal and Wright, Algorithm 7.4).
fn descent(pairs: &VecDeque<Pair>, gradient: &[f64]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let share = dot(&pair.step, &direction) / pair.inner;
        add_scaled(-share, &pair.change, &mut direction);
        shares.push(share);
    }
    let scale = match pairs.back() {
        Some(pair) => pair.inner / dot(&pair.change, &pair.change),
        None => {
            let largest = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
            if largest > 0.0 { FIRST_MOVE / largest } else { 0.0 }
        }
    };
    direction.iter_mut().for_each(|d| *d *= scale);
    for (pair, share) in pairs.iter().zip(shares.into_iter().rev()) {
        let correction = share - dot(&pair.change, &direction) / pair.inner;
        add_scaled(correction, &pair.step, &mut direction);
    }
    direction
}
