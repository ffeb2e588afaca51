//! The record player: finds the record that satisfies most of the sampled queries.

use rand::{Rng, RngExt};
use serde::Deserialize;

use super::ascent::ascend;
use super::elimination::Elimination;
use super::payoff::Payoff;
use super::queries::{Queries, Sample};

pub(super) struct Best {
    /// A code per attribute, in axis order.
    pub(super) record: Vec<u32>,
    /// Whether it is the result of a local search, because exact elimination would not fit into
    /// memory. It may not be the best then.
    pub(super) searched: bool,
}

/// The choice among several best records. It depends on the sampled queries only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ties {
    /// Uniform.
    Random,
    /// The first in the order of values, attribute by attribute in axis order. This is what a
    /// maximum over an array of all records finds, as in the published script. After a local
    /// search, the first of the best records found.
    First,
}

impl Ties {
    /// An index below `count`.
    pub(super) fn among(self, count: usize, rng: &mut impl Rng) -> usize {
        match self {
            Ties::Random => rng.random_range(0..count),
            Ties::First => 0,
        }
    }
}

/// A record that satisfies as many samples as possible.
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
