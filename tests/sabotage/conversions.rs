//! Conversions, composition and budgets against formulas that are written down here again, and the
//! exact privacy of Gaussian noise.

use dp::composition::{advanced, advanced_share};
use dp::{
    Budget, Delta, Epsilon, Guarantee, L1, Neighbours, NoiseSource, NumberLine, PureDraws, Rho,
    Scores, SeedPath, Sensitivity, Spacing,
};

use crate::ledger::keeps;
use crate::setup::DELTA;
use crate::statistics::normal;

/// The least epsilon over a fine grid of orders alpha: Canonne, Kamath, Steinke 2020, corollary 13.
pub(crate) fn epsilon_of_rho(rho: f64, delta: f64) -> f64 {
    let epsilon = |alpha: f64| {
        alpha * rho
            + ((1.0 / (alpha * delta)).ln() + (alpha - 1.0) * (1.0 - 1.0 / alpha).ln())
                / (alpha - 1.0)
    };
    let best = |low: f64, high: f64| {
        let order = |i: i32| 1.0 + (low + (high - low) * f64::from(i) / 400.0).exp();
        let best = (0..=400).min_by(|&i, &j| epsilon(order(i)).total_cmp(&epsilon(order(j))));
        (order(best.unwrap()) - 1.0).ln()
    };
    let (mut centre, mut width) = (0.0, 30.0);
    for _ in 0..4 {
        centre = best(centre - width, centre + width);
        width /= 100.0;
    }
    epsilon(1.0 + f64::exp(centre)).max(0.0)
}

/// The exact delta of Gaussian noise with this rho at epsilon (Balle and Wang 2018, theorem 8).
fn exact_delta(rho: f64, epsilon: f64) -> f64 {
    let mu = (2.0 * rho).sqrt();
    normal(mu / 2.0 - epsilon / mu) - epsilon.exp() * normal(-mu / 2.0 - epsilon / mu)
}

/// Conversions between rho, epsilon and (epsilon, delta).
pub(crate) fn conversions() -> Result<(), String> {
    for rho in [1e-4, 0.01, 0.1, 0.5, 2.0, 10.0] {
        for delta in [0.1, 1e-3, 1e-6, 1e-9] {
            let (of, at) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
            let claimed = of.epsilon(at).unwrap().get();
            let expected = epsilon_of_rho(rho, delta).min(rho + 2.0 * (rho * -delta.ln()).sqrt());
            if (claimed - expected).abs() > 1e-6 * expected + 1e-9 {
                return Err(format!("rho {rho}, delta {delta}: {claimed}, not {expected}"));
            }
            // The sum of two numbers of this size is computed with an error of 1e-12.
            if exact_delta(rho, claimed) > delta * (1.0 + 1e-6) + 1e-12 {
                return Err(format!("rho {rho}: Gaussian noise violates ({claimed}, {delta})"));
            }
            let standard = of.standard_epsilon(at).unwrap().get();
            if (standard / (rho + 2.0 * (rho * -delta.ln()).sqrt()) - 1.0).abs() > 1e-9 {
                return Err(format!("rho {rho}, delta {delta}: {standard} by the standard bound"));
            }
        }
        let epsilon = Epsilon::new((2.0 * rho).sqrt()).unwrap();
        let pure = Rho::of_pure(epsilon).unwrap().get();
        if (pure / rho - 1.0).abs() > 1e-9 {
            return Err(format!("a pure epsilon of {epsilon} costs {pure}, not {rho}"));
        }
    }
    Ok(())
}

