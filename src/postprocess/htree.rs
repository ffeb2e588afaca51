//! HTree: the consistent tree that is nearest to a noisy one (Hay, Rastogi, Miklau, Suciu, "Boosting
//! the accuracy of differentially private histograms through consistency", PVLDB 2010, section 4.2).

use super::proximal::Proximal;
use super::tree::{Tree, TreeError};

/// The projection on the trees whose nodes are the sums of their children, in linear time. It is
/// ordinary least squares from all nodes.
///
/// Up: the children's sum S, of variance s in units of the variance of a node, and the node's own
/// number y make z = (s y + S) / (s + 1), of variance s / (s + 1). Down: what a parent is more than its
/// children's sum is divided among these in proportion to their variances. In a complete tree these are
/// the paper's formulas: z = [(k^h - k^(h-1)) y + (k^(h-1) - 1) S] / (k^h - 1), and equal parts.
#[derive(Clone, Debug, PartialEq)]
pub struct HTree {
    tree: Tree,
    /// For each level but the leaves, from the root on.
    levels: Vec<Weights>,
}

/// All nodes of a level have as many descendants, except for the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weights {
    most: NodeWeights,
    last: NodeWeights,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NodeWeights {
    /// Of y and of S.
    own: f64,
    children: f64,
    /// The part of a difference that each child gets, and the last child.
    share: f64,
    last_share: f64,
}

impl NodeWeights {
    /// For a node with so many children, whose variances are all the same, but for the last one's.
    fn new(children: usize, variance: f64, last_variance: f64) -> (Self, f64) {
        let sum = (children - 1) as f64 * variance + last_variance;
        let weights = Self {
            own: sum / (sum + 1.0),
            children: 1.0 / (sum + 1.0),
            share: variance / sum,
            last_share: last_variance / sum,
        };
        (weights, sum / (sum + 1.0))
    }
}

impl HTree {
    /// For trees of this shape.
    pub fn new(tree: Tree) -> Self {
        let (mut variance, mut last_variance) = (1.0, 1.0);
        let mut levels = Vec::with_capacity(tree.levels());
        for level in (0..tree.levels() - 1).rev() {
            let (nodes, children) = (tree.level(level).len(), tree.level(level + 1).len());
            let of_last = children - (nodes - 1) * tree.branching();
            let (most, of_most) = NodeWeights::new(tree.branching(), variance, variance);
            let (last, of_last) = NodeWeights::new(of_last, variance, last_variance);
            levels.push(Weights { most, last });
            (variance, last_variance) = (of_most, of_last);
        }
        levels.reverse();
        Self { tree, levels }
    }

    /// The shape.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The consistent tree nearest to `noisy`.
    pub fn project(&self, noisy: &[f64]) -> Result<Vec<f64>, TreeError> {
        self.tree.check(noisy)?;
        let mut nodes = noisy.to_vec();
        self.project_in_place(&mut nodes);
        Ok(nodes)
    }

    fn project_in_place(&self, nodes: &mut [f64]) {
        for level in (0..self.levels.len()).rev() {
            let Weights { most, last } = self.levels[level];
            let (parents, children) = self.two_levels(level, nodes);
            let k = self.tree.branching();
            let (last_parent, parents) = parents.split_last_mut().expect("a level has a node");
            let (regular, rest) = children.split_at(parents.len() * k);
            let up = |weights: NodeWeights, parent: &mut f64, sum: f64| {
                *parent = weights.own * *parent + weights.children * sum;
            };
            match k {
                2 => {
                    let pairs = regular.chunks_exact(2);
                    parents.iter_mut().zip(pairs).for_each(|(p, c)| up(most, p, c[0] + c[1]));
                }
                _ => {
                    let groups = regular.chunks_exact(k);
                    parents.iter_mut().zip(groups).for_each(|(p, c)| up(most, p, c.iter().sum()));
                }
            }
            up(last, last_parent, rest.iter().sum());
        }
        for level in 0..self.levels.len() {
            let Weights { most, last } = self.levels[level];
            let (parents, children) = self.two_levels(level, nodes);
            let k = self.tree.branching();
            let (last_parent, parents) = parents.split_last_mut().expect("a level has a node");
            let (regular, rest) = children.split_at_mut(parents.len() * k);
            match k {
                2 => {
                    for (parent, pair) in parents.iter().zip(regular.chunks_exact_mut(2)) {
                        let part = most.share * (parent - (pair[0] + pair[1]));
                        pair[0] += part;
                        pair[1] += part;
                    }
                }
                _ => {
                    for (parent, group) in parents.iter().zip(regular.chunks_exact_mut(k)) {
                        let part = most.share * (parent - group.iter().sum::<f64>());
                        group.iter_mut().for_each(|child| *child += part);
                    }
                }
            }
            let more = *last_parent - rest.iter().sum::<f64>();
            if let Some((last_child, others)) = rest.split_last_mut() {
                others.iter_mut().for_each(|child| *child += last.share * more);
                *last_child += last.last_share * more;
            }
        }
    }

    /// A level and the one below it.
    fn two_levels<'a>(&self, level: usize, nodes: &'a mut [f64]) -> (&'a mut [f64], &'a mut [f64]) {
        let (parents, children) = (self.tree.level(level), self.tree.level(level + 1));
        let (above, below) = nodes.split_at_mut(children.start);
        (&mut above[parents], &mut below[..children.len()])
    }
}

/// 0 on consistent trees, infinite elsewhere.
impl Proximal for HTree {
    fn minimise(&self, _: f64, _: usize, v: &mut [f64]) {
        self.project_in_place(v);
    }

    fn is_separable(&self) -> bool {
        false
    }
}
