//! A contraction tree compiled to a flat list of instructions, divided into tasks for threads.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::domain::{Clique, Domain};
use crate::elimination_plan::{ContractionCache, EliminationPlan, NodeOperation};
use crate::factor::CliqueLayout;
use crate::numeric::contraction::Contraction;
use crate::numeric::shift::PARALLEL;
use crate::numeric::strided::Projection;

/// What computes one node of the tree.
pub(super) struct Instruction {
    /// The number of cells of the node's table.
    pub(super) cells: usize,
    pub(super) operation: Operation,
}

pub(super) enum Operation {
    /// A table of potentials, at this position of the layout.
    Leaf(usize),
    Sum(Sum),
    Product(Product),
}

/// A node that sums its child, which directly precedes it, over some attributes.
pub(super) struct Sum {
    pub(super) forward: Arc<Contraction>,
    pub(super) child: Operand,
    /// Whether the child is a leaf whose marginal takes a single pass.
    pub(super) absorbed: bool,
}

/// A node that sums the product of its children over some attributes. The right child directly
/// precedes it.
pub(super) struct Product {
    pub(super) forward: Arc<Contraction>,
    pub(super) left_node: usize,
    pub(super) left: Operand,
    pub(super) right: Operand,
    /// The child that is a leaf with every attribute of the other child, which is an inner node.
    /// The backward step then takes a single pass over the leaf.
    pub(super) absorbing: Option<usize>,
}

impl Operation {
    /// Whether several threads work on the node's product together.
    fn is_shared(&self) -> bool {
        match self {
            Self::Leaf(_) => false,
            Self::Sum(Sum { forward, .. }) | Self::Product(Product { forward, .. }) => {
                forward.is_shared()
            }
        }
    }
}

/// The tables through which a node reads one of its children.
#[derive(Clone)]
pub(super) struct Operand {
    /// From the child's table onto the attributes that the node keeps.
    pub(super) onto_kept: Arc<Projection>,
    /// From the node's table onto the same attributes.
    pub(super) from_node: Arc<Projection>,
    /// The backward step: the sibling times the node's adjoint, summed onto the child.
    pub(super) back: Arc<Contraction>,
}

/// A range of consecutive nodes for one thread. With a `split`, two subtrees inside the range are
/// tasks of their own that may run in parallel: before the other nodes in the forward pass, after
/// them in the backward pass.
pub(super) struct Task {
    pub(super) nodes: Range<usize>,
    pub(super) leaves: Range<usize>,
    pub(super) split: Option<Box<[Task; 2]>>,
    /// Whether the two halves are all the work that threads can share, so that the thread that
    /// finishes first may as well [spin](super::join_spinning::join_spinning).
    pub(super) spin: bool,
}

impl Task {
    /// The nodes that are in neither task of the split.
    pub(super) fn own_nodes(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let (before, after) = match &self.split {
            None => (self.nodes.clone(), self.nodes.end..self.nodes.end),
            Some(tasks) => {
                (self.nodes.start..tasks[0].nodes.start, tasks[1].nodes.end..self.nodes.end)
            }
        };
        before.chain(after)
    }
}

/// The instructions of a contraction tree in topological order, children first.
pub(super) struct Program {
    pub(super) layout: Arc<CliqueLayout>,
    pub(super) instructions: Vec<Instruction>,
    /// One task per connected component, with its root as the last node.
    pub(super) tasks: Vec<Task>,
}

/// The smallest task for a thread, in multiply-adds (about 50 microseconds). Our choice.
const GRAIN: usize = 1 << 16;

impl Program {
    /// Compiles `tree` over `cliques`. The layout lists the cliques in the order of the tree's
    /// leaves, so that the tables of a subtree's leaves are contiguous.
    pub(super) fn new(
        compiler: &mut Compiler<'_>,
        cliques: &[Clique],
        tree: &EliminationPlan,
    ) -> Self {
        let nodes = tree.nodes();
        let mut leaves = Vec::new();
        let mut instructions = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let operation = match (node.operation, tree.children(position)) {
                (NodeOperation::Product, (Some(left), Some(right))) => {
                    Operation::Product(compiler.product(tree, position, (left, right)))
                }
                (NodeOperation::Sum, (_, Some(child))) => {
                    Operation::Sum(compiler.sum(tree, position, child))
                }
                (NodeOperation::Leaf(table), _) => {
                    leaves.push(cliques[table].clone());
                    Operation::Leaf(leaves.len() - 1)
                }
                (NodeOperation::Product | NodeOperation::Sum, _) => {
                    unreachable!("inner nodes have children")
                }
            };
            let cells = compiler.domain.cells(&node.clique).expect("the size was checked before");
            instructions.push(Instruction { cells, operation });
        }
        let work = subtree_work(tree, &instructions);
        let task = |&root: &usize| {
            let mut task = divide(tree, &instructions, &work, root);
            let alone = |part: &Task| {
                let shared = |node: usize| {
                    let Instruction { cells, operation } = &instructions[node];
                    *cells >= PARALLEL || operation.is_shared()
                };
                part.split.is_none() && !part.nodes.clone().any(shared)
            };
            task.spin = task.split.as_deref().is_some_and(|parts| parts.iter().all(alone));
            task
        };
        let tasks = tree.roots().iter().map(task).collect();
        Self { layout: CliqueLayout::new(compiler.domain.clone(), leaves), instructions, tasks }
    }

    /// The cells of a leaf node among those of all leaves; `None` for other nodes.
    pub(super) fn leaf_cells(&self, node: usize) -> Option<Range<usize>> {
        match self.instructions[node].operation {
            Operation::Leaf(leaf) => Some(self.layout.range(leaf)),
            _ => None,
        }
    }

    /// The cells of consecutive leaves.
    pub(super) fn cells(&self, leaves: &Range<usize>) -> Range<usize> {
        self.layout.range(leaves.start).start..self.layout.range(leaves.end - 1).end
    }
}

