//! Audits: attacks on mechanisms that measure how much privacy they really give.
//!
//! A mechanism that is (epsilon, delta)-private satisfies P(M(x) in S) <= e^epsilon P(M(x') in S) +
//! delta for all neighbours x, x' and all sets S of outputs. So every x, x' and S bounds epsilon
//! from below by ln((p - delta) / q), and the probabilities can be counted:
//!
//! 1. *Run.* The mechanism runs many times on two neighbouring data sets ([`case`](cases)) that
//!    bring out its weakest spot, on fresh noise each time, and every release is reduced to what an
//!    attacker would look at: the log-likelihood ratio of what was measured, and which choices were
//!    made. The ledger of each run is verified.
//! 2. *Choose.* On one half of the runs the attacker learns how choices depend on the data, and picks
//!    the statistic, the threshold and the direction with the largest bound.
//! 3. *Report.* On the other half, which had no part in the choice, the event is counted. p is
//!    bounded from below and q from above, exactly (Clopper and Pearson), each with half of the
//!    error. With the probability `confidence`, the true epsilon is at least the one that is
//!    reported.
//!
//! An audit can refute a claim; it can prove none. A bound far below the claim may be due to few
//! runs, to an attack that is not the best, or to a proof that gives away more than it has to, as
//! advanced composition does for few draws.
//!
//! References: Ding, Wang, Wang, Zhang, Kifer, Detecting violations of differential privacy, CCS
//! 2018; Jagielski, Ullman, Oprea, Auditing differentially private machine learning, NeurIPS 2020.

mod case;
mod clopper_pearson;
mod event;
mod observation;

pub use case::{Case, CaseError, cases};

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::data::{Dataset, MarginalTooLarge};
use crate::mechanism::{
    GuaranteeKind, Kind, Mechanism, MechanismError, Noise,
    ParameterError as MechanismParameterError, Task,
};
use dp::{
    Budget, Delta, Epsilon, Guarantee, LedgerError, Neighbours, NoiseSource, ParameterError, Rho,
    SeedPath,
};
use event::Event;
use observation::Observation;
use private_pgm::baselines::Pgm;
use private_pgm::fit::Settings;

/// What is audited, and how thoroughly.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What the mechanism claims.
    pub epsilon: Epsilon,
    /// The same, for mechanisms that have one.
    pub delta: Delta,
    /// Which data sets count as neighbours.
    pub neighbours: Neighbours,
    /// Runs on each of the two data sets. Half of them choose the event, the others count it.
    pub trials: usize,
    /// The probability with which the bound holds.
    pub confidence: f64,
    /// What the noise starts from.
    pub seed: u64,
}

/// What an audit has found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was attacked.
    pub case: String,
    /// What was claimed.
    pub claimed_epsilon: f64,
    /// What was claimed; 0 for a pure guarantee.
    pub claimed_delta: f64,
    /// The true epsilon is at least this, with the confidence below.
    pub epsilon_lower_bound: f64,
    /// The probability with which the bound holds.
    pub confidence: f64,
    /// The event that tells the data sets apart.
    pub event: String,
    /// How often it happened on the data set for which it is likelier.
    pub likelier: usize,
    /// How often it happened on the other.
    pub rarer: usize,
    /// The runs on each that were counted.
    pub runs: usize,
    /// What the ledger says was spent in the first run, if anything was.
    pub spent: Option<Guarantee>,
}

impl Finding {
    /// Whether the claim is proved wrong.
    pub fn refutes(&self) -> bool {
        self.epsilon_lower_bound > self.claimed_epsilon
    }
}

/// Why there was no audit.
#[derive(Debug, Error)]
pub enum AuditError {
    /// Fewer runs than can be divided into halves.
    #[error("{0} trials are too few: expected 2 at least")]
    Trials(usize),
    /// The confidence is no probability.
    #[error("the confidence must lie strictly between 0 and 1, not {0}")]
    Confidence(f64),
    /// The ledger of a run contradicts the claim.
    #[error("the ledger does not keep the budget: {0}")]
    Ledger(#[from] LedgerError),
    /// The data sets could not be made.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The mechanism refuses its parameters.
    #[error(transparent)]
    Parameters(#[from] MechanismParameterError),
    /// The mechanism has failed.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A marginal is too large.
    #[error(transparent)]
    Marginal(#[from] MarginalTooLarge),
    /// A privacy parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Bytes for the tables of a run: the data sets are tiny.
const MEMORY: u64 = 1 << 28;

/// Iterations of estimates between rounds. They work from what was published, so that more of them
/// change nothing about privacy.
const ITERATIONS: usize = 20;

/// Attacks a mechanism in all of its cases.
pub fn audit(kind: &Kind, request: &Request) -> Result<Vec<Finding>, AuditError> {
    cases(kind, request.epsilon.get(), request.neighbours)?
        .iter()
        .map(|case| {
            let mechanism = (kind.build)(&case.parameters)?;
            attack(&*mechanism, kind.guarantee, case, request)
        })
        .collect()
}

/// Attacks a mechanism that claims to give a guarantee of this kind.
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

/// A mechanism on its way through many runs.
struct Run<'a> {
    mechanism: &'a dyn Mechanism,
    case: &'a Case,
    total: Guarantee,
    request: &'a Request,
}

impl Run<'_> {
    /// What is seen of all runs on one of the data sets, and what the first one spent.
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
