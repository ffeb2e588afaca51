//! MST: all one-way marginals, and the two-way marginals of a privately selected tree.
//!
//! A third of the budget each, in zCDP:
//!
//! 1. *Attributes.* The d one-way marginals, with Gaussian noise of sigma = sqrt(3 d / (2 rho))
//!    under add or remove.
//! 2. *Tree.* d - 1 times, the exponential mechanism selects a pair of attributes that are not
//!    connected yet, by the error of the one-way marginals on its table (`tree`), with epsilon =
//!    sqrt(8 (rho / 3) / (d - 1)).
//! 3. *Pairs.* The d - 1 two-way marginals of the tree, with Gaussian noise.
//!
//! *Compression.* After the first step, the values of an attribute whose noisy count is below 3
//! sigma are merged into one (`compression`). Tree and pairs are about merged values. The
//! measurements are over all values, with queries that do not tell merged values apart, so an
//! estimate of largest entropy spreads their count evenly: the expansion of the paper. Merging uses
//! published counts only.
//!
//! A replaced record changes two cells of a marginal by 1, which has the L2 norm sqrt(2). An added
//! or removed record changes one cell. Merging cells does not increase either. Every graphical
//! model of a tree is tractable: the cliques of its junction tree are the selected pairs.
//!
//! *The budget* should be in rho, [`Rho::implying`](dp::Rho::implying) the promised epsilon and
//! delta. A budget of (epsilon, delta) works too, but its parts add up in epsilon and delta and
//! therefore have more noise. A pure budget is refused.
//!
//! Reference: McKenna, Miklau, Sheldon, Winning the NIST contest, Journal of Privacy and
//! Confidentiality 11(3), 2021.

mod compression;
#[cfg(test)]
mod tests;
mod tree;

use std::time::Instant;

use serde::Deserialize;

use super::support::final_estimate::{FINAL_ITERATIONS, final_pgm};
use super::support::gaussian_marginal::{measure_marginal, measure_query};
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Parameter,
    ParameterError, Published, Release, ReleaseDiagnostics, Task, Times, WorkloadDependence, parse,
};
use compression::{Compressed, Groups};
use dp::{Budget, NoiseSource, Share};
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
#[cfg(feature = "sabotage")]
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;

pub(super) static MST: MechanismSpec = MechanismSpec {
    name: "mst",
    title: "MST",
    summary: "Measures all one-way marginals, and the two-way marginals of a maximum spanning tree \
              that the exponential mechanism selects; rare values are merged.",
    reference: "McKenna, Miklau, Sheldon, Journal of Privacy and Confidentiality 11(3), 2021",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "a graphical model",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel {
        seconds_per_pair: 1e-4,
        measured: Measured::Pairs,
        own_iterations: FINAL_ITERATIONS as f64,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: &[
        Parameter {
            name: "weights",
            default: "[1.0, 1.0, 1.0]",
            meaning: "weights in the budget: one-way marginals, selection of the tree, its pairs",
        },
        Parameter {
            name: "threshold",
            default: "3.0",
            meaning: "values with a noisy count below this many standard deviations are merged; \
                      0 merges none but negative counts",
        },
    ],
    build: |table| Ok(Box::new(Mst::checked(parse(table)?)?)),
};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Mst {
    weights: [f64; 3],
    threshold: f64,
}

impl Default for Mst {
    fn default() -> Self {
        Self { weights: [1.0; 3], threshold: 3.0 }
    }
}

impl Mst {
    fn checked(self) -> Result<Self, ParameterError> {
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            let found = self.threshold;
            let message = format!("threshold: expected a number from 0 on, found {found}");
            return Err(ParameterError { message });
        }
        match self.weights.iter().find(|&&weight| !(weight > 0.0 && weight.is_finite())) {
            Some(weight) => {
                let message = format!("weights: expected three positive numbers, found {weight}");
                Err(ParameterError { message })
            }
            None => Ok(self),
        }
    }

    /// The shares of the one-way marginals, of the selections and of the two-way marginals.
    fn split(&self, whole: Share, attributes: usize) -> Result<[Vec<Share>; 3], MechanismError> {
        // A single attribute has no tree, and all of the budget.
        if attributes == 1 {
            return Ok([vec![whole], Vec::new(), Vec::new()]);
        }
        let counts = [attributes, attributes - 1, attributes - 1];
        let mut shares = [Vec::new(), Vec::new(), Vec::new()];
        let parts = whole.split_weights(&self.weights)?;
        for ((shares, part), count) in shares.iter_mut().zip(parts).zip(counts) {
            *shares = part.split(count)?;
        }
        Ok(shares)
    }
}

impl Mechanism for Mst {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let (domain, neighbours) = (task.data.domain(), budget.neighbours());
        // Whether there are any records is public only if their number is.
        if domain.is_empty() || task.public_records(neighbours) == Some(0) {
            return Err(MechanismError::Unsuitable(
                "MST needs data with at least one record and one attribute".into(),
            ));
        }
        let [one_way, choices, two_way] = self.split(budget.rest()?, domain.len())?;
        let two_way = dp::sabotage!(
            two_way,
            "mst-reuses-the-whole-share",
            super::sabotaged::all_unpaid(&two_way, budget.total())
        );
        task.in_time()?;
        let started = Instant::now();
        let singles: Vec<Measurement> = domain
            .ids()
            .zip(one_way)
            .map(|(id, share)| {
                measure_marginal(task, &Clique::new([id]), "marginal of ", share, source)
            })
            .collect::<Result<_, _>>()?;
        let measured_singles = started.elapsed();

        let started = Instant::now();
        let total = task.total(neighbours, &singles)?;
        let groups: Vec<Groups> =
            singles.iter().map(|single| Groups::new(single, self.threshold)).collect();
        let groups = dp::sabotage!(groups, "mst-merges-by-the-data", {
            let true_counts = |single: &Measurement| -> Result<Groups, MechanismError> {
                let counts = task.data.unpaid().project(&single.clique)?.into_values();
                Ok(Groups::new(&Measurement { y: counts, ..single.clone() }, self.threshold))
            };
            singles.iter().map(true_counts).collect::<Result<Vec<_>, _>>()?
        });
        // A single attribute has no tree.
        let edges = match choices.first() {
            Some(unused) => {
                let compressed = Compressed::new(task.data.read(unused), &groups, &singles)?;
                let edges = tree::choose(task, &compressed, total, choices, source)?;
                edges.iter().map(|edge| compressed.original(domain, edge)).collect()
            }
            None => Vec::new(),
        };
        let select = started.elapsed().as_secs_f64();

        let started = Instant::now();
        let mut pairs = Vec::with_capacity(edges.len());
        for (clique, share) in edges.into_iter().zip(two_way) {
            let factors = clique.iter().map(|id| groups[id.index()].factor()).collect();
            let (query, _) = QueryMatrix::kronecker(domain, clique.as_slice(), factors)?;
            let label = format!("marginal of {}", domain.names(&clique).join(" x "));
            pairs.push(measure_query(task, (clique, query), label, share, source)?);
        }
        let measure = (measured_singles + started.elapsed()).as_secs_f64();
        let mut answers = Vec::new();
        for (groups, single) in groups.iter().zip(&singles) {
            answers.extend(groups.measurements(domain, single)?);
        }
        answers.extend_from_slice(&pairs);
        Ok(Release {
            total: task.total(neighbours, &[singles, pairs].concat())?,
            published: Published::Answers(answers),
            own_estimator: Box::new(final_pgm()),
            extra_estimators: Vec::new(),
            times: Times { select, measure },
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        })
    }
}