/// Builds each distinct contraction and projection once: the tables of a chain share theirs.
pub(super) struct Compiler<'a> {
    domain: &'a Domain,
    contractions: ContractionCache<'a>,
    projections: HashMap<Vec<(usize, bool)>, Arc<Projection>>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(domain: &'a Domain) -> Self {
        Self { domain, contractions: ContractionCache::new(domain), projections: HashMap::new() }
    }

    /// From a table onto those of its attributes that are kept.
    pub(super) fn projection(&mut self, from: &Clique, kept: &Clique) -> Arc<Projection> {
        let axes = from.iter().map(|id| (self.domain.size(id), kept.contains(id))).collect();
        let compiled = self.projections.entry(axes);
        Arc::clone(compiled.or_insert_with_key(|axes| {
            let (shape, kept): (Vec<usize>, Vec<bool>) = axes.iter().copied().unzip();
            Arc::new(Projection::new(&shape, &kept))
        }))
    }

    fn product(
        &mut self,
        tree: &EliminationPlan,
        node: usize,
        (left_node, right_node): (usize, usize),
    ) -> Product {
        let nodes = tree.nodes();
        let (a, b) = (&nodes[left_node].clique, &nodes[right_node].clique);
        let own = &nodes[node].clique;
        let forward = self.contractions.get(a, b, own);
        let is_leaf = |node: usize| matches!(nodes[node].operation, NodeOperation::Leaf(_));
        let full = forward.absorbs().map(|second| match second {
            false => (left_node, right_node),
            true => (right_node, left_node),
        });
        let full = full.filter(|&(full, other)| is_leaf(full) && !is_leaf(other));
        Product {
            forward,
            left_node,
            left: self.operand(a, b, own),
            right: self.operand(b, a, own),
            absorbing: full.map(|(full, _)| full),
        }
    }

    fn sum(&mut self, tree: &EliminationPlan, node: usize, child: usize) -> Sum {
        let nodes = tree.nodes();
        let (from, nothing, own) = (&nodes[child].clique, Clique::empty(), &nodes[node].clique);
        let forward = self.contractions.get(from, &nothing, own);
        let is_leaf = matches!(nodes[child].operation, NodeOperation::Leaf(_));
        Sum {
            absorbed: is_leaf && forward.absorbs() == Some(false),
            forward,
            child: self.operand(from, &nothing, own),
        }
    }

    fn operand(&mut self, child: &Clique, sibling: &Clique, node: &Clique) -> Operand {
        let kept = child.intersection(node);
        Operand {
            onto_kept: self.projection(child, &kept),
            from_node: self.projection(node, &kept),
            back: self.contractions.get(sibling, node, child),
        }
    }
}

/// The multiply-adds of each node's subtree in both passes.
fn subtree_work(tree: &EliminationPlan, instructions: &[Instruction]) -> Vec<usize> {
    let mut work = Vec::with_capacity(instructions.len());
    for (position, instruction) in instructions.iter().enumerate() {
        let own = match &instruction.operation {
            // An exponential costs about four multiply-adds.
            Operation::Leaf(_) => 4 * instruction.cells,
            Operation::Sum(Sum { forward, .. }) => 2 * forward.work(),
            Operation::Product(Product { forward, .. }) => 3 * forward.work(),
        };
        let (left, right) = tree.children(position);
        let below = |child: Option<usize>| child.map_or(0, |child| work[child]);
        work.push(own + below(left) + below(right));
    }
    work
}

/// The task of the subtree at `node`: follows the heavier child down until both children are worth
/// a thread, and splits there.
fn divide(
    tree: &EliminationPlan,
    instructions: &[Instruction],
    work: &[usize],
    node: usize,
) -> Task {
    let nodes = node + 1 - tree.nodes()[node].subtree..node + 1;
    let leaf = |node: &usize| match instructions[*node].operation {
        Operation::Leaf(leaf) => Some(leaf),
        _ => None,
    };
    let first = nodes.clone().find_map(|node| leaf(&node)).expect("a subtree has a leaf");
    let last = nodes.clone().rev().find_map(|node| leaf(&node)).expect("a subtree has a leaf");
    let mut task = Task { nodes, leaves: first..last + 1, split: None, spin: false };
    let mut top = node;
    loop {
        top = match tree.children(top) {
            (Some(left), Some(right)) if work[left] >= GRAIN && work[right] >= GRAIN => {
                let branch = |node| divide(tree, instructions, work, node);
                task.split = Some(Box::new([branch(left), branch(right)]));
                return task;
            }
            (Some(left), Some(right)) if work[left] > work[right] => left,
            (_, Some(child)) => child,
            _ => return task,
        };
    }
}
