//! What depends on the data otherwise than through a draw: nothing.
//!
//! A release is recorded on one table and replayed on another: its draws return what they returned
//! before. Everything that is published, and all parameters of all draws, must then be the same,
//! because they may depend on the data only through what was drawn and on what is public. This
//! holds for any two tables that agree in public facts, neighbours or not. In particular the path
//! up to the first difference that was paid for is the same.

use dp::transcript::Event;
use dp::{Neighbours, SeedPath};
use pgmbench::mechanism::{Published, Release};
use private_pgm::factor::{CliqueLayout, Marginals};
use private_pgm::fit::{Estimator, EstimatorContext, Likelihood};
use private_pgm::model::Projectable;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::search::of_run;
use crate::setup::{CELLS, Run, Setup};

/// Tables that differ in everything but public facts.
pub(crate) const TABLES: [[u64; CELLS]; 8] = [
    [5, 4, 6, 5, 4, 6, 5, 5],
    [40, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 20, 20, 0, 0, 0],
    [10, 0, 10, 0, 10, 0, 10, 0],
    [20, 0, 0, 0, 0, 0, 0, 20],
    [0, 5, 1, 14, 9, 2, 8, 1],
    [0, 0, 0, 0, 0, 0, 0, 40],
    [1, 12, 0, 7, 0, 13, 6, 1],
];

/// Records on each of several tables and replays on the others. An error is a finding.
pub(crate) fn taint(setup: &Setup) -> Result<(), String> {
    let pairs: Vec<(usize, usize)> = (0..TABLES.len())
        .flat_map(|one| (0..TABLES.len()).map(move |other| (one, other)))
        .filter(|(one, other)| one != other)
        .collect();
    pairs.into_par_iter().try_for_each(|(one, other)| {
        let recorded = setup.run(&setup.shape.data(&TABLES[one]), one).map_err(of_run)?;
        let mut table = TABLES[other];
        // The number of records is private too.
        if setup.neighbours == Neighbours::AddRemove {
            table.iter_mut().take(other + 1).for_each(|count| *count += 3);
        }
        let replayed = setup.replay(&setup.shape.data(&table), &recorded);
        let replayed = replayed.map_err(|_| "whether it releases depends on the data")?;
        same_path(&recorded, &replayed)?;
        // Estimates take longer, and a few pairs suffice.
        same_publication(setup, &recorded, &replayed, other == (one + 1) % TABLES.len())
    })
}

/// The same draws with the same parameters, and the same public choices.
fn same_path(one: &Run, other: &Run) -> Result<(), String> {
    for (place, pair) in one.events.iter().zip(&other.events).enumerate() {
        let same = match pair {
            (Event::Noise { handed: a, .. }, Event::Noise { handed: b, .. })
            | (Event::Selection { handed: a, .. }, Event::Selection { handed: b, .. }) => {
                (&a.draw, a.granted, a.values.len()) == (&b.draw, b.granted, b.values.len())
            }
            (a, b) => a == b,
        };
        if !same {
            return Err(format!("use {place} of the randomness depends on the data"));
        }
    }
    if one.events.len() != other.events.len() {
        return Err("the number of draws depends on the data".into());
    }
    match one.ledger.lines() == other.ledger.lines() {
        true => Ok(()),
        false => Err("the ledger depends on the data".into()),
    }
}

fn same_publication(
    setup: &Setup,
    one: &Run,
    other: &Run,
    with_estimates: bool,
) -> Result<(), String> {
    let (a, b) = (&one.release, &other.release);
    if a.total.to_bits() != b.total.to_bits() {
        return Err("the total depends on the data".into());
    }
    if a.diagnostics != b.diagnostics {
        return Err("the diagnostics depend on the data".into());
    }
    let same = match (&a.published, &b.published) {
        (Published::Answers(a), Published::Answers(b)) => a == b,
        (Published::Likelihood(a), Published::Likelihood(b)) => {
            values(setup, &**a) == values(setup, &**b)
        }
        _ => false,
    };
    if !same {
        return Err("what is published depends on the data beyond its draws".into());
    }
    if with_estimates && estimates(setup, a) != estimates(setup, b) {
        return Err("an estimate depends on the data".into());
    }
    Ok(())
}

/// A likelihood at several tables.
fn values(setup: &Setup, likelihood: &dyn Likelihood) -> Vec<f64> {
    let layout = CliqueLayout::new(setup.shape.domain(), likelihood.cliques());
    let mut loss = likelihood.loss(&layout);
    let of = |table: &[u64; CELLS]| {
        let data = setup.shape.data(table);
        let mut marginals = Marginals::zeros(&layout);
        for (index, clique) in layout.cliques().iter().enumerate() {
            let cells = data.project(clique).unwrap();
            marginals.table_mut(index).copy_from_slice(cells.values());
        }
        loss.value(&marginals)
    };
    TABLES.iter().map(of).collect()
}

/// The marginals of the estimates that come with a release, or the errors.
fn estimates(setup: &Setup, release: &Release) -> Vec<Result<Vec<Vec<f64>>, String>> {
    let domain = setup.shape.domain();
    let cliques = setup.workload.cliques();
    let own = std::iter::once(&*release.own_estimator);
    let all = own.chain(release.extra_estimators.iter().map(|(_, estimator)| &**estimator));
    let estimate = |estimator: &dyn Estimator| -> Result<Vec<Vec<f64>>, String> {
        let mut rng = ChaCha20Rng::from_seed(SeedPath::new("sabotage", "estimate").seed());
        let mut context = EstimatorContext {
            memory_limit: 1 << 28,
            deadline: None,
            warm_start: None,
            rng: &mut rng,
            observer: &mut |_| {},
        };
        let estimated = estimator.estimate(&release.evidence(&domain), &mut context);
        let estimated = estimated.map_err(|error| error.to_string())?;
        let marginals = estimated.answers.marginals(&cliques);
        let marginals = marginals.map_err(|error| error.to_string())?;
        Ok(marginals.into_iter().map(|marginal| marginal.into_values()).collect())
    };
    all.map(estimate).collect()
}
