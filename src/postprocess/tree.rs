//! Trees of sums over a histogram.

use thiserror::Error;

/// A tree whose leaves are the bins of a histogram and whose other nodes are the sums of up to k
/// neighbours on the level below, up to a single root (Hay, Rastogi, Miklau, Suciu 2010).
///
/// Nodes are stored level by level from the root (breadth first). The last node of a level may have
/// fewer children than the others, so that any number of leaves fits; with k^l leaves the tree is
/// complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    branching: usize,
    /// Where each level begins, from the root on, and the number of all nodes.
    starts: Vec<usize>,
}

/// Why there is no such tree.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum TreeError {
    /// Nodes with fewer children would never come together.
    #[error("the branching factor must be at least 2, and is {0}")]
    Branching(usize),
    /// Nothing to build on.
    #[error("a tree needs at least one leaf")]
    NoLeaves,
    /// Another number of nodes than the tree has.
    #[error(
        "a tree of {leaves} leaves with branching factor {branching} has {expected} nodes, not {found}"
    )]
    Nodes {
        /// The leaves of the tree.
        leaves: usize,
        /// Its branching factor.
        branching: usize,
        /// Its nodes.
        expected: usize,
        /// The numbers that were given.
        found: usize,
    },
    /// The number of a node is infinite or not a number.
    #[error("node {node} is {value}, which is no finite number")]
    Node {
        /// Its place, level by level from the root.
        node: usize,
        /// What it is.
        value: f64,
    },
}

impl Tree {
    /// The tree over so many leaves.
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

    /// k.
    pub fn branching(&self) -> usize {
        self.branching
    }

    /// The number of levels, h, leaves and root among them: one node on each of them covers a bin, so
    /// that a record that is added changes h sums.
    pub fn levels(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts[self.levels()]
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        self.level(self.levels() - 1).len()
    }

    /// The nodes of a level, counted from the root.
    pub fn level(&self, level: usize) -> std::ops::Range<usize> {
        self.starts[level]..self.starts[level + 1]
    }

    /// The levels of a list with a number for each node, from the root on.
    pub(super) fn split<'a>(&self, mut nodes: &'a mut [f64]) -> Vec<&'a mut [f64]> {
        let mut levels = Vec::with_capacity(self.levels());
        for level in 0..self.levels() {
            levels.push(
                nodes.split_off_mut(..self.level(level).len()).expect("a number for each node"),
            );
        }
        levels
    }

    /// Refuses lists that do not have a finite number for each node.
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

    /// Fills in the sums above the leaves, which are the last entries of `nodes`.
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

    /// All nodes, from the leaves.
    pub fn sums(&self, leaves: &[f64]) -> Vec<f64> {
        let mut nodes = vec![0.0; self.nodes() - leaves.len()];
        nodes.extend_from_slice(leaves);
        self.sum_up(&mut nodes);
        nodes
    }

    /// Makes a tree consistent that nearly is, without negative nodes: from the root down, the children
    /// of a node are scaled to its sum, those below 0 taken for 0. Errors of the leaves then do not add
    /// up over a range: it has those of the few nodes that make it up.
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
                    // Not parent / sum, which may be infinite where the sum is next to nothing.
                    true => children.iter_mut().for_each(|child| *child = parent * (*child / sum)),
                    false => children.fill(parent / children.len() as f64),
                }
            }
        }
    }

    /// For each node, the leaves that it covers.
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
