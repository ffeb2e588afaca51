//! A contraction tree compiled to flat lists: what to run, on which tables, by whom.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::domain::{Clique, Domain};
use crate::elimination_plan::{ContractionCache, EliminationPlan, NodeOperation};
use crate::factor::CliqueLayout;
use crate::numeric::contraction::Contraction;
use crate::numeric::shift::PARALLEL;
use crate::numeric::strided::Projection;

/// One node of the tree.
pub(super) struct Instruction {
    /// Cells of the node's table.
    pub(super) cells: usize,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A table with potentials, at this position of the layout.
    Leaf(usize),
    /// The node just before, summed. When that is `absorbed`, it is a leaf whose marginal can be
    /// had in one pass.
    Sum { forward: Arc<Contraction>, child: Operand, absorbed: bool },
    /// The product of two nodes, summed; the right one is just before.
    Product {
        forward: Arc<Contraction>,
        left_node: usize,
        left: Operand,
        right: Operand,
        /// The child that is a leaf with every attribute of the other, which is none: the way back
        /// is one pass.
        absorbing: Option<usize>,
    },
}

impl Kind {
    /// Whether several threads work on the node's product together.
    fn is_shared(&self) -> bool {
        match self {
            Self::Leaf(_) => false,
            Self::Sum { forward, .. } | Self::Product { forward, .. } => forward.is_shared(),
        }
    }
}

/// A child of a node, as the node sees it.
#[derive(Clone)]
pub(super) struct Operand {
    /// From the child's table onto the attributes that the node keeps.
    pub(super) onto_kept: Arc<Projection>,
    /// From the node's table onto the same attributes.
    pub(super) from_node: Arc<Projection>,
    /// The way back: sibling times the node's adjoint, summed onto the child.
    pub(super) back: Arc<Contraction>,
}

/// A run of nodes for one thread. When `split` is given, two subtrees inside the run are tasks of
/// their own that may run at the same time, before (forwards) or after (backwards) the nodes that
/// follow them.
pub(super) struct Task {
    pub(super) nodes: Range<usize>,
    pub(super) leaves: Range<usize>,
    pub(super) split: Option<Box<[Task; 2]>>,
    /// Whether the two are all the work that threads can share: there is nothing else to do for the one
    /// that finishes first.
    pub(super) in_step: bool,
}

impl Task {
    /// The nodes of the run that are in no other task.
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

pub(super) struct Program {
    pub(super) layout: Arc<CliqueLayout>,
    pub(super) instructions: Vec<Instruction>,
    /// One per component, each with its root as the last node.
    pub(super) tasks: Vec<Task>,
}

/// Multiply-adds worth a thread of their own (some 50 microseconds).
const GRAIN: usize = 1 << 16;

impl Program {
    /// Compiles `tree` over `cliques`. The layout lists the cliques in the order in which the
    /// tree brings them in, so that the tables of a subtree's leaves are contiguous.
    pub(super) fn new(
        compiler: &mut Compiler<'_>,
        cliques: &[Clique],
        tree: &EliminationPlan,
    ) -> Self {
        let (domain, nodes) = (compiler.domain, tree.nodes());
        let mut leaves = Vec::new();
        let mut instructions = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let own = &node.clique;
            let kind = match (node.operation, tree.children(position)) {
                (NodeOperation::Product, (Some(left_node), Some(right_node))) => {
                    let (a, b) = (&nodes[left_node].clique, &nodes[right_node].clique);
                    let forward = compiler.contractions.get(a, b, own);
                    let is_leaf =
                        |node: usize| matches!(nodes[node].operation, NodeOperation::Leaf(_));
                    let full = forward.absorbs().map(|second| match second {
                        false => (left_node, right_node),
                        true => (right_node, left_node),
                    });
                    let full = full.filter(|&(full, other)| is_leaf(full) && !is_leaf(other));
                    Kind::Product {
                        forward,
                        left_node,
                        left: compiler.operand(a, b, own),
                        right: compiler.operand(b, a, own),
                        absorbing: full.map(|(full, _)| full),
                    }
                }
                (NodeOperation::Sum, (_, Some(child))) => {
                    let (from, nothing) = (&nodes[child].clique, Clique::empty());
                    let forward = compiler.contractions.get(from, &nothing, own);
                    let is_leaf = matches!(nodes[child].operation, NodeOperation::Leaf(_));
                    Kind::Sum {
                        absorbed: is_leaf && forward.absorbs() == Some(false),
                        forward,
                        child: compiler.operand(from, &nothing, own),
                    }
                }
                (NodeOperation::Leaf(table), _) => {
                    leaves.push(cliques[table].clone());
                    Kind::Leaf(leaves.len() - 1)
                }
                (NodeOperation::Product | NodeOperation::Sum, _) => {
                    unreachable!("inner nodes have children")
                }
            };
            let cells = domain.cells(own).expect("the size was checked before");
            instructions.push(Instruction { cells, kind });
        }
        let work = subtree_work(tree, &instructions);
        let task = |&root: &usize| {
            let mut task = divide(tree, &instructions, &work, root);
            let alone = |part: &Task| {
                let shared = |node: usize| {
                    let Instruction { cells, kind } = &instructions[node];
                    *cells >= PARALLEL || kind.is_shared()
                };
                part.split.is_none() && !part.nodes.clone().any(shared)
            };
            task.in_step = task.split.as_deref().is_some_and(|parts| parts.iter().all(alone));
            task
        };
        let tasks = tree.roots().iter().map(task).collect();
        Self { layout: CliqueLayout::new(domain.clone(), leaves), instructions, tasks }
    }

    /// The cells of a node that is a leaf, among those of all leaves.
    pub(super) fn leaf_cells(&self, node: usize) -> Option<Range<usize>> {
        match self.instructions[node].kind {
            Kind::Leaf(leaf) => Some(self.layout.range(leaf)),
            _ => None,
        }
    }

    /// The cells of consecutive leaves.
    pub(super) fn cells(&self, leaves: &Range<usize>) -> Range<usize> {
        self.layout.range(leaves.start).start..self.layout.range(leaves.end - 1).end
    }
}

/// Makes each contraction and each projection once: the tables of a chain all have the same.
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

    fn operand(&mut self, child: &Clique, sibling: &Clique, node: &Clique) -> Operand {
        let kept = child.intersection(node);
        Operand {
            onto_kept: self.projection(child, &kept),
            from_node: self.projection(node, &kept),
            back: self.contractions.get(sibling, node, child),
        }
    }
}

/// Multiply-adds of each node's subtree, there and back.
fn subtree_work(tree: &EliminationPlan, instructions: &[Instruction]) -> Vec<usize> {
    let mut work = Vec::with_capacity(instructions.len());
    for (position, instruction) in instructions.iter().enumerate() {
        let own = match &instruction.kind {
            // The exponential of a potential costs a few multiply-adds.
            Kind::Leaf(_) => 4 * instruction.cells,
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
fn divide(
    tree: &EliminationPlan,
    instructions: &[Instruction],
    work: &[usize],
    node: usize,
) -> Task {
    let nodes = node + 1 - tree.nodes()[node].subtree..node + 1;
    let leaf = |node: &usize| match instructions[*node].kind {
        Kind::Leaf(leaf) => Some(leaf),
        _ => None,
    };
    let first = nodes.clone().find_map(|node| leaf(&node)).expect("a subtree has a leaf");
    let last = nodes.clone().rev().find_map(|node| leaf(&node)).expect("a subtree has a leaf");
    let mut task = Task { nodes, leaves: first..last + 1, split: None, in_step: false };
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
