use rand::{Rng, RngExt};

use super::payoff::Payoff;
use super::record::Ties;

/// Random starts. Our choice: it takes some milliseconds.
const STARTS: usize = 50;

/// Coordinate ascent from random starts. Returns a class per attribute such that no change of a
/// single attribute increases the payoff. For rounds whose exact elimination does not fit into
/// memory. It depends on the sampled queries only, so privacy does not depend on its quality.
///
/// The starts are random for both tie rules. With [`Ties::First`] every step and the choice among
/// the ends take the first.
pub(super) fn ascend(payoff: &Payoff, ties: Ties, rng: &mut impl Rng) -> Vec<usize> {
    let mut best: Option<(f64, Vec<usize>)> = None;
    for _ in 0..STARTS {
        let domain = &payoff.domain;
        let mut chosen: Vec<usize> =
            domain.ids().map(|id| rng.random_range(0..domain.size(id))).collect();
        let mut value = payoff.value(&chosen);
        while let Some(better) = improve(payoff, &mut chosen, value, ties, rng) {
            value = better;
        }
        let is_better = |(most, other): &(f64, Vec<usize>)| {
            let is_first = || ties == Ties::First && payoff.is_before(&chosen, other);
            value > *most || value == *most && is_first()
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((value, chosen));
        }
    }
    best.map_or_else(Vec::new, |(_, chosen)| chosen)
}

/// One pass over the attributes. Sets each to a best class given the others. Returns the new payoff
/// if it is larger than `before`.
fn improve(
    payoff: &Payoff,
    chosen: &mut [usize],
    before: f64,
    ties: Ties,
    rng: &mut impl Rng,
) -> Option<f64> {
    for id in payoff.domain.ids() {
        let mut values = vec![0.0; payoff.domain.size(id)];
        for (clique, table) in payoff.tables.iter().filter(|(clique, _)| clique.contains(id)) {
            for (class, value) in values.iter_mut().enumerate() {
                chosen[id.index()] = class;
                *value += table[payoff.cell(clique, chosen)];
            }
        }
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let best: Vec<usize> = (0..values.len()).filter(|&class| values[class] == most).collect();
        chosen[id.index()] = best[ties.among(best.len(), rng)];
    }
    let after = payoff.value(chosen);
    (after > before).then_some(after)
}
