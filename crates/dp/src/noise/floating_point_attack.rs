//! The attack on the low bits of noisy answers (Mironov, "On significance of the least significant
//! bits for differential privacy", 2012), against the floating-point sampler and against the grid.
//!
//! The sampler is public. The attacker sees one noisy answer y and tests whether a given true
//! answer can produce it. If only one of two neighbours can, the privacy loss is infinite for every
//! epsilon.

use crate::*;

/// One noisy answer with epsilon = 0.3, and the public scale of its noise.
fn release(answer: f64, line: NumberLine, trial: u64) -> (f64, f64) {
    let mut budget = Budget::new(Epsilon::new(0.3).unwrap(), Neighbours::AddRemove);
    let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::AddRemove).unwrap();
    let mut source = NoiseSource::seeded(&SeedPath::new("attack", trial));
    let share = budget.rest().unwrap();
    let noisy = share.laplace("y", &[answer], sensitivity, line, &mut source).unwrap();
    (noisy.values[0], noisy.scale)
}

/// Whether the floating-point sampler can turn `answer` into `y`: whether a uniform number near the
/// only candidate does.
fn reachable_in_floats(y: f64, answer: f64, scale: f64) -> bool {
    let unit = (1u64 << 53) as f64;
    let guess = ((-(y - answer).abs() / scale).exp() * unit) as i64;
    // The guess is off by a few roundings of its own and of y, each a unit or two.
    (-64..=64).any(|step| {
        let u = ((guess + step) as f64 + 0.5) / unit;
        let magnitude = -u.ln() * scale;
        u > 0.0 && u < 1.0 && (answer + magnitude == y || answer - magnitude == y)
    })
}

/// Whether noise on the grid can turn `answer` into `y`: it takes every multiple of the spacing.
fn reachable_on_grid(y: f64, answer: f64, g: f64) -> bool {
    ((y / g) - (answer / g).round_ties_even()).fract() == 0.0
}

#[test]
fn the_low_bits_of_floating_point_noise_reveal_the_answer() {
    let trials = 1000;
    let mut revealed = 0u64;
    for trial in 0..trials {
        for (answer, neighbour) in [(0.0, 1.0), (1.0, 0.0)] {
            let (y, scale) = release(answer, NumberLine::Continuous, trial);
            assert!(
                reachable_in_floats(y, answer, scale),
                "the attacker never rejects the true answer"
            );
            revealed += u64::from(!reachable_in_floats(y, neighbour, scale));
        }
    }
    // The attacker is certain about the majority of the releases.
    assert!(revealed > trials, "{revealed} of {}", 2 * trials);
}

#[test]
fn the_low_bits_of_noise_on_a_grid_are_uniform() {
    let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::AddRemove).unwrap();
    let spacing = Spacing::fine(sensitivity, 1).unwrap();
    // Answers between grid points.
    let (one, other) = (1.0 / 3.0, 4.0 / 3.0);
    let mut residues = [vec![0; 11], vec![0; 11]];
    for trial in 0..4000 {
        for (answer, residues) in [one, other].into_iter().zip(&mut residues) {
            let (y, _) = release(answer, NumberLine::Grid(spacing), trial);
            assert!(reachable_on_grid(y, one, spacing.get()));
            assert!(reachable_on_grid(y, other, spacing.get()));
            residues[(y / spacing.get()).rem_euclid(11.0) as usize] += 1;
        }
    }
    // All low bits are equally likely: the noise spans a million grid points.
    for residues in residues {
        super::frequencies::assert_frequencies(&residues, &[1.0 / 11.0; 11]);
    }
}
