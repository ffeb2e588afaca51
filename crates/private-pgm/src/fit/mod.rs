//! From evidence to a fitted model: puts structure, oracle, loss and optimiser together.

mod evidence;
mod huber;
mod memory_limit;
mod settings;
mod spectral;
mod warm_start;

pub use evidence::{Evidence, Likelihood, Observed, StructuralZeros};
pub use memory_limit::default_memory_limit;
pub use settings::{Algorithm, Lipschitz, OracleKind, Settings};

use std::sync::Arc;
use std::time::Instant;

use thiserror::Error;

use crate::domain::{Clique, Domain};
use crate::elimination_plan::EliminationPlan;
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::junction_tree::{JunctionTree, TooLarge, TreeSize};
use crate::loss::{LinearLoss, LinearLossError, Loss, Norm};
use crate::model::{Model, Origin};
use crate::optimiser::{
    Accelerated, Constant, ConvergenceMonitor, DualAveraging, Lbfgs, Mirror, Objective, Optimiser,
    Outcome, Progress, Reason, Stopping,
};
use crate::oracle::{Exact, Loopy, LoopyError, LoopyOptions, MarginalOracle};

/// A fitted model, and how good it is.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The model.
    pub model: Model,
    /// The loss that was minimised.
    pub loss: f64,
    /// The sum of |r| over all measured answers and half the sum of r^2, r the residuals in
    /// standard deviations; `None` where nothing was measured but a likelihood is given.
    pub l1_l2: Option<(f64, f64)>,
    /// How much larger than the smallest possible the loss is at most, when that is certain.
    pub gap: Option<f64>,
    /// Calls of the oracle.
    pub iterations: usize,
    /// Why the run ended, in a word.
    pub reason: &'static str,
    /// Wall time of everything.
    pub seconds: f64,
    /// Wall time of the iterations, divided by their number.
    pub seconds_per_iteration: f64,
    /// The junction tree of the cliques.
    pub tree: TreeSize,
    /// Bytes of the tables that it took.
    pub bytes: f64,
}

/// What an observer is told after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// Calls of the oracle so far.
    pub iteration: usize,
    /// Since the first iteration began.
    pub seconds: f64,
    /// Both losses, where the settings ask for them: the sum of |r|, half the sum of r^2.
    pub l1_l2: Option<(f64, f64)>,
    /// The certified gap, when it was just computed.
    pub gap: Option<f64>,
    /// The marginals at this point.
    pub marginals: &'a Marginals,
}

/// Why there is no estimate.
#[derive(Debug, Error)]
pub enum EstimateError {
    /// The model does not fit into memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A measurement is wrong.
    #[error(transparent)]
    Measurement(#[from] LinearLossError),
    /// The approximate oracle cannot work on these cliques.
    #[error(transparent)]
    Loopy(#[from] LoopyError),
    /// Nothing is possible.
    #[error("zeros: they exclude every record; expected at least one possible combination")]
    NothingPossible,
    /// The time is over.
    #[error("not there by the deadline, after {iterations} iterations")]
    Deadline {
        /// Iterations until then.
        iterations: usize,
    },
    /// The numbers are beyond what can be computed with.
    #[error(
        "the loss is not a finite number: the total, or an answer in units of its stddev, is too large"
    )]
    Overflow,
    /// The total is not a positive number.
    #[error("total: expected a positive number, found {0}")]
    Total(f64),
}

