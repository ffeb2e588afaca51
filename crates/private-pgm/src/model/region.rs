//! Regions: the subtrees of a calibrated junction tree that a query needs.

use std::borrow::Cow;

use super::calibration::Calibrated;
use super::scaled_table::ScaledTable;
use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::memory;

/// A table of a region, in log space and in linear space.
#[derive(Clone, Debug)]
pub(super) struct Input<'a> {
    pub(super) clique: Clique,
    /// ln |v| of every cell.
    pub(super) log: Cow<'a, [f64]>,
    /// v of every cell.
    pub(super) linear: Cow<'a, [f64]>,
}

impl<'a> From<&'a ScaledTable> for Input<'a> {
    fn from(table: &'a ScaledTable) -> Self {
        let (log, linear) = (Cow::Borrowed(&table.log[..]), Cow::Borrowed(&table.linear[..]));
        Self { clique: table.clique.clone(), log, linear }
    }
}

impl From<ScaledTable> for Input<'_> {
    fn from(table: ScaledTable) -> Self {
        Self { clique: table.clique, log: table.log.into(), linear: table.linear.into() }
    }
}

impl Input<'_> {
    /// The constant 1, a table without attributes.
    fn one() -> Self {
        Self { clique: Clique::empty(), log: vec![0.0].into(), linear: vec![1.0].into() }
    }
}

/// A clique of a region with its tables and the messages from outside the region.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) clique: Clique,
    /// The position of the parent among the nodes; `None` at the region's root.
    pub(super) parent: Option<usize>,
    pub(super) inputs: Vec<Input<'a>>,
}

/// A subtree of the junction tree with its tables and the messages that enter it, or a single
/// attribute that is in no clique.
#[derive(Clone, Debug)]
pub(super) struct Region<'a> {
    /// In ascending order: each clique precedes its parent.
    pub(super) nodes: Vec<Node<'a>>,
    /// ln of the sum over all cells of the product of all calibrated tables and messages.
    pub(super) log_mass: f64,
}

impl Calibrated {
    /// The smallest regions that contain the attributes of `set`: one per component of the junction
    /// tree, and one per attribute that is in no clique.
    pub(super) fn regions(&self, set: &Clique) -> Vec<Region<'_>> {
        let steiner = self.tree.steiner(set);
        let in_tree = steiner
            .chunk_by(|&a, &b| self.tree.component_of(a) == self.tree.component_of(b))
            .map(|subtree| self.region(subtree));
        let outside = set.iter().filter(|&id| self.tree.containing(id).is_empty());
        in_tree.chain(outside.map(|id| self.uniform(id))).collect()
    }

    fn region(&self, subtree: &[usize]) -> Region<'_> {
        let position = |clique: usize| subtree.binary_search(&clique).ok();
        let mut nodes = Vec::with_capacity(subtree.len());
        let mut log_mass = 0.0;
        for &clique in subtree {
            let parent = self.tree.parent(clique).and_then(position);
            let mut inputs: Vec<Input> =
                self.members[clique].iter().map(|&table| (&self.tables[table]).into()).collect();
            for &other in self.tree.neighbours(clique) {
                if position(other).is_none() {
                    let message = if other < clique { &self.up[other] } else { &self.down[clique] };
                    inputs.extend(message.as_ref().map(Input::from));
                }
            }
            if inputs.is_empty() {
                // All tables of this clique are assigned to other cliques of the region. A cut can
                // still separate it from them, and a product needs at least one factor.
                inputs.push(Input::one());
            }
            // The mass of the root includes its descendants through their messages. The messages
            // were scaled, so the logarithms of their scales are added.
            log_mass += match parent {
                Some(_) => self.log_shifts[clique],
                None => self.log_masses[clique],
            };
            nodes.push(Node { clique: self.tree.cliques()[clique].clone(), parent, inputs });
        }
        Region { nodes, log_mass }
    }

    fn uniform(&self, id: AttributeId) -> Region<'_> {
        let (clique, size) = (Clique::new([id]), self.domain().size(id));
        let input = Input {
            clique: clique.clone(),
            log: memory::zeros(size).into(),
            linear: memory::filled(size, 1.0).into(),
        };
        let nodes = vec![Node { clique, parent: None, inputs: vec![input] }];
        Region { nodes, log_mass: (size as f64).ln() }
    }
}

impl<'a> Region<'a> {
    pub(super) fn attributes(&self) -> Clique {
        Clique::new(self.nodes.iter().flat_map(|node| node.clique.iter()))
    }

    /// Adds a table over `id`, an attribute of the region, and possibly new attributes, to the
    /// smallest clique that contains `id`.
    pub(super) fn add(&mut self, domain: &Domain, id: AttributeId, input: Input<'a>) {
        let node = self
            .nodes
            .iter_mut()
            .filter(|node| node.clique.contains(id))
            .min_by(|a, b| domain.cells_f64(&a.clique).total_cmp(&domain.cells_f64(&b.clique)))
            .expect("the region has the attribute");
        node.clique = node.clique.union(&input.clique);
        node.inputs.push(input);
    }

    /// Renames every attribute. The mapping must be strictly increasing.
    pub(super) fn rename(&mut self, name: impl Fn(AttributeId) -> AttributeId) {
        for node in &mut self.nodes {
            node.clique = node.clique.iter().map(&name).collect();
            for input in &mut node.inputs {
                input.clique = input.clique.iter().map(&name).collect();
            }
        }
    }
}
