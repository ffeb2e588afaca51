//! AIM: an adaptive and iterative mechanism for a workload of marginals.
//!
//! Candidates are the marginals of the workload and all marginals inside them. All one-way
//! marginals are measured first. Then each round selects the candidate that the current estimate
//! gets wrong most, in proportion to its weight in the workload and beyond the noise that measuring
//! it would add, measures it, and estimates again:
//!
//! 1. *Budget.* rho is divided for T = 16 d rounds: rho / T each, of which 0.9 to measure (sigma =
//!    sqrt(T / (1.8 rho)) under add or remove) and 0.1 to select (epsilon = sqrt(0.8 rho / T)).
//!    When less than two rounds' cost is left, one last round spends it all.
//! 2. *Candidates.* Those that keep the junction tree within `max_cells` times the part of rho that
//!    is spent with this round, and those inside one of its cliques. Uses public sizes and earlier
//!    selections. GReM has no junction tree: all marginals of at most `max_cells` cells are
//!    candidates as long as the measured ones fit into memory.
//! 3. *Selection.* Exponential mechanism with the score w_r (|M_r(D) - M_r(p)|_1 - sqrt(2/pi) sigma
//!    n_r), see [`score`] and [`sensitivity`].
//! 4. *Annealing.* If the measurement has changed the estimate of its marginal by no more than the
//!    expected L1 norm of its noise, sqrt(2/pi) sigma n_r, sigma is halved and epsilon doubled for
//!    the rounds that follow: four times the cost.
//!
//! *Privacy.* Costs are chosen by earlier outputs, so the budget is a filter: [`Budget::spend`]
//! refuses a round that is not covered before it draws anything. With costs in rho, a filter that
//! never grants more than rho in sum is rho-zCDP (Feldman, Zrnic, NeurIPS 2021, theorem 4.3, with
//! Renyi divergences of all orders; Whitehouse, Ramdas, Rogers, Wu, ICML 2023). A Gaussian
//! measurement costs D^2 / (2 sigma^2), a selection epsilon^2 / 8. The paper's relation is add or
//! remove; the proofs hold for replacement with sensitivities sqrt(2) and 2 in place of 1 and 1.
//!
//! *Estimator.* The loop uses the estimate only to score candidates and to decide on annealing, and
//! never the data, so the proofs hold for every estimator (`estimator`).
//!
//! *Errors.* The release bounds the errors of all candidates of the last round and of all marginals
//! inside measured ones ([`ErrorBounds`](super::ErrorBounds)).
//!
//! *Difference from published code*: what is measured at the start is charged as it is measured.
//! d is the number of attributes of the workload.
//!
//! Reference: McKenna, Mullins, Sheldon, Miklau, AIM: an adaptive and iterative mechanism for
//! differentially private synthetic data, PVLDB 15(11), 2022, Algorithms 3 and 4.

mod closure;
mod parameters;
mod scores;
#[cfg(test)]
mod tests;
mod weighting;

use super::error_bounds::{BoundsBasis, LastSelection, l1_distance};
use super::support::adaptive_marginals::{AdaptiveMarginals, two_shares};
use super::support::final_estimate::FINAL_ITERATIONS;
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Published,
    Release, ReleaseDiagnostics, Rounds, Task, WorkloadDependence,
};
use closure::Closure;
use dp::{Budget, Guarantee, Mechanism as Drawn, NoiseSource, Rho};
use parameters::{LoopEstimator, PARAMETERS, Parameters};
use private_pgm::domain::{Clique, Domain};
use private_pgm::model::Projectable;
use private_pgm::residual::Grem;
use scores::{expected_noise, noise_per_cell, score, sensitivity, sigma};
use weighting::{FinalEstimate, Weighted};

