use super::clique_pass::{CliquePass, Source};
use super::plan::{Planner, check_cells};
use super::scaled_table::ScaledTable;
use super::{InferenceError, Model};
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::{CliqueLayout, Potentials};
use crate::junction_tree::JunctionTree;
use crate::numeric::exp::log_sum_exp;
use crate::numeric::memory;
use crate::numeric::pointwise::add_exp;
use crate::numeric::strided::Projection;

/// At most 2^27 cells per table (1 GiB). Our choice.
pub const DEFAULT_CELL_LIMIT: usize = 1 << 27;

/// A calibrated model: its junction tree with the messages of both directions.
///
/// The message from a clique K to a neighbour is the product of the tables in K and of the messages
/// from its other neighbours, summed onto their separator (the Shafer-Shenoy algorithm, which never
/// divides). Any subtree of the junction tree, with the messages that enter it, is an exact model
/// of its attributes. A query is a contraction over the smallest subtree that has its attributes.
///
/// Messages are computed in log space: potentials of any size are valid, and structural zeros stay
/// exact. Queries are evaluated in linear space. The sum of the result is compared with the exact
/// mass, and a query that lost mass to underflow is evaluated again in log space.
///
/// No table exceeds the cell limit given at calibration. A query that needs a larger one returns
/// [`InferenceError::TooLarge`] before anything is allocated.
///
/// Reference: Koller, Friedman, Probabilistic Graphical Models, 2009, section 10.3.3 (queries on
/// calibrated trees).
#[derive(Clone, Debug)]
pub struct Calibrated {
    pub(super) total: f64,
    pub(super) tree: JunctionTree,
    pub(super) limit: usize,
    /// The potentials. A table whose clique is inside that of another table of the same clique of
    /// the junction tree is multiplied into it.
    pub(super) tables: Vec<ScaledTable>,
    /// The tables that are assigned to each clique of the junction tree.
    pub(super) members: Vec<Vec<usize>>,
    /// The marginal of each table's clique, in probabilities.
    pub(super) beliefs: Vec<Vec<f64>>,
    /// The message from each clique to its parent, scaled to maximum 1.
    pub(super) up: Vec<Option<ScaledTable>>,
    /// The message to each clique from its parent.
    pub(super) down: Vec<Option<ScaledTable>>,
    /// ln of the maximum of each upward message before scaling.
    pub(super) log_shifts: Vec<f64>,
    /// For each clique, ln of the sum over its cells of its tables times all incoming messages.
    pub(super) log_masses: Vec<f64>,
}

impl Model {
    /// Calibrates the model on a junction tree found by the default search, with
    /// [`DEFAULT_CELL_LIMIT`].
    pub fn calibrate(&self) -> Result<Calibrated, InferenceError> {
        let tree = JunctionTree::new(self.domain(), self.layout().cliques());
        Calibrated::new(self, tree, DEFAULT_CELL_LIMIT)
    }
}

impl Calibrated {
    /// Calibrates a model on a junction tree that covers its cliques. `limit` is the largest number
    /// of cells of any table, at calibration and in later queries.
    ///
    /// Cost: three contractions in log space per table and message.
    ///
    /// # Panics
    /// If no clique of the tree contains some clique of the model.
    pub fn new(model: &Model, tree: JunctionTree, limit: usize) -> Result<Self, InferenceError> {
        // Kernels store offsets within a table in 32 bits.
        let limit = limit.min(u32::MAX as usize);
        let (tables, members) = maximal_tables(model.potentials(), &tree)?;
        let cliques = tree.len();
        let mut calibrated = Self {
            total: model.total(),
            beliefs: vec![Vec::new(); tables.len()],
            tables,
            members,
            limit,
            up: vec![None; cliques],
            down: vec![None; cliques],
            log_shifts: vec![0.0; cliques],
            log_masses: vec![0.0; cliques],
            tree,
        };
        let passes = calibrated.upward()?;
        calibrated.downward(passes)?;
        Ok(calibrated)
    }

    /// The attributes and their sizes.
    pub fn domain(&self) -> &Domain {
        self.tree.domain()
    }

    /// N, the sum of every marginal; need not be an integer.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The junction tree on which the model is calibrated.
    pub fn tree(&self) -> &JunctionTree {
        &self.tree
    }

    /// The separator between a clique and its parent; empty at a root.
    pub(super) fn separator(&self, clique: usize) -> Clique {
        let parent = self.tree.parent(clique);
        parent.map_or_else(Clique::empty, |parent| self.tree.separator(clique, parent))
    }

    /// Returns an error if an id is not in the domain.
    pub(super) fn check_attributes(
        &self,
        ids: impl IntoIterator<Item = AttributeId>,
    ) -> Result<(), InferenceError> {
        let attributes = self.domain().len();
        match ids.into_iter().find(|id| id.index() >= attributes) {
            Some(id) => Err(InferenceError::NoSuchAttribute { id, attributes }),
            None => Ok(()),
        }
    }

    fn children(&self, clique: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.neighbours(clique).iter().copied().filter(move |&other| other < clique)
    }

