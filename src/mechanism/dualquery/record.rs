//! The record player: the record that says yes to most of the sampled queries.

use rand::{Rng, RngExt};
use serde::Deserialize;

use super::ascent::ascend;
use super::elimination::Elimination;
use super::payoff::Payoff;
use super::queries::{Queries, Sample};

/// The answer of the record player.
pub(super) struct Best {
    /// A code for each attribute, in axis order.
    pub(super) record: Vec<u32>,
    /// Whether it was searched for, because computing it would not fit into memory. It may then not
    /// be the best.
    pub(super) searched: bool,
}

/// Which record is taken when several are the best. All see the sampled queries only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ties {
    /// Any of them, uniformly.
    Random,
    /// The one with the first values, as a maximum over arrays finds it: what the method's indifference
    /// becomes in the published script.
    First,
}

impl Ties {
    /// Which of so many.
    pub(super) fn among(self, count: usize, rng: &mut impl Rng) -> usize {
        match self {
            Ties::Random => rng.random_range(0..count),
            Ties::First => 0,
        }
    }

    /// How much of a total to pass over.
    pub(super) fn within(self, total: f64, rng: &mut impl Rng) -> f64 {
        match self {
            Ties::Random => total * rng.random::<f64>(),
            Ties::First => 0.0,
        }
    }
}

/// A record that says yes to as many of the samples as possible.
pub(super) fn best_record(
    queries: &Queries,
    samples: &[Sample],
    ties: Ties,
    memory_limit: u64,
    rng: &mut impl Rng,
) -> Best {
    let payoff = Payoff::new(queries, samples);
    let elimination = Elimination::new(&payoff, memory_limit);
    let searched = elimination.is_none();
    let chosen = match elimination {
        Some(elimination) => elimination.run(ties, rng),
        None => ascend(&payoff, rng),
    };
    Best { record: payoff.record(queries.domain(), &chosen, ties, rng), searched }
}