pub(super) static AIM: MechanismSpec = MechanismSpec {
    name: "aim",
    title: "AIM",
    summary: "Measures all one-way marginals, then in each round the marginal inside the workload \
              that the current estimate gets wrong most, with less noise as the rounds go on.",
    reference: "McKenna, Mullins, Sheldon, Miklau, PVLDB 15(11), 2022",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "that of the rounds, by default a graphical model",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: true,
    // Some two rounds per attribute.
    cost_model: CostModel {
        iterations_per_attribute: 100.0,
        seconds_per_candidate: 8e-5,
        own_iterations: FINAL_ITERATIONS as f64,
        measured: Measured::ChosenByNoise { rounds_per_attribute: 16.0 },
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: PARAMETERS,
    build: |table| Ok(Box::new(Aim { parameters: Parameters::parse(table)? })),
};

/// The part of a round's cost that pays for the measurement (alpha of the paper).
const MEASURE: f64 = 0.9;

struct Aim {
    parameters: Parameters,
}

impl Mechanism for Aim {
    /// With GReM, the number of rounds and the sizes of marginals depend on the data.
    fn cost_model(&self, default: CostModel) -> CostModel {
        match self.parameters.estimator {
            LoopEstimator::Pgm => default,
            LoopEstimator::Grem => CostModel { is_known: false, ..CostModel::NEGLIGIBLE },
        }
    }

    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let Some(Guarantee::Concentrated { rho }) = budget.remaining() else {
            let message = "AIM adds Gaussian noise and needs a budget in rho (epsilon and a delta \
                           above 0)";
            return Err(MechanismError::Unsuitable(message.into()));
        };
        let neighbours = budget.neighbours();
        // Whether there are any records is public only if their number is.
        if task.public_records(neighbours) == Some(0) {
            return Err(MechanismError::Unsuitable("AIM needs at least one record".into()));
        }
        let closure = Closure::new(task.data.domain(), &task.workload.cliques())?;
        self.check_sizes(task.data.domain(), &closure)?;
        let limit = self.parameters.rounds_per_attribute * closure.attributes().len();
        let Parameters { estimator, weighting, .. } = self.parameters;
        let grem = Grem { total: task.total_source(neighbours) };
        let base = match estimator {
            LoopEstimator::Pgm => task.estimator,
            LoopEstimator::Grem => &grem,
        };
        let between_rounds = Weighted { estimator: base, weighting };
        let mut run = AimRun {
            parameters: self.parameters,
            rho: rho.get(),
            round_cost: rho.get() / limit as f64,
            round: 0,
            weights: &closure.weights,
            marginals: AdaptiveMarginals::new(
                task,
                neighbours,
                closure.cliques.clone(),
                &between_rounds,
            ),
        };
        run.measure_attributes(budget, source)?;
        let last = loop {
            if let Some(last) = run.round(budget, source)? {
                break last;
            }
        };
        let (used, times) = (run.round, run.marginals.times);
        let (answers, estimate, model) = run.marginals.into_parts();
        let bounds = BoundsBasis {
            first_stddev: answers[0].stddev,
            last: estimate.and_then(|estimate| last.selection(&closure, estimate, budget)),
        };
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(FinalEstimate { estimator, grem, weighting }),
            extra_estimators: Vec::new(),
            times,
            diagnostics: ReleaseDiagnostics {
                rounds: Some(Rounds { used, limit }),
                ..ReleaseDiagnostics::default()
            },
            bounds: Some(bounds),
            warm_start: model,
        })
    }
}

impl Aim {
    /// Refuses a workload of which no model of the allowed size can hold more than single
    /// attributes. Depends on public sizes.
    fn check_sizes(&self, domain: &Domain, closure: &Closure) -> Result<(), MechanismError> {
        let max_cells = self.parameters.max_cells as f64;
        let infeasible = |cells: f64, message: String| {
            Err(MechanismError::Infeasible { bytes: cells * size_of::<f64>() as f64, message })
        };
        let attributes = closure.attributes();
        let Some(&largest) = attributes.iter().max_by_key(|&&id| domain.size(id)) else {
            return Err(MechanismError::Unsuitable("there are no marginals to choose from".into()));
        };
        let (name, values) = (domain.name(largest), domain.size(largest));
        let single: f64 = attributes.iter().map(|&id| domain.size(id) as f64).sum();
        if single > max_cells {
            return infeasible(
                single,
                format!(
                    "the one-way marginals alone have {single} cells, more than max_cells = \
                     {max_cells}; attribute \"{name}\" has {values} values: use fewer bins, or \
                     merge rare values"
                ),
            );
        }
        // Every larger marginal contains one of these. All attributes stay in the junction tree.
        let pairs = closure.cliques.iter().filter(|clique| clique.len() == 2);
        let with_pair = |pair: &Clique| {
            let apart: f64 = pair.iter().map(|id| domain.size(id) as f64).sum();
            match self.parameters.estimator {
                LoopEstimator::Pgm => single - apart + domain.cells_f64(pair),
                LoopEstimator::Grem => domain.cells_f64(pair),
            }
        };
        match pairs.map(with_pair).reduce(f64::min) {
            Some(cells) if cells > max_cells => infeasible(
                cells,
                format!(
                    "the smallest model with a marginal of two attributes has {cells} cells, more \
                     than max_cells = {max_cells}: no model of this size can hold the workload; \
                     attribute \"{name}\" has {values} values: use fewer bins, or merge rare values"
                ),
            ),
            _ => Ok(()),
        }
    }
}

/// The state between rounds.
struct AimRun<'a> {
    parameters: Parameters,
    /// The whole budget.
    rho: f64,
    /// In rho. Four times as much after each annealing.
    round_cost: f64,
    /// From 1.
    round: usize,
    weights: &'a [f64],
    marginals: AdaptiveMarginals<'a>,
}