/// Advanced composition: Dwork, Rothblum, Vadhan 2010.
pub(crate) fn composition() -> Result<(), String> {
    let differs = |found: f64, expected: f64| (found / expected - 1.0).abs() > 1e-9;
    for (epsilon, count, delta) in [(0.01, 1000, 1e-6), (0.5, 20, 1e-3), (1.5, 3, 0.01)] {
        let (each, slack) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
        let k = f64::from(count);
        let expected =
            epsilon * (2.0 * k * (1.0 / delta).ln()).sqrt() + k * epsilon * (epsilon.exp() - 1.0);
        let found = advanced(each, count as usize, slack).unwrap().get();
        let parts = [PureDraws { epsilon: each, count: count as usize }];
        let of_parts = PureDraws::composed(&parts, slack).unwrap().get();
        // Few draws cost their sum.
        if differs(found, expected) || differs(of_parts, expected.min(k * epsilon)) {
            return Err(format!("{count} of {epsilon}: {found} and {of_parts}, not {expected}"));
        }
        let total = Epsilon::new(expected).unwrap();
        let part = advanced_share(total, count as usize, slack).unwrap().get();
        if differs(part, epsilon) {
            return Err(format!("a part of {expected} is {part}, not {epsilon}"));
        }
    }
    Ok(())
}

/// Draws from budgets of all kinds: what their ledgers list costs at most the budget.
pub(crate) fn budgets() -> Result<(), String> {
    let rho = Rho::new(0.5).unwrap();
    // Pure requests until one is refused, each of which pays for noise.
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        for total in [Guarantee::from(Epsilon::new(1.0).unwrap()), rho.into()] {
            let mut budget = Budget::new(total, neighbours);
            let mut source = NoiseSource::seeded(&SeedPath::new("sabotage", "budgets"));
            let count = Sensitivity::<L1>::new(1.0, neighbours).unwrap();
            for place in 0..500 {
                let Ok(share) = budget.spend(Epsilon::new(0.2).unwrap()) else { break };
                // Some pay for two disjoint parts of the records.
                let parts = match place % 3 {
                    0 => share.parallel(2).unwrap(),
                    1 => share.split(3).unwrap(),
                    _ => vec![share],
                };
                for part in parts {
                    let relation = part.neighbours();
                    let count = Sensitivity::new(count.get(), relation).unwrap();
                    let line = NumberLine::Integers;
                    part.laplace("count", &[5.0], count, line, &mut source).unwrap();
                }
            }
            let epsilon = match total {
                Guarantee::Concentrated { rho } => epsilon_of_rho(rho.get(), DELTA),
                _ => 1.0,
            };
            keeps(&budget.ledger(), total, neighbours, epsilon * (1.0 + 1e-9))?;
        }
    }
    Ok(())
}

/// The change of real answers on their grid is at most the sensitivity in the ledger.
pub(crate) fn grid() -> Result<(), String> {
    let relation = Neighbours::Replace;
    let coarse = NumberLine::Grid(Spacing::power_of_two(-1).unwrap());
    // The answers on neighbouring tables are 1 apart in L1.
    let (one, other) = ([0.24, 0.24, 0.24, 0.24], [0.49, 0.49, 0.49, 0.49]);
    let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), relation);
    let mut source = NoiseSource::seeded(&SeedPath::new("sabotage", "grid"));
    let sensitivity = Sensitivity::<L1>::new(1.0, relation).unwrap();
    let share = budget.rest().unwrap();
    share.laplace("answers", &one, sensitivity, coarse, &mut source).unwrap();
    let listed = budget.ledger().lines()[0].entry.draw.sensitivity;
    let rounded = |x: f64| (2.0 * x).round_ties_even() / 2.0;
    let change: f64 = one.iter().zip(other).map(|(a, b)| (rounded(*a) - rounded(b)).abs()).sum();
    assert_eq!(change, 2.0);
    match change <= listed {
        true => Ok(()),
        false => Err(format!("rounded answers change by {change}, the ledger says {listed}")),
    }
}

/// Two sources from the operating system draw differently, and so do two choices of one source.
pub(crate) fn operating_system() -> Result<(), String> {
    let draw = || {
        let mut source = NoiseSource::from_operating_system().unwrap();
        let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove);
        let sensitivity = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
        let share = budget.rest().unwrap();
        // 64 bits: alike with a probability of 5e-20.
        share.select_many("coins", &[0.0; 2], sensitivity, Scores::General, 64, &mut source)
    };
    match draw().unwrap() != draw().unwrap() {
        true => Ok(()),
        false => Err("two sources draw the same".into()),
    }
}
