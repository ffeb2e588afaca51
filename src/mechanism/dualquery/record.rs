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
    /// The first of them when records are in the order of their values, attribute by attribute in axis
    /// order, as a maximum over an array of all records would find it: what the method's indifference
    /// becomes in the published script. Of a search, the first of the best that it finds.
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
        None => ascend(&payoff, ties, rng),
    };
    Best { record: payoff.record(queries.domain(), &chosen, ties, rng), searched }
}
