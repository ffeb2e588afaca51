//! Synthetic records.

mod clique_conditional;
mod draw;
mod groups;

use rand::{Rng, RngExt};

use super::InferenceError;
use super::calibration::Calibrated;
use super::plan::check_cells;
use crate::numeric::memory;
use clique_conditional::CliqueConditional;
use draw::{independent, systematic, uniform};
use groups::SeparatorGroups;

/// How synthetic records are drawn from a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Independent records from the model. The standard deviation of a count is about the square
    /// root of its expectation.
    Independent,
    /// Systematic sampling, which keeps counts near their expectations. Of n records that agree on
    /// a separator, each extending cell gets n times its conditional probability, rounded up or
    /// down at random. Each single record follows the model; the records are not independent.
    Rounded,
}

/// The fractional part of the golden ratio: multiples of it modulo 1 are evenly spread.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The largest number of values of an attribute in a record.
const MAX_VALUES: usize = u32::MAX as usize;

impl Calibrated {
    /// Synthetic records as columns of values, the attributes in declared order.
    ///
    /// Cliques are sampled from the roots of the junction tree to its leaves. At each clique the
    /// records are grouped by their values on the separator, and each group draws the clique's
    /// other attributes from their distribution given these values. Attributes in no clique are
    /// drawn uniformly. The result depends only on the model and the state of `rng`.
    ///
    /// Cost per clique: a sort of the records, and a pass over the clique's tables per group.
    /// Memory: the conditional distribution of one group; at a root, a table over the whole clique.
    pub fn synthesize<R: Rng + ?Sized>(
        &self,
        records: usize,
        method: Sampling,
        rng: &mut R,
    ) -> Result<Vec<Vec<u32>>, InferenceError> {
        let domain = self.domain();
        if let Some(size) = domain.ids().map(|id| domain.size(id)).find(|&size| size > MAX_VALUES) {
            return Err(InferenceError::TooManyValues { size });
        }
        for clique in 0..self.tree.len() {
            let drawn = self.tree.cliques()[clique].minus(&self.separator(clique));
            check_cells(domain, &drawn, self.limit)?;
        }
        let mut columns: Vec<Vec<u32>> =
            domain.ids().map(|_| memory::allocate(records, || vec![0; records])).collect();
        for clique in (0..self.tree.len()).rev() {
            draw_clique(&self.clique_conditional(clique), &mut columns, records, method, rng);
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

    /// The distribution of a clique's attributes given those of its separator: the product of its
    /// tables and of the messages from its children.
    fn clique_conditional(&self, clique: usize) -> CliqueConditional {
        let separator = self.separator(clique);
        let drawn = self.tree.cliques()[clique].minus(&separator);
        let tables = self.members[clique].iter().map(|&table| &self.tables[table]);
        let children = self.tree.neighbours(clique).iter().filter(|&&other| other < clique);
        let messages = children.filter_map(|&child| self.up[child].as_ref());
        CliqueConditional::new(self.domain(), separator, drawn, tables.chain(messages))
    }
}

/// Draws the attributes of one clique for all records.
fn draw_clique<R: Rng + ?Sized>(
    conditional: &CliqueConditional,
    columns: &mut [Vec<u32>],
    records: usize,
    method: Sampling,
    rng: &mut R,
) {
    let mut groups = SeparatorGroups::new(conditional, columns, records);
    let mut cumulative = vec![0.0; conditional.cells()];
    let mut phase: f64 = rng.random();
    while let Some(group) = groups.next_group() {
        conditional.cumulative_weights(columns, group[0], &mut cumulative);
        match method {
            Sampling::Independent => independent(&cumulative, group, rng, |record, cell| {
                conditional.assign(columns, record, cell);
            }),
            Sampling::Rounded => {
                // Each phase is uniform, so the expected count of a cell is exact. Phases that are
                // evenly spread over the groups make their rounding errors cancel.
                phase = (phase + GOLDEN).fract();
                systematic(&cumulative, phase, group, rng, |record, cell| {
                    conditional.assign(columns, record, cell);
                });
            }
        }
    }
}