    /// Computes the messages from the leaves to the roots.
    fn upward(&mut self) -> Result<Vec<CliquePass>, InferenceError> {
        let domain = self.domain().clone();
        let mut planner = Planner::new(&domain, self.limit);
        let mut passes = Vec::with_capacity(self.tree.len());
        for clique in 0..self.tree.len() {
            let separator = self.separator(clique);
            check_cells(&domain, &separator, self.limit)?;
            let tables = self.members[clique].iter().map(|&table| Source::Table(table));
            let children = self.children(clique).map(Source::Child);
            let sources = tables.chain(children).collect();
            let pass = CliquePass::forward(self, &mut planner, sources, &separator)?;
            let message = memory::copied(pass.output(self));
            let (message, shift) =
                ScaledTable::from_log(separator, message).ok_or(InferenceError::Impossible)?;
            if self.tree.parent(clique).is_some() {
                self.up[clique] = Some(message);
            }
            self.log_shifts[clique] = shift;
            passes.push(pass);
        }
        Ok(passes)
    }

    /// Computes the messages from the roots to the leaves, and the beliefs.
    fn downward(&mut self, mut passes: Vec<CliquePass>) -> Result<(), InferenceError> {
        let domain = self.domain().clone();
        let mut planner = Planner::new(&domain, self.limit);
        for clique in (0..self.tree.len()).rev() {
            let pass = passes.pop().expect("one pass per clique");
            let above = self.down[clique].as_ref().map_or(&[0.0][..], |message| &message.log);
            let both: Vec<f64> =
                pass.output(self).iter().zip(above).map(|(below, above)| below + above).collect();
            let mass = log_sum_exp(&both);
            let adjoints = pass.backward(self, &mut planner, memory::copied(above));
            self.log_masses[clique] = mass;
            for (source, adjoint) in adjoints {
                match source {
                    Source::Child(child) => {
                        let (message, _) = ScaledTable::from_log(self.separator(child), adjoint)
                            .ok_or(InferenceError::Impossible)?;
                        self.down[child] = Some(message);
                    }
                    Source::Table(table) => self.beliefs[table] = self.belief(table, adjoint, mass),
                }
            }
        }
        Ok(())
    }

    /// exp(theta + adjoint - mass), normalised to sum 1.
    fn belief(&self, table: usize, mut adjoint: Vec<f64>, mass: f64) -> Vec<f64> {
        adjoint.iter_mut().for_each(|cell| *cell -= mass);
        add_exp(&mut adjoint, &self.tables[table].log);
        let sum: f64 = adjoint.iter().sum();
        adjoint.iter_mut().for_each(|cell| *cell /= sum);
        adjoint
    }
}

/// The potentials as tables, and the tables assigned to each clique of the tree. A table whose
/// clique is inside that of another table of the same tree clique is multiplied into it. Attributes
/// of the tree that are in no clique of the model get a uniform table.
fn maximal_tables(
    potentials: &Potentials,
    tree: &JunctionTree,
) -> Result<(Vec<ScaledTable>, Vec<Vec<usize>>), InferenceError> {
    let layout: &CliqueLayout = potentials.layout();
    let domain = layout.domain();
    let mut assigned: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
    for (index, clique) in layout.cliques().iter().enumerate() {
        let owner = tree.covering(clique).expect("the junction tree covers the model's cliques");
        assigned[owner].push(index);
    }
    let mut uniform: Vec<Vec<AttributeId>> = vec![Vec::new(); tree.len()];
    let modelled = Clique::new(layout.cliques().iter().flat_map(Clique::iter));
    for &id in tree.elimination_order().iter().filter(|&&id| !modelled.contains(id)) {
        let owner = tree.covering(&Clique::new([id])).expect("the tree has its own attributes");
        uniform[owner].push(id);
    }
    let mut tables = Vec::new();
    let mut members = Vec::with_capacity(tree.len());
    for (owner, (indices, uniform)) in assigned.into_iter().zip(uniform).enumerate() {
        let mut maximal = merge_nested(potentials, indices);
        let zeros = |id| (Clique::new([id]), vec![0.0; domain.size(id)]);
        maximal.extend(uniform.into_iter().map(zeros));
        if maximal.is_empty() && tree.cliques()[owner].is_empty() {
            maximal.push((Clique::empty(), vec![0.0]));
        }
        let first = tables.len();
        for (clique, log) in maximal {
            let table = ScaledTable::from_log(clique, log).ok_or(InferenceError::Impossible)?;
            tables.push(table.0);
        }
        members.push((first..tables.len()).collect());
    }
    Ok((tables, members))
}

/// The potentials at `indices`, each added to the first earlier table whose clique contains its
/// own.
fn merge_nested(potentials: &Potentials, mut indices: Vec<usize>) -> Vec<(Clique, Vec<f64>)> {
    let (domain, cliques) = (potentials.layout().domain(), potentials.layout().cliques());
    // The largest cliques first. The sort is stable: cliques of one size keep their order.
    indices.sort_by_key(|&index| std::cmp::Reverse(cliques[index].len()));
    let mut maximal: Vec<(Clique, Vec<f64>)> = Vec::new();
    for index in indices {
        let (clique, table) = (&cliques[index], potentials.table(index));
        let Some((larger, sum)) = maximal.iter_mut().find(|(larger, _)| clique.is_subset(larger))
        else {
            maximal.push((clique.clone(), table.to_vec()));
            continue;
        };
        let kept: Vec<bool> = larger.iter().map(|id| clique.contains(id)).collect();
        let projection = Projection::new(&domain.shape(larger), &kept);
        projection.broadcast(table, sum, |sum, theta| *sum += theta);
    }
    maximal
}
