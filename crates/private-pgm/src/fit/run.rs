//! One fit, step by step.

use std::sync::Arc;
use std::time::Instant;

use super::huber;
use super::minimisation::Minimisation;
use super::observed_loss::ObservedLoss;
use super::oracle_plan::OraclePlan;
use super::proximal;
use super::settings::Choice;
use super::spectral::spectral_constant;
use super::warm_start::start_from;
use super::{
    Algorithm, Constant, Estimate, EstimateError, Evidence, Fit, Observed, OracleKind, Settings,
};
use crate::factor::{Marginals, Potentials};
use crate::junction_tree::JunctionTree;
use crate::loss::{Loss, Norm};
use crate::model::{Model, Origin};
use crate::optimiser::{
    Accelerated, DualAveraging, Lbfgs, Mirror, Optimiser, Outcome, Progress, Reason,
};
use crate::oracle::MarginalOracle;

pub(super) fn run(mut fit: Fit<'_>) -> Result<Estimate, EstimateError> {
    let began = Instant::now();
    let Fit { evidence, ref settings, .. } = fit;
    settings.check()?;
    if !(evidence.total > 0.0 && evidence.total.is_finite()) {
        return Err(EstimateError::Total(evidence.total));
    }
    let cliques = evidence.cliques();
    let tree = JunctionTree::new(evidence.domain, &cliques);
    let (kind, limit) = (settings.oracle, fit.memory_limit);
    let mut plan = OraclePlan::new(evidence.domain, &cliques, &tree, kind, limit, fit.parallel)?;
    let stopping = plan.stopping(settings, fit.deadline);
    let layout = Arc::clone(plan.oracle.layout());
    let mut loss = ObservedLoss::new(&evidence, &layout, settings.loss)?;
    let mut reported = match fit.both_losses {
        true => Some(ObservedLoss::new(&evidence, &layout, settings.loss)?),
        false => None,
    };
    let mut base = Potentials::zeros(&layout);
    evidence.exclude(&mut base);
    let start = start(&evidence, &base, fit.warm_start, &mut *plan.oracle)?;
    let optimiser = optimiser(settings, &evidence, &tree, loss.as_loss());
    let total = evidence.total;
    let minimisation = Minimisation {
        optimiser: &*optimiser,
        base: &base,
        total,
        stopping,
        stop_flag: fit.stop_flag,
    };
    let observer = &mut fit.observer;
    let mut tell = |progress: &Progress<'_>| {
        let loss = reported.as_mut();
        let l1_l2 = loss.and_then(|loss| loss.as_loss().l1_l2(progress.marginals));
        observer(&Progress { l1_l2, ..*progress });
    };
    let running = Instant::now();
    let oracle = &mut *plan.oracle;
    let outcome = minimise(settings, &minimisation, oracle, &mut loss, start, &mut tell);
    check(&outcome)?;
    let seconds_per_iteration = running.elapsed().as_secs_f64() / outcome.iterations.max(1) as f64;
    let origin = Origin {
        total_is_estimated: fit.total_is_estimated,
        ..origin(settings, &evidence, plan.oracle.is_exact(), &outcome)
    };
    let Outcome { iterate, loss: smallest, gap, iterations, reason } = outcome;
    Ok(Estimate {
        l1_l2: loss.as_loss().l1_l2(&iterate.marginals),
        model: Model::new(total, iterate.potentials).with_origin(origin),
        marginals: iterate.marginals,
        loss: smallest,
        gap,
        iterations,
        reason,
        seconds: began.elapsed().as_secs_f64(),
        seconds_per_iteration,
        tree: tree.size(),
        bytes: plan.bytes,
    })
}

