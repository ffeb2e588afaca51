//! The ledger against the transcript and against the claim, with all costs computed here again.

use std::collections::BTreeMap;

use dp::transcript::Event;
use dp::{Draw, Entry, Guarantee, Ledger, Mechanism, Neighbours};

use crate::REFUSED;
use crate::setup::{DELTA, Run, Setup};

/// Relative tolerance for roundings.
const SLACK: f64 = 1e-9;

/// Releases from these counts a few times and verifies. An error is a finding.
pub(crate) fn verify(setup: &Setup, counts: &[u64]) -> Result<(), String> {
    let data = setup.shape.data(counts);
    for trial in 0..5 {
        let run = setup.run(&data, trial).map_err(|error| format!("{REFUSED}{error}"))?;
        lists_every_draw(&run)?;
        keeps(&run.ledger, setup.total(), setup.neighbours, setup.epsilon)?;
    }
    Ok(())
}

fn lists_every_draw(run: &Run) -> Result<(), String> {
    let drawn: Vec<(&Draw, Guarantee)> = run
        .events
        .iter()
        .filter_map(Event::handed)
        .map(|handed| (&handed.draw, handed.granted))
        .collect();
    let listed: Vec<(&Draw, Guarantee)> =
        run.ledger.lines().iter().map(|line| (&line.entry.draw, line.entry.granted)).collect();
    match drawn == listed {
        true => Ok(()),
        false => Err(format!("{} draws were made, {} are listed", drawn.len(), listed.len())),
    }
}

/// Whether the draws of a ledger cost at most `epsilon` (and [`DELTA`]), by its own verification
/// and by the formulas below.
pub(crate) fn keeps(
    ledger: &Ledger,
    total: Guarantee,
    neighbours: Neighbours,
    epsilon: f64,
) -> Result<(), String> {
    let stated = ledger.verify(total).map_err(|error| error.to_string())?;
    let lines = ledger.lines().iter().map(|line| &line.entry);
    let (sum, epsilon_found) = match total {
        Guarantee::Concentrated { .. } => {
            let rho = composed(lines, neighbours, rho_of, 4.0);
            (rho, epsilon_of_rho(rho))
        }
        Guarantee::Pure { .. } => {
            let sum = composed(lines, neighbours, epsilon_of, 2.0);
            (sum, sum)
        }
        Guarantee::Approximate { .. } => {
            let sum = approximate(lines.collect());
            (sum, sum)
        }
    };
    let stated = match stated {
        Some(Guarantee::Concentrated { rho }) => rho.get(),
        Some(Guarantee::Pure { epsilon } | Guarantee::Approximate { epsilon, .. }) => epsilon.get(),
        None => 0.0,
    };
    if sum > stated * (1.0 + SLACK) {
        return Err(format!("the draws cost {sum:.4}, the ledger states {stated:.4}"));
    }
    match epsilon_found <= epsilon * (1.0 + SLACK) {
        true => Ok(()),
        false => Err(format!("epsilon is {epsilon_found:.4}, and the claim {epsilon}")),
    }
}

/// Sums over sequential draws, and the largest part of each division; twice (or four times) that if
/// a record may move from one part to another.
fn composed<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    neighbours: Neighbours,
    cost: fn(&Draw) -> f64,
    moved: f64,
) -> f64 {
    let mut sum = 0.0;
    let mut divisions: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    for entry in entries {
        match entry.path[..] {
            [] => sum += cost(&entry.draw),
            [branch] => {
                let parts = divisions.entry(branch.division).or_default();
                *parts.entry(branch.part).or_default() += cost(&entry.draw);
            }
            _ => unreachable!("no mechanism divides a part again"),
        }
    }
    let factor = if neighbours == Neighbours::Replace { moved } else { 1.0 };
    let largest =
        divisions.values().map(|parts| parts.values().copied().fold(0.0, f64::max) * factor);
    sum + largest.sum::<f64>()
}

/// The epsilon of one selection or of all noise of a draw.
fn epsilon_of_one(draw: &Draw) -> f64 {
    match draw.mechanism {
        Mechanism::DiscreteLaplace => draw.sensitivity / draw.scale,
        Mechanism::Exponential => 2.0 * draw.sensitivity / draw.scale,
        Mechanism::MonotoneExponential => draw.sensitivity / draw.scale,
        other => unreachable!("{other:?} in a pure budget"),
    }
}

fn epsilon_of(draw: &Draw) -> f64 {
    match draw.mechanism {
        Mechanism::DiscreteLaplace => epsilon_of_one(draw),
        _ => draw.values as f64 * epsilon_of_one(draw),
    }
}

fn rho_of(draw: &Draw) -> f64 {
    match draw.mechanism {
        Mechanism::DiscreteGaussian => (draw.sensitivity / draw.scale).powi(2) / 2.0,
        Mechanism::DiscreteLaplace => epsilon_of_one(draw).powi(2) / 2.0,
        _ => draw.values as f64 * epsilon_of_one(draw).powi(2) / 8.0,
    }
}

/// Gaussian noise alone, or pure draws by advanced composition or by their sum.
fn approximate(entries: Vec<&Entry>) -> f64 {
    let is_gaussian = |entry: &&&Entry| entry.draw.mechanism == Mechanism::DiscreteGaussian;
    let gaussian = entries.iter().filter(is_gaussian).count();
    if gaussian == entries.len() {
        return epsilon_of_rho(entries.iter().map(|entry| rho_of(&entry.draw)).sum());
    }
    assert_eq!(gaussian, 0, "no theorem here covers both");
    let (mut squares, mut means, mut sum) = (0.0, 0.0, 0.0);
    for Entry { draw, .. } in entries {
        let epsilon = epsilon_of_one(draw);
        squares += draw.values as f64 * epsilon * epsilon;
        means += draw.values as f64 * epsilon * (epsilon.exp() - 1.0);
        sum += draw.values as f64 * epsilon;
    }
    sum.min((2.0 * (1.0 / DELTA).ln() * squares).sqrt() + means)
}

fn epsilon_of_rho(rho: f64) -> f64 {
    crate::conversions::epsilon_of_rho(rho, DELTA)
}
