//! MWEM: multiplicative weights and the exponential mechanism.
//!
//! In each of T rounds, the exponential mechanism selects the query with the largest error of the
//! current estimate, and the query is measured with Laplace noise. Both cost epsilon / (2T). Then
//! the estimate is updated by [`Task::estimator`]. The method's own multiplicative weights need a
//! table over all attributes that are connected by measurements, which soon exceeds the memory. A
//! graphical model does not, and converges to the same distribution (ICML 2019, section 4 and
//! supplement E.2).
//!
//! Candidates are the queries of the workload, not the cells of marginals: the scored quantity is
//! the measured one. See [`scores`] for the sensitivities.
//!
//! With damped updates the estimate is the original's instead: see [`damped`]. Its own estimator is
//! then the average over the rounds, and rounds and passes are chosen without the data ([`proxy`]).
//!
//! [`mwem_pgm`](super::mwem_pgm) measures whole marginals instead.
//!
//! If records may be added and removed, their number is private. It is measured first, with a share
//! of the same size as the others: epsilon / (2T + 1).
//!
//! Reference: Hardt, Ligett, McSherry, A simple and practical algorithm for differentially private
//! data release, NIPS 2012.

mod damped;
mod parameters;
mod proxy;
mod scores;
#[cfg(test)]
mod tests;

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::support::counting_query::{self, CountingQuery};
use super::support::records::count_records;
use super::support::round_count::RoundCount;
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Published,
    Release, ReleaseDiagnostics, Rounds, Task, Times, WorkloadDependence,
};
use damped::{AverageOfRounds, DampedWeights};
use dp::{Budget, Neighbours, NoiseSource, Scores, Sensitivity, Share};
use parameters::{PARAMETERS, Parameters, Updates};
use private_pgm::baselines::MultiplicativeWeights;
use private_pgm::factor::Factor;
use private_pgm::fit::{Estimator, EstimatorContext, EstimatorError, Evidence, Observed};
use private_pgm::loss::Measurement;
use private_pgm::model::Model;
use proxy::Schedule;
use scores::{LARGEST_CHANGE, row_of, scores, sensitivity};

pub(super) static MWEM: MechanismSpec = MechanismSpec {
    name: "mwem",
    title: "MWEM",
    summary: "Measures in each round the query with the largest error of the current estimate.",
    reference: "Hardt, Ligett, McSherry, NIPS 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "factored multiplicative weights; with damped updates the average over rounds",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: true,
    // As many rounds as attributes, with about a hundred iterations each.
    cost_model: CostModel {
        iterations_per_attribute: 100.0,
        own_iterations: 100.0,
        measured: Measured::Part(0.5),
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: PARAMETERS,
    build: |table| Ok(Box::new(Mwem { parameters: Parameters::parse(table)? })),
};

struct Mwem {
    parameters: Parameters,
}

struct Progress {
    /// From 1.
    round: usize,
    answers: Vec<Measurement>,
    queries: Vec<CountingQuery>,
    estimate: Estimate,
    times: Times,
}

/// The estimate between rounds.
enum Estimate {
    /// By the estimator of the task; the model of the last round, from which it starts.
    Converged(Option<Model>),
    Damped(Box<DampedWeights>),
}

impl Mechanism for Mwem {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        counting_query::check(MWEM.title, task.data.domain(), task.workload.parts())?;
        if task.workload.queries() == 0 {
            return Err(MechanismError::Unsuitable("there are no queries to choose from".into()));
        }
        let Schedule { rounds, passes } = self.schedule(task, budget)?;
        let neighbours = budget.neighbours();
        let private_total = task.has_private_total(neighbours);
        let mut shares = budget.rest()?.split(2 * rounds + usize::from(private_total))?;
        let mut answers = Vec::new();
        if private_total && let Some(share) = shares.pop() {
            answers.push(count_records(task, share, source)?);
        }
        let total = task.total(neighbours, &answers)?;
        let estimate = self.first_estimate(task, total, passes)?;
        let (queries, times) = (Vec::new(), Times::default());
        let mut progress = Progress { round: 0, answers, queries, estimate, times };
        let Some(unused) = shares.first() else { return Err(dp::BudgetError::NoParts.into()) };
        let truth = task.workload.answers(task.data.read(unused))?;
        while let (Some(select), Some(pay)) = (shares.pop(), shares.pop()) {
            task.in_time()?;
            progress.round += 1;
            let is_done = dp::sabotage!(
                false,
                "mwem-stops-by-the-truth",
                progress.round > 1 && truth.iter().flatten().any(|&answer| answer == 0.0)
            );
            if is_done {
                break;
            }
            let [select, pay] = dp::sabotage!(
                [select, pay],
                "mwem-charges-one-round",
                match progress.round {
                    1 => [select, pay],
                    _ => [select, pay].map(super::sabotaged::again),
                }
            );
            round(task, &truth, [select, pay], &mut progress, source)
                .map_err(|error| in_round(progress.round, rounds, error))?;
        }
        let Progress { answers, queries, times, .. } = progress;
        let own_estimator: Box<dyn Estimator> = match self.parameters.updates {
            Updates::Converged => {
                Box::new(MultiplicativeWeights { step_name: "round", ..Default::default() })
            }
            Updates::Damped => Box::new(AverageOfRounds { queries, total, passes }),
        };
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator,
            extra_estimators: Vec::new(),
            times,
            diagnostics: ReleaseDiagnostics {
                rounds: Some(Rounds { used: rounds, limit: rounds }),
                ..ReleaseDiagnostics::default()
            },
            bounds: None,
            warm_start: None,
        })
    }
}

