//! HTree: the consistent tree nearest to a noisy one (Hay, Rastogi, Miklau, Suciu, "Boosting the
//! accuracy of differentially private histograms through consistency", PVLDB 2010, section 4.2).

use std::iter::successors;

use rayon::prelude::*;

use super::copies::{PARALLEL, PART};
use super::proximal::Projection;
use super::tree::{Tree, TreeError};

/// The projection on the trees whose nodes are the sums of their children, in linear time. It is
/// ordinary least squares from all nodes.
///
/// Upward pass: let S be the sum of the children, with variance s in units of the variance of a
/// node, and y the noisy value of the node. They combine to z = (s y + S) / (s + 1), with variance
/// s / (s + 1). Downward pass: the difference between a parent and the sum of its children is
/// divided among the children in proportion to their variances. In a complete tree these are the
/// formulas of the paper: z = [(k^h - k^(h-1)) y + (k^(h-1) - 1) S] / (k^h - 1), and equal parts.
#[derive(Clone, Debug, PartialEq)]
pub struct HTree {
    tree: Tree,
    /// For each level but the leaves, from the root.
    levels: Vec<Weights>,
    /// The first level of the forests into which the tree is divided, and the number of roots per
    /// forest.
    cut: usize,
    roots: usize,
}

/// All nodes of a level except the last one have the same number of descendants.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weights {
    most: NodeWeights,
    last: NodeWeights,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NodeWeights {
    /// The weights of y and of S.
    own: f64,
    children: f64,
    /// The fraction of a difference for each child, and for the last child.
    share: f64,
    last_share: f64,
}

impl NodeWeights {
    /// For a node whose children have the same variance, except the last one. Returns the weights
    /// and the variance of z.
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
        // The number of nodes below a node of the level `cut`, including itself.
        let (mut cut, mut below) = (tree.levels() - 1, 1);
        while cut > 0 && below * tree.branching() < PART {
            (cut, below) = (cut - 1, below * tree.branching() + 1);
        }
        Self { tree, levels, cut, roots: (PART / below).max(1) }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn project(&self, noisy: &[f64]) -> Result<Vec<f64>, TreeError> {
        self.tree.check(noisy)?;
        let mut nodes = noisy.to_vec();
        self.project_in_place(&mut nodes);
        Ok(nodes)
    }

    fn project_in_place(&self, nodes: &mut [f64]) {
        let cut = self.cut;
        self.in_each_forest(nodes, |forest, ends| self.up(cut, forest, ends));
        let mut levels = self.tree.split(nodes);
        self.up(0, &mut levels[..=cut], true);
        self.down(0, &mut levels[..=cut], true);
        self.in_each_forest(nodes, |forest, ends| self.down(cut, forest, ends));
    }

    /// Upward pass over these levels, of which the first is level `first` of the tree. The last
    /// node of a level is among them only if the forest `ends` the levels.
    fn up(&self, first: usize, levels: &mut [&mut [f64]], ends: bool) {
        for level in (0..levels.len() - 1).rev() {
            let [parents, children] = two(levels, level);
            self.levels[first + level].up(self.tree.branching(), parents, children, ends);
        }
    }

    /// Downward pass.
    fn down(&self, first: usize, levels: &mut [&mut [f64]], ends: bool) {
        for level in 0..levels.len() - 1 {
            let [parents, children] = two(levels, level);
            self.levels[first + level].down(self.tree.branching(), parents, children, ends);
        }
    }

    /// Calls `work` for the levels of each forest, and whether it is the last forest. The forests
    /// are parts of the tree below the cut.
    ///
    /// A forest fits into the L2 cache, and forests are independent.
    fn in_each_forest(&self, nodes: &mut [f64], work: impl Fn(&mut [&mut [f64]], bool) + Sync) {
        let mut levels = self.tree.split(nodes);
        // The width after the last level may overflow.
        let wider = |width: &usize| Some(width.saturating_mul(self.tree.branching()));
        let mut widths = successors(Some(self.roots), wider);
        let mut forests: Vec<Vec<&mut [f64]>> = Vec::new();
        for level in levels.drain(self.cut..) {
            let parts = level.chunks_mut(widths.next().expect("an infinite sequence"));
            forests.resize_with(parts.len(), Vec::new);
            forests.iter_mut().zip(parts).for_each(|(forest, part)| forest.push(part));
        }
        let last = forests.len() - 1;
        let work = |(index, forest): (usize, &mut Vec<&mut [f64]>)| work(forest, index == last);
        match forests.len() < PARALLEL {
            true => forests.iter_mut().enumerate().for_each(work),
            false => forests.par_iter_mut().enumerate().for_each(work),
        }
    }
}

/// A level, counted from the first of these, and the one below it.
fn two<'a>(levels: &'a mut [&mut [f64]], level: usize) -> [&'a mut [f64]; 2] {
    let (above, below) = levels.split_at_mut(level + 1);
    [&mut *above[level], &mut *below[0]]
}

impl Weights {
    /// Combines parents with the sums of their children. The last parent is the last of the level
    /// if it `ends` here.
    fn up(&self, k: usize, parents: &mut [f64], children: &[f64], ends: bool) {
        let (regular, last) = parents.split_at_mut(parents.len() - usize::from(ends));
        let (of_regular, of_last) = children.split_at(regular.len() * k);
        fn up(weights: NodeWeights, parent: &mut f64, sum: f64) {
            *parent = weights.own * *parent + weights.children * sum;
        }
        let most = self.most;
        match k {
            2 => {
                let pairs = of_regular.as_chunks::<2>().0;
                regular.iter_mut().zip(pairs).for_each(|(p, [a, b])| up(most, p, a + b));
            }
            _ => {
                let groups = of_regular.chunks_exact(k);
                regular.iter_mut().zip(groups).for_each(|(p, c)| up(most, p, c.iter().sum()));
            }
        }
        last.iter_mut().for_each(|parent| up(self.last, parent, of_last.iter().sum()));
    }

    /// Divides the differences between parents and the sums of their children among the children.
    fn down(&self, k: usize, parents: &[f64], children: &mut [f64], ends: bool) {
        let (regular, last) = parents.split_at(parents.len() - usize::from(ends));
        let (of_regular, of_last) = children.split_at_mut(regular.len() * k);
        let share = self.most.share;
        match k {
            2 => {
                for (parent, [a, b]) in regular.iter().zip(of_regular.as_chunks_mut::<2>().0) {
                    let part = share * (parent - (*a + *b));
                    *a += part;
                    *b += part;
                }
            }
            _ => {
                for (parent, group) in regular.iter().zip(of_regular.chunks_exact_mut(k)) {
                    let part = share * (parent - group.iter().sum::<f64>());
                    group.iter_mut().for_each(|child| *child += part);
                }
            }
        }
        if let ([parent], [others @ .., child]) = (last, of_last) {
            let more = parent - (others.iter().sum::<f64>() + *child);
            others.iter_mut().for_each(|child| *child += self.last.share * more);
            *child += self.last.last_share * more;
        }
    }
}

impl Projection for HTree {
    fn project(&self, v: &mut [f64]) {
        self.project_in_place(v);
    }
}
