use std::collections::BTreeMap;

use super::admm::{Program, Table, Variable};
use super::closure::{cells_outside, masked, varying};
use super::error::ResidualError;
use super::residuals::{Residual, Residuals};
use crate::domain::Clique;
use crate::loss::maximal_cliques;

/// When the iterations end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// The largest number of iterations.
    pub iterations: usize,
    /// The largest gap, as a fraction of 1 + distance. A distance of 1 is that of one answer which
    /// is wrong by 1.4 standard deviations.
    pub gap: f64,
}

impl Default for Stopping {
    /// Our choice: at a gap of 1e-4 the estimate is far closer to the optimum than to the truth.
    fn default() -> Self {
        Self { iterations: 5000, gap: 1e-4 }
    }
}

/// Residuals whose marginals on the constrained cliques are not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Nonnegative {
    /// Their variances are not known.
    pub residuals: Residuals,
    /// D, the squared distance from the unconstrained estimate in standard deviations, halved: the
    /// difference of the minus log-likelihoods for Gaussian noise.
    pub distance: f64,
    /// No residuals with non-negative marginals have a distance below D by more than this.
    pub gap: f64,
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the gap is as small as was asked for.
    pub converged: bool,
}

impl Residuals {
    /// The residuals that are closest to these in standard deviations such that no cell of the
    /// marginals on `cliques` is negative: GReM-LNN.
    ///
    /// Minimises D(q) = 1/2 sum over the measured sets B of |q_B - r_B|^2 / v_B. The number of
    /// records stays as it is and must be positive. Residuals that were not measured stay zero, so
    /// a clique that contains an unmeasured set is constrained as if its residual were known to be
    /// zero, which pulls the measured residuals towards zero.
    ///
    /// `continues` is called with the number of iterations so far, and ends the run by `false`.
    pub fn nonnegative(
        &self,
        cliques: &[Clique],
        stopping: Stopping,
        mut continues: impl FnMut(usize) -> bool,
    ) -> Result<Nonnegative, ResidualError> {
        let total = self.total();
        if !(total > 0.0 && total.is_finite()) {
            return Err(ResidualError::Total(total));
        }
        let sets: Vec<(&Clique, &Residual)> =
            self.iter().filter(|(clique, _)| !clique.is_empty()).collect();
        if sets.iter().any(|(_, residual)| residual.variance.is_none()) {
            return Err(ResidualError::NoVariance);
        }
        let program = self.program(cliques, &sets, total);
        let solution = program.solve(stopping, &mut continues);
        let fixed = Residual { table: vec![total], variance: None };
        let mut parts = BTreeMap::from([(Clique::empty(), fixed)]);
        for ((clique, _), table) in sets.into_iter().zip(solution.point) {
            parts.insert(clique.clone(), Residual { table, variance: None });
        }
        Ok(Nonnegative {
            residuals: Residuals::new(self.domain(), parts),
            distance: solution.distance,
            gap: solution.gap,
            iterations: solution.iterations,
            converged: solution.gap <= stopping.gap * (1.0 + solution.distance),
        })
    }

    /// The quadratic program over the residuals of `sets`. A marginal is not negative if one that
    /// contains it is not, so only maximal cliques are constrained.
    fn program<'a>(
        &self,
        cliques: &[Clique],
        sets: &[(&'a Clique, &'a Residual)],
        total: f64,
    ) -> Program<'a> {
        let index: BTreeMap<&Clique, usize> =
            sets.iter().enumerate().map(|(index, (clique, _))| (*clique, index)).collect();
        let variable = |&(_, residual): &(&'a Clique, &'a Residual)| Variable {
            target: &residual.table[..],
            weight: residual.variance.unwrap_or(1.0).recip(),
        };
        let variables: Vec<Variable<'a>> = sets.iter().map(variable).collect();
        let table = |clique: &Clique| {
            let shape = self.domain().shape(clique);
            let part = |mask: usize| index.get(&masked(clique, mask)).copied();
            let parts: Vec<Option<usize>> = (0..1usize << clique.len()).map(part).collect();
            let outside = (0..parts.len()).map(|mask| cells_outside(&shape, mask)).collect();
            Table::new(shape, parts, outside, total, &variables)
        };
        let cliques: Vec<Clique> =
            cliques.iter().map(|clique| varying(self.domain(), clique)).collect();
        let tables = maximal_cliques(&cliques).iter().map(table).collect();
        Program { variables, tables }
    }
}
