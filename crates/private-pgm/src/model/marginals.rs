use rayon::prelude::*;

use super::InferenceError;
use super::calibration::Calibrated;
use super::plan::{Planner, check_cells};
use crate::domain::{Clique, Domain};
use crate::factor::{Factor, Projectable};
use crate::numeric::contraction::{Axis, Contraction};

impl Calibrated {
    /// The marginal on any attributes, in counts that sum to the total.
    ///
    /// Within a clique that has potentials, it costs one pass over that clique's table. Otherwise
    /// the smallest subtree of the junction tree that has the attributes is contracted, with the
    /// messages that enter it. Components multiply, and attributes in no clique are uniform.
    pub fn marginal(&self, clique: &Clique) -> Result<Factor, InferenceError> {
        self.check_attributes(clique.iter())?;
        check_cells(self.domain(), clique, self.limit)?;
        if let Some(table) = self.table_with(clique) {
            let mut belief = self.beliefs[table].clone();
            belief.iter_mut().for_each(|cell| *cell *= self.total);
            let factor = Factor::new(self.domain(), self.tables[table].clique.clone(), belief);
            return Ok(factor.sum_onto(clique));
        }
        let mut planner = Planner::new(self.domain(), self.limit);
        let mut product = Product::new(self.domain(), self.total);
        for region in self.regions(clique) {
            let wanted = region.attributes().intersection(clique);
            let mut values = region.contract(&mut planner, &wanted, region.log_mass)?.values;
            let sum: f64 = values.iter().sum();
            values.iter_mut().for_each(|cell| *cell /= sum);
            product.multiply(wanted, values);
        }
        Ok(product.into_factor())
    }

    /// The marginals on many sets of attributes, shared among the cores.
    pub fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, InferenceError> {
        let answers: Vec<_> = cliques.par_iter().map(|clique| self.marginal(clique)).collect();
        // In order, so that it is always the first error that is returned.
        answers.into_iter().collect()
    }

    /// The smallest table that has all of these attributes.
    fn table_with(&self, clique: &Clique) -> Option<usize> {
        let homes = clique.iter().map(|id| self.tree.containing(id)).min_by_key(|l| l.len())?;
        homes
            .iter()
            .flat_map(|&home| &self.members[home])
            .copied()
            .filter(|&table| clique.is_subset(&self.tables[table].clique))
            .min_by_key(|&table| self.tables[table].log.len())
    }
}

impl Projectable for Calibrated {
    type Error = InferenceError;

    fn domain(&self) -> &Domain {
        self.domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, InferenceError> {
        self.marginal(clique)
    }
}

/// The product of tables that share no attributes.
pub(super) struct Product<'a> {
    domain: &'a Domain,
    clique: Clique,
    values: Vec<f64>,
}

impl<'a> Product<'a> {
    /// A single number.
    pub(super) fn new(domain: &'a Domain, number: f64) -> Self {
        Self { domain, clique: Clique::empty(), values: vec![number] }
    }

    /// Multiplies with a table over other attributes.
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
        let mut product = vec![0.0; self.values.len() * values.len()];
        Contraction::new(&axes).multiply(&self.values, &values, &mut product, true);
        (self.clique, self.values) = (both, product);
    }

    pub(super) fn into_factor(self) -> Factor {
        Factor::new(self.domain, self.clique, self.values)
    }
}
