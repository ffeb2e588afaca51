//! The matrix mechanism and the low-rank mechanism: each sub-workload W is answered from noisy answers
//! to a strategy A that is searched for, among matrices over all cells of the marginal (Li, Hay,
//! Rastogi, Miklau, McGregor, PODS 2010; Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB 2012).
//!
//! The search reads the queries and not the data, so the budget is for the answers alone. Of the
//! low-rank mechanism's W = B L, the strategy is L; with B = W L^+ its answers B y are those of least
//! squares, as the matrix mechanism's are.

mod covariance;
mod low_rank;
mod optimised_strategy;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use self::optimised_strategy::{OptimisedStrategy, find};
use super::support::each_marginal::{EachMarginal, Processed};
use super::support::post_processing::{ADMM_L1, ALPHA, AdmmParameters, ML, NNLS, RHO};
use super::support::strategy::{Strategy, estimators};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, ParameterError, Published,
    Release, ReleaseDiagnostics, Task, Times, WorkloadDependence,
};
use crate::workload::SubWorkload;
use dp::{Budget, NoiseSource};
use private_pgm::baselines::Estimator;
use private_pgm::loss::Measurement;
use private_pgm::numeric::bytes::Bytes;
use private_pgm::numeric::product::multiply;
use private_pgm::query::QueryMatrix;

/// Matrices of this many cells squared that a search holds at the same time, about.
const HELD: f64 = 12.0;

/// The matrix mechanism, as users know it.
pub(super) static MM: MechanismSpec = MechanismSpec {
    name: "mm",
    title: "Matrix mechanism",
    summary: "measures the strategy that would be best for the workload with Gaussian noise, with \
              Laplace noise",
    reference: "Li, Hay, Rastogi, Miklau, McGregor, PODS 2010; Yuan et al., PVLDB 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "least squares",
    workload_dependence: WorkloadDependence::Queries,
    // The search for a strategy.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[ALPHA, RHO],
    build: |table| build(Search::Approximated, table),
};

/// The low-rank mechanism, as users know it.
pub(super) static LRM: MechanismSpec = MechanismSpec {
    name: "lrm",
    title: "Low-rank mechanism",
    summary: "decomposes the workload into W = B L, measures L with Laplace noise",
    reference: "Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "B times the noisy answers, which is least squares",
    workload_dependence: WorkloadDependence::Queries,
    // The search for a strategy.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[ALPHA, RHO],
    build: |table| build(Search::LowRank, table),
};

/// How strategies are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Search {
    Approximated,
    LowRank,
}

struct MatrixMechanism {
    search: Search,
    admm: AdmmParameters,
}

fn build(search: Search, table: &toml::Table) -> Result<Box<dyn Mechanism>, ParameterError> {
    let admm = AdmmParameters::alone(table)?;
    Ok(Box::new(MatrixMechanism { search, admm }))
}

impl Mechanism for MatrixMechanism {
    /// Each sub-workload has an equal share of the budget.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let parts = task.workload.parts();
        let found: Vec<Arc<OptimisedStrategy>> =
            parts.iter().map(|part| self.found(task, part)).collect::<Result<_, _>>()?;
        let select = began.elapsed().as_secs_f64();

        let neighbours = budget.neighbours();
        let shares = budget.rest()?.split(parts.len())?;
        let answers: Vec<Measurement> = parts
            .iter()
            .zip(&found)
            .zip(shares)
            .map(|((part, found), share)| strategy(task, part, found)?.measure(task, share, source))
            .collect::<Result<_, _>>()?;
        // A strategy need not determine the number of records. Its shortest solution has one.
        let total = match task.has_private_total(neighbours) {
            false => task.data.len() as f64,
            true => solution(&found[0], &answers[0]).iter().sum::<f64>().max(1.0),
        };
        let times = Times { select, measure: began.elapsed().as_secs_f64() - select };
        let prepared = found.iter().map(|found| Arc::clone(&found.prepared)).collect();
        let extra_estimators = estimators(prepared, self.admm);
        let own = own(found);
        let (published, diagnostics) = (Published::Answers(answers), ReleaseDiagnostics::default());
        Ok(Release { total, published, own, extra_estimators, times, diagnostics })
    }
}

impl MatrixMechanism {
    fn found(
        &self,
        task: &Task<'_>,
        part: &SubWorkload,
    ) -> Result<Arc<OptimisedStrategy>, MechanismError> {
        task.in_time()?;
        let cells = part.query.cols();
        let bytes = HELD * 8.0 * (cells as f64).powi(2);
        if bytes > task.memory_limit as f64 {
            let message =
                format!("the search for a strategy over {cells} cells needs {}", Bytes(bytes));
            return Err(MechanismError::Infeasible { bytes, message });
        }
        find(&part.query, self.search)
            .ok_or_else(|| MechanismError::Unsuitable("the workload asks about nothing".into()))
    }
}

fn strategy(
    task: &Task<'_>,
    part: &SubWorkload,
    found: &OptimisedStrategy,
) -> Result<Strategy, MechanismError> {
    let clique = part.clique.clone();
    // Counts are whole numbers, and stay so.
    let query = match part.query.is_identity() {
        true => part.query.clone(),
        false => {
            let domain = task.workload.domain();
            QueryMatrix::dense(domain, clique.as_slice(), found.queries.clone())?
        }
    };
    Ok(Strategy { clique, query, error: found.error })
}

/// A^+ y.
fn solution(found: &OptimisedStrategy, measured: &Measurement) -> Vec<f64> {
    let mut cells = vec![0.0; found.inverse.rows()];
    multiply(&found.inverse, &measured.y, &mut cells);
    cells
}

fn own(found: Vec<Arc<OptimisedStrategy>>) -> Box<dyn Estimator> {
    let count = found.len();
    let process = move |place: usize, measured: &Measurement, _: Option<Instant>| {
        Ok(Processed { cells: solution(&found[place], measured), ..Processed::default() })
    };
    Box::new(EachMarginal { count, process })
}
