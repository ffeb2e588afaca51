//! Privlet: measures the Haar wavelet coefficients of a marginal as a histogram (Xiao, Wang,
//! Gehrke, "Differential privacy via wavelet transforms", TKDE 2011).
//!
//! The paper weights coefficients of means. With unnormalised sums and differences all coefficients
//! have the same noise, and the mechanism is the same.

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::support::each_marginal::{EachMarginal, Processed};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Release, Task,
    WorkloadDependence, parse,
};
use crate::postprocess::haar;
use dp::{Budget, L1, Neighbours, NoiseSource, Sensitivity};
use private_pgm::loss::Measurement;
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::query::QueryMatrix;

pub(super) static PRIVLET: MechanismSpec = MechanismSpec {
    name: "privlet",
    title: "Privlet",
    summary: "measures the wavelet coefficients of each marginal of the workload, with Laplace \
              noise",
    reference: "Xiao, Wang, Gehrke, TKDE 2011",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the inverse transform",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[],
    build: |table| Ok(Box::new(parse::<Privlet>(table)?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Privlet {}

/// The L1 sensitivity of the coefficients of `cells` cells.
///
/// Let there be 2^l cells after padding. An added or removed record changes the sum, and one
/// difference per level, by 1 each: 1 + l. A replaced record does not change the sum. On a level,
/// either the old and the new cell are below the same node and its difference changes by at most 2,
/// or the differences of two nodes change by 1: 2l.
fn sensitivity(cells: usize, neighbours: Neighbours) -> Result<Sensitivity<L1>, MechanismError> {
    let levels = cells.next_power_of_two().ilog2();
    let levels = dp::sabotage!(levels, "privlet-one-level", levels.min(1));
    let sensitivity = match neighbours {
        Neighbours::AddRemove => 1 + levels,
        // A single cell does not change. The noise is that of a count.
        Neighbours::Replace => (2 * levels).max(1),
    };
    Ok(Sensitivity::new(f64::from(sensitivity), neighbours)?)
}

impl Mechanism for Privlet {
    /// Each marginal has an equal share of the budget.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let domain = task.workload.domain();
        let answers = task.measure_each(budget, |clique, cells, share| {
            let coefficients = haar::transform(cells);
            let label = format!("wavelet coefficients of {}", domain.names(&clique).join(", "));
            let sensitivity = sensitivity(cells.len(), neighbours)?;
            let noisy =
                share.laplace(label, &coefficients, sensitivity, task.noise.whole(), source)?;
            let mut rows = CsrMatrix::new(cells.len());
            for [plus, minus] in haar::rows(cells.len()) {
                let signed = plus.map(|cell| (cell, 1.0)).chain(minus.map(|cell| (cell, -1.0)));
                rows.push_row(signed);
            }
            let query = QueryMatrix::sparse(domain, clique.as_slice(), rows)?;
            let (y, stddev) = (noisy.values, noisy.noise_stddev);
            Ok(Measurement { clique, query, y, stddev })
        })?;
        let total = task.total(neighbours, &answers)?;
        let process = |_: usize, measured: &Measurement, _: Option<Instant>| {
            let mut cells = haar::inverse(&measured.y);
            cells.truncate(measured.query.cols());
            Ok(Processed { cells, ..Processed::default() })
        };
        let own_estimator = Box::new(EachMarginal { count: answers.len(), process });
        Ok(Release::of_answers(total, answers, own_estimator, began))
    }
}
