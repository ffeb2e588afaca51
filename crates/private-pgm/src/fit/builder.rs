use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::run::run;
use super::{Estimate, EstimateError, Evidence, Settings};
use crate::model::Model;
use crate::numeric::memory;
use crate::optimiser::Progress;
use crate::problem::Problem;

/// A fit and all that can be said about how it is done.
///
/// ```
/// use std::time::Duration;
/// use private_pgm::{Algorithm, Domain, Fit, Measurement, Problem, Settings};
///
/// let domain = Domain::new([("age", 3), ("sex", 2)])?;
/// let noisy = [11.0, 21.0, 14.0, 26.0, 18.0, 13.0];
/// let problem = Problem::builder(domain.clone())
///     .measure(Measurement::marginal(&domain, &["age", "sex"], &noisy, 2.0)?)
///     .build()?;
/// let mut calls = 0;
/// let fitted = Fit::new(&problem)
///     .settings(Settings { algorithm: Algorithm::Lbfgs, ..Settings::default() })
///     .memory_limit(1 << 30)
///     .time_limit(Duration::from_secs(60))
///     .observer(|_progress| calls += 1)
///     .run()?;
/// assert!(fitted.loss < 1e-6 && calls > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a fit does nothing before `run`"]
pub struct Fit<'a> {
    pub(super) evidence: Evidence<'a>,
    pub(super) total_is_estimated: bool,
    pub(super) settings: Settings,
    pub(super) warm_start: Option<&'a Model>,
    pub(super) memory_limit: Option<u64>,
    pub(super) deadline: Option<Instant>,
    time_limit: Option<Duration>,
    pub(super) stop_flag: Option<&'a AtomicBool>,
    pub(super) parallel: bool,
    pub(super) both_losses: bool,
    pub(super) observer: Box<dyn FnMut(&Progress<'_>) + Send + 'a>,
}

impl<'a> Fit<'a> {
    /// To the measurements of a problem.
    pub fn new(problem: &'a Problem) -> Self {
        let total_is_estimated = problem.total_is_estimated;
        Self { total_is_estimated, ..Self::to_evidence(problem.evidence()) }
    }

    /// To evidence of any kind, measurements or a likelihood.
    pub fn to_evidence(evidence: Evidence<'a>) -> Self {
        Self {
            evidence,
            total_is_estimated: false,
            settings: Settings::default(),
            warm_start: None,
            memory_limit: None,
            deadline: None,
            time_limit: None,
            stop_flag: None,
            parallel: true,
            both_losses: false,
            observer: Box::new(|_| {}),
        }
    }

    /// What to minimise and how.
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// A model whose potentials to start from, for those of its cliques that are part of a clique
    /// of the evidence. Saves iterations; the optimum does not depend on it where it is unique.
    pub fn warm_start(self, model: impl Into<Option<&'a Model>>) -> Self {
        Self { warm_start: model.into(), ..self }
    }

    /// Called after every iteration.
    pub fn observer(self, observer: impl FnMut(&Progress<'_>) + Send + 'a) -> Self {
        Self { observer: Box::new(observer), ..self }
    }

    /// Whether the observer is told both losses at each iteration, which costs a pass over the
    /// marginals. Default: no.
    pub fn both_losses(self, both_losses: bool) -> Self {
        Self { both_losses, ..self }
    }

    /// Bytes that the tables may take. A fit that needs more is refused before any work. Default:
    /// half of the machine's memory. If the process may have less than that, the fit ends with
    /// [`EstimateError::OutOfMemory`].
    pub fn memory_limit(self, bytes: impl Into<Option<u64>>) -> Self {
        Self { memory_limit: bytes.into(), ..self }
    }

    /// There is no estimate but [`EstimateError::Deadline`] if it takes longer than this.
    pub fn time_limit(self, limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: limit.into(), ..self }
    }

    /// The same as a point in time, for several fits that share one limit.
    pub fn deadline(self, deadline: impl Into<Option<Instant>>) -> Self {
        Self { deadline: deadline.into(), ..self }
    }

    /// A flag that other threads may set. The run then ends at the next iteration, with the best
    /// model so far and [`Reason::Stopped`](super::Reason::Stopped).
    pub fn stop_flag(self, flag: impl Into<Option<&'a AtomicBool>>) -> Self {
        Self { stop_flag: flag.into(), ..self }
    }

    /// Whether several threads may work on it. The result is the same, bit for bit. Default: yes.
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// Fits the model.
    pub fn run(mut self) -> Result<Estimate, EstimateError> {
        // A limit beyond the range of the clock is none.
        let limit = self.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        self.deadline = self.deadline.into_iter().chain(limit).min();
        // On a thread of the pool: from outside, each of the thousands of forks would be handed
        // over to it, which takes longer than a small problem's whole iteration.
        memory::catch(|| rayon::scope(|_| run(self)))?
    }
}
