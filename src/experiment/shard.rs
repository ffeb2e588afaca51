use super::{Plan, Trial};
use crate::results::Shard;

impl Plan {
    /// Keeps the trials of one shard. Every trial is in exactly one shard, with all of its arms,
    /// because they share measurements. The assignment depends on the plan alone, not on results.
    ///
    /// Longest processing time first: in order of decreasing cost, each trial goes to the shard
    /// with the smallest load. The largest load is at most 4/3 of the optimum (Graham, SIAM Journal
    /// on Applied Mathematics 17, 1969), provided that the predicted costs are right.
    pub fn keep_shard(&mut self, shard: Shard) {
        let costs = self.costs();
        let costs: Vec<f64> = self.trials.iter().map(|trial| costs.trial(trial)).collect();
        let places = assign(&costs, shard.of());
        let kept = |(trial, at): (Trial, usize)| (at == shard.place()).then_some(trial);
        self.trials =
            std::mem::take(&mut self.trials).into_iter().zip(places).filter_map(kept).collect();
    }
}

/// The shard of each cost, from 0 to `count - 1`.
fn assign(costs: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    // The sort is stable: equal costs keep the order of the plan.
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

    /// The smallest possible largest load, by exhaustive search.
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
        fn the_largest_load_is_at_most_four_thirds_of_the_optimum(
            costs in prop::collection::vec(0.001..100.0f64, 0..8),
            count in 1usize..4,
        ) {
            let places = assign(&costs, count);
            prop_assert!(places.iter().all(|&place| place < count));
            let largest = loads(&costs, &places, count).into_iter().fold(0.0, f64::max);
            prop_assert!(largest <= best(&costs, count) * (4.0 / 3.0) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn equal_trials_are_assigned_round_robin() {
        assert_eq!(assign(&[1.0; 7], 3), [0, 1, 2, 0, 1, 2, 0]);
    }
}
