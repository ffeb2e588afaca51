//! Junction trees: elimination orders, the cliques that they induce, and their size.
//!
//! # Elimination
//!
//! The graph of a model has an edge between two attributes if a measured clique contains both.
//! Summing out an attribute v multiplies all tables over v, which takes a table over v and its
//! neighbours, and leaves a message over the neighbours. The neighbours become pairwise adjacent.
//! Eliminating all attributes in some order therefore adds edges (*fill*) to the graph.
//!
//! # Triangulation
//!
//! The graph with its fill is chordal: every cycle of four or more attributes has a chord. The sets
//! {v} + neighbours that are not inside another one are its maximal cliques. They form a tree in
//! which the cliques that contain a given attribute are connected (the *running intersection
//! property*). On such a tree, message passing from the leaves to the root and back gives the exact
//! marginals of all cliques. A chordal graph needs no fill: eliminating *simplicial* attributes,
//! those with pairwise adjacent neighbours, one after another empties it.
//!
//! # Cells, not width
//!
//! Treewidth counts the attributes of the largest clique, but an oracle stores and visits cells: a
//! clique of 5 attributes with 100 values each has 10^10 of them, one of 30 binary attributes 10^9.
//! Orders are therefore compared by the total cells of all maximal cliques. Finding the best order
//! is NP-hard. Two greedy criteria come first, then randomised restarts of both within a bound on
//! the work ([`OrderSearch`]). On the fifteen triples of Adult, unweighted min-fill gives 57
//! million cells and this search 3.9 million.
//!
//! # Example
//!
//! ```
//! use private_pgm::domain::{Clique, Domain};
//! use private_pgm::junction_tree::JunctionTree;
//!
//! let domain = Domain::new([("a", 2), ("b", 3), ("c", 4), ("d", 5)]).unwrap();
//! let pair = |x: &str, y: &str| Clique::new([domain.id(x).unwrap(), domain.id(y).unwrap()]);
//! let square = [pair("a", "b"), pair("b", "c"), pair("c", "d"), pair("d", "a")];
//! let tree = JunctionTree::new(&domain, &square);
//! // The chord a-c gives 2*3*4 + 2*4*5 = 64 cells, the chord b-d would give 30 + 60.
//! assert_eq!(tree.size().cells, 64.0);
//! assert_eq!(tree.separator(0, 1), pair("a", "c"));
//! assert!(tree.check_limit(500).is_err());
//! ```
//!
//! References: Lauritzen, Spiegelhalter, JRSS B 50, 1988 (junction trees); Kjaerulff, Triangulation
//! of graphs, Aalborg 1990 (criteria by table size); McKenna, Sheldon, Miklau, ICML 2019, section 4
//! (their use for noisy measurements).

mod elimination;
mod forest;
mod graph;
mod predictor;
mod rooting;
mod size;
mod subtree;
#[cfg(test)]
mod tests;

pub use elimination::OrderSearch;
pub use predictor::SizePredictor;
pub use size::{LargeClique, TooLarge, TreeSize};

use std::ops::Range;

use crate::domain::{AttributeId, Clique, Domain};
use forest::Forest;
use graph::{EliminationStep, Graph};
use rooting::RootedForest;

/// A forest of cliques with the running intersection property, such that every measured clique is a
/// subset of one of them. Structure only: it holds no tables.
///
/// Attributes in no measured clique are not in the tree; a model is uniform over them. Every other
/// attribute is in exactly one of the [`components`](Self::components).
///
/// # Numbering
///
/// Cliques are in post-order: each directly follows its descendants. `0..len` is the order of an
/// upward pass and its reverse that of a downward pass. A component, or the branch below a clique,
/// is a range of indices.
#[derive(Clone, Debug)]
pub struct JunctionTree {
    domain: Domain,
    measured: Vec<Clique>,
    elimination_order: Vec<AttributeId>,
    cliques: Vec<Clique>,
    cells: Vec<f64>,
    parents: Vec<Option<usize>>,
    neighbours: Vec<Vec<usize>>,
    components: Vec<Range<usize>>,
    /// For each attribute of the domain, the cliques that contain it, by ascending cells.
    containing: Vec<Vec<usize>>,
}

