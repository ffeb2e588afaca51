//! The candidate parent sets of an attribute. They do not depend on the data.

use std::collections::BTreeSet;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use private_pgm::domain::{AttributeId, Clique, Domain};

/// Steps of the enumeration per wanted set before it gives up. Our choice; on the paper's data it
/// takes fewer than ten.
const STEPS_PER_SET: usize = 64;

/// The parent sets that satisfy `allowed`.
pub(super) struct ParentSets<'a, A> {
    domain: &'a Domain,
    /// By ascending size.
    chosen: Vec<AttributeId>,
    allowed: A,
}

impl<'a, A: Fn(&[AttributeId]) -> bool> ParentSets<'a, A> {
    /// Parents from `chosen`. Sets grow by one attribute at a time, and every intermediate set is
    /// `allowed`. Attributes with a single value carry no information and are omitted.
    pub(super) fn new(domain: &'a Domain, chosen: &[AttributeId], allowed: A) -> Self {
        let mut chosen: Vec<AttributeId> =
            chosen.iter().copied().filter(|&id| domain.size(id) > 1).collect();
        chosen.sort_unstable();
        Self { domain, chosen, allowed }
    }

    /// The maximal parent sets with at most `cells` combinations of values. All of them if there
    /// are at most `most`. Otherwise at most `most` random ones: attributes are added in random
    /// order as long as they fit. If nothing fits, the empty set is the only one.
    pub(super) fn maximal(&self, cells: usize, most: usize, rng: &mut ChaCha8Rng) -> Vec<Clique> {
        self.all(cells, most).unwrap_or_else(|| self.some(cells, most, rng))
    }

    /// All maximal sets, or `None` if there are more than `most`.
    fn all(&self, cells: usize, most: usize) -> Option<Vec<Clique>> {
        let mut search =
            Search { sets: self, found: Vec::new(), most, steps: STEPS_PER_SET * (most + 1) };
        search.extend(&mut Vec::new(), cells, 0).then_some(search.found)
    }

    /// At most `count` random maximal sets.
    fn some(&self, cells: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<Clique> {
        let mut drawn = BTreeSet::new();
        let mut order = self.chosen.clone();
        for _ in 0..count {
            order.shuffle(rng);
            let (mut set, mut room) = (Vec::new(), cells);
            for &id in &order {
                if self.fits(&set, id, room) {
                    room /= self.domain.size(id);
                    set.push(id);
                }
            }
            drawn.insert(Clique::new(set));
        }
        drawn.into_iter().collect()
    }

    /// Whether `id` can be added to a set with a remaining factor of `room` combinations of values.
    fn fits(&self, set: &[AttributeId], id: AttributeId, room: usize) -> bool {
        self.domain.size(id) <= room && !set.contains(&id) && {
            let mut larger = set.to_vec();
            larger.push(id);
            larger.sort_unstable();
            (self.allowed)(&larger)
        }
    }
}

/// Enumerates in lexicographic order.
struct Search<'a, A> {
    sets: &'a ParentSets<'a, A>,
    found: Vec<Clique>,
    most: usize,
    steps: usize,
}

impl<A: Fn(&[AttributeId]) -> bool> Search<'_, A> {
    /// Visits the sets that extend `set` by attributes from `next` on. Returns `false` if it gives
    /// up. Integer division of `room` is exact for this purpose: the product of the sizes is at
    /// most `cells` if and only if each size is at most the rounded quotient left by the earlier
    /// ones.
    fn extend(&mut self, set: &mut Vec<AttributeId>, room: usize, next: usize) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        let mut maximal = true;
        for (place, &id) in self.sets.chosen.iter().enumerate() {
            // Sizes ascend, so no later attribute fits.
            if self.sets.domain.size(id) > room {
                break;
            }
            if !self.sets.fits(set, id, room) {
                continue;
            }
            maximal = false;
            if place >= next {
                set.push(id);
                let completed = self.extend(set, room / self.sets.domain.size(id), place + 1);
                set.pop();
                if !completed {
                    return false;
                }
            }
        }
        if maximal {
            self.found.push(Clique::new(set.iter().copied()));
        }
        self.found.len() <= self.most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;

    fn domain(sizes: &[usize]) -> Domain {
        Domain::new(sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n))).unwrap()
    }

    /// By enumeration of all subsets.
    fn obvious(domain: &Domain, cells: usize) -> BTreeSet<Clique> {
        let ids: Vec<AttributeId> = domain.ids().filter(|&id| domain.size(id) > 1).collect();
        let fits = |set: &Clique| domain.cells(set).unwrap() <= cells;
        let maximal = |set: &Clique| {
            fits(set)
                && ids.iter().all(|&id| set.contains(id) || !fits(&set.union(&Clique::new([id]))))
        };
        (0..1usize << ids.len())
            .map(|mask| (0..ids.len()).filter(|i| mask >> i & 1 == 1).map(|i| ids[i]).collect())
            .filter(maximal)
            .collect()
    }

    proptest! {
        #[test]
        fn all_maximal_sets_are_found_once_and_draws_are_among_them(
            sizes in prop::collection::vec(1..7usize, 0..8),
            cells in 1..60usize,
            seed: u64,
        ) {
            let domain = domain(&sizes);
            let ids: Vec<AttributeId> = domain.ids().collect();
            let sets = ParentSets::new(&domain, &ids, |_| true);
            let obvious = obvious(&domain, cells);
            let found = sets.all(cells, 1000).unwrap();
            prop_assert_eq!(found.len(), obvious.len());
            prop_assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), &obvious);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            prop_assert!(sets.some(cells, 20, &mut rng).iter().all(|set| obvious.contains(set)));
        }
    }

    #[test]
    fn sets_are_sampled_if_there_are_too_many() {
        let domain = domain(&[2; 40]);
        let ids: Vec<AttributeId> = domain.ids().collect();
        let sets = ParentSets::new(&domain, &ids, |_| true);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // There are 40 choose 20.
        let drawn = sets.maximal(1 << 20, 100, &mut rng);
        assert_eq!(drawn.len(), 100);
        assert!(drawn.iter().all(|set| set.len() == 20));
        let again = sets.maximal(1 << 20, 100, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(drawn, again);
    }

    #[test]
    fn if_nothing_fits_the_set_is_empty() {
        let domain = domain(&[3, 4, 1]);
        let ids: Vec<AttributeId> = domain.ids().collect();
        let sets = ParentSets::new(&domain, &ids, |_| true);
        assert_eq!(sets.all(2, 10).unwrap(), [Clique::empty()]);
        assert_eq!(sets.all(0, 10).unwrap(), [Clique::empty()]);
    }
}
