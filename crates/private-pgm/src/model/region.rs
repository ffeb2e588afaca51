//! Regions: the part of a calibrated model that a question is about.

use std::borrow::Cow;

use super::calibration::Calibrated;
use super::table::Table;
use crate::domain::{AttributeId, Clique, Domain};

/// A table of a region.
#[derive(Clone, Debug)]
pub(super) struct Input<'a> {
    pub(super) clique: Clique,
    /// ln |v| of every cell.
    pub(super) log: Cow<'a, [f64]>,
    /// v of every cell.
    pub(super) linear: Cow<'a, [f64]>,
}

impl<'a> From<&'a Table> for Input<'a> {
    fn from(table: &'a Table) -> Self {
        let (log, linear) = (Cow::Borrowed(&table.log[..]), Cow::Borrowed(&table.linear[..]));
        Self { clique: table.clique.clone(), log, linear }
    }
}

impl From<Table> for Input<'_> {
    fn from(table: Table) -> Self {
        Self { clique: table.clique, log: table.log.into(), linear: table.linear.into() }
    }
}

impl Input<'_> {
    /// The number 1.
    fn one() -> Self {
        Self { clique: Clique::empty(), log: vec![0.0].into(), linear: vec![1.0].into() }
    }
}

/// A clique of a region.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) clique: Clique,
    pub(super) parent: Option<usize>,
    pub(super) inputs: Vec<Input<'a>>,
}

/// A subtree of the junction tree with the tables in it and the messages that enter it, or an
/// attribute that no clique has.
#[derive(Clone, Debug)]
pub(super) struct Region<'a> {
    /// Each clique before its parent.
    pub(super) nodes: Vec<Node<'a>>,
    /// ln of the sum over all cells of the product of all tables that calibration put here.
    pub(super) log_mass: f64,
}

impl Calibrated {
    /// The smallest regions that have the attributes of `set`: one for each component, one for
    /// each attribute that no clique has.
    pub(super) fn regions(&self, set: &Clique) -> Vec<Region<'_>> {
        let steiner = self.tree.steiner(set);
        let in_tree = steiner
            .chunk_by(|&a, &b| self.tree.component_of(a) == self.tree.component_of(b))
            .map(|subtree| self.region(subtree));
        let outside = set.iter().filter(|&id| self.tree.containing(id).is_empty());
        in_tree.chain(outside.map(|id| self.uniform(id))).collect()
    }

    fn region(&self, subtree: &[usize]) -> Region<'_> {
        let place = |clique: usize| subtree.binary_search(&clique).ok();
        let mut nodes = Vec::with_capacity(subtree.len());
        let mut log_mass = 0.0;
        for &clique in subtree {
            let parent = self.tree.parent(clique).and_then(place);
            let mut inputs: Vec<Input> =
                self.members[clique].iter().map(|&table| (&self.tables[table]).into()).collect();
            for &other in self.tree.neighbours(clique) {
                if place(other).is_none() {
                    let message = if other < clique { &self.up[other] } else { &self.down[clique] };
                    inputs.extend(message.as_ref().map(Input::from));
                }
            }
            if inputs.is_empty() {
                // All that this clique ties together lives elsewhere in the region; it may still be
                // cut off from the rest, and a product needs a factor.
                inputs.push(Input::one());
            }
            // The mass of the top, which counts everything below it by way of messages, from
            // which the shifts were taken out.
            log_mass += match parent {
                Some(_) => self.shifts[clique],
                None => self.masses[clique],
            };
            nodes.push(Node { clique: self.tree.cliques()[clique].clone(), parent, inputs });
        }
        Region { nodes, log_mass }
    }

    fn uniform(&self, id: AttributeId) -> Region<'_> {
        let (clique, size) = (Clique::new([id]), self.domain().size(id));
        let input = Input {
            clique: clique.clone(),
            log: vec![0.0; size].into(),
            linear: vec![1.0; size].into(),
        };
        let nodes = vec![Node { clique, parent: None, inputs: vec![input] }];
        Region { nodes, log_mass: (size as f64).ln() }
    }
}

impl<'a> Region<'a> {
    /// The attributes of all cliques.
    pub(super) fn attributes(&self) -> Clique {
        Clique::new(self.nodes.iter().flat_map(|node| node.clique.iter()))
    }

    /// Adds a table that has `id`, an attribute of the region, and perhaps new attributes.
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

    /// The same region with every attribute renamed; names must keep their order.
    pub(super) fn rename(&mut self, name: impl Fn(AttributeId) -> AttributeId) {
        for node in &mut self.nodes {
            node.clique = node.clique.iter().map(&name).collect();
            for input in &mut node.inputs {
                input.clique = input.clique.iter().map(&name).collect();
            }
        }
    }
}