impl JunctionTree {
    /// A junction tree for these measured cliques, found by the default [`OrderSearch`].
    ///
    /// Measured cliques may be nested, repeated or empty. If all of them are empty, the tree has
    /// one empty clique; without measured cliques it has none.
    ///
    /// # Panics
    /// If a clique has an attribute that is not in the domain.
    pub fn new(domain: &Domain, measured: &[Clique]) -> Self {
        Self::with_search(domain, measured, &OrderSearch::default())
    }

    /// A junction tree for these measured cliques, found by `search`; see [`JunctionTree::new`].
    ///
    /// # Panics
    /// If a clique has an attribute that is not in the domain.
    pub fn with_search(domain: &Domain, measured: &[Clique], search: &OrderSearch) -> Self {
        let (graph, attributes) = Graph::of_cliques(domain, measured);
        let mut steps = elimination::eliminate(graph, search);
        if steps.is_empty() && !measured.is_empty() {
            steps.push(EliminationStep::empty());
        }
        let eliminated = steps.iter().flat_map(|step| &step.eliminated);
        let elimination_order = eliminated.map(|&v| attributes[v as usize]).collect();
        let forest = Forest::new(&attributes, &steps);
        let rooted = RootedForest::at_centroids(&forest.neighbours(), &forest.cells);

        let cells: Vec<f64> = rooted.nodes.iter().map(|&node| forest.cells[node]).collect();
        let mut forest_cliques: Vec<Option<Clique>> =
            forest.cliques.into_iter().map(Some).collect();
        let cliques: Vec<Clique> =
            rooted.nodes.iter().filter_map(|&node| forest_cliques[node].take()).collect();
        let mut neighbours = vec![Vec::new(); cliques.len()];
        for (index, parent) in rooted.parents.iter().enumerate() {
            if let &Some(parent) = parent {
                neighbours[parent].push(index);
                neighbours[index].push(parent);
            }
        }
        let mut by_cells: Vec<usize> = (0..cliques.len()).collect();
        by_cells.sort_by(|&a, &b| cells[a].total_cmp(&cells[b]));
        let mut containing = vec![Vec::new(); domain.len()];
        for index in by_cells {
            for id in cliques[index].iter() {
                containing[id.index()].push(index);
            }
        }
        Self {
            domain: domain.clone(),
            measured: measured.to_vec(),
            elimination_order,
            cliques,
            cells,
            parents: rooted.parents,
            neighbours,
            components: rooted.trees,
            containing,
        }
    }

    /// The domain of the cliques.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The measured cliques that were passed to [`JunctionTree::new`].
    pub fn measured(&self) -> &[Clique] {
        &self.measured
    }

    /// The attributes of the tree, in elimination order.
    pub fn elimination_order(&self) -> &[AttributeId] {
        &self.elimination_order
    }

    /// The number of maximal cliques.
    pub fn len(&self) -> usize {
        self.cliques.len()
    }

    /// Whether there are no cliques.
    pub fn is_empty(&self) -> bool {
        self.cliques.is_empty()
    }

    /// The maximal cliques, in post-order.
    pub fn cliques(&self) -> &[Clique] {
        &self.cliques
    }

    /// The number of cells of a table over the clique at `index`.
    pub fn cells(&self, index: usize) -> f64 {
        self.cells[index]
    }

    /// The parent of a clique, which has a greater index; `None` at a root.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.parents[index]
    }

    /// The adjacent cliques: the children in ascending order, then the parent.
    pub fn neighbours(&self, index: usize) -> &[usize] {
        &self.neighbours[index]
    }

    /// The intersection of two cliques; for neighbours, the attributes of the message between them.
    pub fn separator(&self, a: usize, b: usize) -> Clique {
        self.cliques[a].intersection(&self.cliques[b])
    }

    /// The connected components, as ranges of clique indices.
    pub fn components(&self) -> &[Range<usize>] {
        &self.components
    }

    /// The component of the clique at `index`.
    pub fn component_of(&self, index: usize) -> usize {
        self.components.partition_point(|component| component.end <= index)
    }

    /// The root of a component, its last clique. It is the centroid weighted by cells: each branch
    /// below it has at most half of the component's cells.
    pub fn root(&self, component: usize) -> usize {
        self.components[component].end - 1
    }

    /// The cliques that contain an attribute, by ascending cells; empty if it was not measured.
    pub fn containing(&self, id: AttributeId) -> &[usize] {
        self.containing.get(id.index()).map_or(&[], Vec::as_slice)
    }
}
