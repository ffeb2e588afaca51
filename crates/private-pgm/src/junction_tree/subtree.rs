use std::collections::BTreeMap;

use super::JunctionTree;
use crate::domain::{AttributeId, Clique};

impl JunctionTree {
    /// The clique with the fewest cells that contains `set`, if any. Ties go to the smaller index.
    pub fn covering(&self, set: &Clique) -> Option<usize> {
        if set.is_empty() {
            return (0..self.cliques.len())
                .min_by(|&a, &b| self.cells[a].total_cmp(&self.cells[b]));
        }
        let rarest = set.iter().map(|id| self.containing(id)).min_by_key(|list| list.len())?;
        rarest.iter().copied().find(|&index| set.is_subset(&self.cliques[index]))
    }

    /// The Steiner subtree of `set`: the smallest connected set of cliques that together contain
    /// the attributes of `set`, one such set per component. Attributes that are not in the tree are
    /// ignored. Indices ascend, so that each clique precedes its parent.
    ///
    /// The cliques that contain one attribute form a subtree. If one clique is in all of these
    /// subtrees, the result is the smallest such clique. Otherwise the result is unique, because
    /// two disjoint subtrees determine the path between them. It is found by following parents from
    /// the root of each subtree to their lowest common ancestor. From there, cliques are removed
    /// while the next one contains their attributes of `set`. Cost: linear in the cliques visited.
    pub fn steiner(&self, set: &Clique) -> Vec<usize> {
        let mut cliques = Vec::new();
        let mut roots: Vec<(usize, AttributeId)> = set
            .iter()
            .filter_map(|id| self.containing(id).iter().max().map(|&root| (root, id)))
            .collect();
        roots.sort_unstable();
        for here in roots.chunk_by(|a, b| self.component_of(a.0) == self.component_of(b.0)) {
            let wanted: Clique = here.iter().map(|&(_, id)| id).collect();
            match self.covering(&wanted) {
                Some(index) => cliques.push(index),
                None => {
                    let roots = here.iter().map(|&(root, _)| root);
                    cliques.extend(self.connecting_subtree(&wanted, roots));
                }
            }
        }
        cliques
    }

    /// The Steiner subtree of `wanted`, which no single clique contains. `roots` are the roots of
    /// the subtrees of its attributes.
    fn connecting_subtree(
        &self,
        wanted: &Clique,
        roots: impl Iterator<Item = usize>,
    ) -> Vec<usize> {
        // Cliques to visit, with the number of their children in the subtree.
        let mut pending: BTreeMap<usize, usize> = roots.map(|root| (root, 0)).collect();
        let mut subtree = Vec::new();
        // Parents have larger indices, so the smallest pending index is never added again.
        while let Some(lowest) = pending.pop_first() {
            subtree.push(lowest);
            match self.parents[lowest.0] {
                Some(parent) if !pending.is_empty() => *pending.entry(parent).or_default() += 1,
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
