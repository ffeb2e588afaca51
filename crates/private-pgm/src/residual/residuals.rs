use std::collections::BTreeMap;

use super::closure::{cells_outside, masked, varying};
use super::transform::{assemble, split};
use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::numeric::memory;

/// Estimates of residuals, and the marginals that they add up to. Residuals that are not listed are
/// zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    domain: Domain,
    parts: BTreeMap<Clique, Residual>,
}

/// An estimate of the residual of one set of attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The table, row-major in axis order. Its sum along every axis is zero.
    pub table: Vec<f64>,
    /// The covariance of the table is this number times the Kronecker product of I - J / n_i. Zero
    /// for a number of records that is known; `None` if no exact variance is known.
    pub variance: Option<f64>,
}

impl Residuals {
    pub(super) fn new(domain: &Domain, parts: BTreeMap<Clique, Residual>) -> Self {
        Self { domain: domain.clone(), parts }
    }

    /// The attributes.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The residuals that are not zero by default, with their attributes.
    pub fn iter(&self) -> impl Iterator<Item = (&Clique, &Residual)> {
        self.parts.iter()
    }

    /// The residual of a set of attributes; `None` if it was not measured.
    pub fn get(&self, clique: &Clique) -> Option<&Residual> {
        self.parts.get(clique)
    }

    /// The number of records.
    pub fn total(&self) -> f64 {
        self.parts.get(&Clique::empty()).map_or(0.0, |residual| residual.table[0])
    }

    /// The marginal on `clique`, in counts: consistent with the marginals on all other cliques.
    /// Cost: a constant times its cells.
    pub fn marginal(&self, clique: &Clique) -> Factor {
        let varying = varying(&self.domain, clique);
        let shape = self.domain.shape(&varying);
        let tables = self.within(&varying).map(|residual| residual.map(|r| &r.table[..]));
        let tables: Vec<Option<&[f64]>> = tables.collect();
        let cells = assemble(&shape, &tables);
        let cells = cells.unwrap_or_else(|| memory::zeros(shape.iter().product()));
        Factor::new(&self.domain, clique.clone(), cells)
    }

    /// The variance of every cell of the marginal on `clique`. `None` if a residual within it was
    /// not measured, since the marginal is then biased, or if its variance is not known.
    ///
    /// With v_B the variance of the residual of B: the sum over B within the clique of v_B times
    /// the product of (n_i - 1) / n_i over B and of 1 / n_i^2 over the others.
    pub fn cell_variance(&self, clique: &Clique) -> Option<f64> {
        let clique = varying(&self.domain, clique);
        let shape = self.domain.shape(&clique);
        self.sum_of_variances(&clique, |mask| {
            let inside = shape.iter().enumerate().filter(|(axis, _)| mask >> axis & 1 == 1);
            inside.map(|(_, &n)| (n as f64 - 1.0) / n as f64).product::<f64>()
        })
    }

    /// The variance of the answer to a linear query on the marginal on `clique`, with one weight
    /// per cell. `None` as for [`Residuals::cell_variance`].
    ///
    /// # Panics
    /// If the number of weights is not the number of cells.
    pub fn query_variance(&self, clique: &Clique, weights: &[f64]) -> Option<f64> {
        let clique = varying(&self.domain, clique);
        let parts = split(&self.domain.shape(&clique), weights);
        self.sum_of_variances(&clique, |mask| parts[mask].iter().map(|w| w * w).sum())
    }

    /// The sum over the residuals within `clique` of their variance, times `squares` of their axes,
    /// divided by the squared number of cells outside them.
    fn sum_of_variances(&self, clique: &Clique, squares: impl Fn(usize) -> f64) -> Option<f64> {
        let shape = self.domain.shape(clique);
        let mut sum = 0.0;
        for (mask, residual) in self.within(clique).enumerate() {
            let variance = residual?.variance?;
            sum += variance * squares(mask) / cells_outside(&shape, mask).powi(2);
        }
        Some(sum)
    }

    /// The residuals of all subsets of `clique`, in the order of [`split`].
    fn within(&self, clique: &Clique) -> impl Iterator<Item = Option<&Residual>> {
        (0..1usize << clique.len()).map(|mask| self.parts.get(&masked(clique, mask)))
    }
}
