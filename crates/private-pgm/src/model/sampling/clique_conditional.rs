use super::super::scaled_table::ScaledTable;
use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::exp::{exp_shifted, maximum};
use crate::numeric::strided::{Projection, permute, row_major_strides};

/// The distribution of some attributes given others: a product of tables, evaluated one slice at a
/// time. The product over all attributes is never stored.
pub(super) struct CliqueConditional {
    /// The conditioning attributes, with their sizes.
    given: Vec<(AttributeId, usize)>,
    /// The attributes to draw, with their strides in a slice.
    drawn: Vec<(AttributeId, usize)>,
    cells: usize,
    terms: Vec<Term>,
}

/// A table with the conditioning attributes as its outer axes: a slice is contiguous.
struct Term {
    log: Vec<f64>,
    /// Its conditioning attributes, with their strides.
    given: Vec<(AttributeId, usize)>,
    /// From a slice over all drawn attributes onto those of this table.
    projection: Projection,
}

impl CliqueConditional {
    /// p(drawn | given), proportional to the product of `tables`.
    pub(super) fn new<'t>(
        domain: &Domain,
        given: Clique,
        drawn: Clique,
        tables: impl Iterator<Item = &'t ScaledTable>,
    ) -> Self {
        let shape = domain.shape(&drawn);
        let terms = tables
            // Tables over conditioning attributes alone are constant in a slice.
            .filter(|table| !table.clique.intersection(&drawn).is_empty())
            .map(|table| {
                let outer = table.clique.intersection(&given);
                let own = table.clique.intersection(&drawn);
                let order: Vec<usize> =
                    outer.iter().chain(own.iter()).filter_map(|id| table.clique.axis(id)).collect();
                let kept: Vec<bool> = drawn.iter().map(|id| own.contains(id)).collect();
                let table_shape = domain.shape(&table.clique);
                let new_shape: Vec<usize> = order.iter().map(|&axis| table_shape[axis]).collect();
                Term {
                    log: permute(&table.log, &table_shape, &order),
                    given: outer.iter().zip(row_major_strides(&new_shape)).collect(),
                    projection: Projection::new(&shape, &kept),
                }
            })
            .collect();
        Self {
            given: given.iter().map(|id| (id, domain.size(id))).collect(),
            drawn: drawn.iter().zip(row_major_strides(&shape)).collect(),
            cells: shape.iter().product(),
            terms,
        }
    }

    /// The cells of a slice: the combinations of values of the drawn attributes.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Each record's conditioning values encoded as one number, and an exclusive upper bound.
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

    /// Writes the running sums of the weights of all cells, given the values of a record.
    pub(super) fn cumulative_weights(
        &self,
        columns: &[Vec<u32>],
        record: usize,
        weights: &mut [f64],
    ) {
        weights.fill(0.0);
        for term in &self.terms {
            let start: usize = term
                .given
                .iter()
                .map(|&(id, stride)| columns[id.index()][record] as usize * stride)
                .sum();
            let slice = &term.log[start..start + term.projection.small_len()];
            term.projection.broadcast(slice, weights, |weight, log| *weight += log);
        }
        let largest = maximum(weights);
        let mut sum = 0.0;
        exp_in_place(weights, largest);
        for weight in weights {
            sum += *weight;
            *weight = sum;
        }
    }

    /// Writes the values of the drawn attributes that a cell encodes.
    pub(super) fn assign(&self, columns: &mut [Vec<u32>], record: usize, cell: usize) {
        let mut rest = cell;
        for &(id, stride) in &self.drawn {
            columns[id.index()][record] = (rest / stride) as u32;
            rest %= stride;
        }
    }
}

/// x = exp(x - shift) for every x. Goes through a small buffer, since the kernel writes out of
/// place.
fn exp_in_place(values: &mut [f64], shift: f64) {
    let mut block = [0.0; 256];
    for values in values.chunks_mut(block.len()) {
        let block = &mut block[..values.len()];
        exp_shifted(values, shift, block);
        values.copy_from_slice(block);
    }
}
