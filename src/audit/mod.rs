//! Audits: attacks on mechanisms that measure a lower bound of epsilon.
//!
//! An (epsilon, delta)-private mechanism satisfies P(M(x) in S) <= e^epsilon P(M(x') in S) + delta
//! for all neighbours x, x' and all sets S of outputs. So every x, x' and S gives the lower bound
//! ln((p - delta) / q) on epsilon, and the probabilities can be estimated:
//!
//! 1. *Run.* The mechanism runs many times, with fresh noise, on two neighbouring data sets
//!    ([`case`](cases)) that are hard for it and that a search has made harder. Each run is
//!    recorded and replayed on the neighbour, where all draws return the same. The two show how
//!    likely this output was under either data set, choices included: the exact privacy loss
//!    ([`dp::transcript::privacy_loss`]). A release that the neighbour cannot have, because it
//!    draws or publishes something else from the same draws, has an infinite loss. The ledger of
//!    each run is verified.
//! 2. *Choose.* A quarter of the runs choose the threshold of the loss and the direction with the
//!    largest bound. By Neyman and Pearson no other event is better.
//! 3. *Report.* On the other runs the event is counted. p is bounded from below and q from above,
//!    exactly (Clopper and Pearson), each with half of the failure probability. With probability
//!    `confidence`, the true epsilon is at least the reported bound. The loss says which event to
//!    count, not how likely it is: if a sampler draws otherwise than the ledger states, the counts
//!    show it.
//!
//! *Claims in rho.* An (epsilon, delta) that follows from rho, or that a mechanism has by Gaussian
//! noise alone, shows in events of probability delta. The audit bounds rho itself, by the
//! divergence of the outputs (`divergence`), and reports the epsilon of that rho.
//!
//! *Other code.* The probabilities of a command of the user are unknown. Its releases are reduced
//! to the log-likelihood ratio of the measurements and the selections, and half of the runs learn
//! how selections depend on the data ([`audit_unknown`]).
//!
//! An audit can refute a claim but not prove one. A bound far below the claim may be due to few
//! runs, to a pair that is not the worst (the largest loss that was seen says how far it can go),
//! or to a proof that is not tight, such as advanced composition of few draws.
//!
//! References: Neyman, Pearson, 1933; Ding, Wang, Wang, Zhang, Kifer, Detecting violations of
//! differential privacy, CCS 2018; Jagielski, Ullman, Oprea, Auditing differentially private
//! machine learning, NeurIPS 2020; Nasr et al., Tight auditing of differentially private machine
//! learning, USENIX Security 2023.

mod case;
mod clopper_pearson;
mod divergence;
mod event;
mod observation;
mod pair;
mod run;
mod search;
mod shape;
mod threshold;

pub use case::{Case, CaseError, cases, general_cases};

use serde::Serialize;
use thiserror::Error;

use crate::data::CodesError;
use crate::mechanism::{
    GuaranteeKind, Mechanism, MechanismError, MechanismSpec,
    ParameterError as MechanismParameterError,
};
use divergence::DivergenceTest;
use dp::{Delta, Epsilon, Guarantee, LedgerError, Neighbours, ParameterError, Rho, SeedPath};
use event::Event;
use private_pgm::model::MarginalError;
use run::{Run, Runs, Side};
use threshold::{Counts, Threshold};

#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The claim.
    pub epsilon: Epsilon,
    /// The claim, for mechanisms with a delta.
    pub delta: Delta,
    pub neighbours: Neighbours,
    /// On each of the two data sets. A quarter of the runs choose the event, half for commands; the
    /// others count it.
    pub trials: usize,
    /// The probability with which the bound holds.
    pub confidence: f64,
    /// Of the noise.
    pub seed: u64,
}

impl Request {
    /// Of the reported bound, and of the verdict.
    fn confidences(&self) -> [f64; 2] {
        [self.confidence, self.confidence.max(VERDICT)]
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub case: String,
    /// The two data sets: records with their counts, and the one that differs.
    pub pair: String,
    pub claimed_epsilon: f64,
    /// 0 for a pure guarantee.
    pub claimed_delta: f64,
    /// Of claims in rho, and of Gaussian noise alone.
    pub claimed_rho: Option<f64>,
    /// The true epsilon is at least this, with probability `confidence`. If the bound is one on
    /// rho, the epsilon of that rho.
    pub epsilon_lower_bound: f64,
    /// The same bound with a confidence of at least [`VERDICT`].
    pub verdict_bound: f64,
    /// `None` if the event below bounds epsilon itself.
    pub rho_lower_bound: Option<f64>,
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
    /// The largest finite privacy loss of all runs: no event of this pair shows more. `None` if
    /// losses are unknown.
    pub largest_loss: Option<f64>,
    /// For claims in rho, the larger of the two divergences between the outputs, which is the
    /// largest bound on rho that this pair allows.
    pub divergence: Option<f64>,
    /// Runs whose output the neighbour cannot have.
    pub impossible: usize,
    /// Spent in the first run according to its ledger. `None` if there were no draws.
    pub spent: Option<Guarantee>,
}

impl Finding {
    /// Whether the claim is wrong, with probability [`VERDICT`] or `confidence`, if that is larger.
    pub fn refutes(&self) -> bool {
        self.verdict_bound > self.claimed_epsilon
    }

