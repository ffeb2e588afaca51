//! Our exact samplers beside OpenDP's: equally many draws from both, and a test whether the counts
//! can have come from one distribution.
//!
//! OpenDP draws from the operating system, so that no two runs are alike. A false alarm happens
//! once in a million comparisons.

#![cfg(test)]

use dashu::integer::IBig;
use dashu::rational::RBig;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use dp::{
    Budget, Epsilon, Neighbours, NoiseSource, NumberLine, Rho, SeedPath, Sensitivity,
};

const DRAWS: usize = 100_000;
const FALSE_ALARM: f64 = 1e-6;

/// Noise of a scale, ours and theirs.
struct Sampler {
    ours: fn(f64, &mut NoiseSource) -> Vec<f64>,
    theirs: fn(RBig) -> IBig,
}

const LAPLACE: Sampler = Sampler {
    ours: |scale, source| {
        let mut budget = Budget::new(Epsilon::new(1.0 / scale).unwrap(), Neighbours::AddRemove);
        let one = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
        let zeros = vec![0.0; DRAWS];
        let share = budget.rest().unwrap();
        share.laplace("noise", &zeros, one, NumberLine::Integers, source).unwrap().values
    },
    theirs: |scale| sample_discrete_laplace(scale).unwrap(),
};

const GAUSSIAN: Sampler = Sampler {
    ours: |sigma, source| {
        let rho = Rho::new(0.5 / (sigma * sigma)).unwrap();
        let mut budget = Budget::new(rho, Neighbours::AddRemove);
        let one = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
        let zeros = vec![0.0; DRAWS];
        let share = budget.rest().unwrap();
        share.gaussian("noise", &zeros, one, NumberLine::Integers, source).unwrap().values
    },
    theirs: |sigma| sample_discrete_gaussian(sigma).unwrap(),
};

/// Compares the counts of 41 intervals of `width` integers, the outermost of which have no end.
fn compare(sampler: &Sampler, scale: f64, width: f64) {
    let place = |value: f64| (value / width).round().clamp(-20.0, 20.0) as i32 + 20;
    let mut counts = [[0.0; 2]; 41];
    let mut source = NoiseSource::seeded(&SeedPath::new("opendp", scale));
    for value in (sampler.ours)(scale, &mut source) {
        counts[place(value) as usize][0] += 1.0;
    }
    let exact = RBig::try_from(scale).unwrap();
    for _ in 0..DRAWS {
        let value: f64 = (sampler.theirs)(exact.clone()).to_f64().value();
        counts[place(value) as usize][1] += 1.0;
    }
    // Intervals that hardly anything falls into are joined with their neighbours.
    let mut joined: Vec<[f64; 2]> = Vec::new();
    let mut open = [0.0; 2];
    for [ours, theirs] in counts {
        open = [open[0] + ours, open[1] + theirs];
        if open[0] + open[1] >= 40.0 {
            joined.push(std::mem::take(&mut open));
        }
    }
    let last = joined.last_mut().unwrap();
    *last = [last[0] + open[0], last[1] + open[1]];
    // An even number of degrees of freedom has a tail in closed form.
    if joined.len() % 2 == 0 {
        let extra = joined.pop().unwrap();
        let last = joined.last_mut().unwrap();
        *last = [last[0] + extra[0], last[1] + extra[1]];
    }
    assert!(joined.len() >= 3, "too few intervals at scale {scale}: {joined:?}");
    let statistic: f64 = joined.iter().map(|[a, b]| (a - b).powi(2) / (a + b)).sum();
    let p = tail(statistic, joined.len() - 1);
    assert!(p > FALSE_ALARM, "scale {scale}: chi-squared {statistic}, p = {p:e}, {joined:?}");
}

/// P(X > statistic) for X chi-squared with an even number of degrees of freedom.
fn tail(statistic: f64, degrees: usize) -> f64 {
    let half = statistic / 2.0;
    let mut term = (-half).exp();
    let mut sum = term;
    for i in 1..degrees / 2 {
        term *= half / i as f64;
        sum += term;
    }
    sum
}

#[test]
fn laplace_noise_is_distributed_as_theirs() {
    for (scale, width) in [(0.5, 1.0), (1.0, 1.0), (3.75, 1.0), (40.0, 7.0), (1e6, 2e5)] {
        compare(&LAPLACE, scale, width);
    }
}

#[test]
fn gaussian_noise_is_distributed_as_theirs() {
    for (sigma, width) in [(0.5, 1.0), (1.0, 1.0), (4.5, 1.0), (60.0, 9.0), (1e6, 1.5e5)] {
        compare(&GAUSSIAN, sigma, width);
    }
}

#[test]
#[should_panic(expected = "chi-squared")]
fn a_scale_that_is_off_by_five_percent_is_found() {
    let wrong = Sampler {
        theirs: |scale| {
            sample_discrete_laplace(scale * RBig::from_parts(21.into(), 20u8.into())).unwrap()
        },
        ..LAPLACE
    };
    compare(&wrong, 40.0, 7.0);
}
