//! A contraction tree compiled to flat arrays: what to run, where the tables lie, who runs it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::domain::{Clique, Domain};
use crate::estimation::contraction::{ContractionTree, Step};
use crate::factor::CliqueLayout;
use crate::numeric::contraction::{Axis, Contraction};

/// One node: its place in the arrays, and the contractions that it runs.
pub(super) struct Instruction {
    /// The node's table in the array of values.
    pub(super) value: Range<usize>,
    /// The node's table in the array of adjoints; empty for a leaf, whose adjoint becomes its
    /// marginal at once.
    pub(super) adjoint: Range<usize>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A table with potentials, at this position of the layout.
    Leaf(usize),
    Sum {
        child: usize,
        forward: Arc<Contraction>,
        to_child: Arc<Contraction>,
    },
    Product {
        left: usize,
        right: usize,
        forward: Arc<Contraction>,
        to_left: Arc<Contraction>,
        to_right: Arc<Contraction>,
    },
}

/// A run of nodes for one thread. When `split` is given, two subtrees inside the run are tasks of
/// their own that may run at the same time, before (forwards) or after (backwards) the nodes that
/// follow them.
pub(super) struct Task {
    pub(super) nodes: Range<usize>,
    pub(super) split: Option<Box<[Task; 2]>>,
}

impl Task {
    /// The nodes of the run that come before and after the split.
    pub(super) fn own_nodes(&self) -> (Range<usize>, Range<usize>) {
        match &self.split {
            None => (self.nodes.clone(), self.nodes.end..self.nodes.end),
            Some(tasks) => {
                (self.nodes.start..tasks[0].nodes.start, tasks[1].nodes.end..self.nodes.end)
            }
        }
    }
}

pub(super) struct Program {
    pub(super) layout: Arc<CliqueLayout>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) roots: Vec<usize>,
    /// One per component.
    pub(super) tasks: Vec<Task>,
    pub(super) values: usize,
    pub(super) adjoints: usize,
    /// ln of the number of combinations of the attributes that no table has.
    pub(super) log_free_cells: f64,
}

/// Multiply-adds worth a thread of its own (some 50 microseconds).
const GRAIN: usize = 1 << 16;

impl Program {
    /// Compiles `tree` over `cliques`. The layout lists the cliques in the order in which the
    /// tree brings them in, so that a subtree's tables are contiguous everywhere.
    pub(super) fn new(domain: &Domain, cliques: &[Clique], tree: &ContractionTree) -> Self {
        let nodes = tree.nodes();
        let leaf_cliques: Vec<Clique> = nodes
            .iter()
            .filter_map(|node| match node.step {
                Step::Leaf(table) => Some(cliques[table].clone()),
                _ => None,
            })
            .collect();
        let layout = CliqueLayout::new(domain.clone(), leaf_cliques);
        let mut cache: HashMap<Vec<Axis>, Arc<Contraction>> = HashMap::new();
        let mut compile = |a: &Clique, b: &Clique, o: &Clique| {
            let axes = axes(domain, a, b, o);
            Arc::clone(
                cache.entry(axes).or_insert_with_key(|axes| Arc::new(Contraction::new(axes))),
            )
        };
        let (mut values, mut adjoints, mut leaves) = (0, 0, 0);
        let mut instructions = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let cells = domain.cells(&node.clique).expect("the size was checked before");
            let own = &node.clique;
            let kind = match (node.step, tree.children(position)) {
                (Step::Product, (Some(left), Some(right))) => {
                    let (a, b) = (&nodes[left].clique, &nodes[right].clique);
                    Kind::Product {
                        left,
                        right,
                        forward: compile(a, b, own),
                        to_left: compile(b, own, a),
                        to_right: compile(a, own, b),
                    }
                }
                (Step::Sum, (_, Some(child))) => {
                    let (from, nothing) = (&nodes[child].clique, Clique::empty());
                    Kind::Sum {
                        child,
                        forward: compile(from, &nothing, own),
                        to_child: compile(&nothing, own, from),
                    }
                }
                _ => {
                    leaves += 1;
                    Kind::Leaf(leaves - 1)
                }
            };
            let adjoint_cells = if matches!(kind, Kind::Leaf(_)) { 0 } else { cells };
            instructions.push(Instruction {
                value: values..values + cells,
                adjoint: adjoints..adjoints + adjoint_cells,
                kind,
            });
            values += cells;
            adjoints += adjoint_cells;
        }
        let work = subtree_work(tree, &instructions);
        let tasks = tree.roots().iter().map(|&root| divide(tree, &work, root)).collect();
        let covered = Clique::new(layout.cliques().iter().flat_map(Clique::iter));
        let free = domain.everything().minus(&covered);
        let log_free_cells = free.iter().map(|id| (domain.size(id) as f64).ln()).sum();
        let roots = tree.roots().to_vec();
        Self { layout, instructions, roots, tasks, values, adjoints, log_free_cells }
    }

    /// The leaves among a run of nodes, as positions of the layout.
    pub(super) fn leaves(&self, nodes: &Range<usize>) -> Range<usize> {
        let leaf = |node: &Instruction| match node.kind {
            Kind::Leaf(leaf) => Some(leaf),
            _ => None,
        };
        let run = &self.instructions[nodes.clone()];
        let first = run.iter().find_map(leaf).unwrap_or(0);
        let end = run.iter().rev().find_map(leaf).map_or(first, |last| last + 1);
        first..end
    }
}

fn axes(domain: &Domain, a: &Clique, b: &Clique, o: &Clique) -> Vec<Axis> {
    a.union(b)
        .union(o)
        .iter()
        .map(|id| Axis {
            size: domain.size(id),
            in_a: a.contains(id),
            in_b: b.contains(id),
            in_o: o.contains(id),
        })
        .collect()
}

/// Multiply-adds of each node's subtree, there and back.
fn subtree_work(tree: &ContractionTree, instructions: &[Instruction]) -> Vec<usize> {
    let mut work = Vec::with_capacity(instructions.len());
    for (position, instruction) in instructions.iter().enumerate() {
        let own = match &instruction.kind {
            // The exponential of a potential costs a few multiply-adds.
            Kind::Leaf(_) => 4 * instruction.value.len(),
            Kind::Sum { forward, .. } => 2 * forward.work(),
            Kind::Product { forward, .. } => 3 * forward.work(),
        };
        let (left, right) = tree.children(position);
        let below = |child: Option<usize>| child.map_or(0, |child| work[child]);
        work.push(own + below(left) + below(right));
    }
    work
}

/// Follows the heavy path down from `node` until both children are worth a thread.
fn divide(tree: &ContractionTree, work: &[usize], node: usize) -> Task {
    let nodes = node + 1 - tree.nodes()[node].subtree..node + 1;
    let mut top = node;
    loop {
        top = match tree.children(top) {
            (Some(left), Some(right)) if work[left] >= GRAIN && work[right] >= GRAIN => {
                let tasks = [divide(tree, work, left), divide(tree, work, right)];
                return Task { nodes, split: Some(Box::new(tasks)) };
            }
            (Some(left), Some(right)) => {
                if work[left] > work[right] {
                    left
                } else {
                    right
                }
            }
            (_, Some(child)) => child,
            _ => return Task { nodes, split: None },
        };
    }
}
