use std::collections::HashMap;
use std::ops::Range;

use super::group::{Alphabet, EXHAUSTIVE, Pairing, pair_up};
use crate::domain::{AttributeId, Clique, Domain};
use crate::junction_tree::JunctionTree;

/// What a node of a contraction tree does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Brings in the table with this position among the model's cliques.
    Leaf(usize),
    /// Sums the node just before it onto this node's attributes.
    Sum,
    /// Multiplies its two children and sums the product onto this node's attributes. The right
    /// child is the node just before; the left child is the one before the right child's subtree.
    Product,
}

/// A node of a contraction tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// The attributes of its table.
    pub clique: Clique,
    /// How the table comes about.
    pub step: Step,
    /// The number of nodes of its subtree, itself included.
    pub subtree: usize,
}

/// A forest of contraction trees, one per connected component, in post-order: a subtree is a
/// contiguous run of nodes that ends with its root.
#[derive(Clone, Debug)]
pub struct ContractionTree {
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

impl ContractionTree {
    /// A cheap forest that sums out every attribute of `tables`, none of which contains another:
    /// along the junction tree, or, for a component of few tables, the best of all trees if that
    /// is cheaper.
    pub fn new(domain: &Domain, tables: &[Clique], tree: &JunctionTree) -> Self {
        let mut builder = Builder { domain, parts: Vec::new() };
        let leaves: Vec<usize> = (0..tables.len())
            .map(|table| builder.add(tables[table].clone(), Part::Leaf(table)))
            .collect();
        let mut roots = Vec::new();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); tree.cliques().len()];
        for (table, &leaf) in leaves.iter().enumerate() {
            match tree.covering(&tables[table]) {
                Some(home) if !tables[table].is_empty() => members[home].push(leaf),
                _ => roots.push(leaf),
            }
        }
        for component in tree.components() {
            let own: Vec<usize> =
                component.clone().flat_map(|clique| members[clique].iter().copied()).collect();
            if own.is_empty() {
                continue;
            }
            let (mut root, cost) = builder.along(tree, component.clone(), &mut members);
            if own.len() <= EXHAUSTIVE {
                let (at_once, cost_at_once) = builder.combine(&own, &Clique::empty());
                if cost_at_once < cost {
                    root = at_once;
                }
            }
            roots.push(root);
        }
        builder.in_post_order(&roots)
    }

    /// A cheap tree with `output` as the attributes of its root, for tables that are all wanted
    /// in one product. The tables need not be connected.
    pub fn onto(domain: &Domain, tables: &[Clique], output: &Clique) -> Self {
        let mut builder = Builder { domain, parts: Vec::new() };
        let leaves: Vec<usize> = (0..tables.len())
            .map(|table| builder.add(tables[table].clone(), Part::Leaf(table)))
            .collect();
        let (root, _) = builder.combine(&leaves, output);
        builder.in_post_order(&[root])
    }

    /// The nodes, in post-order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The position of each component's root.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// What the tables of an oracle along this tree take: leaves are stored once, inner nodes four
    /// times, and twice more if they are messages that can be moved.
    pub fn bytes(&self, domain: &Domain) -> f64 {
        let tables = |node: &Node| if matches!(node.step, Step::Leaf(_)) { 1.0 } else { 6.0 };
        self.nodes.iter().map(|node| 8.0 * tables(node) * domain.cells_f64(&node.clique)).sum()
    }

    /// Multiply-adds of one run, there and back.
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

    /// The positions of a node's children: none, one (the second), or two.
    pub fn children(&self, node: usize) -> (Option<usize>, Option<usize>) {
        match self.nodes[node].step {
            Step::Leaf(_) => (None, None),
            Step::Sum => (None, Some(node - 1)),
            Step::Product => (Some(node - 1 - self.nodes[node - 1].subtree), Some(node - 1)),
        }
    }
}

#[derive(Clone, Copy)]
enum Part {
    Leaf(usize),
    Sum(usize),
    Product(usize, usize),
}

struct Builder<'a> {
    domain: &'a Domain,
    parts: Vec<(Clique, Part)>,
}

