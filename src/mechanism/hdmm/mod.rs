//! HDMM: measures not the workload but a strategy that answers it best (McKenna, Miklau, Hay,
//! Machanavajjhala, "Optimizing error of high-dimensional statistical queries under differential
//! privacy", PVLDB 2018).
//!
//! For each factor of a sub-workload, OPT_0 finds a strategy; the Kronecker product of a
//! sub-workload's strategies is answered with Laplace noise. None of it looks at the data but the
//! answers, so the budget is for these alone.

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

/// HDMM, as users know it.
pub(super) static HDMM: MechanismSpec = MechanismSpec {
    name: "hdmm",
    title: "HDMM",
    summary: "measures strategies that are optimised for the workload, with Laplace noise",
    reference: "McKenna, Miklau, Hay, Machanavajjhala, PVLDB 2018",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "least squares over the whole domain",
    workload_dependence: WorkloadDependence::Queries,
    // The search for strategies, one for each size of an attribute.
    cost_model: CostModel { seconds: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[
        Parameter {
            name: "restarts",
            default: "25",
            meaning: "how many random starts the search for a strategy has; the best is taken",
        },
        Parameter {
            name: "split",
            default: "\"even\"",
            meaning: "how the sub-workloads share the budget: \"even\", or \"optimal\" for the least \
                      expected squared error in sum",
        },
        ALPHA,
        RHO,
    ],
    build: |table| {
        let (admm, others) = AdmmParameters::split(table)?;
        let hdmm = Hdmm { admm, ..parse(&others)? };
        if hdmm.restarts == 0 {
            let message = "restarts: expected at least 1, found 0".into();
            return Err(ParameterError { message });
        }
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

/// How sub-workloads share the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Split {
    Even,
    /// Parts e_i of epsilon give a sum of squared errors of sum error_i / e_i^2, which is least
    /// where e_i is proportional to the third root of error_i.
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
        let answers: Vec<Measurement> = strategies
            .into_iter()
            .zip(shares)
            .map(|(strategy, share)| strategy.measure(task, share, source))
            .collect::<Result<_, _>>()?;
        let total = task.total(neighbours, &answers)?;
        let times = Times { select, measure: began.elapsed().as_secs_f64() - select };
        let own = Box::new(FullLeastSquares::default());
        let prepared = answers.iter().map(|_| Prepared::default()).collect();
        let extra_estimators = estimators(prepared, self.admm);
        let published = Published::Answers(answers);
        Ok(Release {
            total,
            published,
            own,
            extra_estimators,
            times,
            diagnostics: ReleaseDiagnostics::default(),
        })
    }
}
