//! Mironov's attack on the low bits ("On significance of the least significant bits for
//! differential privacy", 2012), mounted against the textbook sampler and against the grid.
//!
//! The sampler is public. The attacker sees one noisy answer y and asks whether it can have come
//! from a given true answer at all. Where it can have come from only one of two neighbours, the
//! privacy loss is infinite, whatever the epsilon.

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

/// Whether the textbook sampler can turn `answer` into `y`: whether one of the uniform numbers
/// around the only possible place gives it.
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

/// Whether the grid can turn `answer` into `y`: noise takes every multiple of the spacing.
fn reachable_on_grid(y: f64, answer: f64, g: f64) -> bool {
    ((y / g) - (answer / g).round_ties_even()).fract() == 0.0
}

#[test]
fn the_low_bits_betray_the_textbook_sampler() {
    let trials = 1000;
    let mut betrayed = 0u64;
    for trial in 0..trials {
        for (answer, neighbour) in [(0.0, 1.0), (1.0, 0.0)] {
            let (y, scale) = release(answer, NumberLine::Continuous, trial);
            assert!(
                reachable_in_floats(y, answer, scale),
                "the attacker never errs about the truth"
            );
            betrayed += u64::from(!reachable_in_floats(y, neighbour, scale));
        }
    }
    // Certainty about one release in a hundred would already be no privacy; it is the majority.
    assert!(betrayed > trials, "{betrayed} of {}", 2 * trials);
}

#[test]
fn the_low_bits_of_the_grid_say_nothing() {
    let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::AddRemove).unwrap();
    let spacing = Spacing::fine(sensitivity, 1).unwrap();
    // Answers that lie between the points of the grid.
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
    // Nor are some low bits likelier: the noise spans a million grid points.
    for residues in residues {
        super::frequencies::assert_frequencies(&residues, &[1.0 / 11.0; 11]);
    }
}