impl Builder<'_> {
    fn add(&mut self, clique: Clique, part: Part) -> usize {
        self.parts.push((clique, part));
        self.parts.len() - 1
    }

    /// Messages from the leaves of the junction tree to its root; each clique combines the tables
    /// that live in it and what its children sent.
    fn along(
        &mut self,
        tree: &JunctionTree,
        component: Range<usize>,
        members: &mut [Vec<usize>],
    ) -> (usize, f64) {
        let mut spent = 0.0;
        let mut last = None;
        for clique in component {
            let inputs = std::mem::take(&mut members[clique]);
            if inputs.is_empty() {
                continue;
            }
            let parent = tree.parent(clique);
            let output = match parent {
                Some(parent) => tree.cliques()[clique].intersection(&tree.cliques()[parent]),
                None => Clique::empty(),
            };
            let (message, cost) = self.combine(&inputs, &output);
            spent += cost;
            if let Some(parent) = parent {
                members[parent].push(message);
            }
            last = Some(message);
        }
        (last.expect("a component has tables"), spent)
    }

    /// The product of `inputs`, summed onto `output`, and what it costs.
    fn combine(&mut self, inputs: &[usize], output: &Clique) -> (usize, f64) {
        let cliques: Vec<Clique> = inputs.iter().map(|&part| self.parts[part].0.clone()).collect();
        let Some(alphabet) = Alphabet::new(self.domain, &cliques) else {
            // More attributes than any table that fits in memory could have: no plan is good.
            let one_by_one = (1..inputs.len()).fold(Pairing::Table(0), |left, table| {
                Pairing::Product(left.into(), Pairing::Table(table).into())
            });
            return (self.realise(inputs, &one_by_one, output), f64::INFINITY);
        };
        let (pairing, cost) = pair_up(&alphabet, &cliques, output);
        (self.realise(inputs, &pairing, output), cost)
    }

    fn realise(&mut self, inputs: &[usize], pairing: &Pairing, output: &Clique) -> usize {
        let mut users: HashMap<AttributeId, usize> = HashMap::new();
        for &part in inputs {
            for id in self.parts[part].0.iter() {
                *users.entry(id).or_insert(0) += 1;
            }
        }
        for id in output.iter() {
            *users.entry(id).or_insert(0) += 1;
        }
        self.realise_part(inputs, pairing, &mut users)
    }

    /// Adds the nodes of a pairing. `users` counts who still needs an attribute: the tables that
    /// have it, and the output.
    fn realise_part(
        &mut self,
        inputs: &[usize],
        pairing: &Pairing,
        users: &mut HashMap<AttributeId, usize>,
    ) -> usize {
        match pairing {
            Pairing::Table(position) => {
                let part = inputs[*position];
                let clique = self.parts[part].0.clone();
                let kept: Clique = clique.iter().filter(|id| users[id] > 1).collect();
                if kept == clique { part } else { self.add(kept, Part::Sum(part)) }
            }
            Pairing::Product(left, right) => {
                let left = self.realise_part(inputs, left, users);
                let right = self.realise_part(inputs, right, users);
                let (a, b) = (self.parts[left].0.clone(), self.parts[right].0.clone());
                for id in a.intersection(&b).iter() {
                    // Two users have become one, the product.
                    *users.get_mut(&id).expect("counted") -= 1;
                }
                let kept: Clique = a.union(&b).iter().filter(|id| users[id] > 1).collect();
                self.add(kept, Part::Product(left, right))
            }
        }
    }

    fn in_post_order(&self, roots: &[usize]) -> ContractionTree {
        let mut nodes: Vec<Node> = Vec::new();
        let mut positions = Vec::with_capacity(roots.len());
        for &root in roots {
            // A part is pushed again, marked, beneath its children, and emitted when seen marked.
            let mut stack = vec![(root, false)];
            while let Some((part, children_done)) = stack.pop() {
                let (clique, kind) = &self.parts[part];
                let step = match *kind {
                    Part::Leaf(table) => Step::Leaf(table),
                    Part::Sum(child) => {
                        if !children_done {
                            stack.extend([(part, true), (child, false)]);
                            continue;
                        }
                        Step::Sum
                    }
                    Part::Product(left, right) => {
                        if !children_done {
                            stack.extend([(part, true), (right, false), (left, false)]);
                            continue;
                        }
                        Step::Product
                    }
                };
                let right = nodes.last().map_or(0, |node| node.subtree);
                let subtree = match step {
                    Step::Leaf(_) => 1,
                    Step::Sum => 1 + right,
                    Step::Product => 1 + right + nodes[nodes.len() - 1 - right].subtree,
                };
                nodes.push(Node { clique: clique.clone(), step, subtree });
            }
            positions.push(nodes.len() - 1);
        }
        ContractionTree { nodes, roots: positions }
    }
}
