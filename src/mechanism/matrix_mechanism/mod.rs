//! The matrix mechanism and the low-rank mechanism. Each sub-workload W is answered from noisy
//! answers to a strategy A, which is optimised among matrices over all cells of the marginal (Li,
//! Hay, Rastogi, Miklau, McGregor, PODS 2010; Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB 2012).
//!
//! The search uses the queries and not the data, so the answers have all of the budget. The
//! strategy of the low-rank mechanism W = B L is L. With B = W L^+ its answers B y are those of
//! least squares, as for the matrix mechanism.

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
use private_pgm::fit::Estimator;
use private_pgm::loss::Measurement;
use private_pgm::numeric::bytes::Bytes;
use private_pgm::numeric::product::multiply;
use private_pgm::query::QueryMatrix;

/// The approximate number of cells x cells matrices that a search holds at a time.
const HELD: f64 = 12.0;

pub(super) static MM: MechanismSpec = MechanismSpec {
    name: "mm",
    title: "MM",
    summary: "measures the strategy that is optimal for L2 norms of columns, with Laplace noise",
    reference: "Li, Hay, Rastogi, Miklau, McGregor, PODS 2010; Yuan et al., PVLDB 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "least squares",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: false,
    // The search for a strategy.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[ALPHA, RHO],
    build: |table| build(Search::Approximated, table),
};

pub(super) static LRM: MechanismSpec = MechanismSpec {
    name: "lrm",
    title: "LRM",
    summary: "decomposes the workload into W = B L and measures L, with Laplace noise",
    reference: "Yuan, Zhang, Winslett, Xiao, Yang, Hao, PVLDB 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "B times the noisy answers, which is least squares",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: false,
    // The search for a strategy.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[ALPHA, RHO],
    build: |table| build(Search::LowRank, table),
};

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
        let strategies: Vec<Arc<OptimisedStrategy>> =
            parts.iter().map(|part| self.optimised(task, part)).collect::<Result<_, _>>()?;
        let select = began.elapsed().as_secs_f64();

        let neighbours = budget.neighbours();
        let shares = budget.rest()?.split(parts.len())?;
        let answers: Vec<Measurement> = parts
            .iter()
            .zip(&strategies)
            .zip(shares)
            .map(|((part, optimised), share)| {
                strategy(task, part, optimised)?.measure(task, share, source)
            })
            .collect::<Result<_, _>>()?;
        // A strategy may not determine the number of records. The minimum-norm solution gives an
        // estimate.
        let total = match task.public_records(neighbours) {
            Some(records) => records as f64,
            None => solution(&strategies[0], &answers[0]).iter().sum::<f64>().max(1.0),
        };
        let times = Times { select, measure: began.elapsed().as_secs_f64() - select };
        let prepared = strategies.iter().map(|s| Arc::clone(&s.prepared)).collect();
        let extra_estimators = estimators(prepared, self.admm);
        let own_estimator = own_estimator(strategies);
        let (published, diagnostics) = (Published::Answers(answers), ReleaseDiagnostics::default());
        Ok(Release {
            total,
            published,
            own_estimator,
            extra_estimators,
            times,
            diagnostics,
            bounds: None,
            warm_start: None,
        })
    }
}

impl MatrixMechanism {
    fn optimised(
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
            .ok_or_else(|| MechanismError::Unsuitable("all queries of the workload are 0".into()))
    }
}

fn strategy(
    task: &Task<'_>,
    part: &SubWorkload,
    optimised: &OptimisedStrategy,
) -> Result<Strategy, MechanismError> {
    let clique = part.clique.clone();
    // The identity keeps counts integers.
    let query = match part.query.is_identity() {
        true => part.query.clone(),
        false => {
            let domain = task.workload.domain();
            QueryMatrix::dense(domain, clique.as_slice(), optimised.queries.clone())?
        }
    };
    Ok(Strategy { clique, query, error: optimised.error })
}

/// A^+ y.
fn solution(strategy: &OptimisedStrategy, measured: &Measurement) -> Vec<f64> {
    let mut cells = vec![0.0; strategy.inverse.rows()];
    multiply(&strategy.inverse, &measured.y, &mut cells);
    cells
}

fn own_estimator(strategies: Vec<Arc<OptimisedStrategy>>) -> Box<dyn Estimator> {
    let count = strategies.len();
    let process = move |index: usize, measured: &Measurement, _: Option<Instant>| {
        Ok(Processed { cells: solution(&strategies[index], measured), ..Processed::default() })
    };
    Box::new(EachMarginal { count, process })
}
