//! Synthetic data: records drawn from a Markov chain of bits.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::PlanError;
use super::cases;
use super::data::{PlannedData, WHICH_WORKLOAD, of_marginals};
use super::sets::asked_sets;
use crate::config::{self, Chain, Experiment, Source};
use crate::data::{Dataset, Provenance};
use dp::SeedPath;
use private_pgm::domain::{Clique, Domain};

/// The drawn records with the cases of the file.
pub(super) fn planned(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    chain: &Spanned<Chain>,
) -> Result<PlannedData, PlanError> {
    let refuse = |message: String, help: Option<&str>| {
        PlanError::from(source.error(named.name.span(), message, help))
    };
    let Chain { attributes, records, ones, flips, .. } = *chain.as_ref();
    let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), 2)))
        .map_err(|error| refuse(error.to_string(), None))?;
    let marginals = match &experiment.workload.queries {
        Some(_) => None,
        None => {
            let sets = asked_sets(source, experiment, named, &domain, None)?;
            let sets = sets.ok_or_else(|| {
                refuse("nothing is asked of the chain".into(), Some(WHICH_WORKLOAD))
            })?;
            Some(of_marginals(source, experiment, named, &domain, sets, &Clique::empty())?)
        }
    };
    let codes = draw(chain.as_ref());
    let data = Dataset::from_codes(named.name.as_ref(), &domain, &codes, Provenance::default())
        .map_err(|error| refuse(error.to_string(), None))?;
    let workloads = match marginals {
        Some(workloads) => workloads,
        None => cases::workloads(source, experiment, &domain)?,
    };
    cases::check_public(source, experiment, named, domain.len())?;
    let cases = cases::cases(&experiment.public, workloads, &data)?;
    let title = format!(
        "{records} records of {attributes} bits, from a chain with {ones} ones, {flips} flips"
    );
    let name = named.label().as_ref().clone();
    Ok(PlannedData { name, ..PlannedData::new(title, data, cases) })
}

/// The columns. One generator draws record after record, so that fewer records are a prefix.
fn draw(chain: &Chain) -> Vec<Vec<u32>> {
    let Chain { attributes, records, ones, flips, seed } = *chain;
    let path = SeedPath::new("chain", seed).with("attributes", attributes);
    let mut rng = ChaCha20Rng::from_seed(path.seed());
    let mut columns = vec![Vec::with_capacity(records as usize); attributes as usize];
    for _ in 0..records {
        let mut bit = false;
        for (place, column) in columns.iter_mut().enumerate() {
            let draw = rng.random::<f64>();
            bit = if place == 0 { draw < ones } else { bit ^ (draw < flips) };
            column.push(u32::from(bit));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_repeat_their_neighbours_as_often_as_they_should_and_fewer_records_are_the_first() {
        let chain = Chain { attributes: 3, records: 40_000, ones: 0.2, flips: 0.1, seed: 5 };
        let columns = draw(&chain);
        let share = |count: usize| count as f64 / 40_000.0;
        let ones = share(columns[0].iter().filter(|&&bit| bit == 1).count());
        let flips = share(columns[1].iter().zip(&columns[2]).filter(|(a, b)| a != b).count());
        // Five standard deviations of a share are 0.01.
        assert!((ones - 0.2).abs() < 0.01 && (flips - 0.1).abs() < 0.01, "{ones} {flips}");
        let fewer = draw(&Chain { records: 10, ..chain });
        assert!(fewer.iter().zip(&columns).all(|(few, all)| few[..] == all[..10]));
        assert_ne!(draw(&Chain { seed: 6, ..chain }), columns);
    }
}
