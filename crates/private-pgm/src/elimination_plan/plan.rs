use std::collections::HashMap;
use std::ops::Range;

use super::optimal::MAX_TABLES;
use super::pairing::{AttributeBits, Pairing, cheapest_pairing};
use crate::domain::{AttributeId, Clique, Domain};
use crate::junction_tree::JunctionTree;

/// How the table of a node is computed from those of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeOperation {
    /// No children: the table at this position among the model's cliques.
    Leaf(usize),
    /// One child, the preceding node, summed onto this node's attributes.
    Sum,
    /// Two children, multiplied and summed onto this node's attributes. The right child is the
    /// preceding node; the left child precedes the subtree of the right child.
    Product,
}

/// A node of an elimination plan.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The attributes of its table.
    pub(crate) clique: Clique,
    pub(crate) operation: NodeOperation,
    /// The number of nodes of its subtree, itself included.
    pub(crate) subtree: usize,
}

/// A forest of products and sums, one tree per connected component, in post-order: a subtree is a
/// contiguous range of nodes that ends with its root.
#[derive(Clone, Debug)]
pub struct EliminationPlan {
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

impl EliminationPlan {
    /// A cheap plan that sums out every attribute of `tables`, none of which contains another.
    ///
    /// The plan follows the junction tree. A component of at most 15 tables takes the cheapest of
    /// all binary trees over its tables instead, if that costs less.
    pub fn new(domain: &Domain, tables: &[Clique], tree: &JunctionTree) -> Self {
        let mut builder = Builder::new(domain, tables);
        let mut roots = Vec::new();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); tree.cliques().len()];
        for (leaf, table) in tables.iter().enumerate() {
            match tree.covering(table) {
                Some(clique) if !table.is_empty() => members[clique].push(leaf),
                _ => roots.push(leaf),
            }
        }
        for component in tree.components() {
            let leaves: Vec<usize> =
                component.clone().flat_map(|clique| members[clique].iter().copied()).collect();
            if leaves.is_empty() {
                continue;
            }
            let (mut root, cost) =
                builder.along_junction_tree(tree, component.clone(), &mut members);
            if leaves.len() <= MAX_TABLES {
                let (direct, direct_cost) = builder.combine(&leaves, &Clique::empty());
                if direct_cost < cost {
                    root = direct;
                }
            }
            roots.push(root);
        }
        builder.into_plan(&roots)
    }

    /// A cheap plan for the product of all `tables`, summed onto `output`. The tables need not be
    /// connected. The root lacks the attributes of `output` that no table has.
    pub(crate) fn onto(domain: &Domain, tables: &[Clique], output: &Clique) -> Self {
        let mut builder = Builder::new(domain, tables);
        let leaves: Vec<usize> = (0..tables.len()).collect();
        let (root, _) = builder.combine(&leaves, output);
        builder.into_plan(&[root])
    }

    /// The nodes, in post-order.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The position of each component's root.
    pub(crate) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The positions of a node's children: none, one (the second), or two.
    pub(crate) fn children(&self, node: usize) -> (Option<usize>, Option<usize>) {
        match self.nodes[node].operation {
            NodeOperation::Leaf(_) => (None, None),
            NodeOperation::Sum => (None, Some(node - 1)),
            NodeOperation::Product => {
                (Some(node - 1 - self.nodes[node - 1].subtree), Some(node - 1))
            }
        }
    }

    /// An upper bound on the bytes of an exact oracle that follows this plan: one table of `f64`
    /// per leaf, and six per inner node (four, and two more for a message that is reparametrized).
    pub fn bytes(&self, domain: &Domain) -> f64 {
        let tables =
            |node: &Node| if matches!(node.operation, NodeOperation::Leaf(_)) { 1.0 } else { 6.0 };
        self.nodes.iter().map(|node| 8.0 * tables(node) * domain.cells_f64(&node.clique)).sum()
    }

    /// Multiply-adds of one forward and one backward pass.
    pub fn work(&self, domain: &Domain) -> f64 {
        let cells = |(position, _): (usize, &Node)| match self.children(position) {
            (Some(left), Some(right)) => {
                let union = self.nodes[left].clique.union(&self.nodes[right].clique);
                3.0 * domain.cells_f64(&union)
            }
            (_, Some(child)) => 2.0 * domain.cells_f64(&self.nodes[child].clique),
            _ => 4.0 * domain.cells_f64(&self.nodes[position].clique),
        };
        self.nodes.iter().enumerate().map(cells).sum()
    }
}

/// A [`NodeOperation`] with explicit children, before the nodes are in post-order.
#[derive(Clone, Copy)]
enum DraftOperation {
    Leaf(usize),
    Sum(usize),
    Product(usize, usize),
}

impl DraftOperation {
    fn children(self) -> impl Iterator<Item = usize> {
        let (left, right) = match self {
            Self::Leaf(_) => (None, None),
            Self::Sum(child) => (None, Some(child)),
            Self::Product(left, right) => (Some(left), Some(right)),
        };
        left.into_iter().chain(right)
    }
}

/// Collects candidate nodes; the plan keeps those that its roots reach.
struct Builder<'a> {
    domain: &'a Domain,
    drafts: Vec<(Clique, DraftOperation)>,
}

