//! Audits: attacks on mechanisms that measure a lower bound of epsilon.
//!
//! An (epsilon, delta)-private mechanism satisfies P(M(x) in S) <= e^epsilon P(M(x') in S) + delta
//! for all neighbours x, x' and all sets S of outputs. So every x, x' and S gives the lower bound
//! ln((p - delta) / q) on epsilon, and the probabilities can be estimated:
//!
//! 1. *Run.* The mechanism runs many times, with fresh noise, on two neighbouring data sets
//!    ([`case`](cases)) that are hard for it. Every release is reduced to what an attacker would
//!    use: the log-likelihood ratio of the measurements, and the selections. The ledger of each run
//!    is verified.
//! 2. *Choose.* On one half of the runs the attacker learns how selections depend on the data, and
//!    chooses the statistic, the threshold and the direction with the largest bound.
//! 3. *Report.* On the other half the event is counted. p is bounded from below and q from above,
//!    exactly (Clopper and Pearson), each with half of the failure probability. With probability
//!    `confidence`, the true epsilon is at least the reported bound.
//!
//! An audit can refute a claim but not prove one. A bound far below the claim may be due to few
//! runs, to an attack that is not the best, or to a proof that is not tight, such as advanced
//! composition of few draws.
//!
//! References: Ding, Wang, Wang, Zhang, Kifer, Detecting violations of differential privacy, CCS
//! 2018; Jagielski, Ullman, Oprea, Auditing differentially private machine learning, NeurIPS 2020.

mod case;
mod clopper_pearson;
mod event;
mod observation;

pub use case::{Case, CaseError, cases, general_cases};

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::data::Dataset;
use crate::mechanism::{
    GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Noise,
    ParameterError as MechanismParameterError, Task,
};
use dp::{
    Budget, Delta, Epsilon, Guarantee, LedgerError, Neighbours, NoiseSource, ParameterError, Rho,
    SeedPath,
};
use event::Event;
use observation::Observation;
use private_pgm::fit::{Pgm, Settings};
use private_pgm::model::MarginalError;

#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The claim.
    pub epsilon: Epsilon,
    /// The claim, for mechanisms with a delta.
    pub delta: Delta,
    pub neighbours: Neighbours,
    /// On each of the two data sets. Half of the runs choose the event, the others count it.
    pub trials: usize,
    /// The probability with which the bound holds.
    pub confidence: f64,
    /// Of the noise.
    pub seed: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub case: String,
    pub claimed_epsilon: f64,
    /// 0 for a pure guarantee.
    pub claimed_delta: f64,
    /// The true epsilon is at least this, with probability `confidence`.
    pub epsilon_lower_bound: f64,
    /// The probability with which the bound holds.
    pub confidence: f64,
    /// The event that distinguishes the data sets.
    pub event: String,
    /// Occurrences on the data set for which the event is likelier.
    pub likelier: usize,
    /// Occurrences on the other.
    pub rarer: usize,
    /// Counted runs on each.
    pub runs: usize,
    /// Spent in the first run according to its ledger. `None` if there were no draws.
    pub spent: Option<Guarantee>,
}

impl Finding {
    /// Whether the claim is wrong, with probability `confidence`.
    pub fn refutes(&self) -> bool {
        self.epsilon_lower_bound > self.claimed_epsilon
    }
}

