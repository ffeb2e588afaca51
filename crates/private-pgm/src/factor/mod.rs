//! Tables over cliques: a single one ([`Factor`]), and one per clique of a model
//! ([`CliqueVector`]).

mod clique_vector;

pub use clique_vector::{CliqueLayout, CliqueVector, Marginals, Potentials};

use ndarray::ArrayD;

use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::memory;
use crate::numeric::strided::{Projection, permute};

/// A table over a clique: one number per combination of its attributes' values, row-major in axis
/// order (see [`crate::domain`]).
#[derive(Debug, PartialEq)]
pub struct Factor {
    clique: Clique,
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Clone for Factor {
    fn clone(&self) -> Self {
        let (clique, shape) = (self.clique.clone(), self.shape.clone());
        Self { clique, shape, values: memory::copied(&self.values) }
    }
}

impl Factor {
    /// The table over `clique` with these cells, row-major in axis order.
    ///
    /// # Panics
    /// If the number of cells is not that of `clique` in `domain`.
    pub fn new(domain: &Domain, clique: Clique, values: Vec<f64>) -> Self {
        let shape = domain.shape(&clique);
        assert_eq!(shape.iter().product::<usize>(), values.len(), "cells of {clique:?}");
        Self { clique, shape, values }
    }

    /// The table over `clique` with this number in every cell.
    ///
    /// # Panics
    /// If the number of cells overflows.
    pub fn filled(domain: &Domain, clique: Clique, value: f64) -> Self {
        let cells = domain.cells(&clique).expect("a number of cells");
        Self::new(domain, clique, memory::filled(cells, value))
    }

    /// The table over the attributes `listed`, with cells row-major in the order of `listed`.
    ///
    /// # Panics
    /// If an attribute is listed twice or the number of cells does not match.
    pub fn from_listed(domain: &Domain, listed: &[AttributeId], values: &[f64]) -> Self {
        let clique = Clique::new(listed.iter().copied());
        assert_eq!(clique.len(), listed.len(), "an attribute is listed twice");
        let listed_shape: Vec<usize> = listed.iter().map(|&id| domain.size(id)).collect();
        let order: Vec<usize> = clique
            .iter()
            .map(|id| listed.iter().position(|&other| other == id).expect("same attributes"))
            .collect();
        let values = permute(values, &listed_shape, &order);
        Self::new(domain, clique, values)
    }

    /// The cells, row-major in the order of `listed`.
    ///
    /// # Panics
    /// If `listed` is not a permutation of this table's attributes.
    pub fn values_as_listed(&self, listed: &[AttributeId]) -> Vec<f64> {
        let order: Vec<usize> = listed
            .iter()
            .map(|&id| self.clique.axis(id).expect("listed attributes are the clique's"))
            .collect();
        assert_eq!(order.len(), self.clique.len(), "every attribute is listed once");
        permute(&self.values, &self.shape, &order)
    }

    /// The table as an array with one axis per attribute, in the order of `listed`.
    ///
    /// # Panics
    /// If `listed` is not a permutation of this table's attributes.
    pub fn to_array(&self, listed: &[AttributeId]) -> ArrayD<f64> {
        let values = self.values_as_listed(listed);
        let size = |id: &AttributeId| self.clique.axis(*id).map_or(1, |axis| self.shape[axis]);
        let shape: Vec<usize> = listed.iter().map(size).collect();
        ArrayD::from_shape_vec(shape, values).expect("a value for each cell")
    }

    /// The attributes of the table.
    pub fn clique(&self) -> &Clique {
        &self.clique
    }

    /// The sizes along the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The cells, row-major in axis order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The cells, row-major in axis order.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The cells, row-major in axis order.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The sum of all cells.
    pub fn total(&self) -> f64 {
        self.values.iter().sum()
    }

    /// The sum of all cells as a sum of sums of blocks, which has a smaller rounding error than one
    /// long sum.
    pub fn sum_in_blocks(&self) -> f64 {
        self.values.chunks(1 << 12).map(|block| block.iter().sum::<f64>()).sum()
    }

    /// The table with every cell multiplied by `factor`.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|cell| *cell *= factor);
        self
    }

    /// The map from the cells of this table to those of the table over `keep`, for tables that are
    /// summed or changed often.
    ///
    /// # Panics
    /// If `keep` is not a subset of this table's attributes.
    pub fn projection(&self, keep: &Clique) -> Projection {
        assert!(keep.is_subset(&self.clique), "{keep:?} is not a subset of {:?}", self.clique);
        let kept: Vec<bool> = self.clique.iter().map(|id| keep.contains(id)).collect();
        Projection::new(&self.shape, &kept)
    }

    /// The table over `keep`, with all other attributes summed out.
    ///
    /// # Panics
    /// If `keep` is not a subset of this table's attributes.
    pub fn sum_onto(&self, keep: &Clique) -> Factor {
        let values = self.projection(keep).sums(&self.values);
        let axes = self.clique.iter().zip(&self.shape);
        let shape = axes.filter(|&(id, _)| keep.contains(id)).map(|(_, &size)| size).collect();
        Factor { clique: keep.clone(), shape, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_order_permutes_the_cells_and_nothing_else() {
        let domain = Domain::new([("a", 4), ("b", 3)]).unwrap();
        let (a, b) = (domain.id("a").unwrap(), domain.id("b").unwrap());
        let as_ab: Vec<f64> = (0..12).map(f64::from).collect();
        let factor = Factor::from_listed(&domain, &[a, b], &as_ab);
        // b has fewer values, so it is the first axis.
        assert_eq!(factor.shape(), [3, 4]);
        assert_eq!(factor.values()[..4], [0.0, 3.0, 6.0, 9.0]);
        assert_eq!(factor.values_as_listed(&[a, b]), as_ab);
        let array = factor.to_array(&[a, b]);
        assert_eq!((array.shape(), array[[2, 1]]), (&[4, 3][..], 7.0));
        assert_eq!(factor.sum_onto(&Clique::new([a])).values(), [3.0, 12.0, 21.0, 30.0]);
        assert_eq!(factor.sum_onto(&Clique::empty()).values(), [66.0]);
    }
}
