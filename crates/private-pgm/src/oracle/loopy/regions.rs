//! The sets of attributes on which neighbouring cliques must agree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::domain::{AttributeId, Clique};
use crate::factor::CliqueLayout;

/// An inner region: attributes on which all of its parents must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// A subset of every parent.
    pub(super) attributes: Clique,
    /// Cliques of the layout, by index, ascending; at least two.
    pub(super) parents: Vec<usize>,
}

/// Two cliques that share attributes.
struct Pair {
    cliques: [usize; 2],
    shared: Clique,
}

/// Regions with the running intersection property: for each attribute, the cliques that contain it
/// are joined into a tree by the regions that contain it, so that the entropy of every attribute
/// counts once in sum over C of H(mu_C) - sum over S of (parents(S) - 1) H(mu_S).
///
/// Each attribute joins its cliques by their maximum spanning tree, a pair's weight being the
/// number of attributes that it shares; a pair agrees on the attributes whose trees use it (a join
/// graph: Dechter, Kask, Mateescu, UAI 2002). All trees are built in one order of pairs, and so
/// they are parts of a single junction tree when there is one. Among equal weights pairs of small
/// tables go first, then the order of the cliques decides.
pub(super) fn join_graph(layout: &CliqueLayout) -> Vec<Region> {
    let pairs = overlapping_pairs(layout);
    let mut pairs_with: BTreeMap<AttributeId, Vec<usize>> = BTreeMap::new();
    for (index, pair) in pairs.iter().enumerate() {
        pair.shared.iter().for_each(|id| pairs_with.entry(id).or_default().push(index));
    }
    let mut agreed: Vec<Vec<AttributeId>> = vec![Vec::new(); pairs.len()];
    for (id, indices) in pairs_with {
        let mut tree = Components::new(layout.cliques().len());
        for index in indices {
            let [i, j] = pairs[index].cliques;
            if tree.join(i, j) {
                agreed[index].push(id);
            }
        }
    }
    // Connected pairs with the same attributes form one region with several parents: the same
    // constraints and the same entropy, with fewer updates.
    let mut same: BTreeMap<Clique, Vec<[usize; 2]>> = BTreeMap::new();
    for (ids, pair) in agreed.into_iter().zip(&pairs).filter(|(ids, _)| !ids.is_empty()) {
        same.entry(Clique::new(ids)).or_default().push(pair.cliques);
    }
    let mut regions = Vec::new();
    for (attributes, pairs) in same {
        let members: Vec<usize> =
            pairs.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let mut connected = Components::new(members.len());
        for [i, j] in pairs {
            connected.join(rank(&members, i), rank(&members, j));
        }
        for group in connected.groups() {
            let parents = group.into_iter().map(|member| members[member]).collect();
            regions.push(Region { attributes: attributes.clone(), parents });
        }
    }
    regions
}

/// Regions that make every two cliques agree on all shared attributes, without constraints that
/// other regions imply.
///
/// Intersections are added from the largest to the smallest. Cliques around an intersection that
/// larger regions already connect are represented by the one with the smallest table.
pub(super) fn intersections(layout: &CliqueLayout) -> Vec<Region> {
    let cliques = layout.cliques();
    let distinct: BTreeSet<(Reverse<usize>, Clique)> = overlapping_pairs(layout)
        .into_iter()
        .map(|pair| (Reverse(pair.shared.len()), pair.shared))
        .collect();
    let mut regions: Vec<Region> = Vec::new();
    let mut regions_with: BTreeMap<AttributeId, Vec<usize>> = BTreeMap::new();
    for (_, attributes) in distinct {
        let around: Vec<usize> =
            (0..cliques.len()).filter(|&index| attributes.is_subset(&cliques[index])).collect();
        let mut connected = Components::new(around.len());
        let first = attributes.as_slice()[0];
        for &larger in regions_with.get(&first).into_iter().flatten() {
            let larger = &regions[larger];
            if attributes.is_subset(&larger.attributes) {
                for pair in larger.parents.windows(2) {
                    connected.join(rank(&around, pair[0]), rank(&around, pair[1]));
                }
            }
        }
        let mut parents: Vec<usize> = connected
            .groups()
            .into_iter()
            .filter_map(|group| {
                let members = group.into_iter().map(|member| around[member]);
                members.min_by_key(|&index| (layout.range(index).len(), index))
            })
            .collect();
        if parents.len() > 1 {
            parents.sort_unstable();
            attributes
                .iter()
                .for_each(|id| regions_with.entry(id).or_default().push(regions.len()));
            regions.push(Region { attributes, parents });
        }
    }
    regions
}

/// The regions in breadth-first order from the first clique of each connected component. Without
/// cycles, updates in reverse order and then in order carry the message of every clique to all
/// others.
pub(super) fn breadth_first(clique_count: usize, regions: Vec<Region>) -> Vec<Region> {
    let mut regions_of = vec![Vec::new(); clique_count];
    for (index, region) in regions.iter().enumerate() {
        region.parents.iter().for_each(|&parent| regions_of[parent].push(index));
    }
    let mut regions: Vec<Option<Region>> = regions.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(regions.len());
    let mut reached = vec![false; clique_count];
    for root in 0..clique_count {
        let mut queue = VecDeque::from([root]);
        while let Some(clique) = queue.pop_front() {
            if std::mem::replace(&mut reached[clique], true) {
                continue;
            }
            for &index in &regions_of[clique] {
                if let Some(region) = regions[index].take() {
                    queue.extend(&region.parents);
                    ordered.push(region);
                }
            }
        }
    }
    ordered
}

