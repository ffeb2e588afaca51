//! Gradient steps of potentials in one pass, with the averaging that accompanies them.

use std::array;

use multiversion::multiversion;

use super::extremes::RunningExtremes;

/// The coefficients of a step on |omega - y|^2 / 2:
///
/// mu' = blend_0 mu + blend_1 nu, omega = weights_0 mu' + weights_1 nu, and
/// theta' = theta - length (omega - y).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceStep {
    /// The coefficients of mu and nu in mu'.
    pub blend: [f64; 2],
    /// The coefficients of mu' and nu in omega.
    pub weights: [f64; 2],
    /// The step length.
    pub length: f64,
}

impl DistanceStep {
    /// Replaces `mean` (mu) by mu' and `theta` by theta'. Potentials of minus infinity stay so.
    pub(crate) fn take(
        &self,
        mean: &mut [f64],
        nu: &[f64],
        y: &[f64],
        theta: &mut [f64],
    ) -> StepStats {
        take(self, mean, nu, y, theta)
    }

    /// mu', omega - y and theta' of W cells.
    #[inline(always)]
    fn cells<const W: usize>(
        &self,
        mean: [f64; W],
        nu: [f64; W],
        y: [f64; W],
        theta: [f64; W],
    ) -> [[f64; W]; 3] {
        let Self { blend, weights, length } = *self;
        let mean: [f64; W] = array::from_fn(|i| blend[0].mul_add(mean[i], blend[1] * nu[i]));
        let residual: [f64; W] =
            array::from_fn(|i| weights[0].mul_add(mean[i], weights[1].mul_add(nu[i], -y[i])));
        [mean, residual, array::from_fn(|i| (-length).mul_add(residual[i], theta[i]))]
    }
}

/// Statistics of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepStats {
    /// The smallest and the largest cell of theta'.
    pub(crate) extremes: [f64; 2],
    /// |omega - y|^2 for a [`DistanceStep`]; 0 for other steps.
    pub(crate) square: f64,
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn take(
    step: &DistanceStep,
    mean: &mut [f64],
    nu: &[f64],
    y: &[f64],
    theta: &mut [f64],
) -> StepStats {
    let n = theta.len();
    assert!(mean.len() == n && nu.len() == n && y.len() == n);
    let (means, mean_rest) = mean.as_chunks_mut::<8>();
    let (nus, nu_rest) = nu.as_chunks::<8>();
    let (ys, y_rest) = y.as_chunks::<8>();
    let (thetas, theta_rest) = theta.as_chunks_mut::<8>();
    let mut range = RunningExtremes::default();
    let mut squares = [0.0; 8];
    for (((mean, nu), y), theta) in means.iter_mut().zip(nus).zip(ys).zip(thetas) {
        // All loads precede all stores: with stores in between, compilers use half-width vectors.
        let [new_mean, residual, new_theta] = step.cells(*mean, *nu, *y, *theta);
        squares = array::from_fn(|i| residual[i].mul_add(residual[i], squares[i]));
        range.include(&new_theta);
        (*mean, *theta) = (new_mean, new_theta);
    }
    let mut square: f64 = squares.iter().sum();
    for (((mean, nu), y), theta) in
        mean_rest.iter_mut().zip(nu_rest).zip(y_rest).zip(&mut *theta_rest)
    {
        let [new_mean, [residual], new_theta] = step.cells([*mean], [*nu], [*y], [*theta]);
        square = residual.mul_add(residual, square);
        ([*mean], [*theta]) = (new_mean, new_theta);
    }
    StepStats { extremes: range.extremes(theta_rest), square }
}

/// theta' = theta - length * gradient. Potentials of minus infinity stay so.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(crate) fn gradient_step(length: f64, gradient: &[f64], theta: &mut [f64]) -> StepStats {
    assert_eq!(gradient.len(), theta.len());
    let (gradients, gradient_rest) = gradient.as_chunks::<8>();
    let (thetas, theta_rest) = theta.as_chunks_mut::<8>();
    let mut range = RunningExtremes::default();
    for (gradient, theta) in gradients.iter().zip(thetas) {
        for i in 0..8 {
            theta[i] = (-length).mul_add(gradient[i], theta[i]);
        }
        range.include(theta);
    }
    for (gradient, theta) in gradient_rest.iter().zip(&mut *theta_rest) {
        *theta = (-length).mul_add(*gradient, *theta);
    }
    StepStats { extremes: range.extremes(theta_rest), square: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::extremes::extremes;

    #[test]
    fn steps_agree_with_their_formulas() {
        for n in [1, 15, 16, 17, 1000] {
            let numbers = |salt: usize| -> Vec<f64> {
                (0..n).map(|i| ((i * 7 + salt) % 11) as f64 - 4.0).collect()
            };
            let (mean, nu, y, mut theta) = (numbers(1), numbers(3), numbers(4), numbers(5));
            theta[n / 2] = f64::NEG_INFINITY;
            let step = DistanceStep { blend: [0.5, 0.25], weights: [0.75, 2.0], length: 0.5 };
            let (mut new_mean, mut new_theta) = (mean.clone(), theta.clone());
            let stepped = step.take(&mut new_mean, &nu, &y, &mut new_theta);
            assert_eq!(stepped.extremes, extremes(&new_theta, false));
            let mut square = 0.0;
            for i in 0..n {
                let expected = 0.5 * mean[i] + 0.25 * nu[i];
                assert_eq!(new_mean[i], expected);
                let omega = 0.75 * expected + 2.0 * nu[i];
                assert_eq!(new_theta[i], theta[i] - 0.5 * (omega - y[i]));
                square += (omega - y[i]) * (omega - y[i]);
            }
            // The numbers are multiples of 1/16, so that their sums are exact.
            assert_eq!(stepped.square, square);
            let mut moved = theta.clone();
            assert_eq!(gradient_step(2.0, &nu, &mut moved).extremes, extremes(&moved, false));
            assert!((0..n).all(|i| moved[i] == theta[i] - 2.0 * nu[i]));
        }
    }
}