    /// The largest bound that more runs on this pair could have, as far as these runs show: for
    /// claims in rho the epsilon of the divergence, otherwise the largest loss. `None` if it is
    /// unknown.
    pub fn ceiling(&self) -> Option<f64> {
        if self.impossible > 0 {
            return None;
        }
        let of_rho = |rho: f64| {
            let delta = Delta::new(self.claimed_delta).ok()?;
            Some(Rho::new(rho).ok()?.epsilon(delta).ok()?.get())
        };
        match self.divergence {
            Some(rho) => of_rho(rho),
            None => self.largest_loss,
        }
    }
}

/// The least confidence of a verdict. Where noise is exactly as large as it has to be, one bound of
/// a few hundred with 95 % confidence is above a true claim.
pub const VERDICT: f64 = 0.9999;

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
    Codes(#[from] CodesError),
    #[error(transparent)]
    Parameters(#[from] MechanismParameterError),
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    #[error(transparent)]
    Marginal(#[from] MarginalError),
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// What a mechanism claims.
struct Claim {
    kind: GuaranteeKind,
    total: Guarantee,
    /// 0 for a pure guarantee.
    delta: f64,
    /// That implies epsilon and delta.
    rho: Option<Rho>,
}

impl Claim {
    fn new(kind: GuaranteeKind, request: &Request) -> Result<Self, AuditError> {
        let Request { epsilon, delta, trials, confidence, .. } = *request;
        if trials < 2 {
            return Err(AuditError::Trials(trials));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(AuditError::Confidence(confidence));
        }
        if kind == GuaranteeKind::Pure {
            return Ok(Self { kind, total: epsilon.into(), delta: 0.0, rho: None });
        }
        let rho = Rho::implying(epsilon, delta)?;
        let total: Guarantee = match kind {
            GuaranteeKind::Concentrated => rho.into(),
            _ => (epsilon, delta).into(),
        };
        Ok(Self { kind, total, delta: delta.get(), rho: Some(rho) })
    }

    /// The rho that the mechanism claims, if it claims one. A share in (epsilon, delta) pays for
    /// Gaussian noise by the rho that implies it, and several pay for less in total.
    fn rho<'a>(&self, mut runs: impl Iterator<Item = &'a Run>) -> Option<Rho> {
        match self.kind {
            GuaranteeKind::Approximate if !runs.all(|run| run.is_gaussian) => None,
            _ => self.rho,
        }
    }
}

/// Attacks a mechanism in all of its cases, each with the pair of neighbours that a search finds.
pub fn audit(spec: &MechanismSpec, request: &Request) -> Result<Vec<Finding>, AuditError> {
    cases(spec, request.epsilon.get(), request.neighbours)?
        .into_iter()
        .map(|case| {
            let mechanism = (spec.build)(&case.parameters)?;
            let claim = Claim::new(spec.guarantee, request)?;
            let case = search::search(&*mechanism, case, &claim, request)?;
            attack(&*mechanism, spec.guarantee, &case, request)
        })
        .collect()
}

/// Attacks a mechanism in one case. It claims a guarantee of this kind.
pub fn attack(
    mechanism: &dyn Mechanism,
    kind: GuaranteeKind,
    case: &Case,
    request: &Request,
) -> Result<Finding, AuditError> {
    let claim = Claim::new(kind, request)?;
    let runs = Runs::new(mechanism, case, claim.total, request.neighbours);
    let seed = SeedPath::new("audit", request.seed);
    let one = runs.many(Side::One, request.trials, &seed)?;
    let other = runs.many(Side::Other, request.trials, &seed)?;
    let losses = |runs: &[Run]| runs.iter().map(|run| run.loss).collect::<Vec<f64>>();
    let rho = claim.rho(one.iter().chain(&other));
    let tested = Tested::new(&losses(&one), &losses(&other), &claim, rho.is_some(), request)?;
    let all = || one.iter().chain(&other);
    let finite = all().map(|run| run.loss.abs()).filter(|loss| loss.is_finite());
    let largest = finite.fold(0.0, f64::max);
    let mean = |runs: &[Run]| runs.iter().map(|r| r.divergence).sum::<f64>() / runs.len() as f64;
    Ok(Finding {
        largest_loss: Some(largest),
        divergence: rho.map(|_| mean(&one).max(mean(&other))),
        impossible: all().filter(|run| run.loss.is_infinite()).count(),
        claimed_rho: rho.map(Rho::get),
        ..tested.finding(case, &claim, request, one.first().and_then(|run| run.spent))
    })
}

/// Attacks a mechanism of which nothing is known, such as a command of the user.
pub fn audit_unknown(
    mechanism: &dyn Mechanism,
    kind: GuaranteeKind,
    request: &Request,
) -> Result<Vec<Finding>, AuditError> {
    let cases = general_cases(request.epsilon.get(), request.neighbours)?;
    cases.iter().map(|case| attack_unknown(mechanism, kind, case, request)).collect()
}

/// [`attack`] on a mechanism of which nothing is known.
pub fn attack_unknown(
    mechanism: &dyn Mechanism,
    kind: GuaranteeKind,
    case: &Case,
    request: &Request,
) -> Result<Finding, AuditError> {
    let claim = Claim::new(kind, request)?;
    let runs = Runs::new(mechanism, case, claim.total, request.neighbours);
    let seed = SeedPath::new("audit", request.seed);
    let (one, spent) = runs.observe(Side::One, request.trials, &seed)?;
    let (other, _) = runs.observe(Side::Other, request.trials, &seed)?;
    let half = request.trials / 2;
    let event = Event::choose(&one[..half], &other[..half], claim.delta, request.confidence);
    let counts = event.count(&one[half..], &other[half..]);
    let bound = |confidence| counts.epsilon(claim.delta, confidence);
    let bounds = request.confidences().map(bound);
    let tested = Tested { bounds, rho: None, event: event.describe(), counts };
    Ok(tested.finding(case, &claim, request, spent))
}

/// A bound, and why.
struct Tested {
    /// On epsilon, by [`Request::confidences`].
    bounds: [f64; 2],
    rho: Option<f64>,
    event: String,
    counts: Counts,
}

impl Tested {
    /// The test of exact losses that promises most on a quarter of the runs, on the others.
    fn new(
        one: &[f64],
        other: &[f64],
        claim: &Claim,
        in_rho: bool,
        request: &Request,
    ) -> Result<Self, AuditError> {
        let Request { confidence, delta, trials, .. } = *request;
        let learning = (trials / 4).max(1);
        let ((of_one, one), (of_other, other)) = (one.split_at(learning), other.split_at(learning));
        let runs = one.len();
        let (threshold, promised) = Threshold::choose(of_one, of_other, claim.delta, confidence);
        let epsilon_of = |rho: f64| match Rho::new(rho) {
            Ok(rho) => rho.epsilon(delta).map(Epsilon::get),
            Err(_) => Ok(0.0),
        };
        let counts = threshold.count(one, other);
        if in_rho {
            let (test, rho) = DivergenceTest::choose(of_one, of_other, confidence, runs);
            if epsilon_of(rho)? > promised {
                let [rho, sure] = request.confidences().map(|c| test.bound(one, other, c));
                let bounds = [epsilon_of(rho)?, epsilon_of(sure)?];
                let event = test.describe(one, other);
                return Ok(Self { bounds, rho: Some(rho), event, counts });
            }
        }
        let event = format!("a privacy loss of {threshold}");
        let bounds = request.confidences().map(|c| counts.epsilon(claim.delta, c));
        Ok(Self { bounds, rho: None, event, counts })
    }

    fn finding(
        self,
        case: &Case,
        claim: &Claim,
        request: &Request,
        spent: Option<Guarantee>,
    ) -> Finding {
        Finding {
            case: case.title.into(),
            pair: case.pair.clone(),
            claimed_epsilon: request.epsilon.get(),
            claimed_delta: claim.delta,
            claimed_rho: None,
            epsilon_lower_bound: self.bounds[0],
            verdict_bound: self.bounds[1],
            rho_lower_bound: self.rho,
            confidence: request.confidence,
            event: self.event,
            likelier: self.counts.likelier,
            rarer: self.counts.rarer,
            runs: self.counts.runs,
            largest_loss: None,
            divergence: None,
            impossible: 0,
            spent,
        }
    }
}
