use super::clique_pass::{CliquePass, Source};
use super::plan::{Planner, check_cells};
use super::table::Table;
use super::{InferenceError, Model};
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::{CliqueLayout, Potentials};
use crate::junction_tree::JunctionTree;
use crate::numeric::exp::log_sum_exp;
use crate::numeric::pointwise::add_exp;
use crate::numeric::strided::Projection;

/// Tables of at most 2^27 cells (1 GiB). Our choice.
pub const DEFAULT_CELL_LIMIT: usize = 1 << 27;

/// A model ready to be asked: its junction tree with the messages of both directions.
///
/// The message from a clique K to a neighbour is the product of the tables in K and of the messages
/// from its other neighbours, summed onto what the two share (Shafer and Shenoy's order, in which
/// nothing is ever divided). Any subtree of the junction tree, with the messages that enter it, is
/// then an exact model of its attributes, and a question is a contraction over the smallest
/// subtree that has them all.
///
/// Messages are computed on logarithms, so that no potentials are too large or too small and
/// structural zeros stay exact. Questions are answered on ordinary numbers, with what underflow
/// took from the answer measured against the exact mass; where it matters, they are answered again
/// on logarithms.
///
/// No table larger than the limit given at calibration is ever made: a question that needs one is
/// refused with [`InferenceError::TooLarge`] before anything is allocated.
#[derive(Clone, Debug)]
pub struct Calibrated {
    pub(super) total: f64,
    pub(super) tree: JunctionTree,
    pub(super) limit: usize,
    /// The potentials, without those whose clique is within another's of the same home.
    pub(super) tables: Vec<Table>,
    /// The tables that live in each clique of the junction tree.
    pub(super) members: Vec<Vec<usize>>,
    /// The probabilities of the cells of each table.
    pub(super) beliefs: Vec<Vec<f64>>,
    /// The message from each clique to its parent.
    pub(super) up: Vec<Option<Table>>,
    /// The message to each clique from its parent.
    pub(super) down: Vec<Option<Table>>,
    /// What was taken out of each upward message to make its maximum 0.
    pub(super) shifts: Vec<f64>,
    /// ln of the sum over each clique's cells of its tables times all messages that enter it.
    pub(super) masses: Vec<f64>,
}

impl Model {
    /// Calibrates the model on a junction tree of its own, with [`DEFAULT_CELL_LIMIT`].
    pub fn calibrate(&self) -> Result<Calibrated, InferenceError> {
        let tree = JunctionTree::new(self.domain(), self.layout().cliques());
        Calibrated::new(self, tree, DEFAULT_CELL_LIMIT)
    }
}