impl<'a> Builder<'a> {
    /// The drafts of the leaves come first, in the order of `tables`.
    fn new(domain: &'a Domain, tables: &[Clique]) -> Self {
        let leaf =
            |(table, clique): (usize, &Clique)| (clique.clone(), DraftOperation::Leaf(table));
        Self { domain, drafts: tables.iter().enumerate().map(leaf).collect() }
    }

    fn add(&mut self, clique: Clique, operation: DraftOperation) -> usize {
        self.drafts.push((clique, operation));
        self.drafts.len() - 1
    }

    /// Sends messages from the leaves of the junction tree to its root. Each clique combines its
    /// own tables with the messages from its children. Returns the root and the total cost.
    fn along_junction_tree(
        &mut self,
        tree: &JunctionTree,
        component: Range<usize>,
        members: &mut [Vec<usize>],
    ) -> (usize, f64) {
        let mut total_cost = 0.0;
        let mut last = None;
        for clique in component {
            let inputs = std::mem::take(&mut members[clique]);
            if inputs.is_empty() {
                continue;
            }
            let parent = tree.parent(clique);
            let output = match parent {
                Some(parent) => tree.separator(clique, parent),
                None => Clique::empty(),
            };
            let (message, cost) = self.combine(&inputs, &output);
            total_cost += cost;
            if let Some(parent) = parent {
                members[parent].push(message);
            }
            last = Some(message);
        }
        (last.expect("a component has tables"), total_cost)
    }

    /// The product of `inputs` summed onto `output`, and its cost.
    fn combine(&mut self, inputs: &[usize], output: &Clique) -> (usize, f64) {
        let cliques: Vec<Clique> =
            inputs.iter().map(|&input| self.drafts[input].0.clone()).collect();
        let Some(bits) = AttributeBits::new(self.domain, &cliques) else {
            // More than 128 attributes of two or more values: no table over them fits in memory,
            // so the order is irrelevant.
            let in_sequence = (1..inputs.len()).fold(Pairing::Table(0), |left, table| {
                Pairing::Product(left.into(), Pairing::Table(table).into())
            });
            return (self.add_pairing(inputs, &in_sequence, output), f64::INFINITY);
        };
        let (pairing, cost) = cheapest_pairing(&bits, &cliques, output);
        (self.add_pairing(inputs, &pairing, output), cost)
    }

    /// Adds the nodes of a pairing. An attribute is summed out in the first node whose subtree has
    /// all of its uses.
    fn add_pairing(&mut self, inputs: &[usize], pairing: &Pairing, output: &Clique) -> usize {
        let mut uses: HashMap<AttributeId, usize> = HashMap::new();
        let input_attributes = inputs.iter().flat_map(|&input| self.drafts[input].0.iter());
        for id in input_attributes.chain(output.iter()) {
            *uses.entry(id).or_insert(0) += 1;
        }
        self.add_subtree(inputs, pairing, &mut uses)
    }

    /// `uses` counts the remaining tables that have an attribute, and the output if it has it.
    fn add_subtree(
        &mut self,
        inputs: &[usize],
        pairing: &Pairing,
        uses: &mut HashMap<AttributeId, usize>,
    ) -> usize {
        match pairing {
            Pairing::Table(position) => {
                let input = inputs[*position];
                let clique = self.drafts[input].0.clone();
                let kept: Clique = clique.iter().filter(|id| uses[id] > 1).collect();
                if kept == clique { input } else { self.add(kept, DraftOperation::Sum(input)) }
            }
            Pairing::Product(left, right) => {
                let left = self.add_subtree(inputs, left, uses);
                let right = self.add_subtree(inputs, right, uses);
                let (a, b) = (self.drafts[left].0.clone(), self.drafts[right].0.clone());
                for id in a.intersection(&b).iter() {
                    // The product is one use in place of two.
                    *uses.get_mut(&id).expect("counted") -= 1;
                }
                let kept: Clique = a.union(&b).iter().filter(|id| uses[id] > 1).collect();
                self.add(kept, DraftOperation::Product(left, right))
            }
        }
    }

    fn into_plan(self, roots: &[usize]) -> EliminationPlan {
        let mut plan = EliminationPlan { nodes: Vec::new(), roots: Vec::new() };
        for &root in roots {
            self.append_subtree(root, &mut plan.nodes);
            plan.roots.push(plan.nodes.len() - 1);
        }
        plan
    }

    /// Appends the subtree of a draft in post-order. Iterative, since a chain of ten thousand
    /// cliques is that deep.
    fn append_subtree(&self, root: usize, nodes: &mut Vec<Node>) {
        let mut stack = vec![(root, false)];
        while let Some((draft, children_done)) = stack.pop() {
            let (clique, operation) = &self.drafts[draft];
            if !children_done {
                stack.push((draft, true));
                let first_pushed = stack.len();
                stack.extend(operation.children().map(|child| (child, false)));
                // The left child is popped first.
                stack[first_pushed..].reverse();
                continue;
            }
            let right = nodes.last().map_or(0, |node| node.subtree);
            let (operation, subtree) = match *operation {
                DraftOperation::Leaf(table) => (NodeOperation::Leaf(table), 1),
                DraftOperation::Sum(_) => (NodeOperation::Sum, 1 + right),
                DraftOperation::Product(..) => {
                    (NodeOperation::Product, 1 + right + nodes[nodes.len() - 1 - right].subtree)
                }
            };
            nodes.push(Node { clique: clique.clone(), operation, subtree });
        }
    }
}
