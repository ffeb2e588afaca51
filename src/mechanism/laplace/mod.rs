//! The Laplace mechanism on marginals: the cells of each clique of the workload with Laplace noise
//! (Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis",
//! TCC 2006).
//!
//! If marginals of lower order are public, the cells can be made consistent with them (Lee, Wang,
//! Kifer, KDD 2015, section 5.1). The public marginals are published after the noisy cells, for
//! estimators that use all measurements.

#[cfg(test)]
mod tests;

use std::time::Instant;

use super::support::each_marginal::{EachMarginal, Processed, refused};
use super::support::post_processing::{ADMM_L1, ALPHA, AdmmParameters, AdmmVariant, ML, NNLS, RHO};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Release, Task,
    WorkloadDependence,
};
use crate::postprocess::contingency::{self, PublicMarginals};
use dp::{Budget, L1, NoiseSource, Sensitivity};
use private_pgm::baselines::AsMeasured;
use private_pgm::fit::{Estimator, EstimatorError};
use private_pgm::loss::Measurement;
use private_pgm::numeric::bytes::Bytes;
use private_pgm::query::QueryMatrix;

/// The standard deviation of public counts as measurements, relative to the noise on a cell. Our
/// choice: the noise on a sum of cells is larger, so these sums are practically fixed. With a tenth
/// of this value, the optimiser of the graphical model had not converged after 2000 iterations, and
/// at epsilon 1 the error was ten times as large.
const PUBLIC_STDDEV: f64 = 0.1;
/// The most cells of a table with public marginals, which need a dense factor over the cells. Our
/// choice: 128 MiB.
const MOST_CELLS: usize = 4096;

pub(super) static LAPLACE: MechanismSpec = MechanismSpec {
    name: "laplace",
    title: "Laplace",
    summary: "measures the marginals of the workload, with Laplace noise",
    reference: "Dwork, McSherry, Nissim, Smith, TCC 2006",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the noisy marginals themselves",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[ADMM_L1, ML, NNLS],
    parameters: &[ALPHA, RHO],
    build: |table| {
        let admm = AdmmParameters::alone(table)?;
        Ok(Box::new(Laplace { admm }))
    },
};

#[derive(Clone, Copy, Debug)]
struct Laplace {
    admm: AdmmParameters,
}

impl Mechanism for Laplace {
    /// Each marginal has an equal share of the budget. A record is in one cell of a marginal, so
    /// columns have L1 norm 1.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let sensitivity = Sensitivity::<L1>::linear(1.0, neighbours)?;
        let (domain, line) = (task.workload.domain(), task.noise.whole());
        let mut answers = task.measure_each(budget, |clique, cells, share| {
            let query = QueryMatrix::identity(domain, &clique)?;
            let label = format!("marginal on {}", domain.names(&clique).join(", "));
            let noisy = share.laplace(label, cells, sensitivity, line, source)?;
            let y = dp::sabotage!(
                noisy.values,
                "laplace-empty-cells-exact",
                noisy
                    .values
                    .iter()
                    .zip(cells)
                    .map(|(&y, &x)| if x > 0.0 { y } else { x })
                    .collect()
            );
            Ok(Measurement { clique, query, y, stddev: noisy.noise_stddev })
        })?;
        let known = append_public_marginals(task, &mut answers)?;
        let total = dp::sabotage!(
            task.total(neighbours, &answers)?,
            "laplace-publishes-the-number-of-records",
            task.data.unpaid().len() as f64
        );
        let extra_estimators = self.extra_estimators(&known);
        Ok(Release {
            extra_estimators,
            ..Release::of_answers(total, answers, Box::new(AsMeasured), began)
        })
    }
}

impl Laplace {
    /// Nonnegative tables that agree with the public marginals.
    fn extra_estimators(
        &self,
        known: &[PublicMarginals],
    ) -> Vec<(&'static str, Box<dyn Estimator>)> {
        let of_variant = |(name, variant): (&'static str, AdmmVariant)| {
            let known = known.to_vec();
            let count = known.len();
            let process = move |index: usize, measured: &Measurement, deadline| {
                process(variant, &known[index], measured, deadline)
            };
            (name, Box::new(EachMarginal { count, process }) as Box<dyn Estimator>)
        };
        AdmmVariant::all(self.admm).map(of_variant).into()
    }
}

fn process(
    variant: AdmmVariant,
    known: &PublicMarginals,
    measured: &Measurement,
    deadline: Option<Instant>,
) -> Result<Processed, EstimatorError> {
    let cells = measured.y.len();
    if !known.is_empty() && cells > MOST_CELLS {
        let bytes = 8.0 * (cells as f64).powi(2);
        let message = format!(
            "a table of {cells} cells with public marginals needs {}; the limit is {MOST_CELLS} \
             cells",
            Bytes(bytes)
        );
        return Err(EstimatorError::Infeasible { bytes, message });
    }
    let objective = variant.objective(measured.stddev).map_err(refused)?;
    let settings = variant.settings(measured.stddev, deadline);
    let estimate = contingency::estimate(known, &measured.y, objective, &settings);
    Processed::new(estimate.map_err(refused)?)
}

/// Appends the public marginals of the measured cliques to the answers. Returns the public
/// marginals of each measured clique.
fn append_public_marginals(
    task: &Task<'_>,
    answers: &mut Vec<Measurement>,
) -> Result<Vec<PublicMarginals>, MechanismError> {
    let domain = task.workload.domain();
    let mut known = Vec::with_capacity(answers.len());
    let mut published: Vec<Measurement> = Vec::new();
    for measured in &*answers {
        let marginals = task.public_marginals(&measured.clique)?;
        known.push(PublicMarginals::new(domain, &measured.clique, &marginals)?);
        for marginal in marginals {
            if published.iter().any(|before| before.clique == *marginal.clique()) {
                continue;
            }
            published.push(Measurement {
                clique: marginal.clique().clone(),
                query: QueryMatrix::identity(domain, marginal.clique())?,
                stddev: PUBLIC_STDDEV * measured.stddev,
                y: marginal.into_values(),
            });
        }
    }
    answers.append(&mut published);
    Ok(known)
}
