use std::collections::BTreeMap;

use serde::Deserialize;

use super::base::Base;
use private_pgm::domain::{Clique, Domain};

/// What an allocation makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The weighted sum of the variances of all cells of the workload's marginals.
    #[default]
    Sum,
    /// The largest variance of a cell.
    Largest,
}

/// The weights in a sum of variances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Every cell counts the same.
    #[default]
    Cells,
    /// Every marginal counts the same: its mean variance is added.
    Marginals,
}

/// The certified relative gap at which the search for the smallest largest variance ends.
const GAP: f64 = 1e-9;

/// The largest number of iterations of the search. It needs about twenty on the domains of the
/// paper.
const ITERATIONS: usize = 10_000;

/// How a budget is divided among the base sets.
///
/// Let c_B be the squared sensitivity of base set B and s_B its part of rho. Its noise has the
/// variance sigma_B^2 = c_B / (2 rho s_B), and a cell of the marginal on A has the variance
///
/// V_A = sum over B within A of k_AB sigma_B^2,
/// k_AB = product of (n_i - 1) / n_i over B and of 1 / n_i^2 over A minus B.
///
/// *Sum.* With weights l_A, the sum of l_A V_A is the sum over B of v_B sigma_B^2 with v_B = sum of
/// l_A k_AB. By the inequality of Cauchy and Schwarz it is at least (sum of sqrt(v_B c_B))^2 / (2
/// rho), with equality when s_B is proportional to sqrt(v_B c_B).
///
/// *Largest.* The smallest largest variance is the largest over weights l that add up to 1 of the
/// smallest weighted sum (duality; both sides are convex). g(l) = (sum of sqrt(v_B(l) c_B))^2 is
/// increased by l_A proportional to l_A V_A(l)^2: the square roots are bounded from below by
/// Jensen's inequality, with equality at the current l, and the new l maximises the bound. g(l)
/// bounds the optimum from below and the largest V_A(l) from above, so the gap is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    pub bases: Vec<Base>,
    /// The part of rho of each base set, up to a common factor.
    pub shares: Vec<f64>,
    /// How far above the smallest possible value the objective is at most, relative to it.
    pub gap: f64,
    domain: Domain,
    index: BTreeMap<Clique, usize>,
}

impl Allocation {
    /// `bases` contains the measured subsets of `cliques`.
    pub fn new(
        domain: &Domain,
        cliques: &[Clique],
        bases: Vec<Base>,
        objective: Objective,
        weights: Weights,
    ) -> Self {
        let index = bases.iter().enumerate().map(|(at, base)| (base.clique.clone(), at)).collect();
        let mut allocation =
            Self { shares: vec![1.0; bases.len()], gap: 0.0, domain: domain.clone(), index, bases };
        let rows: Vec<Row> = cliques.iter().map(|clique| allocation.coefficients(clique)).collect();
        let weight = |clique: &Clique| match (objective, weights) {
            (Objective::Sum, Weights::Cells) => domain.cells_f64(clique),
            _ => 1.0,
        };
        let start: Vec<f64> = cliques.iter().map(weight).collect();
        match objective {
            Objective::Sum => allocation.shares = allocation.optimal_shares(&rows, &start),
            Objective::Largest => allocation.minimise_largest(&rows, start),
        }
        allocation
    }

    /// The variance of every cell of the marginal on a clique of the workload, or within one, at
    /// this rho.
    pub fn cell_variance(&self, clique: &Clique, rho: f64) -> f64 {
        let whole: f64 = self.shares.iter().sum();
        let terms = self.coefficients(clique).into_iter().map(|(base, k)| {
            let part = self.shares[base] / whole;
            k * self.bases[base].squared_sensitivity / (2.0 * rho * part)
        });
        terms.sum()
    }

    /// k_AB for the base sets B within A.
    fn coefficients(&self, clique: &Clique) -> Row {
        let subsets = (0..=clique.len()).flat_map(|size| clique.subsets(size));
        let row = subsets.filter_map(|set| {
            let factor = |id| {
                let n = self.domain.size(id) as f64;
                if set.contains(id) { (n - 1.0) / n } else { (n * n).recip() }
            };
            let base = *self.index.get(&set)?;
            Some((base, clique.iter().map(factor).product()))
        });
        row.collect()
    }

    /// sqrt(v_B c_B) for weights of the cliques.
    fn optimal_shares(&self, rows: &[Row], weights: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.bases.len()];
        for (row, weight) in rows.iter().zip(weights) {
            row.iter().for_each(|(base, k)| v[*base] += weight * k);
        }
        v.iter().zip(&self.bases).map(|(v, base)| (v * base.squared_sensitivity).sqrt()).collect()
    }

    fn minimise_largest(&mut self, rows: &[Row], mut weights: Vec<f64>) {
        for _ in 0..ITERATIONS {
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
            self.shares = self.optimal_shares(rows, &weights);
            // With rho = 1/2, so that variances are c_B / s_B.
            let whole: f64 = self.shares.iter().sum();
            let bound = whole * whole;
            let variance = |row: &Row| -> f64 {
                let term = |(base, k): &(usize, f64)| {
                    k * self.bases[*base].squared_sensitivity * whole / self.shares[*base]
                };
                row.iter().map(term).sum()
            };
            let variances: Vec<f64> = rows.iter().map(variance).collect();
            let largest = variances.iter().copied().fold(0.0, f64::max);
            self.gap = (largest / bound - 1.0).max(0.0);
            if self.gap <= GAP {
                break;
            }
            let ratios = weights.iter_mut().zip(variances);
            ratios.for_each(|(weight, variance)| *weight *= (variance / bound).powi(2));
        }
    }
}

/// Base sets with their coefficients.
type Row = Vec<(usize, f64)>;
