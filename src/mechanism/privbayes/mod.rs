//! PrivBayes: selects a Bayesian network privately and measures the table of each family.
//!
//! 1. *Network*, with half of the budget. The attribute with the fewest values comes first, because
//!    it fits into the parent sets of most others; this uses sizes only. Then d - 1 times, with
//!    equal shares, the exponential mechanism selects a pair (X, P) of an attribute and its parents
//!    among the earlier attributes, by a `Score` of their dependence.
//! 2. *Tables*, with the other half. The d tables of counts of X with P get Laplace noise of scale
//!    2d / epsilon_2, because a replaced record changes two cells of each.
//!
//! *Candidates.* A table is useful if its mean count is at least theta times the noise scale, N /
//! cells >= theta 2d / epsilon_2 (theta-usefulness in the paper). P is maximal under this condition
//! and the limit on the size of the graphical model (`model_size`). If no P is allowed, P is empty.
//! With many attributes there are too many such sets. Each of the r remaining attributes gets at
//! most `candidates` / r of them, sampled without the data (`candidates`).
//!
//! *Neighbours.* N determines which tables are useful, and the sensitivities are for replaced
//! records. So N has to be public, and a budget between neighbours by adding and removing is
//! refused.
//!
//! References: Zhang, Cormode, Procopiuc, Srivastava, Xiao, PrivBayes, SIGMOD 2014 and ACM TODS
//! 42(4), 2017; McKenna, Sheldon, Miklau, ICML 2019, section 4, for the even split of the budget.

mod candidates;
mod model_size;
mod network;
mod score;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::support::bayesian_network::BayesianNetwork;
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Parameter,
    ParameterError, Published, Release, ReleaseDiagnostics, Task, Times, WorkloadDependence, parse,
};
use dp::{Budget, Epsilon, Guarantee, L1, Neighbours, NoiseSource, Sensitivity, Share};
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;
use score::Score;

pub(super) static PRIVBAYES: MechanismSpec = MechanismSpec {
    name: "privbayes",
    title: "PrivBayes",
    summary: "Selects a Bayesian network by the exponential mechanism and measures the table of \
              each attribute with its parents.",
    reference: "Zhang, Cormode, Procopiuc, Srivastava, Xiao, ACM TODS 42(4), 2017",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "records drawn from the network",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: false,
    cost_model: CostModel {
        seconds_per_pair: 1e-4,
        measured: Measured::Pairs,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: &[
        Parameter {
            name: "theta",
            default: "4.0",
            meaning: "least mean count of a table, as a multiple of the noise scale",
        },
        Parameter {
            name: "score",
            default: "\"r\"",
            meaning: "score by which parents are selected: \"r\" or \"mutual-information\"",
        },
        Parameter {
            name: "network_share",
            default: "0.5",
            meaning: "fraction of the budget for the selection of the network",
        },
        Parameter {
            name: "candidates",
            default: "2000",
            meaning: "most candidates of one selection, pairs of an attribute and its parents",
        },
        Parameter {
            name: "model_cells",
            default: "2000000",
            meaning: "most cells of the junction tree of the network",
        },
    ],
    build: |table| Ok(Box::new(PrivBayes::checked(parse(table)?)?)),
};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PrivBayes {
    theta: f64,
    score: Score,
    network_share: f64,
    candidates: usize,
    model_cells: usize,
}

impl Default for PrivBayes {
    fn default() -> Self {
        Self {
            // From the paper.
            theta: 4.0,
            score: Score::R,
            network_share: 0.5,
            candidates: 2000,
            model_cells: 2_000_000,
        }
    }
}

impl PrivBayes {
    fn checked(self) -> Result<Self, ParameterError> {
        let refuse = |message: String| Err(ParameterError { message });
        if !(self.theta > 0.0 && self.theta.is_finite()) {
            return refuse(format!("theta: expected a positive number, found {}", self.theta));
        }
        ParameterError::check_fraction("network_share", self.network_share)?;
        if self.candidates == 0 {
            return refuse("candidates: expected a positive number, found 0".into());
        }
        Ok(self)
    }

    /// The most cells of a useful table: N / cells is at least theta times the noise scale.
    fn useful_cells(&self, records: usize, noise_scale: f64) -> usize {
        (records as f64 / (self.theta * noise_scale)) as usize
    }
}

impl Mechanism for PrivBayes {
    fn needs_public_total(&self) -> bool {
        true
    }

    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let domain = task.data.domain();
        let records = task.public_records(budget.neighbours()).unwrap_or(0);
        if budget.neighbours() == Neighbours::AddRemove {
            return Err(MechanismError::Unsuitable(
                "PrivBayes needs a public number of records to decide which tables are useful, and \
                 that number is private between neighbours by adding and removing; use replacement"
                    .into(),
            ));
        }
        if records == 0 || domain.is_empty() {
            return Err(MechanismError::Unsuitable(
                "PrivBayes needs data with at least one record and one attribute".into(),
            ));
        }
        let started = Instant::now();
        let whole = budget.rest()?;
        // A single attribute needs no network and has all of the budget.
        let (select, measure) = match domain.len() {
            1 => (Vec::new(), vec![whole]),
            d => {
                let [select, measure] =
                    two_parts(whole, [self.network_share, 1.0 - self.network_share])?;
                (select.split(d - 1)?, measure.split(d)?)
            }
        };
        let norm = dp::sabotage!(1.0, "privbayes-tables-as-added", 0.5);
        let sensitivity = Sensitivity::<L1>::linear(norm, Neighbours::Replace)?;
        let noise_scale = sensitivity.get() / pure_epsilon(measure[0].guarantee())?.get();
        let useful = self.useful_cells(records, noise_scale);
        let families = network::choose(self, task.data, useful, select, source, || task.in_time())?;
        let select_seconds = started.elapsed().as_secs_f64();

        let started = Instant::now();
        let mut answers = Vec::with_capacity(families.len());
        for (family, share) in families.iter().zip(measure) {
            let clique = family.clique();
            let counts = task.data.read(&share).project(&clique)?;
            let label = format!("table of {}", domain.names(&clique).join(" x "));
            let noisy =
                share.laplace(label, counts.values(), sensitivity, task.noise.whole(), source)?;
            let query = QueryMatrix::identity(domain, &clique)?;
            answers.push(Measurement {
                clique,
                query,
                y: noisy.values,
                stddev: noisy.noise_stddev,
            });
        }
        Ok(Release {
            total: task.total(Neighbours::Replace, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(BayesianNetwork { families }),
            extra_estimators: Vec::new(),
            times: Times { select: select_seconds, measure: started.elapsed().as_secs_f64() },
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        })
    }
}

fn two_parts(share: Share, weights: [f64; 2]) -> Result<[Share; 2], MechanismError> {
    let mut parts = share.split_weights(&weights)?.into_iter();
    match (parts.next(), parts.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err(dp::BudgetError::NoParts.into()),
    }
}

/// The epsilon of Laplace noise within a guarantee.
fn pure_epsilon(guarantee: Guarantee) -> Result<Epsilon, MechanismError> {
    match guarantee {
        Guarantee::Pure { epsilon } | Guarantee::Approximate { epsilon, .. } => Ok(epsilon),
        Guarantee::Concentrated { rho } => Ok(rho.pure_epsilon()?),
    }
}