/// Fits a graphical model to evidence.
///
/// `warm_start` gives potentials to begin with, for those of its cliques that are part of a clique of the
/// evidence; the optimum does not depend on it where it is unique.
pub fn estimate(
    evidence: &Evidence<'_>,
    settings: &Settings,
    warm_start: Option<&Model>,
    observer: &mut (dyn FnMut(&Update<'_>) + Send),
) -> Result<Estimate, EstimateError> {
    // On a thread of the pool: from outside, each of the thousands of forks would be handed over
    // to it, which takes longer than a small problem's whole iteration.
    rayon::scope(|_| estimate_here(evidence, settings, warm_start, observer))
}

fn estimate_here(
    evidence: &Evidence<'_>,
    settings: &Settings,
    warm_start: Option<&Model>,
    observer: &mut (dyn FnMut(&Update<'_>) + Send),
) -> Result<Estimate, EstimateError> {
    let began = Instant::now();
    if !(evidence.total > 0.0 && evidence.total.is_finite()) {
        return Err(EstimateError::Total(evidence.total));
    }
    let cliques = evidence.cliques();
    let tree = JunctionTree::new(evidence.domain, &cliques);
    let OraclePlan { mut oracle, work, bytes } =
        oracle_plan(evidence.domain, &cliques, &tree, settings)?;
    let layout = Arc::clone(oracle.layout());
    let mut observed = ObservedLoss::new(evidence, &layout, settings.norm)?;
    let mut base = Potentials::zeros(&layout);
    evidence.exclude(&mut base);
    let mut start = base.clone();
    if let Some(model) = warm_start {
        warm_start::begin_with(model, &mut start);
    }
    let mut marginals = Marginals::zeros(&layout);
    if oracle.marginals(&start, evidence.total, &mut marginals) == f64::NEG_INFINITY {
        return Err(EstimateError::NothingPossible);
    }
    let mut monitor = match settings.both_losses {
        true => Some(ObservedLoss::new(evidence, &layout, settings.norm)?),
        false => None,
    };
    let mut tell = |progress: &Progress<'_>| {
        let monitor = monitor.as_mut();
        observer(&Update {
            iteration: progress.iteration,
            seconds: progress.seconds,
            l1_l2: monitor.and_then(|monitor| monitor.as_loss().l1_l2(progress.marginals)),
            gap: progress.gap,
            marginals: progress.marginals,
        });
    };
    let constant = lipschitz(evidence, &tree, settings, observed.as_loss());
    let stopping = stopping(settings, work);
    let running = Instant::now();
    let outcome = minimise(
        &mut *oracle,
        &mut observed,
        &base,
        start,
        evidence.total,
        settings,
        constant,
        stopping,
        &mut tell,
    );
    if outcome.reason == Reason::Deadline {
        return Err(EstimateError::Deadline { iterations: outcome.iterations });
    }
    let has_nan = outcome.iterate.potentials.values().iter().any(|cell| cell.is_nan());
    if has_nan || !outcome.loss.is_finite() {
        return Err(EstimateError::Overflow);
    }
    let per_iteration = running.elapsed().as_secs_f64() / outcome.iterations.max(1) as f64;
    let l1_l2 = observed.as_loss().l1_l2(&outcome.iterate.marginals);
    let origin = Origin {
        release: env!("CARGO_PKG_VERSION").into(),
        algorithm: settings.algorithm.name().into(),
        oracle: settings.oracle.name().into(),
        oracle_is_exact: oracle.is_exact(),
        norm: match (evidence.observed, settings.norm) {
            (Observed::Likelihood(_), _) => "likelihood",
            (_, Norm::L2) => "l2",
            _ => "l1",
        }
        .into(),
        loss: Some(outcome.loss),
        gap: outcome.gap,
        iterations: outcome.iterations as u64,
        total_is_estimated: false,
    };
    Ok(Estimate {
        model: Model::new(evidence.total, outcome.iterate.potentials).with_origin(origin),
        loss: outcome.loss,
        l1_l2,
        gap: outcome.gap,
        iterations: outcome.iterations,
        reason: outcome.reason.name(),
        seconds: began.elapsed().as_secs_f64(),
        seconds_per_iteration: per_iteration,
        tree: tree.size(),
        bytes,
    })
}

/// The loss of what was observed. Linear ones can be rounded.
enum ObservedLoss {
    Linear(LinearLoss),
    Other(Box<dyn Loss>),
}

impl ObservedLoss {
    fn new(
        evidence: &Evidence<'_>,
        layout: &Arc<CliqueLayout>,
        norm: Norm,
    ) -> Result<Self, LinearLossError> {
        Ok(match evidence.observed {
            Observed::Answers(answers) => {
                Self::Linear(LinearLoss::new(Arc::clone(layout), answers.to_vec(), norm)?)
            }
            Observed::Likelihood(likelihood) => Self::Other(likelihood.loss(layout)),
        })
    }

    fn as_loss(&mut self) -> &mut dyn Loss {
        match self {
            Self::Linear(linear) => linear,
            Self::Other(other) => &mut **other,
        }
    }
}

/// An oracle and what it takes.
struct OraclePlan {
    oracle: Box<dyn MarginalOracle>,
    /// Of one call, in multiply-adds.
    work: f64,
    /// With the vectors of the optimiser.
    bytes: f64,
}

fn oracle_plan(
    domain: &Domain,
    cliques: &[Clique],
    tree: &JunctionTree,
    settings: &Settings,
) -> Result<OraclePlan, EstimateError> {
    let limit = settings.memory_limit.unwrap_or_else(memory_limit::default_memory_limit);
    let measured: f64 = cliques.iter().map(|clique| domain.cells_f64(clique)).sum();
    // Potentials, marginals, gradients, answers and copies of them.
    let vectors = 12.0 * 8.0 * measured;
    if settings.oracle == OracleKind::Exact {
        let plan = EliminationPlan::new(domain, cliques, tree);
        let bytes = vectors + plan.bytes(domain);
        tree.check_bytes(bytes, limit)?;
        let work = plan.work(domain);
        let oracle = Exact::from_plan(domain, cliques, &plan).with_threads(settings.parallel);
        return Ok(OraclePlan { oracle: Box::new(oracle), work, bytes });
    }
    tree.check_bytes(vectors, limit)?;
    let layout = CliqueLayout::new(domain.clone(), cliques.to_vec());
    // Potentials move little between iterations, so that a few sweeps from where the last call
    // ended are enough.
    let options = LoopyOptions { warm_start: true, max_sweeps: 20, ..LoopyOptions::default() };
    let oracle = match settings.oracle {
        OracleKind::Convex => Loopy::convex(&layout, options)?,
        _ => Loopy::bethe(&layout, options)?,
    };
    Ok(OraclePlan { oracle: Box::new(oracle), work: 40.0 * measured, bytes: vectors })
}

/// Multiply-adds that a run without further wishes may take: some ten seconds.
const WORK: f64 = 2e10;

fn stopping(settings: &Settings, work: f64) -> Stopping {
    let iterations = (WORK / work.max(1.0)).clamp(2_000.0, 2_000_000.0) as usize;
    match settings.gap {
        Some(gap) => Stopping {
            iterations: settings.iterations.unwrap_or(usize::MAX),
            gap,
            relative_gap: 0.0,
            deadline: settings.deadline,
        },
        // To the last digit that marginals are printed with.
        None => Stopping {
            iterations: settings.iterations.unwrap_or(iterations),
            gap: 1e-12,
            relative_gap: 1e-11,
            deadline: settings.deadline,
        },
    }
}

/// The constant of the paper's Algorithm 2. A loss that is not smooth, or that is no sum over linear
/// measurements, has none of the kinds but a fixed one; 1 then stands for it.
fn lipschitz(
    evidence: &Evidence<'_>,
    tree: &JunctionTree,
    settings: &Settings,
    loss: &dyn Loss,
) -> f64 {
    match (settings.algorithm, evidence.observed) {
        (Algorithm::DualAveraging(Lipschitz::Fixed(constant)), _) => constant,
        (Algorithm::DualAveraging(Lipschitz::Spectral), Observed::Answers(measurements)) => {
            spectral::spectral_constant(evidence.domain, tree, measurements)
        }
        _ => loss.smoothness().unwrap_or(1.0),
    }
}

#[allow(clippy::too_many_arguments)]
fn minimise(
    oracle: &mut dyn MarginalOracle,
    loss: &mut ObservedLoss,
    base: &Potentials,
    start: Potentials,
    total: f64,
    settings: &Settings,
    constant: f64,
    stopping: Stopping,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Outcome {
    // Bethe's free energy is not convex, so that its ln Z cannot be used to choose steps.
    let adaptive = match settings.oracle {
        OracleKind::Loopy => Constant::Smoothness,
        _ => Constant::Adaptive,
    };
    let optimiser: Box<dyn Optimiser> = match settings.algorithm {
        Algorithm::Auto => Box::new(Accelerated { constant: adaptive }),
        Algorithm::Accelerated(constant) => Box::new(Accelerated { constant }),
        Algorithm::Mirror(step) => Box::new(Mirror { step }),
        Algorithm::DualAveraging(_) => Box::new(DualAveraging { constant }),
        Algorithm::Lbfgs => Box::new(Lbfgs::default()),
    };
    if let ObservedLoss::Linear(loss) = loss
        && settings.norm == Norm::L1
        && !matches!(settings.algorithm, Algorithm::Mirror(_))
    {
        return huber::minimise(&*optimiser, oracle, loss, base, start, total, stopping, tell);
    }
    let mut objective = Objective { oracle, loss: loss.as_loss(), base, total };
    optimiser.minimise(&mut objective, start, &mut ConvergenceMonitor::new(stopping, tell))
}
