use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::model::{MarginalError, Projectable};
use crate::numeric::memory;
use crate::numeric::strided::Projection;
use crate::query::MAX_CELLS;

/// Independent components, p(x) = product over the components of p_C(x_C). Attributes in no
/// component are uniform.
pub(super) struct IndependentProduct {
    pub(super) domain: Domain,
    pub(super) total: f64,
    /// Tables over disjoint cliques; each sums to the total.
    pub(super) tables: Vec<Factor>,
}

impl Projectable for IndependentProduct {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The product of the tables' marginals on their parts of `clique`.
    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        let cells = MarginalError::check_cells(&self.domain, clique, MAX_CELLS)?;
        let shape = self.domain.shape(clique);
        let parts: Vec<(Clique, &Factor)> = self
            .tables
            .iter()
            .map(|table| (clique.intersection(table.clique()), table))
            .filter(|(part, _)| !part.is_empty())
            .collect();
        let estimated: f64 = parts.iter().map(|(part, _)| self.domain.cells_f64(part)).product();
        let mut values = memory::filled(cells, self.total * estimated / cells as f64);
        for (part, table) in parts {
            let kept: Vec<bool> = clique.iter().map(|id| part.contains(id)).collect();
            let marginal = table.sum_onto(&part);
            let projection = Projection::new(&shape, &kept);
            projection.broadcast(marginal.values(), &mut values, |cell, p| *cell *= p / self.total);
        }
        Ok(Factor::new(&self.domain, clique.clone(), values))
    }
}
