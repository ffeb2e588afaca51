use rand::{Rng, RngExt};

use super::payoff::Payoff;

/// Starts of the search: our choice, some milliseconds.
const STARTS: usize = 50;

/// Coordinate ascent from random starts: a class for each attribute, of a payoff that no change of
/// a single attribute improves. For rounds whose exact elimination does not fit into memory; it
/// sees the sampled queries only, so that privacy does not depend on how good it is.
pub(super) fn ascend(payoff: &Payoff, rng: &mut impl Rng) -> Vec<usize> {
    let mut best: Option<(f64, Vec<usize>)> = None;
    for _ in 0..STARTS {
        let domain = &payoff.domain;
        let mut chosen: Vec<usize> =
            domain.ids().map(|id| rng.random_range(0..domain.size(id))).collect();
        let mut value = payoff.value(&chosen);
        while let Some(better) = improve(payoff, &mut chosen, value, rng) {
            value = better;
        }
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, chosen));
        }
    }
    best.map_or_else(Vec::new, |(_, chosen)| chosen)
}

/// One pass over the attributes, each set to a best class given the others, ties at random. The
/// payoff afterwards if it is better than `before`.
fn improve(payoff: &Payoff, chosen: &mut [usize], before: f64, rng: &mut impl Rng) -> Option<f64> {
    for id in payoff.domain.ids() {
        let mut values = vec![0.0; payoff.domain.size(id)];
        for (clique, table) in payoff.tables.iter().filter(|(clique, _)| clique.contains(id)) {
            for (class, value) in values.iter_mut().enumerate() {
                chosen[id.index()] = class;
                *value += table[payoff.cell(clique, chosen)];
            }
        }
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ties: Vec<usize> = (0..values.len()).filter(|&class| values[class] == most).collect();
        chosen[id.index()] = ties[rng.random_range(0..ties.len())];
    }
    let after = payoff.value(chosen);
    (after > before).then_some(after)
}
