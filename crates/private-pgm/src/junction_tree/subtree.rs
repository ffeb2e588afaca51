use std::collections::BTreeMap;

use super::JunctionTree;
use crate::domain::{AttributeId, Clique};

impl JunctionTree {
    /// The clique with the fewest cells that contains `set`, if there is one. Ties go to the
    /// smaller index.
    pub fn covering(&self, set: &Clique) -> Option<usize> {
        if set.is_empty() {
            return (0..self.cliques.len())
                .min_by(|&a, &b| self.cells[a].total_cmp(&self.cells[b]));
        }
        let rarest = set.iter().map(|id| self.containing(id)).min_by_key(|list| list.len())?;
        rarest.iter().copied().find(|&index| set.is_subset(&self.cliques[index]))
    }

    /// The smallest connected set of cliques that together contain those attributes of `set` that
    /// are in the tree: one such set for each component that has any of them. Indices ascend, so
    /// that within a component each clique comes before its parent.
    ///
    /// The cliques that contain one attribute form a subtree. When one clique is in all of these
    /// subtrees the answer is the smallest such clique. Otherwise the answer is unique, because
    /// two subtrees that do not meet force the path between them. It is found by climbing from the
    /// top of each subtree to where they meet, then stepping down again from the meeting point
    /// while the next clique has everything that is wanted of it. Cost: the cliques climbed past.
    pub fn steiner(&self, set: &Clique) -> Vec<usize> {
        let mut cliques = Vec::new();
        let mut tops: Vec<(usize, AttributeId)> = set
            .iter()
            .filter_map(|id| self.containing(id).iter().max().map(|&top| (top, id)))
            .collect();
        tops.sort_unstable();
        for here in tops.chunk_by(|a, b| self.component_of(a.0) == self.component_of(b.0)) {
            let wanted: Clique = here.iter().map(|&(_, id)| id).collect();
            match self.covering(&wanted) {
                Some(index) => cliques.push(index),
                None => cliques.extend(self.climb(&wanted, here.iter().map(|&(top, _)| top))),
            }
        }
        cliques
    }

    fn climb(&self, wanted: &Clique, tops: impl Iterator<Item = usize>) -> Vec<usize> {
        // Indices of cliques, with how many climbers have come up to them.
        let mut climbing: BTreeMap<usize, usize> = tops.map(|top| (top, 0)).collect();
        let mut subtree = Vec::new();
        // The smallest index is not above any other, so it is never reached again.
        while let Some(lowest) = climbing.pop_first() {
            subtree.push(lowest);
            match self.parents[lowest.0] {
                Some(parent) if !climbing.is_empty() => *climbing.entry(parent).or_default() += 1,
                _ => break,
            }
        }
        while let [.., (next, _), (top, 1)] = subtree[..]
            && wanted.intersection(&self.cliques[top]).is_subset(&self.cliques[next])
        {
            subtree.pop();
        }
        subtree.into_iter().map(|(index, _)| index).collect()
    }
}
