//! Trees of sums over a histogram.

use thiserror::Error;

/// A tree whose leaves are the bins of a histogram. Each other node is the sum of up to k adjacent
/// nodes of the level below, up to a single root (Hay, Rastogi, Miklau, Suciu 2010).
///
/// Nodes are stored level by level from the root (breadth first). The last node of a level may have
/// fewer children than the others, so any number of leaves is possible. With k^l leaves the tree is
/// complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    branching: usize,
    /// The first node of each level from the root, and the number of all nodes.
    starts: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum TreeError {
    #[error("the branching factor must be at least 2, found {0}")]
    Branching(usize),
    #[error("a tree needs at least one leaf")]
    NoLeaves,
    #[error(
        "a tree of {leaves} leaves with branching factor {branching} has {expected} nodes, \
         found {found}"
    )]
    Nodes { leaves: usize, branching: usize, expected: usize, found: usize },
    #[error("node {node} is {value}; expected a finite number")]
    Node {
        /// Level by level from the root.
        node: usize,
        value: f64,
    },
}

impl Tree {
    pub fn new(branching: usize, leaves: usize) -> Result<Self, TreeError> {
        if branching < 2 {
            return Err(TreeError::Branching(branching));
        }
        if leaves == 0 {
            return Err(TreeError::NoLeaves);
        }
        let mut sizes = vec![leaves];
        while let Some(&size) = sizes.last().filter(|&&size| size > 1) {
            sizes.push(size.div_ceil(branching));
        }
        let starts = sizes.iter().rev().scan(0, |next, size| {
            let start = *next;
            *next += size;
            Some(start)
        });
        let mut starts: Vec<usize> = starts.collect();
        starts.push(sizes.iter().sum());
        Ok(Self { branching, starts })
    }

    pub fn branching(&self) -> usize {
        self.branching
    }

    /// h, with the root and the leaves. A bin is below one node per level, so an added record
    /// changes h sums.
    pub fn levels(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn nodes(&self) -> usize {
        self.starts[self.levels()]
    }

    pub fn leaves(&self) -> usize {
        self.level(self.levels() - 1).len()
    }

    /// From the root.
    pub fn level(&self, level: usize) -> std::ops::Range<usize> {
        self.starts[level]..self.starts[level + 1]
    }

    /// The levels of a list with a number per node, from the root.
    pub(super) fn split<'a>(&self, mut nodes: &'a mut [f64]) -> Vec<&'a mut [f64]> {
        let mut levels = Vec::with_capacity(self.levels());
        for level in 0..self.levels() {
            levels.push(nodes.split_off_mut(..self.level(level).len()).expect("a number per node"));
        }
        levels
    }

    /// Refuses lists without a finite number per node.
    pub fn check(&self, numbers: &[f64]) -> Result<(), TreeError> {
        let (expected, found) = (self.nodes(), numbers.len());
        let (leaves, branching) = (self.leaves(), self.branching);
        if expected != found {
            return Err(TreeError::Nodes { leaves, branching, expected, found });
        }
        match numbers.iter().position(|number| !number.is_finite()) {
            Some(node) => Err(TreeError::Node { node, value: numbers[node] }),
            None => Ok(()),
        }
    }

    /// Computes the sums above the leaves, which are the last entries of `nodes`.
    pub fn sum_up(&self, nodes: &mut [f64]) {
        for level in (1..self.levels()).rev() {
            let (above, below) = nodes.split_at_mut(self.starts[level]);
            let children = &below[..self.level(level).len()];
            let parents = &mut above[self.starts[level - 1]..];
            for (parent, children) in parents.iter_mut().zip(children.chunks(self.branching)) {
                *parent = children.iter().sum();
            }
        }
    }

    /// All nodes from the leaves.
    pub fn sums(&self, leaves: &[f64]) -> Vec<f64> {
        let mut nodes = vec![0.0; self.nodes() - leaves.len()];
        nodes.extend_from_slice(leaves);
        self.sum_up(&mut nodes);
        nodes
    }

    /// Makes a nearly consistent tree consistent and nonnegative. From the root down, negative
    /// children are set to 0 and the children of a node are scaled to its value. So the error of a
    /// range is that of the few nodes that cover it, not the sum of the errors of its leaves.
    pub fn scale_down(&self, nodes: &mut [f64]) {
        nodes[0] = nodes[0].max(0.0);
        for level in 1..self.levels() {
            let (above, below) = nodes.split_at_mut(self.starts[level]);
            let children = &mut below[..self.level(level).len()];
            let parents = &above[self.starts[level - 1]..];
            for (&parent, children) in parents.iter().zip(children.chunks_mut(self.branching)) {
                children.iter_mut().for_each(|child| *child = child.max(0.0));
                let sum: f64 = children.iter().sum();
                match sum > 0.0 {
                    // parent / sum may overflow if the sum is tiny.
                    true => children.iter_mut().for_each(|child| *child = parent * (*child / sum)),
                    false => children.fill(parent / children.len() as f64),
                }
            }
        }
    }

    /// The leaves below each node.
    pub fn spans(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let leaves = self.leaves();
        (0..self.levels()).flat_map(move |level| {
            let width =
                (level + 1..self.levels()).fold(1usize, |w, _| w.saturating_mul(self.branching));
            (0..self.level(level).len()).map(move |node| {
                (node * width).min(leaves)..(node + 1).saturating_mul(width).min(leaves)
            })
        })
    }
}
