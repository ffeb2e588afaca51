//! Base sets and what their measurements cost.
//!
//! Let Q be the Kronecker product over the base set A of the contrasts of its attributes, and n_i
//! the number of values of attribute i. A record in cell a of the marginal contributes the column
//! q_a. Since the contrasts of an attribute have Q_i^T Q_i = I - J / n_i,
//!
//! <q_a, q_b> = p_A * (product over the attributes in which a and b differ of -1 / (n_i - 1)),
//! with p_A = product over A of (n_i - 1) / n_i.
//!
//! *Add or remove.* The answers change by a column: the squared L2 sensitivity is p_A. With noise
//! of variance sigma_A^2 the base mechanism is p_A / (2 sigma_A^2)-zCDP, and all of them together
//! satisfy the sum over the base sets, which is the cost of Xiao et al.
//!
//! *Replace.* The answers change by q_a - q_b, with the squared norm 2 p_A - 2 <q_a, q_b>. The
//! inner product is least when a and b differ in the attribute with the fewest values alone: the
//! sign must be negative, so an odd number of attributes differ, and all factors are at most 1 in
//! absolute value. The squared sensitivity is 2 p_A n / (n - 1), with n the fewest values of an
//! attribute of A. The number of records is public and not measured.
//!
//! Under `replace` the sum over the base sets is an upper bound: one replacement does not attain
//! the largest change of all base sets at once. The allocation is optimal for this sum.

use dp::{L2, Neighbours, Sensitivity, SensitivityError};
use private_pgm::domain::{Clique, Domain};
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};
use private_pgm::residual::downward_closure;

/// A set of attributes whose residual is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    pub clique: Clique,
    /// The squared L2 sensitivity of the exact residual.
    pub squared_sensitivity: f64,
}

impl Base {
    /// The base sets of a workload. The residual of a set with an attribute of one value is zero
    /// and not measured; the empty set, the number of records, only where that is private.
    pub(super) fn of_workload(
        domain: &Domain,
        cliques: &[Clique],
        neighbours: Neighbours,
        private_total: bool,
    ) -> Vec<Base> {
        let sets = downward_closure(cliques).into_iter();
        let measured = sets.filter(|set| match set.is_empty() {
            true => private_total,
            false => set.iter().all(|id| domain.size(id) > 1),
        });
        measured.map(|clique| Base::new(domain, clique, neighbours)).collect()
    }

    fn new(domain: &Domain, clique: Clique, neighbours: Neighbours) -> Self {
        let sizes: Vec<f64> = clique.iter().map(|id| domain.size(id) as f64).collect();
        let one: f64 = sizes.iter().map(|n| (n - 1.0) / n).product();
        let squared_sensitivity = match (neighbours, sizes.into_iter().reduce(f64::min)) {
            (Neighbours::Replace, Some(n)) => {
                dp::sabotage!(2.0 * one * n / (n - 1.0), "residuals-as-added", one)
            }
            _ => one,
        };
        Self { clique, squared_sensitivity }
    }

    /// The contrasts of all attributes; for the empty set the sum of all records.
    pub(super) fn query(&self, domain: &Domain) -> Result<QueryMatrix, QueryError> {
        let factors = vec![QueryFactor::Contrasts; self.clique.len()];
        QueryMatrix::kronecker(domain, self.clique.as_slice(), factors).map(|(query, _)| query)
    }

    /// The L2 sensitivity of the residual as it is computed in floating point.
    ///
    /// Along an axis of n values an answer is a sum of at most n products with rounded entries:
    /// n + 6 operations. With k the sum over the axes, the rounding error of an answer is at most
    /// k EPSILON times the same sum over absolute values. These sums are the columns of |Q| added
    /// over the records; the columns have the L2 norm sqrt(p_A), so the errors of all answers
    /// together have at most the norm k EPSILON sqrt(p_A) N on one table, and twice that on two.
    pub(super) fn sensitivity(
        &self,
        domain: &Domain,
        records: f64,
        neighbours: Neighbours,
    ) -> Result<Sensitivity<L2>, SensitivityError> {
        if self.clique.is_empty() {
            return Sensitivity::new(1.0, neighbours);
        }
        let operations: f64 = self.clique.iter().map(|id| (domain.size(id) + 6) as f64).sum();
        // The squared sensitivity is a product of rounded quotients.
        let norm = (self.squared_sensitivity * (1.0 + operations * f64::EPSILON)).sqrt().next_up();
        // sqrt(p_A) is at most the sensitivity.
        let allowance = 2.0 * operations * f64::EPSILON * norm * records;
        Sensitivity::new(norm, neighbours)?.enlarged(allowance)
    }
}
