//! Private multiplicative weights: a distribution that is corrected where a query shows it to be wrong,
//! until none does.
//!
//! # The algorithm
//!
//! q(p) is the share of the records that query q counts; the queries are those of the workload and
//! their negations 1 - q, so that errors of both signs are errors upwards of some query. p^ is uniform
//! at first. In each of at most L = floor(4 ln|X| / alpha^2) rounds ([`theory`])
//!
//! 1. a query is chosen by the exponential mechanism with score q(p^) - q(p), of sensitivity 1/n
//!    ([`queries`]), that is with probability proportional to exp(epsilon_0 n (q(p^) - q(p)) / 2);
//! 2. its answer is measured, y = q(p) + Laplace noise of scale 1 / (epsilon_0 n);
//! 3. if q(p^) - y <= 2 alpha, the run ends with p^. Otherwise p^(x) is multiplied by exp(-alpha q(x))
//!    and scaled to 1.
//!
//! Everything is computed in counts, n times the above.
//!
//! # Privacy
//!
//! epsilon_0 = epsilon / (2 L), or rho / (2 L) in a budget of (epsilon, delta), for each choice and each
//! check. The budget is laid out for L rounds before the first. That a run ends earlier is decided by
//! y and by what is public, so that it is post-processing of what was paid for, and costs nothing by
//! itself; but nor does it give anything back. The rounds that were not needed are not drawn and are not
//! in the ledger, which then adds up to less than the budget. What may be claimed is still the budget:
//! on other data all L rounds might have been needed, and a guarantee holds for all data. The checks
//! have fresh noise and each is paid for, unlike in the sparse vector technique, which
//! pays for the rounds that go on alone.
//!
//! With a delta the lecture composes by the advanced theorem. The draws are counted as rho here, which
//! is never dearer (a test of [`theory`]) and allows choices of twice the epsilon of a check.
//!
//! When records may be added and removed, n is private; it is measured first, with a twentieth of the
//! budget, and the noisy number stands for n.
//!
//! # What is published
//!
//! The chosen queries and their noisy answers, and with them which queries p^ was updated with. All
//! arms start from that ([`replay`]): `own` is the table of the lecture, `model` has the same updates as
//! potentials of a graphical model, and `pgm` is the model that fits the noisy answers best, which p^
//! never looks at again.
//!
//! References: Nikolov, Private Multiplicative Weights, lecture of CSC 2412; Hardt and Rothblum, A
//! multiplicative weights mechanism for privacy-preserving data analysis, FOCS 2010.

mod parameters;
mod potentials;
mod queries;
mod replay;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod theory;

use std::sync::Arc;
use std::time::Instant;

use super::support::counting_query::CountingQuery;
use super::support::records::count_records;
use super::{
    CostModel, ExtraEstimator, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Published,
    Release, ReleaseDiagnostics, Rounds, Task, Times, WorkloadDependence,
};
use dp::{Budget, NoiseSource, Scores, Sensitivity, Share};
use parameters::{Alpha, PARAMETERS, Parameters};
use private_pgm::loss::Measurement;
use queries::{Chosen, Queries};
use replay::{Dense, LogDomain, Updates};
use state::State;
use theory::{MOST_ROUNDS, Setting, rounds};

/// The part of the budget that a private number of records gets, and the rounds. Our choice: it is
/// looked at in every round, and cheap to know well.
const RECORDS_AND_ROUNDS: [f64; 2] = [1.0, 19.0];

/// The same updates as a graphical model.
const MODEL: ExtraEstimator = ExtraEstimator {
    name: "model",
    summary: "The same updates as potentials of a graphical model on the cliques of the queries.",
};

