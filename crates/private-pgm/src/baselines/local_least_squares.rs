use super::least_squares::{Solved, System, answers_of, l1_l2};
use super::tables::Tables;
use super::{Diagnostics, Estimated, Estimator, EstimatorError, Run, in_time};
use crate::domain::Clique;
use crate::factor::Factor;
use crate::fit::Evidence;
use crate::loss::{Measurement, maximal_cliques};
use crate::numeric::lsmr::LsmrOptions;
use crate::query::PseudoInverse;

/// Least squares of each maximal measured clique on its own, from the measurements inside it: the
/// table mu_C, of any signs, that minimises the sum of |Q mu_C - y|^2 / stddev^2 (the paper's LLS).
/// Tables of cliques that overlap need not agree.
///
/// A clique that was measured once, by a Kronecker product, is solved by its pseudo-inverse; others
/// by LSMR ([`crate::numeric::lsmr`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalLeastSquares {
    /// When the iterations for a clique end, where there are any.
    pub stopping: LsmrOptions,
}

impl Default for LocalLeastSquares {
    /// Tighter than [`super::FullLeastSquares`], since the tables are small.
    fn default() -> Self {
        Self { stopping: LsmrOptions { tolerance: 1e-10, iterations: 10_000 } }
    }
}

impl Estimator for LocalLeastSquares {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut Run<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = answers_of(evidence)?;
        let domain = evidence.domain;
        let cliques = maximal_cliques(measurements.iter().map(|measurement| &measurement.clique));
        // The tables are kept, and one system at a time is there to find the next.
        let bytes = cliques.iter().map(|clique| 8.0 * domain.cells_f64(clique)).sum::<f64>()
            + cliques
                .iter()
                .map(|clique| System::bytes(domain, clique, inside(clique, measurements)))
                .fold(0.0, f64::max);
        if bytes > run.memory_limit as f64 {
            let message = format!(
                "the tables of the measured cliques need {bytes:.3e} bytes; the limit is {:.3e}",
                run.memory_limit as f64
            );
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        let mut tables = Vec::with_capacity(cliques.len());
        let (mut iterations, mut seconds, mut converged) = (0, 0.0, true);
        for clique in cliques {
            if !in_time(run.deadline) {
                return Err(EstimatorError::Timeout { iterations });
            }
            let solved = self.solve(evidence, &clique, measurements, run)?;
            iterations += solved.iterations;
            seconds += solved.seconds;
            converged &= solved.converged;
            tables.push(Factor::new(domain, clique, solved.table));
        }
        let tables = Tables::new(domain, tables);
        let residuals = l1_l2(measurements, |measurement| {
            let marginal = tables.marginal(&measurement.clique);
            marginal.expect("a measured clique is inside a maximal one").into_values()
        });
        let diagnostics = Diagnostics {
            l1_l2: Some(residuals),
            iterations: Some(iterations),
            seconds_per_iteration: (iterations > 0).then(|| seconds / iterations as f64),
            bytes: Some(bytes),
            message: if converged { "converged" } else { "iterations" }.into(),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers: Box::new(tables), model: None, diagnostics })
    }
}

impl LocalLeastSquares {
    fn solve(
        &self,
        evidence: &Evidence<'_>,
        clique: &Clique,
        measurements: &[Measurement],
        run: &Run<'_>,
    ) -> Result<Solved, EstimatorError> {
        let inside: Vec<&Measurement> = inside(clique, measurements).collect();
        if let [only] = inside[..]
            && let Some(inverse) = PseudoInverse::new(&only.query)
        {
            let table = inverse.apply(&only.y);
            return Ok(Solved { table, iterations: 0, converged: true, seconds: 0.0 });
        }
        System::new(evidence.domain, clique, inside).solve(self.stopping, run.deadline)
    }
}

/// The measurements whose cliques are within `clique`.
fn inside<'a>(
    clique: &Clique,
    measurements: &'a [Measurement],
) -> impl Iterator<Item = &'a Measurement> {
    measurements.iter().filter(move |measurement| measurement.clique.is_subset(clique))
}
