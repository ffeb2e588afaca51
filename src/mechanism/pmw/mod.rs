//! Private multiplicative weights: a distribution is updated by queries on which it is wrong, until
//! no such query is found.
//!
//! # The algorithm
//!
//! q(p) is the fraction of the records that query q counts. The queries are those of the workload
//! and their negations 1 - q, so an error of either sign is an overestimate of some query. p^ is
//! uniform at first. In each of at most L = floor(4 ln|X| / alpha^2) rounds ([`theory`])
//!
//! 1. the exponential mechanism selects a query with score q(p^) - q(p), of sensitivity 1/n
//!    ([`queries`]), that is with probability proportional to exp(epsilon_0 n (q(p^) - q(p)) / 2);
//! 2. its answer is measured, y = q(p) + Laplace noise of scale 1 / (epsilon_0 n);
//! 3. if q(p^) - y <= 2 alpha, the check passes and the run ends with p^. Otherwise p^(x) is
//!    multiplied by exp(-alpha q(x)) and normalised.
//!
//! All computations are in counts, n times the above.
//!
//! # Privacy
//!
//! Each selection and each check costs epsilon_0 = epsilon / (2 L), or rho / (2 L) in a budget of
//! (epsilon, delta). The budget is divided for L rounds before the first round. The decision to end
//! earlier depends on y and on public values, so it is post-processing and costs nothing. It does
//! not reduce the cost either. Unused rounds are not drawn and not in the ledger, which then adds
//! up to less than the budget. The guarantee is still the budget: it has to hold for all data, and
//! other data may need all L rounds. Every check has fresh noise and is paid for. The sparse vector
//! technique, in contrast, pays only for the rounds that continue.
//!
//! With a delta, the lecture composes by the advanced composition theorem. Here the draws are
//! counted as rho, which never costs more (a test of [`theory`]) and allows selections with twice
//! the epsilon of a check.
//!
//! If records may be added and removed, n is private. It is measured first, with a twentieth of the
//! budget, and the noisy number replaces n.
//!
//! # What is published
//!
//! The selected queries with their noisy answers, and the queries of the updates. All arms start
//! from these ([`replay`]). `own` is the table of the lecture. `model` has the same updates as
//! potentials of a graphical model. `pgm` is the model that fits the noisy answers best; p^ itself
//! uses an answer only once.
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
    CostModel, ExtraEstimator, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec,
    Published, Release, ReleaseDiagnostics, Rounds, Task, Times, WorkloadDependence,
};
use dp::{Budget, NoiseSource, Scores, Sensitivity, Share};
use parameters::{Alpha, PARAMETERS, Parameters};
use private_pgm::loss::Measurement;
use queries::{Queries, Selected};
use replay::{Dense, LogDomain, Updates};
use state::State;
use theory::{MOST_ROUNDS, Setting, rounds};

/// The weights of a private number of records and of the rounds in the budget. Our choice: every
/// round uses the number, and it is cheap to measure accurately.
const RECORDS_AND_ROUNDS: [f64; 2] = [1.0, 19.0];

const MODEL: ExtraEstimator = ExtraEstimator {
    name: "model",
    summary: "The same updates as potentials of a graphical model on the cliques of the queries.",
};

pub(super) static PMW: MechanismSpec = MechanismSpec {
    name: "pmw",
    title: "PMW",
    summary: "Updates a distribution by the query with the largest error until the error is small.",
    reference: "Nikolov, lecture on private multiplicative weights; Hardt, Rothblum, FOCS 2010",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "multiplicative weights on the table of all possible records",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: true,
    // About twenty rounds, each of which answers every query.
    cost_model: CostModel {
        iterations: 20.0,
        measured: Measured::Part(0.5),
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[MODEL],
    parameters: PARAMETERS,
    build: |table| Ok(Box::new(Pmw { parameters: Parameters::parse(table)? })),
};

pub(super) static PMW_DELTA: MechanismSpec = MechanismSpec {
    name: "pmw-delta",
    title: "PMW (delta)",
    summary: "The same with a delta, which allows a larger share of the budget per round.",
    guarantee: GuaranteeKind::Concentrated,
    ..PMW
};

struct Pmw {
    parameters: Parameters,
}

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
            // Refuse before the data is used.
            limit(ln_domain, alpha)?;
        }
        let share = budget.rest()?;
        let queries = Queries::new(PMW.title, task.workload, task.data.read(&share))?;
        let neighbours = budget.neighbours();
        let (answers, share) = count_private_records(task, share, source)?;
        let total = dp::sabotage!(
            task.total(neighbours, &answers)?,
            "pmw-uses-the-true-number-of-records",
            task.data.unpaid().len() as f64
        );
        if total <= 0.0 {
            let reason = "PMW needs at least one record: its answers are fractions of the records";
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
        let state = State::uniform(domain, task.workload.cliques(), task.memory_limit)?;
        let progress = Progress { answers, ..Progress::default() };
        let mut run = PmwRun { task, queries, state, alpha, total, progress };
        let ending = run.play(share.split(2 * limit)?, source)?;
        assert!(ending.rounds <= limit, "round {} of {limit}", ending.rounds);
        // A bound above 1 is trivial, and the proof assumes that the number of records is known.
        let is_proved = !task.has_private_total(neighbours)
            && setting.theorem_holds(alpha)?
            && 4.0 * alpha < 1.0;
        let diagnostics = ReleaseDiagnostics {
            rounds: Some(Rounds { used: ending.rounds, limit }),
            error_bound: is_proved.then_some(4.0 * alpha),
        };
        Ok(run.into_release(ending.message(limit, alpha), diagnostics))
    }
}