/// Private multiplicative weights under epsilon alone, as users know it.
pub(super) static PMW: MechanismSpec = MechanismSpec {
    name: "pmw",
    title: "PMW",
    summary: "Corrects a distribution where the query that it answers worst shows it to be wrong, \
              until none does.",
    reference: "Nikolov, lecture on private multiplicative weights; Hardt, Rothblum, FOCS 2010",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "multiplicative weights on the table of all possible records",
    workload_dependence: WorkloadDependence::Queries,
    // Some twenty rounds, each of which answers every query.
    cost_model: CostModel { iterations: 20.0, measured_fraction: 0.5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[MODEL],
    parameters: PARAMETERS,
    build: |table| Ok(Box::new(Pmw { parameters: Parameters::parse(table)? })),
};

/// The same under epsilon and delta, with less noise in each round.
pub(super) static PMW_DELTA: MechanismSpec = MechanismSpec {
    name: "pmw-delta",
    title: "PMW (delta)",
    summary: "The same with a delta, which leaves more of the budget to each round.",
    guarantee: GuaranteeKind::Concentrated,
    ..PMW
};

struct Pmw {
    parameters: Parameters,
}

/// What has happened so far.
#[derive(Default)]
struct Progress {
    answers: Vec<Measurement>,
    updates: Vec<CountingQuery>,
    times: Times,
}

impl Mechanism for Pmw {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let domain = task.workload.domain();
        let ln_domain = domain.ids().map(|id| (domain.size(id) as f64).ln()).sum();
        if let Alpha::Fixed(alpha) = self.parameters.alpha {
            // Before any record is looked at.
            limit(ln_domain, alpha)?;
        }
        let queries = Queries::new(PMW.title, task.workload, task.data)?;
        let mut progress = Progress::default();
        let neighbours = budget.neighbours();
        let mut share = budget.rest()?;
        if task.has_private_total(neighbours) {
            let mut parts = share.split_weights(&RECORDS_AND_ROUNDS)?.into_iter();
            let (Some(records), Some(rest)) = (parts.next(), parts.next()) else {
                unreachable!("two weights make two parts")
            };
            progress.answers.push(count_records(task, records, source)?);
            share = rest;
        }
        let total = task.total(neighbours, &progress.answers)?;
        if total <= 0.0 {
            let reason = "a share of no records is no number: PMW needs at least one";
            return Err(MechanismError::Unsuitable(reason.into()));
        }
        let setting = Setting {
            ln_domain,
            queries: queries.len(),
            records: total,
            budget: share.guarantee(),
            beta: self.parameters.beta,
        };
        let alpha = match self.parameters.alpha {
            Alpha::Fixed(alpha) => alpha,
            Alpha::Named(parameters::Named::Auto) => setting.smallest_alpha()?,
        };
        let limit = limit(ln_domain, alpha)?;
        let mut run = PmwRun {
            task,
            queries,
            state: State::uniform(domain, task.workload.cliques(), task.memory_limit)?,
            alpha,
            total,
            progress,
        };
        let mut shares = share.split(2 * limit)?;
        let (mut used, mut passed) = (0, false);
        while let (false, Some(select), Some(check)) = (passed, shares.pop(), shares.pop()) {
            task.in_time()?;
            used += 1;
            passed = run.round(used, [select, check], source)?;
        }
        assert!(used <= limit, "round {used} of {limit}");
        let ending = match passed {
            true => format!("the check of round {used} passed, of {limit} at most; alpha {alpha}"),
            false => format!("all {limit} rounds used without a check that passed; alpha {alpha}"),
        };
        let Progress { answers, updates, times } = run.progress;
        let updates = Arc::new(Updates { queries: updates, eta: alpha, ending });
        // A bound above 1 says nothing, and the proof takes the number of records as known.
        let promised =
            !task.has_private_total(neighbours) && setting.promises(alpha)? && 4.0 * alpha < 1.0;
        Ok(Release {
            total,
            published: Published::Answers(answers),
            own_estimator: Box::new(Dense(Arc::clone(&updates))),
            extra_estimators: vec![(MODEL.name, Box::new(LogDomain(updates)))],
            times,
            diagnostics: ReleaseDiagnostics {
                rounds: Some(Rounds { used, limit }),
                error_bound: promised.then_some(4.0 * alpha),
            },
        })
    }
}

/// L, or an error when nobody would live to see so many rounds.
fn limit(ln_domain: f64, alpha: f64) -> Result<usize, MechanismError> {
    match rounds(ln_domain, alpha) {
        limit if limit <= MOST_ROUNDS => Ok(limit),
        limit => Err(MechanismError::Unsuitable(format!(
            "alpha = {alpha} means up to {:.1e} rounds on these attributes; expected {:.4} at least, \
             for which {MOST_ROUNDS} are enough",
            limit as f64,
            (4.0 * ln_domain / MOST_ROUNDS as f64).sqrt(),
        ))),
    }
}

/// A run on its way.
struct PmwRun<'a> {
    task: &'a Task<'a>,
    queries: Queries<'a>,
    state: State,
    alpha: f64,
    /// n.
    total: f64,
    progress: Progress,
}

impl PmwRun<'_> {
    /// Chooses with the first share and checks with the second; whether the check has passed.
    fn round(
        &mut self,
        round: usize,
        [select, check]: [Share; 2],
        source: &mut NoiseSource,
    ) -> Result<bool, MechanismError> {
        let began = Instant::now();
        let neighbours = select.neighbours();
        let estimates = self.queries.estimates(&self.state.marginals());
        let scores = self.queries.scores(&estimates, self.total);
        let sensitivity = Sensitivity::new(1.0, neighbours)?;
        let label = format!("round {round}: the worst");
        let candidate = select.select(label, &scores, sensitivity, Scores::General, source)?;
        self.progress.times.select += began.elapsed().as_secs_f64();

        let began = Instant::now();
        let Chosen { query, count, estimate } = self.queries.chosen(candidate, &estimates);
        let sensitivity = Sensitivity::new(1.0, neighbours)?;
        let label = format!("round {round}: its answer");
        let line = self.task.noise.whole();
        let noisy = check.laplace(label, &[count], sensitivity, line, source)?;
        let excess = self.total * estimate - noisy.values[0];
        let domain = self.task.workload.domain();
        self.progress.answers.push(Measurement {
            clique: query.clique.clone(),
            query: query.matrix(domain)?,
            y: noisy.values,
            stddev: noisy.noise_stddev,
        });
        self.progress.times.measure += began.elapsed().as_secs_f64();
        // By what was published and nothing else.
        if excess <= 2.0 * self.alpha * self.total {
            return Ok(true);
        }
        let began = Instant::now();
        self.state.update(&query, self.alpha);
        self.progress.updates.push(query);
        self.progress.times.select += began.elapsed().as_secs_f64();
        Ok(false)
    }
}
