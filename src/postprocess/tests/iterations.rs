use std::time::Instant;

use super::{generator, noise};
use crate::postprocess::admm::{Residuals, Settings, StopReason, Tolerance};
use crate::postprocess::histogram;
use crate::postprocess::htree::HTree;
use crate::postprocess::proximal::Objective;
use crate::postprocess::strategy::Strategy;
use crate::postprocess::tree::Tree;
use private_pgm::numeric::matrix::Matrix;

/// 64 mostly empty bins and the noise on their tree, times a factor.
fn noisy_tree(factor: f64) -> (HTree, Vec<f64>) {
    let tree = Tree::new(2, 64).unwrap();
    let counts: Vec<f64> = (0..64).map(|bin| if bin % 9 == 0 { 30.0 } else { 0.0 }).collect();
    let mut rng = generator(11);
    let noisy = tree.sums(&counts).iter().map(|c| factor * (c + noise(&mut rng, 20.0))).collect();
    (HTree::new(tree), noisy)
}

#[test]
fn pure_distances_take_the_same_iterations_in_any_unit_of_the_answers() {
    // Powers of 2 scale without rounding.
    let (stddev, factor) = (32.0, 1024.0);
    for alpha in [0.0, 1.0] {
        let objective = Objective::new(alpha).unwrap();
        let of = |factor: f64| {
            let (htree, noisy) = noisy_tree(factor);
            let settings = Settings::suited(alpha, factor * stddev);
            histogram::estimate(&htree, &noisy, objective, &settings).unwrap()
        };
        let (one, other) = (of(1.0), of(factor));
        assert!(one.residuals.converged() && other.residuals.converged());
        assert_eq!(one.iterations, other.iterations, "alpha {alpha}");
        let scaled: Vec<f64> = one.counts.iter().map(|bin| bin * factor).collect();
        assert_eq!(scaled, other.counts, "alpha {alpha}");
        // Slopes of L1 have no unit, and those of squares have that of the answers.
        let slope = factor.powf(1.0 - alpha);
        assert_eq!(one.residuals.dual * slope, other.residuals.dual, "alpha {alpha}");
    }
}

#[test]
fn tolerances_are_fractions_of_the_noise_and_of_the_slope_at_the_noise() {
    assert_eq!(Tolerance::relative(0.5, 0.0, 8.0), Tolerance { primal: 4.0, dual: 8.0 });
    assert_eq!(Tolerance::relative(0.5, 1.0, 8.0), Tolerance { primal: 4.0, dual: 0.5 });
    // 3/4 + 2 * 1/4 * 8.
    assert_eq!(Tolerance::relative(0.5, 0.75, 8.0), Tolerance { primal: 4.0, dual: 2.375 });
}

#[test]
fn dual_residuals_are_measured_on_the_image_of_a_map() {
    // The count times three is measured as 10. From x = 0 and u = 0: z_1 = argmin (z - 10)^2 + z^2
    // = 5 and z_2 = 0, so x = argmin (3 x - 5)^2 + x^2 = 1.5.
    let mut a = Matrix::zeros(1, 1);
    a[(0, 0)] = 3.0;
    let objective = Objective::new(0.0).unwrap();
    let settings = Settings { rho: 2.0, iterations: 1, ..Settings::default() };
    let found = Strategy::new(a).unwrap().estimate(&[10.0], objective, &settings).unwrap();
    let expected =
        Residuals { primal: vec![0.5, 1.5], dual: 9.0, stop_reason: StopReason::Iterations };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(found.residuals.primal.iter().zip(&expected.primal).all(|(a, b)| close(*a, *b)));
    assert!(close(found.residuals.dual, expected.dual), "{}", found.residuals);
    assert_eq!(found.residuals.stop_reason, expected.stop_reason);
}

#[test]
fn iterations_stop_at_the_deadline() {
    let (htree, noisy) = noisy_tree(1.0);
    let objective = Objective::new(0.9).unwrap();
    let settings = Settings { deadline: Some(Instant::now()), ..Settings::default() };
    let found = histogram::estimate(&htree, &noisy, objective, &settings).unwrap();
    assert_eq!((found.iterations, found.residuals.stop_reason), (1, StopReason::Deadline));
    assert!(!found.residuals.converged());
}

#[test]
fn rho_selects_among_the_optima_of_pure_l1_and_does_not_change_their_value() {
    let (htree, noisy) = noisy_tree(1.0);
    let value = |bins: &[f64]| -> f64 {
        let sums = htree.tree().sums(bins);
        sums.iter().zip(&noisy).map(|(sum, y)| (sum - y).abs()).sum()
    };
    let tolerance = Tolerance { primal: 1e-10, dual: 1e-10 };
    let found = [0.02, 0.2, 2.0, 20.0].map(|rho| {
        let settings = Settings { rho, tolerance, iterations: 1_000_000, deadline: None };
        let objective = Objective::new(1.0).unwrap();
        let found = histogram::estimate(&htree, &noisy, objective, &settings).unwrap();
        assert!(found.residuals.converged(), "rho {rho}: {}", found.residuals);
        found.counts
    });
    let best = value(&found[0]);
    for other in &found[1..] {
        assert!((value(other) - best).abs() < 1e-6, "{} and {best}", value(other));
        let apart = found[0].iter().zip(other).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) > 10.0);
    }
}