/// Minimises the loss: in one run, or, for an L1 loss, whose gradient jumps, in stages.
fn minimise(
    settings: &Settings,
    minimisation: &Minimisation<'_>,
    oracle: &mut dyn MarginalOracle,
    loss: &mut ObservedLoss,
    start: Potentials,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Outcome {
    // Mirror descent has steps that suit a gradient which jumps.
    let in_stages =
        settings.loss == Norm::L1 && !matches!(settings.algorithm, Algorithm::Mirror(_));
    let loss = match loss {
        ObservedLoss::Linear(loss) if in_stages => loss,
        other => return minimisation.run(oracle, other.as_loss(), start, tell),
    };
    let suits = settings.algorithm == Algorithm::Auto
        && oracle.is_exact()
        && proximal::suits(loss.targets().len(), minimisation.stopping.iterations);
    let known = suits.then(|| proximal::minimise(minimisation, oracle, loss, start.clone(), tell));
    match known {
        Some(known) if proximal::is_enough(&known) => known,
        known => huber::minimise(minimisation, oracle, loss, start, known, tell),
    }
}

/// The potentials of the first iterate: those of the warm start, and nothing impossible.
fn start(
    evidence: &Evidence<'_>,
    base: &Potentials,
    warm_start: Option<&Model>,
    oracle: &mut dyn MarginalOracle,
) -> Result<Potentials, EstimateError> {
    let mut start = base.clone();
    if let Some(model) = warm_start {
        start_from(model, &mut start);
    }
    let mut marginals = Marginals::zeros(base.layout());
    match oracle.marginals(&start, evidence.total, &mut marginals) == f64::NEG_INFINITY {
        true => Err(EstimateError::NothingPossible),
        false => Ok(start),
    }
}

/// The optimiser that the settings name.
fn optimiser(
    settings: &Settings,
    evidence: &Evidence<'_>,
    tree: &JunctionTree,
    loss: &dyn Loss,
) -> Box<dyn Optimiser> {
    match settings.algorithm {
        // Bethe's free energy is not convex, so that its ln Z cannot judge steps.
        Algorithm::Auto => {
            let adaptive = settings.oracle != OracleKind::Loopy;
            Box::new(Accelerated { adaptive, constant: None })
        }
        Algorithm::Accelerated(constant) => {
            let adaptive = constant == Constant::Adaptive;
            let constant = match constant {
                Constant::Fixed(number) => Some(number),
                _ => None,
            };
            Box::new(Accelerated { adaptive, constant })
        }
        Algorithm::Mirror(step) => Box::new(Mirror { step }),
        Algorithm::DualAveraging(constant) => {
            let constant = match (constant, evidence.observed) {
                (Constant::Fixed(number), _) => number,
                (Constant::Spectral, Observed::Answers(measurements)) => {
                    spectral_constant(evidence.domain, tree, measurements)
                }
                // A loss that is not smooth has no constant; 1 stands for it.
                _ => loss.smoothness().unwrap_or(1.0),
            };
            Box::new(DualAveraging { constant })
        }
        Algorithm::Lbfgs => Box::new(Lbfgs::default()),
    }
}

/// Whether a run has led to a model.
fn check(outcome: &Outcome) -> Result<(), EstimateError> {
    if outcome.reason == Reason::Deadline {
        return Err(EstimateError::Deadline { iterations: outcome.iterations });
    }
    let has_nan = outcome.iterate.potentials.values().iter().any(|cell| cell.is_nan());
    match has_nan || !outcome.loss.is_finite() {
        true => Err(EstimateError::Overflow),
        false => Ok(()),
    }
}

/// The notes that travel with the model.
fn origin(
    settings: &Settings,
    evidence: &Evidence<'_>,
    oracle_is_exact: bool,
    outcome: &Outcome,
) -> Origin {
    let norm = match evidence.observed {
        Observed::Likelihood(_) => "likelihood",
        Observed::Answers(_) => settings.loss.name(),
    };
    Origin {
        release: env!("CARGO_PKG_VERSION").into(),
        algorithm: settings.algorithm.name().into(),
        oracle: settings.oracle.name().into(),
        oracle_is_exact,
        norm: norm.into(),
        loss: Some(outcome.loss),
        gap: outcome.gap,
        iterations: outcome.iterations as u64,
        total_is_estimated: false,
    }
}
