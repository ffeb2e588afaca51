//! The Gaussian mechanism on marginals: the cells of all cliques of the workload with Gaussian
//! noise (Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our data, ourselves", EUROCRYPT 2006;
//! discrete noise: Canonne, Kamath, Steinke, NeurIPS 2020).

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Release, Task,
    WorkloadDependence, parse,
};
use crate::data::Dataset;
use dp::{Budget, L2, Neighbours, NoiseSource, Sensitivity};
use private_pgm::baselines::AsMeasured;
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;

pub(super) static GAUSSIAN: MechanismSpec = MechanismSpec {
    name: "gaussian",
    title: "Gaussian",
    summary: "measures the marginals of the workload, with Gaussian noise",
    reference: "Dwork, Kenthapadi, McSherry, Mironov, Naor, EUROCRYPT 2006",
    guarantee: GuaranteeKind::Approximate,
    own_estimator: "the noisy marginals themselves",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[],
    build: |table| Ok(Box::new(parse::<Gaussian>(table)?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Gaussian {}

impl Mechanism for Gaussian {
    /// All marginals are one vector with one draw of noise. Squared L2 norms add up, so k marginals
    /// increase the noise by a factor of sqrt(k). Shares of (epsilon, delta) would increase it by
    /// k.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let (domain, cliques) = (task.workload.domain(), task.workload.cliques());
        let share = budget.rest()?;
        let cells = cells(task.data.read(&share), &cliques)?;
        let label = format!("{} marginals", cliques.len());
        let charged = dp::sabotage!(cliques.len(), "gaussian-marginals-charged-as-one", 1);
        let sensitivity = sensitivity(charged, neighbours)?;
        let line = task.noise.whole();
        let noisy = share.gaussian(label, &cells, sensitivity, line, source)?;
        let (mut answers, mut rest) = (Vec::with_capacity(cliques.len()), &noisy.values[..]);
        for clique in cliques {
            let query = QueryMatrix::identity(domain, &clique)?;
            let (y, others) = rest.split_at(query.rows());
            answers.push(Measurement { clique, query, y: y.into(), stddev: noisy.noise_stddev });
            rest = others;
        }
        let total = task.total(neighbours, &answers)?;
        Ok(Release::of_answers(total, answers, Box::new(AsMeasured), began))
    }
}

/// The cells of all marginals, concatenated.
fn cells(data: &Dataset, cliques: &[Clique]) -> Result<Vec<f64>, MechanismError> {
    let mut cells = Vec::new();
    for clique in cliques {
        cells.extend_from_slice(data.project(clique)?.values());
    }
    Ok(cells)
}

/// A record is in one cell of each of the marginals. A column has entries 0 and 1 and as many ones
/// as there are marginals.
fn sensitivity(
    marginals: usize,
    neighbours: Neighbours,
) -> Result<Sensitivity<L2>, MechanismError> {
    // Rounded up unless exact.
    let root = (marginals as f64).sqrt();
    let norm = if root.fract() == 0.0 { root } else { root.next_up() };
    Ok(Sensitivity::<L2>::nonnegative_linear(norm, neighbours)?)
}
