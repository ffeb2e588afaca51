//! The record player: the record that says yes to most of the sampled queries.

use rand::Rng;

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

/// A record that says yes to as many of the samples as possible, drawn uniformly from all that do.
pub(super) fn best_record(
    queries: &Queries,
    samples: &[Sample],
    memory_limit: u64,
    rng: &mut impl Rng,
) -> Best {
    let payoff = Payoff::new(queries, samples);
    let elimination = Elimination::new(&payoff, memory_limit);
    let searched = elimination.is_none();
    let chosen = match elimination {
        Some(elimination) => elimination.run(rng),
        None => ascend(&payoff, rng),
    };
    Best { record: payoff.record(queries.domain(), &chosen, rng), searched }
}
