//! Prints conversions and compositions of this crate on a grid, for comparison with other
//! implementations (`checks/dp_accounting`). One per line: kind, arguments, result.

use std::error::Error;

use dp::{
    Budget, Delta, Epsilon, LInfinity, Ledger, Neighbours, NoiseSource, NumberLine, PureDraws, Rho,
    Scores, SeedPath, Sensitivity, composition,
};

const DELTAS: [f64; 3] = [1e-2, 1e-5, 1e-9];

fn main() -> Result<(), Box<dyn Error>> {
    for delta in DELTAS {
        conversions(delta)?;
        for count in [1, 3, 10, 100] {
            compositions(count, delta)?;
        }
    }
    Ok(())
}

/// rho <-> (epsilon, delta), and the noise of a Gaussian draw.
fn conversions(delta: f64) -> Result<(), Box<dyn Error>> {
    let bound = Delta::new(delta)?;
    for rho in [1e-3, 0.01, 0.1, 0.5, 2.0, 10.0] {
        println!("rho-to-epsilon {rho} {delta} {}", Rho::new(rho)?.epsilon(bound)?.get());
    }
    for epsilon in [0.05, 0.3, 1.0, 3.0, 10.0] {
        let total = Epsilon::new(epsilon)?;
        println!("epsilon-to-rho {epsilon} {delta} {}", Rho::implying(total, bound)?.get());
        let mut budget = Budget::new((total, bound), Neighbours::AddRemove);
        gaussian(&mut budget)?;
        println!("gaussian-sigma {epsilon} {delta} {}", last_scale(&budget.ledger()));
    }
    Ok(())
}

/// Several draws with their total epsilon at delta.
fn compositions(count: usize, delta: f64) -> Result<(), Box<dyn Error>> {
    let slack = Delta::new(delta)?;
    for epsilon in [0.01, 0.1, 0.5] {
        let each = Epsilon::new(epsilon)?;
        let total = composition::advanced(each, count, slack)?.get();
        println!("advanced {epsilon} {count} {delta} {total}");
        let parts = [
            PureDraws { epsilon: each, count },
            PureDraws { epsilon: Epsilon::new(epsilon / 3.0)?, count: 2 * count },
        ];
        let total = PureDraws::composed(&parts, slack)?.get();
        println!("advanced-two {epsilon} {count} {delta} {total}");
        let rho = Rho::new(Rho::of_pure(each)?.get() * count as f64)?;
        println!("pure-in-rho {epsilon} {count} {delta} {}", rho.epsilon(slack)?.get());
    }
    for rho in [1e-3, 0.05] {
        // Equal parts of a budget for one kind of draw, and for all three.
        let total = Rho::new(rho * count as f64)?.epsilon(slack)?.get();
        let one = |draw: fn(&mut Budget) -> Result<(), Box<dyn Error>>| {
            let mut budget = Budget::new(Rho::new(rho)?, Neighbours::AddRemove);
            draw(&mut budget)?;
            Ok::<f64, Box<dyn Error>>(last_scale(&budget.ledger()))
        };
        let temperature = one(select)?;
        println!("selections {temperature} {count} {delta} {total}");
        let (sigma, scale) = (one(gaussian)?, one(laplace)?);
        let total = Rho::new(3.0 * rho * count as f64)?.epsilon(slack)?.get();
        println!("mixed {sigma} {scale} {temperature} {count} {delta} {total}");
    }
    Ok(())
}

fn source() -> NoiseSource {
    NoiseSource::seeded(&SeedPath::new("example", "conversions"))
}

fn gaussian(budget: &mut Budget) -> Result<(), Box<dyn Error>> {
    let one = Sensitivity::new(1.0, Neighbours::AddRemove)?;
    budget.rest()?.gaussian("x", &[0.0], one, NumberLine::Continuous, &mut source())?;
    Ok(())
}

fn laplace(budget: &mut Budget) -> Result<(), Box<dyn Error>> {
    let one = Sensitivity::new(1.0, Neighbours::AddRemove)?;
    budget.rest()?.laplace("x", &[0.0], one, NumberLine::Continuous, &mut source())?;
    Ok(())
}

/// With sensitivity 1 of the scores.
fn select(budget: &mut Budget) -> Result<(), Box<dyn Error>> {
    let one = Sensitivity::<LInfinity>::new(1.0, Neighbours::AddRemove)?;
    budget.rest()?.select("x", &[0.0, 0.0], one, Scores::General, &mut source())?;
    Ok(())
}

fn last_scale(ledger: &Ledger) -> f64 {
    ledger.lines().last().map_or(f64::NAN, |line| line.entry.draw.scale)
}
