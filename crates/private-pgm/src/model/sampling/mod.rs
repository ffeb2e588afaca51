//! Synthetic records.

mod draw;
mod groups;
mod stage;

use rand::{Rng, RngExt};

use super::InferenceError;
use super::calibration::Calibrated;
use super::plan::check_cells;
use draw::{independent, systematic, uniform};
use groups::Groups;
use stage::Stage;

/// How synthetic records are drawn from a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each record on its own, exactly from the model. A count then differs from its expectation
    /// by about the square root of it.
    Independent,
    /// All records together, so that counts stay near their expectations: whenever n records agree
    /// on a separator, the cells that extend them get n times their conditional probability,
    /// rounded up or down at random by systematic sampling. Each record alone still follows the
    /// model.
    Rounded,
}

/// The golden ratio's fractional part: phases that advance by it stay evenly spread.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How many values an attribute can have in a record.
const VALUES: usize = u32::MAX as usize;

impl Calibrated {
    /// Synthetic records as columns of values, the attributes in declared order.
    ///
    /// The junction tree is walked from its roots to its leaves. At each clique, the records are
    /// grouped by their values on the separator, and each group draws the clique's other attributes
    /// from their distribution given these values. Attributes in no clique are drawn uniformly. The
    /// result depends on the state of `rng` alone.
    ///
    /// Cost: for each clique, a sort of the records, and a pass over its tables for each group. One
    /// group's distribution is held at a time; at a root this is the whole clique.
    pub fn synthesize<R: Rng + ?Sized>(
        &self,
        records: usize,
        method: Sampling,
        rng: &mut R,
    ) -> Result<Vec<Vec<u32>>, InferenceError> {
        let domain = self.domain();
        if let Some(size) = domain.ids().map(|id| domain.size(id)).find(|&size| size > VALUES) {
            return Err(InferenceError::TooManyValues { size });
        }
        for clique in 0..self.tree.len() {
            let fresh = self.tree.cliques()[clique].minus(&self.separator(clique));
            check_cells(domain, &fresh, self.limit)?;
        }
        let mut columns: Vec<Vec<u32>> = vec![vec![0; records]; domain.len()];
        for clique in (0..self.tree.len()).rev() {
            fill(&self.stage(clique), &mut columns, records, method, rng);
        }
        for id in domain.ids().filter(|&id| self.tree.containing(id).is_empty()) {
            let column = &mut columns[id.index()];
            uniform(domain.size(id), records, method, rng, |record, value| {
                column[record] = value as u32;
            });
        }
        let declared = domain.declared().iter();
        Ok(declared.map(|id| std::mem::take(&mut columns[id.index()])).collect())
    }

    /// The attributes that a clique adds to those of its parent, given the tables in it and what
    /// its children say.
    fn stage(&self, clique: usize) -> Stage {
        let separator = self.separator(clique);
        let fresh = self.tree.cliques()[clique].minus(&separator);
        let tables = self.members[clique].iter().map(|&table| &self.tables[table]);
        let children = self.tree.neighbours(clique).iter().filter(|&&other| other < clique);
        let messages = children.filter_map(|&child| self.up[child].as_ref());
        Stage::new(self.domain(), separator, fresh, tables.chain(messages))
    }
}

/// Draws the stage's attributes for all records.
fn fill<R: Rng + ?Sized>(
    stage: &Stage,
    columns: &mut [Vec<u32>],
    records: usize,
    method: Sampling,
    rng: &mut R,
) {
    let mut groups = Groups::new(stage, columns, records);
    let mut cumulative = vec![0.0; stage.cells()];
    let mut phase: f64 = rng.random();
    while let Some(group) = groups.next_group() {
        stage.cumulative_weights(columns, group[0], &mut cumulative);
        match method {
            Sampling::Independent => independent(&cumulative, group, rng, |record, cell| {
                stage.assign(columns, record, cell);
            }),
            Sampling::Rounded => {
                // Each phase is uniform, so every cell gets its expectation on average; evenly
                // spread over the groups, what is rounded up here is rounded down nearby.
                phase = (phase + GOLDEN).fract();
                systematic(&cumulative, phase, group, rng, |record, cell| {
                    stage.assign(columns, record, cell);
                });
            }
        }
    }
}