/// Measures the number of records if it is private. Returns the measurement, if any, and the share
/// of the rounds.
fn count_private_records(
    task: &Task<'_>,
    share: Share,
    source: &mut NoiseSource,
) -> Result<(Vec<Measurement>, Share), MechanismError> {
    if !task.has_private_total(share.neighbours()) {
        return Ok((Vec::new(), share));
    }
    let mut parts = share.split_weights(&RECORDS_AND_ROUNDS)?.into_iter();
    let (Some(for_records), Some(for_rounds)) = (parts.next(), parts.next()) else {
        unreachable!("two weights make two parts")
    };
    Ok((vec![count_records(task, for_records, source)?], for_rounds))
}

/// L, or an error if there would be more than [`MOST_ROUNDS`] rounds.
fn limit(ln_domain: f64, alpha: f64) -> Result<usize, MechanismError> {
    match rounds(ln_domain, alpha) {
        limit if limit <= MOST_ROUNDS => Ok(limit),
        limit => Err(MechanismError::Unsuitable(format!(
            "alpha = {alpha} means up to {:.1e} rounds on these attributes; expected at least \
             {:.4}, for which {MOST_ROUNDS} rounds are enough",
            limit as f64,
            (4.0 * ln_domain / MOST_ROUNDS as f64).sqrt(),
        ))),
    }
}

struct PmwRun<'a> {
    task: &'a Task<'a>,
    queries: Queries<'a>,
    state: State,
    alpha: f64,
    /// n.
    total: f64,
    progress: Progress,
}

struct Ending {
    rounds: usize,
    /// Whether the check of the last round passed.
    passed: bool,
}

impl Ending {
    fn message(&self, limit: usize, alpha: f64) -> String {
        let rounds = self.rounds;
        match self.passed {
            true => {
                format!("the check of round {rounds} passed, of {limit} at most; alpha {alpha}")
            }
            false => format!("all {limit} rounds used without a check that passed; alpha {alpha}"),
        }
    }
}

impl PmwRun<'_> {
    /// Plays rounds, with two shares each, until a check passes or no shares are left.
    fn play(
        &mut self,
        mut shares: Vec<Share>,
        source: &mut NoiseSource,
    ) -> Result<Ending, MechanismError> {
        let mut ending = Ending { rounds: 0, passed: false };
        while let (false, Some(select), Some(check)) = (ending.passed, shares.pop(), shares.pop()) {
            self.task.in_time()?;
            ending.rounds += 1;
            ending.passed = self.round(ending.rounds, [select, check], source)?;
        }
        Ok(ending)
    }

    fn into_release(self, ending: String, diagnostics: ReleaseDiagnostics) -> Release {
        let Progress { answers, updates, times } = self.progress;
        let updates = Arc::new(Updates { queries: updates, eta: self.alpha, ending });
        Release {
            total: self.total,
            published: Published::Answers(answers),
            own_estimator: Box::new(Dense(Arc::clone(&updates))),
            extra_estimators: vec![(MODEL.name, Box::new(LogDomain(updates)))],
            times,
            diagnostics,
            bounds: None,
            warm_start: None,
        }
    }

    /// Selects with the first share and checks with the second. Returns whether the check passed.
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
        let change = dp::sabotage!(1.0, "pmw-half-the-temperature", 0.5);
        let sensitivity = Sensitivity::new(change, neighbours)?;
        let label = format!("round {round}: the worst");
        let candidate = select.select(label, &scores, sensitivity, Scores::General, source)?;
        self.progress.times.select += began.elapsed().as_secs_f64();

        let began = Instant::now();
        let Selected { query, count, estimate } = self.queries.selected(candidate, &estimates);
        let sensitivity = Sensitivity::new(1.0, neighbours)?;
        let label = format!("round {round}: its answer");
        let line = self.task.noise.whole();
        let check = dp::sabotage!(check, "pmw-checks-unpaid", super::sabotaged::again(check));
        let noisy = check.laplace(label, &[count], sensitivity, line, source)?;
        let answer = dp::sabotage!(noisy.values[0], "pmw-stops-by-the-truth", count);
        let excess = self.total * estimate - answer;
        let domain = self.task.workload.domain();
        self.progress.answers.push(Measurement {
            clique: query.clique.clone(),
            query: query.matrix(domain)?,
            y: noisy.values,
            stddev: noisy.noise_stddev,
        });
        self.progress.times.measure += began.elapsed().as_secs_f64();
        // Depends on published values only.
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
