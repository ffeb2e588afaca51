//! HDMM: measures a strategy that is optimised for the workload (McKenna, Miklau, Hay,
//! Machanavajjhala, "Optimizing error of high-dimensional statistical queries under differential
//! privacy", PVLDB 2018).
//!
//! OPT_0 finds a strategy for each factor of a sub-workload. The Kronecker product of these
//! strategies is answered with Laplace noise. The search does not use the data, so the answers have
//! all of the budget.

mod opt0;
mod search;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use self::search::strategy;
use super::support::post_processing::{ADMM_L1, ALPHA, AdmmParameters, ML, NNLS, RHO};
use super::support::strategy::{Prepared, Strategy, estimators};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, ParameterError,
    Published, Release, ReleaseDiagnostics, Task, Times, WorkloadDependence, parse,
};
use dp::{Budget, NoiseSource};
use private_pgm::baselines::FullLeastSquares;
use private_pgm::loss::Measurement;

pub(super) static HDMM: MechanismSpec = MechanismSpec {
    name: "hdmm",
    title: "HDMM",
    summary: "measures strategies that are optimised for the workload, with Laplace noise",
    reference: "McKenna, Miklau, Hay, Machanavajjhala, PVLDB 2018",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "least squares over the whole domain",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: false,
    // The search for strategies, one per size of an attribute.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[
        Parameter {
            name: "restarts",
            default: "25",
            meaning: "number of random starts of the search for a strategy; the best is taken",
        },
        Parameter {
            name: "split",
            default: "\"even\"",
            meaning: "how the budget is divided among the sub-workloads: \"even\", or \"optimal\" \
                      for the least sum of expected squared errors",
        },
        ALPHA,
        RHO,
    ],
    build: |table| {
        let (admm, others) = AdmmParameters::split(table)?;
        let hdmm = Hdmm { admm, ..parse(&others)? };
        ParameterError::check_count("restarts", hdmm.restarts as u64)?;
        Ok(Box::new(hdmm))
    },
};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Hdmm {
    restarts: usize,
    split: Split,
    #[serde(skip)]
    admm: AdmmParameters,
}

impl Default for Hdmm {
    fn default() -> Self {
        Self { restarts: 25, split: Split::Even, admm: AdmmParameters::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Split {
    Even,
    /// With parts e_i of epsilon the sum of squared errors is sum error_i / e_i^2. It is least
    /// when e_i is proportional to the cube root of error_i.
    Optimal,
}

impl Mechanism for Hdmm {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let strategies: Vec<Strategy> = task
            .workload
            .parts()
            .iter()
            .map(|part| {
                task.in_time()?;
                strategy(part, self.restarts)
            })
            .collect::<Result<_, _>>()?;
        let select = began.elapsed().as_secs_f64();

        let neighbours = budget.neighbours();
        let shares = match self.split {
            Split::Even => budget.rest()?.split(strategies.len())?,
            Split::Optimal => {
                let weights: Vec<f64> = strategies.iter().map(|s| s.error.cbrt()).collect();
                budget.rest()?.split_weights(&weights)?
            }
        };
        let shares = dp::sabotage!(
            shares,
            "hdmm-all-of-the-budget-each",
            super::sabotaged::all_unpaid(&shares, budget.total())
        );
        let answers: Vec<Measurement> = strategies
            .into_iter()
            .zip(shares)
            .map(|(strategy, share)| strategy.measure(task, share, source))
            .collect::<Result<_, _>>()?;
        let total = task.total(neighbours, &answers)?;
        let times = Times { select, measure: began.elapsed().as_secs_f64() - select };
        let prepared = answers.iter().map(|_| Prepared::default()).collect();
        let extra_estimators = estimators(prepared, self.admm);
        let published = Published::Answers(answers);
        Ok(Release {
            total,
            published,
            own_estimator: Box::new(FullLeastSquares::default()),
            extra_estimators,
            times,
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        })
    }
}
