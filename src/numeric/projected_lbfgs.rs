//! Minimisation of smooth functions of nonnegative variables, by projected L-BFGS.

use std::collections::VecDeque;

use private_pgm::numeric::pointwise::dot;

/// The number of pairs of steps and gradient changes that are kept. Our choice: with ten, minima
/// are no better and take twice the time.
const MEMORY: usize = 5;
/// The share of the predicted decrease that a step must reach (Armijo).
const DECREASE: f64 = 1e-4;
/// A variable of at most this is fixed while its gradient is not negative.
const ACTIVE_BELOW: f64 = 1e-6;
/// The largest change of a variable by the first step, before the curvature is known.
const FIRST_MOVE: f64 = 0.1;
/// The largest number of halvings of a line search.
const HALVINGS: usize = 30;

/// When a descent stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentOptions {
    /// The smallest relative decrease of the value per step.
    pub decrease: f64,
    /// The largest number of steps.
    pub steps: usize,
}

/// The result of a descent.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    pub x: Vec<f64>,
    pub value: f64,
    /// The number of steps to `x`.
    pub steps: usize,
}

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
}

/// A local minimum over x >= 0. `evaluate(x, gradient)` returns the value, infinite where the
/// function is undefined, and writes the gradient.
///
/// Two-metric projection (Bertsekas, SIAM J. Control Optim. 20, 1982) with the metric of L-BFGS:
/// variables at 0 with a nonnegative gradient are fixed, the others take a quasi-Newton direction,
/// and the step, projected onto x >= 0, is halved until it satisfies the Armijo condition.
pub fn minimise_nonnegative(
    start: Vec<f64>,
    options: DescentOptions,
    mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Minimum {
    let mut x = start;
    let mut gradient = vec![0.0; x.len()];
    let mut value = evaluate(&x, &mut gradient);
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let (mut moved, mut moved_gradient) = (x.clone(), gradient.clone());
    for done in 0..options.steps {
        let is_free = |(&x, &g): (&f64, &f64)| f64::from(u8::from(x > ACTIVE_BELOW || g < 0.0));
        let free: Vec<f64> = x.iter().zip(&gradient).map(is_free).collect();
        let mut direction = descent(&pairs, &gradient, &free);
        if dot(&gradient, &direction) >= 0.0 {
            pairs.clear();
            direction = descent(&pairs, &gradient, &free);
        }
        let mut length = 1.0;
        let mut reached = None;
        for _ in 0..HALVINGS {
            for ((moved, &x), &d) in moved.iter_mut().zip(&x).zip(&direction) {
                *moved = (x + length * d).max(0.0);
            }
            let candidate = evaluate(&moved, &mut moved_gradient);
            let predicted: f64 =
                gradient.iter().zip(&moved).zip(&x).map(|((g, moved), x)| g * (moved - x)).sum();
            if candidate.is_finite() && candidate <= value + DECREASE * predicted {
                reached = Some(candidate);
                break;
            }
            length *= 0.5;
        }
        let Some(reached) = reached else {
            return Minimum { x, value, steps: done };
        };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let pair =
            Pair { step: difference(&moved, &x), change: difference(&moved_gradient, &gradient) };
        if dot(&pair.step, &pair.change) > 0.0 {
            pairs.push_back(pair);
            if pairs.len() > MEMORY {
                pairs.pop_front();
            }
        }
        std::mem::swap(&mut x, &mut moved);
        std::mem::swap(&mut gradient, &mut moved_gradient);
        let decrease = value - reached;
        value = reached;
        if decrease <= options.decrease * value.abs() {
            return Minimum { x, value, steps: done + 1 };
        }
    }
    Minimum { x, value, steps: options.steps }
}

/// The quasi-Newton direction of the free variables (1 in `free`): minus their gradient times the
/// inverse Hessian that the pairs approximate (two-loop recursion; Nocedal and Wright, Algorithm
/// 7.4). 0 for fixed variables (0 in `free`).
fn descent(pairs: &VecDeque<Pair>, gradient: &[f64], free: &[f64]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().zip(free).map(|(g, free)| -g * free).collect();
    // The pairs restricted to the free variables, without those of negative curvature.
    let mut masked = vec![0.0; free.len()];
    let mut free_dot = |a: &[f64], b: &[f64]| {
        masked.iter_mut().zip(a).zip(free).for_each(|((m, a), free)| *m = a * free);
        dot(&masked, b)
    };
    let curved: Vec<(&Pair, f64)> = pairs
        .iter()
        .map(|pair| (pair, free_dot(&pair.step, &pair.change)))
        .filter(|pair| pair.1 > 0.0)
        .collect();
    let add_free = |direction: &mut [f64], weight: f64, source: &[f64]| {
        let cells = direction.iter_mut().zip(source).zip(free);
        cells.for_each(|((d, s), free)| *d += weight * s * free);
    };
    let mut shares = Vec::with_capacity(curved.len());
    for (pair, inner) in curved.iter().rev() {
        let share = dot(&pair.step, &direction) / inner;
        add_free(&mut direction, -share, &pair.change);
        shares.push(share);
    }
    let scale = match curved.last() {
        Some((pair, inner)) => inner / free_dot(&pair.change, &pair.change),
        None => {
            let largest = direction.iter().fold(0.0f64, |largest, d| largest.max(d.abs()));
            if largest > 0.0 { FIRST_MOVE / largest } else { 0.0 }
        }
    };
    direction.iter_mut().for_each(|d| *d *= scale);
    for ((pair, inner), share) in curved.iter().zip(shares.into_iter().rev()) {
        let correction = share - dot(&pair.change, &direction) / inner;
        add_free(&mut direction, correction, &pair.step);
    }
    direction
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::numeric::pointwise::add_scaled;
    use proptest::prelude::*;

    const TIGHT: DescentOptions = DescentOptions { decrease: 0.0, steps: 2000 };

    proptest! {
        /// The Karush-Kuhn-Tucker conditions: no gradient is negative, and those of positive
        /// variables are 0.
        #[test]
        fn minima_of_convex_quadratics_satisfy_the_kkt_conditions(
            (size, entries, target) in (1usize..6).prop_flat_map(|size| (
                Just(size),
                prop::collection::vec(-1.0..1.0f64, size * size),
                prop::collection::vec(-2.0..2.0f64, size),
            )),
        ) {
            // |M x - t|^2 / 2 + |x|^2 / 20.
            let quadratic = |x: &[f64], gradient: &mut [f64]| {
                gradient.copy_from_slice(x);
                gradient.iter_mut().for_each(|g| *g *= 0.1);
                let mut value = 0.05 * dot(x, x);
                for (row, t) in entries.chunks_exact(size).zip(&target) {
                    let residual = dot(row, x) - t;
                    value += 0.5 * residual * residual;
                    add_scaled(residual, row, gradient);
                }
                value
            };
            let found = minimise_nonnegative(vec![1.0; size], TIGHT, quadratic);
            let mut gradient = vec![0.0; size];
            prop_assert_eq!(quadratic(&found.x, &mut gradient), found.value);
            for (&x, &g) in found.x.iter().zip(&gradient) {
                prop_assert!(x >= 0.0 && g > -1e-5 && (x * g).abs() < 1e-5, "{} {}", x, g);
            }
        }
    }

    #[test]
    fn the_minimum_of_rosenbrocks_function_is_found() {
        let rosenbrock = |x: &[f64], gradient: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * b * x[0];
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };
        let found = minimise_nonnegative(vec![0.0, 2.0], TIGHT, rosenbrock);
        assert!((found.x[0] - 1.0).abs() < 1e-6 && (found.x[1] - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn steps_into_undefined_points_are_shortened() {
        let barrier = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 10.0 / (1.0 - x[0]) - 100.0;
            if x[0] < 1.0 { -10.0 * (1.0 - x[0]).ln() - 100.0 * x[0] } else { f64::INFINITY }
        };
        let found = minimise_nonnegative(vec![0.5], TIGHT, barrier);
        assert!((found.x[0] - 0.9).abs() < 1e-6, "{found:?}");
    }
}
