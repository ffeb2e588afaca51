use super::super::table::Table;
use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::exp::{exp_shifted, maximum};
use crate::numeric::strided::{Projection, permute, row_major_strides};

/// The distribution of some attributes, given others: the product of a few tables, taken slice by
/// slice and never written down as a whole.
pub(super) struct Stage {
    /// The attributes that are given, with their sizes.
    given: Vec<(AttributeId, usize)>,
    /// The attributes that are drawn, with the strides of their cells.
    fresh: Vec<(AttributeId, usize)>,
    cells: usize,
    parts: Vec<Part>,
}

/// A table with the given attributes as its outer axes, so that a slice is contiguous.
struct Part {
    log: Vec<f64>,
    /// The given attributes that it has, with their strides.
    given: Vec<(AttributeId, usize)>,
    /// From the cells of all attributes that are drawn to those that it has.
    projection: Projection,
}

impl Stage {
    /// Draws `fresh` given `given` in proportion to the product of `tables` over these attributes.
    pub(super) fn new<'t>(
        domain: &Domain,
        given: Clique,
        fresh: Clique,
        tables: impl Iterator<Item = &'t Table>,
    ) -> Self {
        let shape = domain.shape(&fresh);
        let parts = tables
            // What depends on the given attributes alone is the same for all cells of a slice.
            .filter(|table| !table.clique.intersection(&fresh).is_empty())
            .map(|table| {
                let outer = table.clique.intersection(&given);
                let own = table.clique.intersection(&fresh);
                let order: Vec<usize> =
                    outer.iter().chain(own.iter()).filter_map(|id| table.clique.axis(id)).collect();
                let kept: Vec<bool> = fresh.iter().map(|id| own.contains(id)).collect();
                let table_shape = domain.shape(&table.clique);
                let new_shape: Vec<usize> = order.iter().map(|&axis| table_shape[axis]).collect();
                Part {
                    log: permute(&table.log, &table_shape, &order),
                    given: outer.iter().zip(row_major_strides(&new_shape)).collect(),
                    projection: Projection::new(&shape, &kept),
                }
            })
            .collect();
        Self {
            given: given.iter().map(|id| (id, domain.size(id))).collect(),
            fresh: fresh.iter().zip(row_major_strides(&shape)).collect(),
            cells: shape.iter().product(),
            parts,
        }
    }

    /// The number of combinations of values of the attributes that are drawn.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Each record's given values as one number, and a bound on these.
    pub(super) fn keys(&self, columns: &[Vec<u32>], records: usize) -> (Vec<usize>, usize) {
        let mut keys = vec![0; records];
        let mut end = 1;
        for &(id, size) in &self.given {
            for (key, &value) in keys.iter_mut().zip(&columns[id.index()]) {
                *key = *key * size + value as usize;
            }
            end *= size;
        }
        (keys, end)
    }

    /// Running sums of the weights of all cells, given the values of a record.
    pub(super) fn cumulative_weights(
        &self,
        columns: &[Vec<u32>],
        record: usize,
        weights: &mut [f64],
    ) {
        weights.fill(0.0);
        for part in &self.parts {
            let start: usize = part
                .given
                .iter()
                .map(|&(id, stride)| columns[id.index()][record] as usize * stride)
                .sum();
            let slice = &part.log[start..start + part.projection.small_len()];
            part.projection.broadcast(slice, weights, |weight, log| *weight += log);
        }
        let largest = maximum(weights);
        let mut sum = 0.0;
        exp_in_place(weights, largest);
        for weight in weights {
            sum += *weight;
            *weight = sum;
        }
    }

    /// Writes the values that a cell stands for.
    pub(super) fn assign(&self, columns: &mut [Vec<u32>], record: usize, cell: usize) {
        let mut rest = cell;
        for &(id, stride) in &self.fresh {
            columns[id.index()][record] = (rest / stride) as u32;
            rest %= stride;
        }
    }
}

/// x = exp(x - shift) for every x, block by block through a small buffer.
fn exp_in_place(values: &mut [f64], shift: f64) {
    let mut block = [0.0; 256];
    for values in values.chunks_mut(block.len()) {
        let block = &mut block[..values.len()];
        exp_shifted(values, shift, block);
        values.copy_from_slice(block);
    }
}
