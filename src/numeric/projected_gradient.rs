//! Minimisation of smooth functions over a convex set, by spectral projected gradients.

use std::collections::VecDeque;

use super::projected_lbfgs::{DescentOptions, Minimum};
use private_pgm::numeric::pointwise::{add_scaled, dot};

/// The number of recent values, the largest of which a step must improve on. The value may thus
/// rise now and then, which allows long steps. The authors' choice.
const RECENT: usize = 10;
/// The share of the predicted decrease that a step must reach (Armijo).
const DECREASE: f64 = 1e-4;
/// The largest number of halvings of a line search.
const HALVINGS: usize = 30;
/// Bounds on the largest change of an entry by a step, before projection. Our choice: for longer
/// steps, rounding would decide the result of the projection.
const MOVES: (f64, f64) = (1e-10, 1e6);

/// A local minimum over the convex set onto which `project` projects. `evaluate(x, gradient)`
/// returns the value and writes the gradient. Iterations end when the last `RECENT` steps together
/// have lowered the best value by at most `options.decrease` of it.
///
/// Spectral projected gradients (Birgin, Martinez, Raydan, SIAM J. Optim. 10, 2000). The step
/// length is <s, s> / <s, y> with s the previous step and y the change of the gradient along it
/// (Barzilai and Borwein), with a nonmonotone line search.
pub fn minimise_over(
    start: Vec<f64>,
    options: DescentOptions,
    mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut project: impl FnMut(&mut [f64]),
) -> Minimum {
    let mut x = start;
    project(&mut x);
    let (mut gradient, mut next_gradient) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let mut value = evaluate(&x, &mut gradient);
    let mut best = Minimum { x: x.clone(), value, steps: 0 };
    let mut recent = VecDeque::from([value]);
    let mut bests = VecDeque::from([value]);
    let (mut target, mut moved) = (x.clone(), x.clone());
    let mut length = 0.0;
    for done in 1..=options.steps {
        let steepest = gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
        let moves = if done == 1 { 1.0 } else { (length * steepest).clamp(MOVES.0, MOVES.1) };
        length = moves / steepest.max(f64::MIN_POSITIVE);
        target.copy_from_slice(&x);
        add_scaled(-length, &gradient, &mut target);
        project(&mut target);
        add_scaled(-1.0, &x, &mut target);
        let direction = &target;
        let slope = dot(&gradient, direction);
        if slope >= 0.0 || !slope.is_finite() {
            break;
        }
        let reference = recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let accepted = (0..HALVINGS).find_map(|halvings| {
            let part = 0.5f64.powi(halvings as i32);
            moved.copy_from_slice(&x);
            add_scaled(part, direction, &mut moved);
            let found = evaluate(&moved, &mut next_gradient);
            (found <= reference + DECREASE * part * slope).then_some(found)
        });
        let Some(found) = accepted else { break };
        let (mut along, mut curvature) = (0.0, 0.0);
        for i in 0..x.len() {
            let step = moved[i] - x[i];
            along += step * step;
            curvature += step * (next_gradient[i] - gradient[i]);
        }
        length = if curvature > 0.0 { along / curvature } else { f64::INFINITY };
        std::mem::swap(&mut x, &mut moved);
        std::mem::swap(&mut gradient, &mut next_gradient);
        value = found;
        if value < best.value {
            best = Minimum { x: x.clone(), value, steps: done };
        }
        recent.push_back(value);
        bests.push_back(best.value);
        if recent.len() > RECENT {
            recent.pop_front();
        }
        if bests.len() > RECENT {
            let before = bests.pop_front().unwrap_or(best.value);
            if before - best.value <= options.decrease * best.value.abs() {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |x - c|^2 under different weights, over a box: each entry alone goes to its bound.
    #[test]
    fn a_separable_quadratic_ends_at_its_bounds() {
        let (weights, centres) = ([1.0, 10.0, 100.0, 1000.0], [-3.0, 0.25, 0.5, 7.0]);
        let evaluate = |x: &[f64], gradient: &mut [f64]| {
            (0..4).fold(0.0, |sum, i| {
                let away = x[i] - centres[i];
                gradient[i] = 2.0 * weights[i] * away;
                sum + weights[i] * away * away
            })
        };
        let options = DescentOptions { decrease: 1e-14, steps: 500 };
        let project = |x: &mut [f64]| x.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
        let found = minimise_over(vec![0.9; 4], options, evaluate, project);
        let expected = [-1.0, 0.25, 0.5, 1.0];
        assert!(found.x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn a_minimum_is_returned_without_a_step() {
        let evaluate = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 2.0 * x[0];
            x[0] * x[0]
        };
        let options = DescentOptions { decrease: 1e-9, steps: 10 };
        let found = minimise_over(vec![0.0], options, evaluate, |_| {});
        assert_eq!(found, Minimum { x: vec![0.0], value: 0.0, steps: 0 });
    }
}