impl Calibrated {
    /// Calibrates a model on a junction tree that covers its cliques. No table, now or later, may
    /// have more than `limit` cells.
    ///
    /// Cost: three contractions on logarithms for each table and message.
    ///
    /// # Panics
    /// When a clique of the model is within no clique of the tree.
    pub fn new(model: &Model, tree: JunctionTree, limit: usize) -> Result<Self, InferenceError> {
        // Offsets within a table are kept in 32 bits.
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
            shifts: vec![0.0; cliques],
            masses: vec![0.0; cliques],
            tree,
        };
        let passes = calibrated.upward()?;
        calibrated.downward(passes)?;
        Ok(calibrated)
    }

    /// The attributes.
    pub fn domain(&self) -> &Domain {
        self.tree.domain()
    }

    /// The number of records that the model stands for.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The junction tree.
    pub fn tree(&self) -> &JunctionTree {
        &self.tree
    }

    /// The separator between a clique and its parent; empty at a root.
    pub(super) fn separator(&self, clique: usize) -> Clique {
        let parent = self.tree.parent(clique);
        parent.map_or_else(Clique::empty, |parent| self.tree.separator(clique, parent))
    }

    /// Refuses attributes that the domain does not have.
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

    /// Messages from the leaves to the roots.
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
            let message = pass.output(self).to_vec();
            let (message, shift) =
                Table::from_log(separator, message).ok_or(InferenceError::Impossible)?;
            if self.tree.parent(clique).is_some() {
                self.up[clique] = Some(message);
            }
            self.shifts[clique] = shift;
            passes.push(pass);
        }
        Ok(passes)
    }

    /// Messages from the roots to the leaves, and the probabilities of the tables on the way.
    fn downward(&mut self, mut passes: Vec<CliquePass>) -> Result<(), InferenceError> {
        let domain = self.domain().clone();
        let mut planner = Planner::new(&domain, self.limit);
        for clique in (0..self.tree.len()).rev() {
            let pass = passes.pop().expect("one pass a clique");
            let above = self.down[clique].as_ref().map_or(&[0.0][..], |message| &message.log);
            let both: Vec<f64> =
                pass.output(self).iter().zip(above).map(|(below, above)| below + above).collect();
            let mass = log_sum_exp(&both);
            let adjoints = pass.backward(self, &mut planner, above.to_vec());
            self.masses[clique] = mass;
            for (source, mut adjoint) in adjoints {
                match source {
                    Source::Child(child) => {
                        let (message, _) = Table::from_log(self.separator(child), adjoint)
                            .ok_or(InferenceError::Impossible)?;
                        self.down[child] = Some(message);
                    }
                    Source::Table(table) => {
                        adjoint.iter_mut().for_each(|cell| *cell -= mass);
                        add_exp(&mut adjoint, &self.tables[table].log);
                        let sum: f64 = adjoint.iter().sum();
                        adjoint.iter_mut().for_each(|cell| *cell /= sum);
                        self.beliefs[table] = adjoint;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The potentials as tables, and which of them live in each clique of the tree. A table whose
/// clique is within that of another one in the same home is multiplied into it. Attributes of the
/// tree that the model does not mention are uniform.
fn maximal_tables(
    potentials: &Potentials,
    tree: &JunctionTree,
) -> Result<(Vec<Table>, Vec<Vec<usize>>), InferenceError> {
    let layout: &CliqueLayout = potentials.layout();
    let domain = layout.domain();
    let mut at_home: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
    for (index, clique) in layout.cliques().iter().enumerate() {
        let home = tree.covering(clique).expect("the junction tree covers the model's cliques");
        at_home[home].push(index);
    }
    let mut uniform: Vec<Vec<AttributeId>> = vec![Vec::new(); tree.len()];
    let mentioned = Clique::new(layout.cliques().iter().flat_map(Clique::iter));
    for &id in tree.elimination_order().iter().filter(|&&id| !mentioned.contains(id)) {
        let home = tree.covering(&Clique::new([id])).expect("the tree has its own attributes");
        uniform[home].push(id);
    }
    let mut tables = Vec::new();
    let mut members = Vec::with_capacity(tree.len());
    for (home, (mut here, uniform)) in at_home.into_iter().zip(uniform).enumerate() {
        // The largest sets first; a stable sort, so that equal ones keep their order.
        here.sort_by_key(|&index| std::cmp::Reverse(layout.cliques()[index].len()));
        let mut maximal: Vec<(&Clique, Vec<f64>)> = Vec::new();
        for index in here {
            let clique = &layout.cliques()[index];
            let table = potentials.table(index);
            match maximal.iter_mut().find(|(larger, _)| clique.is_subset(larger)) {
                Some((larger, sum)) => {
                    let kept: Vec<bool> = larger.iter().map(|id| clique.contains(id)).collect();
                    Projection::new(&domain.shape(larger), &kept).broadcast(
                        table,
                        sum,
                        |sum, theta| *sum += theta,
                    );
                }
                None => maximal.push((clique, table.to_vec())),
            }
        }
        let uniform: Vec<Clique> = uniform.into_iter().map(|id| Clique::new([id])).collect();
        maximal.extend(uniform.iter().map(|own| (own, vec![0.0; domain.shape(own)[0]])));
        if maximal.is_empty() && tree.cliques()[home].is_empty() {
            maximal.push((&tree.cliques()[home], vec![0.0]));
        }
        let first = tables.len();
        for (clique, log) in maximal {
            let table = Table::from_log(clique.clone(), log).ok_or(InferenceError::Impossible)?;
            tables.push(table.0);
        }
        members.push((first..tables.len()).collect());
    }
    Ok((tables, members))
}
