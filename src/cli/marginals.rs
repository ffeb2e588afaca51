//! The tables that `query` prints: marginals of all records, of some, or conditional ones.

use private_pgm::domain::{AttributeId, Clique};
use private_pgm::model::{Calibrated, InferenceError};
use private_pgm::query::QueryFactor;

use super::condition::Block;

pub(crate) struct Marginals {
    pub(crate) requested: Vec<Vec<AttributeId>>,
    pub(crate) given: Vec<(AttributeId, usize)>,
    /// Disjoint; only the records in one of them count. `None`: all records.
    pub(crate) blocks: Option<Vec<Block>>,
}

impl Marginals {
    /// The values of an attribute that the counted records have, if these are restricted.
    pub(crate) fn allowed(&self, id: AttributeId) -> Option<Vec<usize>> {
        let mut allowed = Vec::new();
        for block in self.blocks.as_ref()? {
            allowed.extend(restriction(block, id)?);
        }
        allowed.sort_unstable();
        allowed.dedup();
        Some(allowed)
    }

    /// By request, row-major in the attributes as listed.
    pub(crate) fn answers(&self, calibrated: &Calibrated) -> Result<Vec<Vec<f64>>, InferenceError> {
        if !self.given.is_empty() {
            let each = self.requested.iter().map(|ids| {
                let clique: Clique = ids.iter().copied().collect();
                Ok(calibrated.conditional(&clique, &self.given)?.values_as_listed(ids))
            });
            return each.collect();
        }
        let Some(blocks) = &self.blocks else {
            let cliques: Vec<Clique> =
                self.requested.iter().map(|ids| ids.iter().copied().collect()).collect();
            let found = calibrated.marginals(&cliques)?;
            let listed = found.iter().zip(&self.requested);
            return Ok(listed.map(|(table, ids)| table.values_as_listed(ids)).collect());
        };
        self.requested.iter().map(|ids| self.within(blocks, ids, calibrated)).collect()
    }

    /// The marginal of the records in the blocks: the sum over the blocks.
    fn within(
        &self,
        blocks: &[Block],
        ids: &[AttributeId],
        calibrated: &Calibrated,
    ) -> Result<Vec<f64>, InferenceError> {
        let domain = calibrated.domain();
        let axes: Vec<Vec<usize>> = ids
            .iter()
            .map(|&id| self.allowed(id).unwrap_or_else(|| (0..domain.size(id)).collect()))
            .collect();
        let mut sums = vec![0.0; axes.iter().map(Vec::len).product()];
        for block in blocks {
            let along = |(&id, axis): (&AttributeId, &Vec<usize>)| {
                restriction(block, id).unwrap_or(axis).to_vec()
            };
            let own: Vec<Vec<usize>> = ids.iter().zip(&axes).map(along).collect();
            let single =
                |values: &[usize]| values.iter().map(|&value| (value, value + 1)).collect();
            let listed = ids.iter().zip(&own);
            let listed = listed.map(|(&id, values)| (id, QueryFactor::Intervals(single(values))));
            let others = block.iter().filter(|(id, _)| !ids.contains(id));
            let others = others.map(|(id, values)| (*id, QueryFactor::Evidence(values.clone())));
            let answers = calibrated.answer(&listed.chain(others).collect::<Vec<_>>())?;
            for (place, answer) in answers.into_iter().enumerate() {
                sums[cell(&axes, &own, place)] += answer;
            }
        }
        Ok(sums)
    }
}

fn restriction(block: &Block, id: AttributeId) -> Option<&[usize]> {
    block.iter().find(|(other, _)| *other == id).map(|(_, values)| &values[..])
}

/// The place in a table over `axes` of the cell at `place` in a table over a part of each axis.
fn cell(axes: &[Vec<usize>], part: &[Vec<usize>], mut place: usize) -> usize {
    let (mut cell, mut stride) = (0, 1);
    for (axis, values) in axes.iter().zip(part).rev() {
        let value = values[place % values.len()];
        place /= values.len();
        cell += stride * axis.partition_point(|&other| other < value);
        stride *= axis.len();
    }
    cell
}