#[derive(Debug, Error)]
pub enum AuditError {
    #[error("{0} trials are too few: expected at least 2")]
    Trials(usize),
    #[error("the confidence must be strictly between 0 and 1, found {0}")]
    Confidence(f64),
    #[error("the ledger exceeds the budget: {0}")]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(transparent)]
    Parameters(#[from] MechanismParameterError),
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    #[error(transparent)]
    Marginal(#[from] MarginalError),
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Bytes for the tables of a run. The data sets are tiny.
const MEMORY: u64 = 1 << 28;

/// Iterations of estimates between rounds. They use published values, so their number does not
/// affect privacy.
const ITERATIONS: usize = 20;

/// Attacks a mechanism in all of its cases.
pub fn audit(spec: &MechanismSpec, request: &Request) -> Result<Vec<Finding>, AuditError> {
    cases(spec, request.epsilon.get(), request.neighbours)?
        .iter()
        .map(|case| {
            let mechanism = (spec.build)(&case.parameters)?;
            attack(&*mechanism, spec.guarantee, case, request)
        })
        .collect()
}

/// Attacks a mechanism of which nothing is known, such as a command of the user.
pub fn audit_unknown(
    mechanism: &dyn Mechanism,
    kind: GuaranteeKind,
    request: &Request,
) -> Result<Vec<Finding>, AuditError> {
    let cases = general_cases(request.epsilon.get(), request.neighbours)?;
    cases.iter().map(|case| attack(mechanism, kind, case, request)).collect()
}

/// Attacks a mechanism in one case. It claims a guarantee of this kind.
pub fn attack(
    mechanism: &dyn Mechanism,
    kind: GuaranteeKind,
    case: &Case,
    request: &Request,
) -> Result<Finding, AuditError> {
    let Request { epsilon, delta, trials, confidence, .. } = *request;
    if trials < 2 {
        return Err(AuditError::Trials(trials));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(AuditError::Confidence(confidence));
    }
    let (total, delta): (Guarantee, f64) = match kind {
        GuaranteeKind::Pure => (epsilon.into(), 0.0),
        GuaranteeKind::Approximate => ((epsilon, delta).into(), delta.get()),
        GuaranteeKind::Concentrated => (Rho::implying(epsilon, delta)?.into(), delta.get()),
    };
    let run = Run { mechanism, case, total, request };
    let (one, spent) = run.observe(&case.one, "one")?;
    let (other, _) = run.observe(&case.other, "other")?;
    let half = trials / 2;
    let event = Event::choose(&one[..half], &other[..half], delta, confidence);
    let counts = event.count(&one[half..], &other[half..]);
    Ok(Finding {
        case: case.title.into(),
        claimed_epsilon: epsilon.get(),
        claimed_delta: delta,
        epsilon_lower_bound: counts.epsilon(delta, confidence),
        confidence,
        event: event.describe(),
        likelier: counts.likelier,
        rarer: counts.rarer,
        runs: counts.runs,
        spent,
    })
}

/// A mechanism with its case, for many runs.
struct Run<'a> {
    mechanism: &'a dyn Mechanism,
    case: &'a Case,
    total: Guarantee,
    request: &'a Request,
}

impl Run<'_> {
    /// The observations of all runs on one of the data sets, and the cost of the first run.
    fn observe(
        &self,
        data: &Dataset,
        side: &str,
    ) -> Result<(Vec<Observation>, Option<Guarantee>), AuditError> {
        let path = SeedPath::new("audit", self.request.seed).with("data", side);
        let settings = Settings { iterations: Some(ITERATIONS), ..Settings::default() };
        let estimator = Pgm { parallel: false, ..Pgm::new(settings) };
        let runs: Vec<(Observation, Option<Guarantee>)> = (0..self.request.trials)
            .into_par_iter()
            .map(|trial| self.once(data, &estimator, path.clone().with("trial", trial)))
            .collect::<Result<_, AuditError>>()?;
        let spent = runs.first().and_then(|(_, spent)| *spent);
        Ok((runs.into_iter().map(|(observation, _)| observation).collect(), spent))
    }

    fn once(
        &self,
        data: &Dataset,
        estimator: &Pgm,
        path: SeedPath,
    ) -> Result<(Observation, Option<Guarantee>), AuditError> {
        let task = Task {
            data,
            workload: &self.case.workload,
            public: None,
            noise: Noise::Exact,
            estimator,
            memory_limit: MEMORY,
            deadline: None,
        };
        let mut budget = Budget::new(self.total, self.request.neighbours);
        let mut source = NoiseSource::seeded(&path);
        let release = self.mechanism.release(&task, &mut budget, &mut source)?;
        let spent = budget.ledger().verify(budget.total())?;
        Ok((Observation::new(&release, &self.case.one, &self.case.other)?, spent))
    }
}
