use super::in_time;
use super::least_squares::{Solution, StackedSystem, l1_l2, linear_measurements};
use super::tables::Tables;
use crate::domain::Clique;
use crate::factor::Factor;
use crate::fit::{Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence};
use crate::loss::{Measurement, maximal_cliques};
use crate::numeric::bytes::Bytes;
use crate::numeric::lsmr::LsmrOptions;
use crate::numeric::memory;
use crate::query::PseudoInverse;

/// Separate least squares for each maximal measured clique C, from the measurements inside it: the
/// table mu_C, with entries of any sign, that minimises the sum of |Q mu_C - y|^2 / stddev^2 (the
/// paper's LLS). Tables of overlapping cliques need not agree.
///
/// A clique with one measurement by a Kronecker product is solved by its pseudo-inverse if that has
/// a closed form; other cliques by LSMR ([`crate::numeric::lsmr`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalLeastSquares {
    /// The stopping rule of LSMR, per clique.
    pub stopping: LsmrOptions,
}

impl Default for LocalLeastSquares {
    /// Tighter than for [`super::FullLeastSquares`], since the tables are small. Our choice.
    fn default() -> Self {
        Self { stopping: LsmrOptions { tolerance: 1e-10, iterations: 10_000 } }
    }
}

impl Estimator for LocalLeastSquares {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let measurements = linear_measurements(evidence)?;
        let domain = evidence.domain;
        let cliques = maximal_cliques(measurements.iter().map(|measurement| &measurement.clique));
        // All tables are kept; only one system exists at a time.
        let bytes = cliques.iter().map(|clique| 8.0 * domain.cells_f64(clique)).sum::<f64>()
            + cliques
                .iter()
                .map(|clique| StackedSystem::bytes(domain, clique, inside(clique, measurements)))
                .fold(0.0, f64::max);
        if bytes > context.memory_limit as f64 {
            let message = format!(
                "least squares on the measured cliques needs {}, more than the limit of {}",
                Bytes(bytes),
                Bytes(context.memory_limit as f64)
            );
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        memory::require(bytes)?;
        let mut tables = Vec::with_capacity(cliques.len());
        let (mut iterations, mut seconds, mut converged) = (0, 0.0, true);
        for clique in cliques {
            if !in_time(context.deadline) {
                return Err(EstimatorError::Timeout { iterations });
            }
            let solution = self.solve(evidence, &clique, measurements, context)?;
            iterations += solution.iterations;
            seconds += solution.seconds;
            converged &= solution.converged;
            tables.push(Factor::new(domain, clique, solution.table));
        }
        let tables = Tables::new(domain, tables);
        let residuals = l1_l2(measurements, |measurement| {
            let marginal = tables.marginal(&measurement.clique);
            marginal.expect("a maximal clique contains the measured one").into_values()
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
        context: &EstimatorContext<'_>,
    ) -> Result<Solution, EstimatorError> {
        let inside: Vec<&Measurement> = inside(clique, measurements).collect();
        if let [only] = inside[..]
            && let Some(inverse) = PseudoInverse::new(&only.query)
        {
            let table = inverse.apply(&only.y);
            return Ok(Solution { table, iterations: 0, converged: true, seconds: 0.0 });
        }
        StackedSystem::new(evidence.domain, clique, inside).solve(self.stopping, context.deadline)
    }
}

/// The measurements whose cliques are subsets of `clique`.
fn inside<'a>(
    clique: &Clique,
    measurements: &'a [Measurement],
) -> impl Iterator<Item = &'a Measurement> {
    measurements.iter().filter(move |measurement| measurement.clique.is_subset(clique))
}
