//! MWEM+PGM: MWEM with whole marginals, Gaussian noise and a graphical model between rounds.
//!
//! Each of T rounds (default: one per attribute) has the same part of rho, 0.1 of it to select and
//! 0.9 to measure:
//!
//! 1. *Candidates.* The marginals of the workload that keep the junction tree of all measurements
//!    within `max_cells` times the part of the rounds that has passed with this one, and those
//!    inside one of its cliques.
//! 2. *Selection.* Exponential mechanism with the score |M_r(D) - M_r(p)|_1 - n_r, where n_r is the
//!    number of cells. n_r is public, so the sensitivity is that of the distance: 1 under add or
//!    remove, 2 under replacement ([`AdaptiveMarginals::distances`]).
//! 3. *Measurement* with Gaussian noise, and an estimate by [`Task::estimator`].
//!
//! If the number of records is private, it is measured first with 0.01 of rho (our choice).
//!
//! Reference: McKenna, Sheldon, Miklau, ICML 2019, section 4 and supplement E.2; the settings are
//! those of the comparison in McKenna, Mullins, Sheldon, Miklau, PVLDB 15(11), 2022. [`mwem`] is
//! the mechanism of Hardt, Ligett and McSherry, which measures single queries with Laplace noise.
//!
//! [`mwem`]: super::mwem

#[cfg(test)]
mod tests;

use serde::Deserialize;

use super::support::adaptive_marginals::{AdaptiveMarginals, two_shares};
use super::support::candidate_marginals::change;
use super::support::final_estimate::{FINAL_ITERATIONS, final_pgm};
use super::support::round_count::{ROUNDS, RoundCount};
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Parameter,
    ParameterError, Published, Release, ReleaseDiagnostics, Rounds, Task, WorkloadDependence,
    parse,
};
use dp::{Budget, NoiseSource, Sensitivity};
use private_pgm::domain::Clique;

pub(super) static MWEM_PGM: MechanismSpec = MechanismSpec {
    name: "mwem-pgm",
    title: "MWEM+PGM",
    summary: "Measures in each round the marginal with the largest error of a graphical model.",
    reference: "McKenna, Sheldon, Miklau, ICML 2019",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "a graphical model, as between rounds",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: true,
    cost_model: CostModel {
        iterations_per_attribute: 100.0,
        seconds_per_candidate: 4e-5,
        own_iterations: FINAL_ITERATIONS as f64,
        measured: Measured::ChosenByCells,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: &[
        ROUNDS,
        Parameter {
            name: "max_cells",
            default: "10485760",
            meaning: "The most cells of the junction tree after the last round (the default is \
                      80 MiB); before, the part of it that corresponds to the round.",
        },
    ],
    build: |table| Ok(Box::new(MwemPgm::checked(parse(table)?)?)),
};

/// The part of a round that pays for the measurement.
const MEASURE: f64 = 0.9;

/// The part of the budget for the number of records where it is private.
const TOTAL: f64 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MwemPgm {
    rounds: RoundCount,
    max_cells: u64,
}

impl Default for MwemPgm {
    fn default() -> Self {
        Self { rounds: RoundCount::default(), max_cells: (80 << 20) / size_of::<f64>() as u64 }
    }
}

impl MwemPgm {
    fn checked(self) -> Result<Self, ParameterError> {
        self.rounds.check()?;
        ParameterError::check_count("max_cells", self.max_cells)?;
        Ok(self)
    }
}

impl Mechanism for MwemPgm {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let neighbours = budget.neighbours();
        if task.public_records(neighbours) == Some(0) {
            return Err(MechanismError::Unsuitable("MWEM+PGM needs at least one record".into()));
        }
        let candidates = task.workload.cliques();
        self.check_sizes(task, &candidates)?;
        let rounds = self.rounds.number(task.data.domain());
        let mut marginals = AdaptiveMarginals::new(task, neighbours, candidates, task.estimator);
        let mut share = budget.rest()?;
        if task.has_private_total(neighbours) {
            let [total, rest] = two_shares(share, TOTAL)?;
            share = rest;
            marginals.measure(&Clique::empty(), "records", total, source)?;
        }
        for (index, share) in share.split(rounds)?.into_iter().enumerate() {
            let round = index + 1;
            marginals.estimate()?;
            let limit = self.max_cells as f64 * round as f64 / rounds as f64;
            let mut places = marginals.within(limit);
            if places.is_empty() {
                // The first rounds allow less than the smallest marginal.
                places = marginals.within(self.max_cells as f64);
            }
            let domain = marginals.domain();
            let distances = marginals.distances(&places, &share)?;
            let scored = places.iter().zip(&distances);
            let scores: Vec<f64> = scored
                .map(|(&place, distance)| {
                    distance - domain.cells_f64(&marginals.candidates()[place])
                })
                .collect();
            let is_fitted = dp::sabotage!(
                false,
                "mwem-pgm-stops-by-the-truth",
                distances.iter().all(|&distance| distance < 12.0)
            );
            if is_fitted {
                break;
            }
            let [measure, select] = two_shares(share, MEASURE)?;
            let change = dp::sabotage!(change(neighbours), "mwem-pgm-scores-as-added", 1.0);
            let sensitivity = Sensitivity::new(change, neighbours)?;
            let label = format!("round {round}: the worst marginal");
            let chosen =
                marginals.select(label, (&places, &scores), sensitivity, select, source)?;
            marginals.measure(&chosen, &format!("round {round}: "), measure, source)?;
        }
        let times = marginals.times;
        let (answers, _, model) = marginals.into_parts();
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(final_pgm()),
            extra_estimators: Vec::new(),
            times,
            diagnostics: ReleaseDiagnostics {
                rounds: Some(Rounds { used: rounds, limit: rounds }),
                ..ReleaseDiagnostics::default()
            },
            bounds: None,
            warm_start: model,
        })
    }
}

impl MwemPgm {
    /// Refuses a workload without a marginal that fits. Depends on public sizes.
    fn check_sizes(&self, task: &Task<'_>, candidates: &[Clique]) -> Result<(), MechanismError> {
        let domain = task.data.domain();
        let cells = candidates.iter().map(|clique| domain.cells_f64(clique));
        let Some(smallest) = cells.reduce(f64::min) else {
            return Err(MechanismError::Unsuitable("there are no marginals to choose from".into()));
        };
        match smallest > self.max_cells as f64 {
            true => Err(MechanismError::Infeasible {
                bytes: smallest * size_of::<f64>() as f64,
                message: format!(
                    "the smallest marginal of the workload has {smallest} cells, more than \
                     max_cells = {}",
                    self.max_cells
                ),
            }),
            false => Ok(()),
        }
    }
}