impl Mwem {
    /// The estimate before the first round: uniform.
    fn first_estimate(
        &self,
        task: &Task<'_>,
        total: f64,
        passes: usize,
    ) -> Result<Estimate, MechanismError> {
        Ok(match self.parameters.updates {
            Updates::Converged => Estimate::Converged(None),
            Updates::Damped => {
                let domain = task.data.domain();
                let start = DampedWeights::uniform(domain, total, passes, task.memory_limit)?;
                Estimate::Damped(Box::new(start))
            }
        })
    }

    /// The rounds and, for damped updates, the passes. The data enters by the number of records
    /// only, where that is public.
    fn schedule(&self, task: &Task<'_>, budget: &Budget) -> Result<Schedule, MechanismError> {
        let Parameters { rounds, updates, passes } = self.parameters;
        let domain = task.data.domain();
        let given = rounds.given().map(|rounds| rounds.number(domain));
        if updates == Updates::Converged {
            let rounds = given.unwrap_or_else(|| RoundCount::default().number(domain));
            return Ok(Schedule { rounds, passes: 0 });
        }
        let is_chosen = given.is_none() || passes.given().is_none();
        let records = task.public_records(budget.neighbours());
        if is_chosen && records.is_none() {
            let message = "damped updates choose rounds and passes by the number of records, which \
                           is private here; set both, or say neighbours = \"replace\"";
            return Err(MechanismError::Unsuitable(message.into()));
        }
        let epsilon = budget.total().pure_epsilon()?.get();
        let given = (given, passes.given());
        proxy::schedule(task.workload, records.unwrap_or(0), epsilon, given, task.memory_limit)
    }
}

/// Selects with the first share and measures with the second.
fn round(
    task: &Task<'_>,
    truth: &[Vec<f64>],
    [select, pay]: [Share; 2],
    progress: &mut Progress,
    source: &mut NoiseSource,
) -> Result<(), MechanismError> {
    let neighbours = select.neighbours();
    let began = Instant::now();
    let marginals = estimate(task, neighbours, progress)?;
    let scores = scores(task.workload.parts(), truth, &marginals);
    let scores = dp::sabotage!(
        scores,
        "mwem-drops-queries-without-records",
        scores
            .into_iter()
            .zip(truth.iter().flatten())
            .filter(|s| *s.1 > 0.0)
            .map(|s| s.0)
            .collect()
    );
    let sensitivity = sensitivity(neighbours)?;
    let label = format!("round {}: the worst", progress.round);
    let scores = dp::sabotage!(
        scores,
        "mwem-half-the-temperature",
        scores.into_iter().map(|score| 2.0 * score).collect::<Vec<f64>>()
    );
    let select = dp::sabotage!(select, "mwem-selections-unpaid", super::sabotaged::again(select));
    let chosen = dp::sabotage!(
        select.select(label, &scores, sensitivity, Scores::General, source)?,
        "mwem-takes-the-worst",
        super::sabotaged::largest(&scores)
    );
    progress.times.select += began.elapsed().as_secs_f64();

    let began = Instant::now();
    let (query, answer) = row_of(task.workload, truth, chosen);
    let sensitivity = Sensitivity::new(LARGEST_CHANGE, neighbours)?;
    let label = format!("round {}: its answers", progress.round);
    let noisy = pay.laplace(label, &[answer], sensitivity, task.noise.whole(), source)?;
    let y = dp::sabotage!(noisy.values, "mwem-publishes-true-answers", vec![answer]);
    let stddev = noisy.noise_stddev;
    if let Estimate::Damped(weights) = &mut progress.estimate {
        weights.learn(&query, y[0]);
    }
    let matrix = query.matrix(task.data.domain())?;
    progress.answers.push(Measurement { clique: query.clique.clone(), query: matrix, y, stddev });
    progress.queries.push(query);
    progress.times.measure += began.elapsed().as_secs_f64();
    Ok(())
}

/// The marginals on the cliques of the sub-workloads, estimated from all measurements so far.
fn estimate(
    task: &Task<'_>,
    neighbours: Neighbours,
    progress: &mut Progress,
) -> Result<Vec<Factor>, MechanismError> {
    let model = match &mut progress.estimate {
        Estimate::Converged(model) => model,
        Estimate::Damped(weights) => return Ok(weights.marginals(&task.workload.cliques())),
    };
    let evidence = Evidence {
        domain: task.data.domain(),
        total: task.total(neighbours, &progress.answers)?,
        observed: Observed::Answers(&progress.answers),
        zeros: &[],
    };
    // Estimation from published answers needs reproducible randomness, not secret randomness.
    let mut rng = ChaCha20Rng::seed_from_u64(progress.answers.len() as u64);
    let estimated = task.estimator.estimate(
        &evidence,
        &mut EstimatorContext {
            memory_limit: task.memory_limit,
            deadline: None,
            warm_start: model.as_ref(),
            rng: &mut rng,
            observer: &mut |_| {},
        },
    )?;
    let marginals = estimated.answers.marginals(&task.workload.cliques())?;
    *model = estimated.model;
    Ok(marginals)
}

/// Adds the round to errors about memory.
fn in_round(round: usize, rounds: usize, error: MechanismError) -> MechanismError {
    match error {
        MechanismError::Infeasible { bytes, message }
        | MechanismError::Estimator(EstimatorError::Infeasible { bytes, message }) => {
            let message = format!("round {round} of {rounds}: {message}");
            MechanismError::Infeasible { bytes, message }
        }
        other => other,
    }
}