impl AimRun<'_> {
    /// Measures all one-way marginals and estimates from them.
    fn measure_attributes(
        &mut self,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<(), MechanismError> {
        let single = |clique: &&Clique| clique.len() == 1;
        let cliques: Vec<Clique> =
            self.marginals.candidates().iter().take_while(single).cloned().collect();
        for clique in cliques {
            let rho = Rho::new(MEASURE * self.round_cost)?;
            let share = dp::sabotage!(
                budget.spend(rho)?,
                "aim-attributes-unpaid",
                super::sabotaged::unpaid(rho.into(), budget.neighbours())
            );
            self.marginals.measure(&clique, "marginal of ", share, source)?;
        }
        self.marginals.estimate()
    }

    /// Selects and measures, and estimates again unless this was the last round, which is returned.
    fn round(
        &mut self,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Option<LastRound>, MechanismError> {
        self.round += 1;
        let round = self.round;
        // What remains of the last round is a rounding error.
        let is_last = remaining(budget) < 2.0 * self.round_cost;
        let is_last = dp::sabotage!(is_last, "aim-stops-by-the-data", {
            let unpaid = super::sabotaged::unpaid(budget.total(), budget.neighbours());
            is_last || self.marginals.distances(&[0], &unpaid)?[0] < 5.0
        });
        let share = match is_last {
            true => budget.rest()?,
            false => budget.spend(Rho::new(self.round_cost)?)?,
        };
        let [measure, select] = two_shares(share, MEASURE)?;
        let measure = dp::sabotage!(
            measure,
            "aim-measures-twice-as-well",
            super::sabotaged::unpaid(Rho::new(4.0 * self.round_cost)?.into(), measure.neighbours())
        );
        let neighbours = select.neighbours();
        let places = self.allowed(budget);
        let sigma = sigma(&measure)?;
        let distances = self.marginals.distances(&places, &select)?;
        let noise: Vec<f64> = places
            .iter()
            .map(|&place| expected_noise(&self.marginals.candidates()[place], self.domain(), sigma))
            .collect();
        let scored = places.iter().zip(&distances).zip(&noise);
        let scores: Vec<f64> =
            scored.map(|((&place, &d), &noise)| score(self.weights[place], d, noise)).collect();
        let weights = places.iter().map(|&place| self.weights[place]);
        let sensitivity = sensitivity(weights, neighbours)?;
        let label = format!("round {round}: the worst marginal");
        let chosen =
            self.marginals.select(label, (&places, &scores), sensitivity, select, source)?;
        self.marginals.measure(&chosen, &format!("round {round}: "), measure, source)?;
        let before = dp::sabotage!(
            self.marginals.estimated(&chosen)?,
            "aim-anneals-by-the-data",
            self.marginals.exact(&chosen)?
        );
        if is_last {
            let noisy = self.marginals.last_answers();
            let distance = l1_distance(noisy, before.values());
            let noise_per_cell = noise_per_cell(sigma);
            return Ok(Some(LastRound { places, chosen, distance, noise_per_cell }));
        }
        self.marginals.estimate()?;
        let after = self.marginals.estimated(&chosen)?;
        let moved = l1_distance(before.values(), after.values());
        if moved <= expected_noise(&chosen, self.domain(), sigma) {
            self.round_cost *= 4.0;
        }
        Ok(None)
    }

    /// The candidates of this round, which is paid for. Uses public sizes and earlier selections.
    fn allowed(&mut self, budget: &Budget) -> Vec<usize> {
        let max_cells = self.parameters.max_cells as f64;
        match self.parameters.estimator {
            LoopEstimator::Pgm => {
                let spent = 1.0 - remaining(budget) / self.rho;
                self.marginals.within(max_cells * spent)
            }
            LoopEstimator::Grem => self.marginals.no_larger_than(max_cells),
        }
    }

    fn domain(&self) -> &Domain {
        self.marginals.domain()
    }
}

struct LastRound {
    /// The candidates.
    places: Vec<usize>,
    chosen: Clique,
    /// Of its noisy marginal from that of the estimate before.
    distance: f64,
    noise_per_cell: f64,
}

impl LastRound {
    /// `estimate` is the one before the round, whose selection is the last of the budget's.
    fn selection(
        self,
        closure: &Closure,
        estimate: Box<dyn Projectable>,
        budget: &Budget,
    ) -> Option<LastSelection> {
        let ledger = budget.ledger();
        let mut draws = ledger.lines().iter().rev().map(|line| &line.entry.draw);
        let draw = draws.find(|draw| draw.mechanism == Drawn::Exponential)?;
        let weighted = |&place: &usize| (closure.cliques[place].clone(), closure.weights[place]);
        Some(LastSelection {
            estimate,
            weights: self.places.iter().map(weighted).collect(),
            chosen: self.chosen,
            distance: self.distance,
            noise_per_cell: self.noise_per_cell,
            temperature: draw.scale,
            spacing: draw.spacing.unwrap_or(0.0),
        })
    }
}

/// What is left of a budget in rho.
fn remaining(budget: &Budget) -> f64 {
    match budget.remaining() {
        Some(Guarantee::Concentrated { rho }) => rho.get(),
        _ => 0.0,
    }
}
