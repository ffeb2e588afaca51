use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use numpy::PyReadonlyArrayDyn;
use private_pgm::fit::{Observed, StructuralZeros};
use private_pgm::{
    Algorithm, Clique, EstimateError, Evidence, Fit, Marginals, Norm, OracleKind, Progress, Reason,
    Settings, StepSize,
};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

use crate::domain::{Domain, listed};
use crate::error::of_estimate;
use crate::interruptible::{Message, wait_for, with_questions};
use crate::loss::{LossQuestion, PythonLikelihood, choice};
use crate::measurement::Measurement;
use crate::model::Model;
use crate::tables::{self, PyTable};

/// A fitted model, and how good it is.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Estimate {
    model: Arc<private_pgm::Model>,
    marginals: Marginals,
    #[pyo3(get)]
    loss: f64,
    #[pyo3(get)]
    gap: Option<f64>,
    #[pyo3(get)]
    iterations: usize,
    #[pyo3(get)]
    reason: &'static str,
    #[pyo3(get)]
    seconds: f64,
    /// Bytes that the plan of the fit needed.
    #[pyo3(get)]
    bytes: f64,
}

impl From<private_pgm::Estimate> for Estimate {
    fn from(fitted: private_pgm::Estimate) -> Self {
        Self {
            model: Arc::new(fitted.model),
            marginals: fitted.marginals,
            loss: fitted.loss,
            gap: fitted.gap,
            iterations: fitted.iterations,
            reason: fitted.reason.name(),
            seconds: fitted.seconds,
            bytes: fitted.bytes,
        }
    }
}

#[pymethods]
impl Estimate {
    #[getter]
    fn model(&self) -> Model {
        Model(Arc::clone(&self.model))
    }

    #[getter]
    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Vec<PyTable<'py>>> {
        tables::to_python(py, &self.marginals)
    }
}

/// What a fit asks the calling thread on the way.
enum Question {
    Progress {
        iteration: usize,
        seconds: f64,
        gap: Option<f64>,
        marginals: Marginals,
        reply: Sender<()>,
    },
    Loss(LossQuestion),
}

/// What a fit is of, in data that it owns.
struct Task {
    domain: private_pgm::Domain,
    total: f64,
    measurements: Vec<private_pgm::Measurement>,
    zeros: Vec<StructuralZeros>,
    settings: Settings,
    memory_limit: Option<u64>,
    warm_start: Option<Arc<private_pgm::Model>>,
    /// Cliques and smoothness of a loss that Python computes.
    loss: Option<(Vec<Clique>, Option<f64>)>,
    observe_every: Option<usize>,
    /// The gap to end at, as a share of the loss, or of 1 if it is smaller.
    tolerance: Option<f64>,
    is_converged: Arc<AtomicBool>,
    stop_flag: Arc<AtomicBool>,
}

impl Task {
    fn run(
        self,
        ask: Sender<Message<Question, Result<private_pgm::Estimate, EstimateError>>>,
    ) -> Result<private_pgm::Estimate, EstimateError> {
        let ask_loss = ask.clone();
        let likelihood = self.loss.map(|(cliques, smoothness)| PythonLikelihood {
            cliques,
            smoothness,
            // If the calling thread has gone, the question is dropped, and with it its reply.
            ask: move |question| drop(ask_loss.send(Message::Question(Question::Loss(question)))),
        });
        let observed = match &likelihood {
            Some(likelihood) => Observed::Likelihood(likelihood),
            None => Observed::Answers(&self.measurements),
        };
        let evidence =
            Evidence { domain: &self.domain, total: self.total, observed, zeros: &self.zeros };
        // Iterations that were rolled back are counted, but not observed.
        let mut next = self.observe_every;
        let stop_flag = Arc::clone(&self.stop_flag);
        let observe = move |progress: &Progress<'_>| {
            if let (Some(tolerance), Some(gap), Some((_, l2))) =
                (self.tolerance, progress.gap, progress.l1_l2)
                && gap <= tolerance * l2.max(1.0)
            {
                self.is_converged.store(true, Ordering::Relaxed);
                stop_flag.store(true, Ordering::Relaxed);
            }
            if next.is_none_or(|due| progress.iteration < due) {
                return;
            }
            let past = |every: usize| (progress.iteration / every + 1) * every;
            next = self.observe_every.map(past);
            let (reply, answered) = mpsc::channel();
            let question = Question::Progress {
                iteration: progress.iteration,
                seconds: progress.seconds,
                gap: progress.gap,
                marginals: progress.marginals.clone(),
                reply,
            };
            drop(ask.send(Message::Question(question)));
            wait_for(&answered);
        };
        Fit::to_evidence(evidence)
            .settings(self.settings)
            .memory_limit(self.memory_limit)
            .warm_start(self.warm_start.as_deref())
            .stop_flag(&*self.stop_flag)
            .both_losses(self.tolerance.is_some())
            .observer(observe)
            .run()
    }
}