/// Whether the bipartite graph of cliques and regions has no cycles.
pub(super) fn is_acyclic(clique_count: usize, regions: &[Region]) -> bool {
    let mut joined = Components::new(clique_count);
    regions.iter().all(|region| region.parents.windows(2).all(|pair| joined.join(pair[0], pair[1])))
}

/// All pairs of cliques that share attributes, those that share most first. Attributes with a
/// single value are left out, since cliques agree on them trivially.
fn overlapping_pairs(layout: &CliqueLayout) -> Vec<Pair> {
    let (domain, cliques) = (layout.domain(), layout.cliques());
    let informative: Vec<Clique> = cliques
        .iter()
        .map(|clique| clique.iter().filter(|&id| domain.size(id) > 1).collect())
        .collect();
    let mut cliques_with: Vec<Vec<usize>> = vec![Vec::new(); domain.len()];
    for (index, clique) in informative.iter().enumerate() {
        clique.iter().for_each(|id| cliques_with[id.index()].push(index));
    }
    let mut found: Vec<[usize; 2]> = Vec::new();
    for indices in &cliques_with {
        for (position, &j) in indices.iter().enumerate() {
            found.extend(indices[..position].iter().map(|&i| [i, j]));
        }
    }
    found.sort_unstable();
    found.dedup();
    let mut pairs: Vec<Pair> = found
        .into_iter()
        .map(|[i, j]| Pair {
            cliques: [i, j],
            shared: informative[i].intersection(&informative[j]),
        })
        .collect();
    let cells = |pair: &Pair| -> f64 {
        pair.cliques.iter().map(|&index| layout.range(index).len() as f64).sum()
    };
    // The sort is stable, so that the order of the cliques breaks the last ties.
    pairs.sort_by(|a, b| b.shared.len().cmp(&a.shared.len()).then(cells(a).total_cmp(&cells(b))));
    pairs
}

/// The position of `item` in a sorted list that contains it.
fn rank(sorted: &[usize], item: usize) -> usize {
    sorted.partition_point(|&other| other < item)
}

/// A partition of `0..n` that only gets coarser (union-find with path halving).
struct Components(Vec<usize>);

impl Components {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn root(&mut self, mut item: usize) -> usize {
        while self.0[item] != item {
            self.0[item] = self.0[self.0[item]];
            item = self.0[item];
        }
        item
    }

    /// Merges the parts of two items; false when they were already in one part.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }

    /// The parts, each ascending, by their smallest item.
    fn groups(&mut self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for item in 0..self.0.len() {
            groups.entry(self.root(item)).or_default().push(item);
        }
        groups.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Domain;
    use std::sync::Arc;

    fn layout(cliques: &[&[u32]]) -> Arc<CliqueLayout> {
        let domain = Domain::new((0..6).map(|i| (format!("x{i}"), 2))).unwrap();
        let cliques = cliques.iter().map(|ids| ids.iter().map(|&id| AttributeId(id)).collect());
        CliqueLayout::new(domain, cliques.collect())
    }

    fn region(attributes: &[u32], parents: &[usize]) -> Region {
        let attributes = attributes.iter().map(|&id| AttributeId(id)).collect();
        Region { attributes, parents: parents.to_vec() }
    }

    #[test]
    fn the_join_graph_of_acyclic_cliques_is_their_junction_tree() {
        let layout = layout(&[&[0, 1, 2], &[1, 2, 3], &[2, 4], &[2, 5], &[1, 2]]);
        let regions = join_graph(&layout);
        assert_eq!(regions, [region(&[1, 2], &[0, 1, 4]), region(&[2], &[2, 3, 4])]);
        assert!(is_acyclic(5, &regions));
    }

    #[test]
    fn every_attribute_of_a_join_graph_counts_once() {
        let layout = layout(&[&[0, 1, 5], &[1, 2, 5], &[0, 2, 5], &[2, 3], &[0, 3], &[4]]);
        let regions = join_graph(&layout);
        assert!(!is_acyclic(6, &regions));
        for id in (0..6).map(AttributeId) {
            let cliques = layout.cliques().iter().filter(|clique| clique.contains(id)).count();
            let shared: usize = regions
                .iter()
                .filter(|region| region.attributes.contains(id))
                .map(|region| region.parents.len() - 1)
                .sum();
            assert_eq!(cliques - shared, 1, "attribute {id:?}");
        }
    }

    #[test]
    fn intersections_leave_out_what_larger_ones_imply() {
        // The first two cliques agree on {1, 2}; for {2} the second represents both.
        let layout = layout(&[&[0, 1, 2, 5], &[1, 2, 3], &[2, 4]]);
        assert_eq!(intersections(&layout), [region(&[1, 2], &[0, 1]), region(&[2], &[1, 2])]);
    }

    #[test]
    fn breadth_first_order_starts_with_near_regions() {
        let chain = vec![region(&[3], &[2, 3]), region(&[1], &[0, 1]), region(&[2], &[1, 2])];
        let order: Vec<Clique> =
            breadth_first(4, chain).into_iter().map(|r| r.attributes).collect();
        assert_eq!(order, [1, 2, 3].map(|id| Clique::new([AttributeId(id)])));
    }
}
