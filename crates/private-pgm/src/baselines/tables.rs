use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::model::{MarginalError, Projectable};

/// Independent tables, which may be inconsistent: a marginal comes from the smallest table that
/// contains its clique.
pub struct Tables {
    domain: Domain,
    tables: Vec<Factor>,
}

impl Tables {
    /// Answers from these tables. Of several tables of one size, the first is used.
    pub fn new(domain: &Domain, tables: Vec<Factor>) -> Self {
        Self { domain: domain.clone(), tables }
    }

    /// The marginal on `clique`; `None` if no table contains it.
    pub fn marginal(&self, clique: &Clique) -> Option<Factor> {
        let containing = self.tables.iter().filter(|table| clique.is_subset(table.clique()));
        let smallest = containing.min_by_key(|table| table.values().len());
        smallest.map(|table| table.sum_onto(clique))
    }
}

impl Projectable for Tables {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        self.marginal(clique).ok_or_else(|| MarginalError::unknown(&self.domain, clique))
    }
}
