use std::ops::Range;

/// A rooted forest in post-order: each node directly follows its descendants.
pub(super) struct RootedForest {
    /// The original index of each node, in post-order.
    pub(super) nodes: Vec<usize>,
    /// For each position, the position of its parent.
    pub(super) parents: Vec<Option<usize>>,
    /// The positions of each tree; the last one is its root.
    pub(super) trees: Vec<Range<usize>>,
}

impl RootedForest {
    /// Roots every tree at its weighted centroid.
    pub(super) fn at_centroids(neighbours: &[Vec<usize>], weights: &[f64]) -> Self {
        let mut seen = vec![false; neighbours.len()];
        let mut rooted = Self { nodes: Vec::new(), parents: Vec::new(), trees: Vec::new() };
        for start in 0..neighbours.len() {
            if seen[start] {
                continue;
            }
            let root = centroid(&preorder(neighbours, start), weights);
            let visits = preorder(neighbours, root);
            let first = rooted.nodes.len();
            let end = first + visits.len();
            for visit in visits.iter().rev() {
                seen[visit.node] = true;
                rooted.nodes.push(visit.node);
                rooted.parents.push(visit.parent.map(|parent| end - 1 - parent));
            }
            rooted.trees.push(first..end);
        }
        rooted
    }
}

struct Visit {
    node: usize,
    /// The index of the parent in the list of visits.
    parent: Option<usize>,
}

/// The nodes of a tree in preorder: each is directly followed by its descendants.
fn preorder(neighbours: &[Vec<usize>], root: usize) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    let mut pending = vec![Visit { node: root, parent: None }];
    while let Some(visit) = pending.pop() {
        let above = visit.parent.map(|parent| visits[parent].node);
        let children = neighbours[visit.node].iter().filter(|&&other| Some(other) != above);
        let parent = Some(visits.len());
        pending.extend(children.map(|&node| Visit { node, parent }));
        visits.push(visit);
    }
    visits
}

/// The node that minimises the weight of the heaviest branch left by its removal; each branch then
/// weighs at most half of the tree. Ties go to the smaller index.
fn centroid(visits: &[Visit], weights: &[f64]) -> usize {
    // The bound keeps the sums finite.
    let bound = f64::MAX / visits.len() as f64;
    let mut below: Vec<f64> = visits.iter().map(|visit| weights[visit.node].min(bound)).collect();
    let mut heaviest = vec![0.0; visits.len()];
    for (position, visit) in visits.iter().enumerate().rev() {
        if let Some(parent) = visit.parent {
            heaviest[parent] = f64::max(heaviest[parent], below[position]);
            below[parent] += below[position];
        }
    }
    let total = below[0];
    let heaviest = heaviest.iter().zip(&below).map(|(&branch, below)| branch.max(total - below));
    visits
        .iter()
        .zip(heaviest)
        .min_by(|(a, x), (b, y)| x.total_cmp(y).then(a.node.cmp(&b.node)))
        .map_or(0, |(visit, _)| visit.node)
}