/// Fits a model. See `estimation.py` for the arguments.
#[pyfunction]
#[pyo3(signature = (
    domain, measurements, *, total, zeros, algorithm, step, norm, oracle, iterations, gap,
    memory_limit, time_limit, warm_start, observer, observe_every, loss, loss_cliques, smoothness
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
pub(crate) fn estimate(
    py: Python<'_>,
    domain: &Domain,
    measurements: Vec<PyRef<'_, Measurement>>,
    total: f64,
    zeros: Vec<(Vec<usize>, PyReadonlyArrayDyn<'_, bool>)>,
    algorithm: &str,
    step: Option<f64>,
    norm: &str,
    oracle: &str,
    iterations: Option<usize>,
    gap: Option<f64>,
    memory_limit: Option<u64>,
    time_limit: Option<f64>,
    warm_start: Option<PyRef<'_, Model>>,
    observer: Option<Bound<'_, PyAny>>,
    observe_every: usize,
    loss: Option<Bound<'_, PyAny>>,
    loss_cliques: Vec<Vec<usize>>,
    smoothness: Option<f64>,
) -> PyResult<Estimate> {
    let algorithm = match (choice(algorithm)?, step) {
        (Algorithm::Mirror(_), Some(size)) => Algorithm::Mirror(StepSize::Constant(Some(size))),
        (other, _) => other,
    };
    let settings = Settings {
        algorithm,
        loss: choice::<Norm>(norm)?,
        oracle: choice::<OracleKind>(oracle)?,
        iterations,
        gap: None,
    };
    let clique = |list: &Vec<usize>| Ok(Clique::new(listed(&domain.0, list)?));
    let loss_cliques = loss_cliques.iter().map(clique).collect::<PyResult<Vec<_>>>()?;
    let stop_flag = Arc::new(AtomicBool::new(false));
    let is_converged = Arc::new(AtomicBool::new(false));
    // The gap of an L1 loss is known at the end of a fit, and of another loss without its scale.
    let is_relative = settings.loss == Norm::L2 && loss.is_none();
    let settings = Settings { gap: gap.filter(|_| !is_relative), ..settings };
    let task = Task {
        domain: domain.0.clone(),
        total,
        measurements: measurements.iter().map(|item| item.take()).collect::<PyResult<_>>()?,
        zeros: zeros
            .iter()
            .map(|(list, cells)| excluded(&domain.0, list, cells))
            .collect::<PyResult<_>>()?,
        settings,
        memory_limit,
        warm_start: warm_start.map(|model| Arc::clone(&model.0)),
        loss: loss.is_some().then_some((loss_cliques, smoothness)),
        observe_every: observer.is_some().then_some(observe_every.max(1)),
        tolerance: gap.filter(|_| is_relative),
        is_converged: Arc::clone(&is_converged),
        stop_flag: Arc::clone(&stop_flag),
    };
    let deadline =
        time_limit.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let pause = || {
        let left = deadline
            .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            stop_flag.store(true, Ordering::Relaxed);
            return Duration::MAX;
        }
        left
    };
    let answer = |question| match question {
        Question::Progress { iteration, seconds, gap, marginals, reply } => {
            let observer = observer.as_ref().expect("asked if there is one");
            let tables = tables::to_python(py, &marginals)?;
            match observer.call1((iteration, seconds, gap, tables)) {
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                    stop_flag.store(true, Ordering::Relaxed);
                }
                called => drop(called?),
            }
            let _ = reply.send(());
            Ok(())
        }
        Question::Loss(LossQuestion { marginals, reply }) => {
            let loss = loss.as_ref().expect("asked if there is one");
            let called = loss.call1((tables::to_python(py, &marginals)?,))?;
            type Answer<'py> = (f64, Vec<(Vec<usize>, PyReadonlyArrayDyn<'py, f64>)>);
            let (value, gradient): Answer<'_> = called.extract()?;
            let gradient = tables::from_python(&domain.0, &gradient)?;
            drop(reply.send((value, gradient)));
            Ok(())
        }
    };
    let outcome = with_questions(py, move |ask| task.run(ask), answer, pause);
    // Work that was left behind ends at its next iteration.
    stop_flag.store(true, Ordering::Relaxed);
    let mut fitted = Estimate::from(outcome?.map_err(of_estimate)?);
    if is_converged.load(Ordering::Relaxed) {
        fitted.reason = Reason::Gap.name();
    }
    Ok(fitted)
}

/// The structural zeros where an array is true.
pub(crate) fn excluded(
    domain: &private_pgm::Domain,
    positions: &[usize],
    cells: &PyReadonlyArrayDyn<'_, bool>,
) -> PyResult<StructuralZeros> {
    let ids = listed(domain, positions)?;
    let clique = Clique::new(ids.iter().copied());
    let numbers: Vec<f64> = cells.as_array().iter().map(|&cell| f64::from(cell)).collect();
    let in_order = private_pgm::Factor::from_listed(domain, &ids, &numbers);
    let cells = in_order.values().iter().enumerate();
    let cells = cells.filter(|(_, cell)| **cell != 0.0).map(|(index, _)| index).collect();
    Ok(StructuralZeros { clique, cells })
}

/// Bytes that a fit may take where no limit is given: half of the machine's memory.
#[pyfunction]
pub(crate) fn default_memory_limit() -> u64 {
    private_pgm::fit::default_memory_limit()
}
