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
//! [`mwem_pgm`](super::mwem_pgm) measures whole marginals instead.
//!
//! If records may be added and removed, their number is private. It is measured first, with a share
//! of the same size as the others: epsilon / (2T + 1).
//!
//! Reference: Hardt, Ligett, McSherry, A simple and practical algorithm for differentially private
//! data release, NIPS 2012.

mod parameters;
mod scores;
#[cfg(test)]
mod tests;

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::support::counting_query::{self, CountingQuery};
use super::support::records::count_records;
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Published, Release,
    ReleaseDiagnostics, Rounds, Task, Times, WorkloadDependence,
};
use dp::{Budget, Neighbours, NoiseSource, Scores, Sensitivity, Share};
use parameters::{PARAMETERS, Parameters};
use private_pgm::baselines::MultiplicativeWeights;
use private_pgm::domain::Clique;
use private_pgm::factor::Factor;
use private_pgm::fit::{EstimatorContext, EstimatorError, Evidence, Observed};
use private_pgm::loss::Measurement;
use private_pgm::model::{Model, Projectable};
use private_pgm::query::QueryMatrix;
use scores::{LARGEST_CHANGE, scores, sensitivity};

pub(super) static MWEM: MechanismSpec = MechanismSpec {
    name: "mwem",
    title: "MWEM",
    summary: "Measures in each round the query with the largest error of the current estimate.",
    reference: "Hardt, Ligett, McSherry, NIPS 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "factored multiplicative weights",
    workload_dependence: WorkloadDependence::Queries,
    // As many rounds as attributes, with about a hundred iterations each.
    cost_model: CostModel {
        iterations_per_attribute: 100.0,
        measured_fraction: 0.5,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: PARAMETERS,
    build: |table| Ok(Box::new(Mwem { parameters: Parameters::parse(table)? })),
};

struct Mwem {
    parameters: Parameters,
}

#[derive(Default)]
struct Progress {
    /// From 1.
    round: usize,
    answers: Vec<Measurement>,
    model: Option<Model>,
    times: Times,
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
        let rounds = self.parameters.rounds.number(task.data.domain());
        let neighbours = budget.neighbours();
        let private_total = task.has_private_total(neighbours);
        let mut shares = budget.rest()?.split(2 * rounds + usize::from(private_total))?;
        let mut progress = Progress::default();
        if private_total && let Some(share) = shares.pop() {
            progress.answers.push(count_records(task, share, source)?);
        }
        let truth = task.workload.answers(task.data)?;
        while let (Some(select), Some(pay)) = (shares.pop(), shares.pop()) {
            task.in_time()?;
            progress.round += 1;
            round(task, &truth, [select, pay], &mut progress, source)
                .map_err(|error| in_round(progress.round, rounds, error))?;
        }
        let Progress { answers, times, .. } = progress;
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(MultiplicativeWeights {
                step_name: "round",
                ..Default::default()
            }),
            extra_estimators: Vec::new(),
            times,
            diagnostics: ReleaseDiagnostics {
                rounds: Some(Rounds { used: rounds, limit: rounds }),
                ..ReleaseDiagnostics::default()
            },
            bounds: None,
        })
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
    let sensitivity = sensitivity(neighbours)?;
    let label = format!("round {}: the worst", progress.round);
    let chosen = select.select(label, &scores, sensitivity, Scores::General, source)?;
    progress.times.select += began.elapsed().as_secs_f64();

    let began = Instant::now();
    let (clique, query, answer) = chosen_query(task, truth, chosen)?;
    let sensitivity = Sensitivity::new(LARGEST_CHANGE, neighbours)?;
    let label = format!("round {}: its answers", progress.round);
    let noisy = pay.laplace(label, &[answer], sensitivity, task.noise.whole(), source)?;
    let (y, stddev) = (noisy.values, noisy.noise_stddev);
    progress.answers.push(Measurement { clique, query, y, stddev });
    progress.times.measure += began.elapsed().as_secs_f64();
    Ok(())
}

/// The query at this place among those of all sub-workloads, and its answer.
fn chosen_query(
    task: &Task<'_>,
    truth: &[Vec<f64>],
    place: usize,
) -> Result<(Clique, QueryMatrix, f64), MechanismError> {
    let (domain, parts) = (task.data.domain(), task.workload.parts());
    let (mut part, mut row) = (0, place);
    while row >= truth[part].len() {
        row -= truth[part].len();
        part += 1;
    }
    let query = CountingQuery::of_row(domain, &parts[part], row);
    let matrix = query.matrix(domain)?;
    Ok((query.clique, matrix, truth[part][row]))
}

/// The marginals on the cliques of the sub-workloads, estimated from all measurements so far.
fn estimate(
    task: &Task<'_>,
    neighbours: Neighbours,
    progress: &mut Progress,
) -> Result<Vec<Factor>, MechanismError> {
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
            warm_start: progress.model.as_ref(),
            rng: &mut rng,
            observer: &mut |_| {},
        },
    )?;
    let marginals = estimated.answers.marginals(&task.workload.cliques())?;
    progress.model = estimated.model;
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
