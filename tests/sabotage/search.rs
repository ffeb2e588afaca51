//! How much what is handed to a draw depends on the data.
//!
//! A release is recorded on every small table, and replayed on its neighbours: its draws return
//! what they returned before. What is handed to a draw then changes by at most the sensitivity that
//! the draw states.

use std::collections::BTreeMap;

use dp::sensitivity::brute_force::{Records, for_each_table};
use dp::sensitivity::{L1, L2, LInfinity, Norm};
use dp::transcript::{Event, Handed};
use dp::{Branch, Mechanism, Neighbours};
use pgmbench::mechanism::MechanismError;
use rayon::prelude::*;

use crate::REFUSED;
use crate::setup::{CELLS, Run, Setup};

/// Relative tolerance of a change that equals its sensitivity.
const SLACK: f64 = 1e-12;

/// The largest changes that were found, in units of their sensitivities.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ratios {
    pub(crate) noise: f64,
    pub(crate) choices: f64,
}

/// Records on all small tables and replays on their neighbours. An error is a finding.
pub(crate) fn sensitivities(setup: &Setup) -> Result<Ratios, String> {
    let most = if setup.shape.sizes().len() == 2 { 3 } else { 4 };
    let records = match setup.neighbours {
        Neighbours::Replace => Records::Exactly(most),
        Neighbours::AddRemove => Records::UpTo(most - 1),
    };
    let mut tables = Vec::new();
    for_each_table(CELLS, records, |table| tables.push(table.to_vec()));
    let ratios = tables.par_iter().enumerate().map(|(trial, table)| -> Result<Ratios, String> {
        let mut largest = Ratios::default();
        let recorded = setup.run(&setup.shape.data(table), trial).map_err(of_run)?;
        for neighbour in neighbours(table, setup.neighbours) {
            let replayed = setup.replay(&setup.shape.data(&neighbour), &recorded);
            let replayed = replayed.map_err(of_run)?;
            changes(&recorded, &replayed, setup.neighbours, &mut largest)
                .map_err(|reason| format!("{table:?} and {neighbour:?}: {reason}"))?;
        }
        Ok(largest)
    });
    ratios.try_reduce(Ratios::default, |one, other| {
        Ok(Ratios { noise: one.noise.max(other.noise), choices: one.choices.max(other.choices) })
    })
}

pub(crate) fn of_run(error: MechanismError) -> String {
    format!("{REFUSED}{error}")
}

/// The tables that differ by a replaced record, or by an added one.
fn neighbours(table: &[u64], relation: Neighbours) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    for to in 0..table.len() {
        let mut larger = table.to_vec();
        larger[to] += 1;
        match relation {
            Neighbours::AddRemove => found.push(larger),
            Neighbours::Replace => {
                for from in (0..table.len()).filter(|&from| from != to && table[from] > 0) {
                    let mut moved = larger.clone();
                    moved[from] -= 1;
                    found.push(moved);
                }
            }
        }
    }
    found
}

/// The changes of the draws on one part of a division, by division.
type Divisions = BTreeMap<u32, Vec<f64>>;

fn changes(
    one: &Run,
    other: &Run,
    relation: Neighbours,
    largest: &mut Ratios,
) -> Result<(), String> {
    let (mine, theirs) = (handed(one), handed(other));
    let mut divisions = Divisions::new();
    for (place, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
        if mine.draw != theirs.draw || mine.values.len() != theirs.values.len() {
            return Err(format!("draw {place} has other parameters"));
        }
        let (a, b) = (&mine.values[..], &theirs.values[..]);
        let (distance, ratio) = match mine.draw.mechanism {
            Mechanism::DiscreteLaplace => (L1::distance(a, b), &mut largest.noise),
            Mechanism::DiscreteGaussian => (L2::distance(a, b), &mut largest.noise),
            _ => (LInfinity::distance(a, b), &mut largest.choices),
        };
        let part = distance / mine.draw.sensitivity;
        let path = one.ledger.lines().get(place).map_or(&[][..], |line| &line.entry.path);
        if let [Branch { division, .. }] = path {
            divisions.entry(*division).or_default().push(part);
            *ratio = ratio.max(part / 2.0);
            continue;
        }
        *ratio = ratio.max(part);
        if part > 1.0 + SLACK {
            let label = &mine.draw.label;
            return Err(format!("{label}: a change of {part:.3} times the sensitivity"));
        }
    }
    // An added record is in one part; a replaced one may leave one and enter another.
    let allowed = if relation == Neighbours::Replace { 2.0 } else { 1.0 };
    for parts in divisions.values() {
        let sum: f64 = parts.iter().sum();
        if sum > allowed + SLACK {
            return Err(format!(
                "the parts of a division change by {sum:.3} times their sensitivity"
            ));
        }
    }
    Ok(())
}

fn handed(run: &Run) -> Vec<&Handed> {
    run.events.iter().filter_map(Event::handed).collect()
}
