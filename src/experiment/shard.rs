use super::{Plan, Trial};
use crate::results::Shard;

impl Plan {
    /// Leaves the trials of one shard. Every trial is in exactly one of them, whole: its arms share
    /// what the mechanism measures. Which one depends on the plan alone, not on what has run.
    ///
    /// The most expensive trial first, each goes to the shard that has least to do so far: no shard
    /// is left with more than 4/3 of the best possible (Graham, SIAM Journal on Applied
    /// Mathematics 17, 1969), as far as the predictions are right.
    pub fn keep_shard(&mut self, shard: Shard) {
        let costs = self.costs();
        let costs: Vec<f64> = self.trials.iter().map(|trial| costs.trial(trial)).collect();
        let of = shares(&costs, shard.of());
        let kept = |(trial, of): (Trial, usize)| (of == shard.place()).then_some(trial);
        self.trials =
            std::mem::take(&mut self.trials).into_iter().zip(of).filter_map(kept).collect();
    }
}

/// For each cost, the place of the share that it goes to.
fn shares(costs: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    // Stable: equal costs stay in the order of the plan.
    order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]));
    let mut loads = vec![0.0; count];
    let mut places = vec![0; costs.len()];
    for item in order {
        let least = (0..count).min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b]));
        let place = least.unwrap_or_default();
        loads[place] += costs[item];
        places[item] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loads(costs: &[f64], places: &[usize], count: usize) -> Vec<f64> {
        let mut loads = vec![0.0; count];
        costs.iter().zip(places).for_each(|(cost, &place)| loads[place] += cost);
        loads
    }

    /// The smallest load of the fullest share, by trying everything.
    fn best(costs: &[f64], count: usize) -> f64 {
        let mut best = f64::INFINITY;
        let mut places = vec![0; costs.len()];
        loop {
            best = best.min(loads(costs, &places, count).into_iter().fold(0.0, f64::max));
            let Some(at) = places.iter().position(|&place| place + 1 < count) else { return best };
            places[..at].fill(0);
            places[at] += 1;
        }
    }

    proptest! {
        #[test]
        fn no_share_is_much_larger_than_it_has_to_be(
            costs in prop::collection::vec(0.001..100.0f64, 0..8),
            count in 1usize..4,
        ) {
            let places = shares(&costs, count);
            prop_assert!(places.iter().all(|&place| place < count));
            let fullest = loads(&costs, &places, count).into_iter().fold(0.0, f64::max);
            prop_assert!(fullest <= best(&costs, count) * (4.0 / 3.0) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn equal_trials_are_dealt_out_like_cards() {
        assert_eq!(shares(&[1.0; 7], 3), [0, 1, 2, 0, 1, 2, 0]);
    }
}
