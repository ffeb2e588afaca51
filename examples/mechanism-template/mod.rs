//! A template for a mechanism of your own: Laplace noise on the marginals of the workload, with a
//! parameter. docs/commands.md has the steps. The tests of the program compile this file, run it,
//! and check what a mechanism has to keep.
//!
//! Say here what the mechanism does, how the budget is divided, and why each part of it is private.

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, ParameterError,
    Release, Task, WorkloadDependence, parse,
};
use dp::{Budget, L1, NoiseSource, Sensitivity};
use private_pgm::baselines::AsMeasured;
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;

// Named like the mechanism in configurations: `my-mechanism` is MY_MECHANISM.
pub(super) static TEMPLATE: MechanismSpec = MechanismSpec {
    name: "template",
    // Tables, figures and pages take it from here.
    title: "Template",
    summary: "measures the marginals of the workload with Laplace noise",
    reference: "the paper",
    // What the budget is in: epsilon; epsilon and delta; or rho.
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the noisy marginals themselves",
    // Cliques: workloads over the same marginals share a release. Queries: they do not.
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    // For predictions of the time.
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[Parameter {
        name: "power",
        default: "0.0",
        meaning: "a marginal's part of the budget is proportional to its number of cells to this \
                  power, from 0 to 1",
    }],
    build: |table| Ok(Box::new(Template::checked(parse(table)?)?)),
};

/// Its parameters. Unknown ones are errors.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Template {
    power: f64,
}

impl Template {
    fn checked(self) -> Result<Self, ParameterError> {
        match (0.0..=1.0).contains(&self.power) {
            true => Ok(self),
            false => {
                let message = format!("power: expected 0 to 1, found {}", self.power);
                Err(ParameterError { message })
            }
        }
    }
}

impl Mechanism for Template {
    /// Whatever depends on the data is drawn from a share of the budget. Here each marginal has a
    /// share, whose size is public. A record is in one cell of a marginal, so the columns of the
    /// query have L1 norm 1.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        // Mechanisms with rounds ask before each of them.
        task.in_time()?;
        let neighbours = budget.neighbours();
        let sensitivity = Sensitivity::<L1>::linear(1.0, neighbours)?;
        let (domain, line) = (task.workload.domain(), task.noise.whole());
        let cliques = task.workload.cliques();
        let weight = |clique: &Clique| -> f64 {
            clique.iter().map(|id| (domain.size(id) as f64).powf(self.power)).product()
        };
        let weights: Vec<f64> = cliques.iter().map(weight).collect();
        let shares = budget.rest()?.split_weights(&weights)?;
        let mut answers = Vec::with_capacity(cliques.len());
        for (clique, share) in cliques.into_iter().zip(shares) {
            // The share is not used yet; the draw below uses it.
            let counts = task.data.read(&share).project(&clique)?;
            // In the ledger.
            let label = format!("marginal on {}", domain.names(&clique).join(", "));
            let noisy = share.laplace(label, counts.values(), sensitivity, line, source)?;
            let query = QueryMatrix::identity(domain, &clique)?;
            let stddev = noisy.noise_stddev;
            answers.push(Measurement { clique, query, y: noisy.values, stddev });
        }
        let total = task.total(neighbours, &answers)?;
        Ok(Release::of_answers(total, answers, Box::new(AsMeasured), began))
    }
}
