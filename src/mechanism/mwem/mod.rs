//! MWEM: multiplicative weights and the exponential mechanism.
//!
//! In each of T rounds, the query that the estimate so far answers worst is chosen by the
//! exponential mechanism, and measured with Laplace noise; both cost epsilon / (2T). Then the
//! estimate is brought up to date. Who does that is the caller's choice ([`Task::estimator`]): the
//! method's own multiplicative weights need a table over all attributes that measurements tie
//! together, which soon fits into no memory; a graphical model does not, and has the same limit
//! (ICML 2019, section 4 and supplement E.2).
//!
//! What is scored is what is measured: candidates are the queries of the workload themselves, not
//! the cells of marginals. See [`scores`] for the sensitivities.
//!
//! In a variant, a round measures a whole marginal. Its score is the error of the estimate less the
//! error that the noise itself would bring, and marginals that would make the junction tree of all
//! that is measured too large are no candidates. That filter looks at cliques only: at the
//! workload, and at what was chosen privately.
//!
//! When records may be added and removed, their number is private and is measured first, with a
//! share of the size of the others: epsilon / (2T + 1) each.
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
use private_pgm::baselines::{EstimatorError, MultiplicativeWeights, Run};
use private_pgm::domain::Clique;
use private_pgm::factor::{Factor, Projectable};
use private_pgm::fit::{Evidence, Observed};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::loss::Measurement;
use private_pgm::model::Model;
use private_pgm::query::QueryMatrix;
use scores::Measure;

/// MWEM as users know it.
pub(super) static MWEM: MechanismSpec = MechanismSpec {
    name: "mwem",
    title: "MWEM",
    summary: "Measures, round by round, the query that the estimate so far answers worst.",
    reference: "Hardt, Ligett, McSherry, NIPS 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "factored multiplicative weights",
    workload_dependence: WorkloadDependence::Queries,
    // As many rounds as attributes, with some hundred iterations each.
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

/// What has happened so far.
#[derive(Default)]
struct Progress {
    /// The round, counted from 1.
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
        let Parameters { rounds, measure, .. } = self.parameters;
        if measure == Measure::Query {
            counting_query::check(MWEM.title, task.data.domain(), task.workload.parts())?;
        }
        if task.workload.queries() == 0 {
            return Err(MechanismError::Unsuitable("there are no queries to choose from".into()));
        }
        let rounds = rounds.number(task.data.domain());
        let neighbours = budget.neighbours();
        let private_total = task.has_private_total(neighbours);
        let mut shares = budget.rest()?.split(2 * rounds + usize::from(private_total))?;
        let mut progress = Progress::default();
        if private_total && let Some(share) = shares.pop() {
            progress.answers.push(count_records(task, share, source)?);
        }
        let truth = measure.truth(task.workload, task.data)?;
        while let (Some(select), Some(pay)) = (shares.pop(), shares.pop()) {
            task.in_time()?;
            progress.round += 1;
            self.round(task, &truth, [select, pay], &mut progress, source)
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
        })
    }
}

impl Mwem {
    /// Chooses with the first share, measures with the second.
    fn round(
        &self,
        task: &Task<'_>,
        truth: &[Vec<f64>],
        [select, pay]: [Share; 2],
        progress: &mut Progress,
        source: &mut NoiseSource,
    ) -> Result<(), MechanismError> {
        let measure = self.parameters.measure;
        let neighbours = select.neighbours();
        let began = Instant::now();
        let marginals = estimate(task, neighbours, progress)?;
        let noise_scale = measure.moved(neighbours) / pay.guarantee().pure_epsilon()?.get();
        let parts = task.workload.parts();
        let scores = measure.scores(parts, truth, &marginals, noise_scale);
        let allowed = self.candidates(task, scores.len(), &progress.answers)?;
        let allowed_scores: Vec<f64> = allowed.iter().map(|&candidate| scores[candidate]).collect();
        let sensitivity = measure.sensitivity(neighbours)?;
        let label = format!("round {}: the worst", progress.round);
        let chosen = select.select(label, &allowed_scores, sensitivity, Scores::General, source)?;
        progress.times.select += began.elapsed().as_secs_f64();

        let began = Instant::now();
        let (clique, query, answers) = self.chosen(task, truth, allowed[chosen])?;
        let sensitivity = Sensitivity::new(measure.moved(neighbours), neighbours)?;
        let label = format!("round {}: its answers", progress.round);
        let noisy = pay.laplace(label, &answers, sensitivity, task.noise.whole(), source)?;
        let (y, stddev) = (noisy.values, noisy.noise_stddev);
        progress.answers.push(Measurement { clique, query, y, stddev });
        progress.times.measure += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// The candidates that may be chosen: all queries; of the marginals, those that leave the
    /// junction tree of what is measured within its limit.
    fn candidates(
        &self,
        task: &Task<'_>,
        candidates: usize,
        measured: &[Measurement],
    ) -> Result<Vec<usize>, MechanismError> {
        if self.parameters.measure == Measure::Query {
            return Ok((0..candidates).collect());
        }
        let mut cliques: Vec<Clique> =
            measured.iter().map(|answer| answer.clique.clone()).collect();
        let mut smallest = f64::INFINITY;
        let mut fits = |&candidate: &usize| {
            cliques.push(task.workload.parts()[candidate].clique.clone());
            let cells = JunctionTree::new(task.data.domain(), &cliques).size().cells;
            cliques.pop();
            smallest = smallest.min(cells);
            cells <= self.parameters.max_cells as f64
        };
        let allowed: Vec<usize> = (0..candidates).filter(|candidate| fits(candidate)).collect();
        if allowed.is_empty() {
            return Err(MechanismError::Infeasible {
                bytes: smallest * size_of::<f64>() as f64,
                message: format!(
                    "the smallest marginal of the workload needs a junction tree of {smallest} \
                     cells, more than max_cells = {}",
                    self.parameters.max_cells,
                ),
            });
        }
        Ok(allowed)
    }

    /// What to measure for a candidate: queries on a marginal, and their answers.
    fn chosen(
        &self,
        task: &Task<'_>,
        truth: &[Vec<f64>],
        candidate: usize,
    ) -> Result<(Clique, QueryMatrix, Vec<f64>), MechanismError> {
        let (domain, parts) = (task.data.domain(), task.workload.parts());
        if self.parameters.measure == Measure::Marginal {
            let clique = parts[candidate].clique.clone();
            let query = QueryMatrix::identity(domain, &clique)?;
            return Ok((clique, query, truth[candidate].clone()));
        }
        let (mut part, mut row) = (0, candidate);
        while row >= truth[part].len() {
            row -= truth[part].len();
            part += 1;
        }
        let query = CountingQuery::of_row(domain, &parts[part], row);
        let matrix = query.matrix(domain)?;
        Ok((query.clique, matrix, vec![truth[part][row]]))
    }
}

/// The marginals of the sub-workloads' cliques as everything measured so far has them.
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
    // What is estimated from published answers needs no secret randomness, only some that repeats.
    let mut rng = ChaCha20Rng::seed_from_u64(progress.answers.len() as u64);
    let estimated = task.estimator.estimate(
        &evidence,
        &mut Run {
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

/// Says in which round the memory was not enough.
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
