use rayon::prelude::*;

use super::calibration::Calibrated;
use super::plan::{Planner, check_cells};
use super::{InferenceError, MarginalError, Projectable};
use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::numeric::contraction::{Axis, Contraction};
use crate::numeric::memory;

impl Calibrated {
    /// The marginal on any set of attributes, in counts that sum to the total.
    ///
    /// Cost: one pass over a table if a measured clique contains the attributes. Otherwise a
    /// contraction over the smallest subtree of the junction tree that contains them. Components of
    /// the tree are independent; attributes in no clique are uniform.
    pub fn marginal(&self, clique: &Clique) -> Result<Factor, InferenceError> {
        self.check_attributes(clique.iter())?;
        check_cells(self.domain(), clique, self.limit)?;
        if let Some(table) = self.table_with(clique) {
            let mut belief = memory::copied(&self.beliefs[table]);
            belief.iter_mut().for_each(|cell| *cell *= self.total);
            let factor = Factor::new(self.domain(), self.tables[table].clique.clone(), belief);
            return Ok(factor.sum_onto(clique));
        }
        let mut planner = Planner::new(self.domain(), self.limit);
        let mut product = DisjointProduct::new(self.domain(), self.total);
        for region in self.regions(clique) {
            let wanted = region.attributes().intersection(clique);
            let mut values = region.contract(&mut planner, &wanted, region.log_mass)?.values;
            let sum: f64 = values.iter().sum();
            values.iter_mut().for_each(|cell| *cell /= sum);
            product.multiply(wanted, values);
        }
        Ok(product.into_factor())
    }

    /// The marginals on many sets of attributes, computed in parallel. Returns the first error in
    /// the order of `cliques`.
    pub fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, InferenceError> {
        let answers: Vec<_> = cliques.par_iter().map(|clique| self.marginal(clique)).collect();
        answers.into_iter().collect()
    }

    /// The smallest table whose clique contains `clique`.
    fn table_with(&self, clique: &Clique) -> Option<usize> {
        let candidates =
            clique.iter().map(|id| self.tree.containing(id)).min_by_key(|l| l.len())?;
        candidates
            .iter()
            .flat_map(|&candidate| &self.members[candidate])
            .copied()
            .filter(|&table| clique.is_subset(&self.tables[table].clique))
            .min_by_key(|&table| self.tables[table].log.len())
    }
}

impl Projectable for Calibrated {
    fn domain(&self) -> &Domain {
        self.domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        Ok(self.marginal(clique)?)
    }

    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        Ok(self.marginals(cliques)?)
    }
}

/// The product of tables over disjoint attribute sets.
pub(super) struct DisjointProduct<'a> {
    domain: &'a Domain,
    clique: Clique,
    values: Vec<f64>,
}

impl<'a> DisjointProduct<'a> {
    /// The table without attributes whose one cell is `scale`.
    pub(super) fn new(domain: &'a Domain, scale: f64) -> Self {
        Self { domain, clique: Clique::empty(), values: vec![scale] }
    }

    /// Multiplies by a table that shares no attributes with this product.
    pub(super) fn multiply(&mut self, clique: Clique, values: Vec<f64>) {
        let both = self.clique.union(&clique);
        let axes: Vec<Axis> = both
            .iter()
            .map(|id| Axis {
                size: self.domain.size(id),
                in_a: self.clique.contains(id),
                in_b: clique.contains(id),
                in_o: true,
            })
            .collect();
        let mut product = memory::zeros(self.values.len() * values.len());
        Contraction::new(&axes).multiply(&self.values, &values, &mut product, true);
        (self.clique, self.values) = (both, product);
    }

    pub(super) fn into_factor(self) -> Factor {
        Factor::new(self.domain, self.clique, self.values)
    }
}
