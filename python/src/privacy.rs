//! Budgets, exact noise and ledgers.

use std::sync::Mutex;

use dp::{
    Delta, Epsilon, Guarantee, L1, L2, LInfinity, Neighbours, NumberLine, Rho, Scores, SeedPath,
    Sensitivity, Spacing,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::value_error;

/// Where noise comes from: the operating system, or a seed.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct NoiseSource(Mutex<dp::NoiseSource>);

#[pymethods]
impl NoiseSource {
    /// No seed: from the operating system, which is what a release needs.
    #[new]
    #[pyo3(signature = (seed=None))]
    fn new(seed: Option<&str>) -> PyResult<Self> {
        let source = match seed {
            Some(seed) => dp::NoiseSource::seeded(&SeedPath::new("seed", seed)),
            None => dp::NoiseSource::from_operating_system()
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))?,
        };
        Ok(Self(Mutex::new(source)))
    }
}

/// A guarantee as Python passes it: (epsilon, delta, rho), of which epsilon, epsilon and delta, or
/// rho are given.
type Parameters = (Option<f64>, Option<f64>, Option<f64>);

fn guarantee((epsilon, delta, rho): Parameters) -> PyResult<Guarantee> {
    match (epsilon, delta, rho) {
        (Some(epsilon), None, None) => Ok(Epsilon::new(epsilon).map_err(value_error)?.into()),
        (Some(epsilon), Some(delta), None) => {
            let epsilon = Epsilon::new(epsilon).map_err(value_error)?;
            Ok((epsilon, Delta::new(delta).map_err(value_error)?).into())
        }
        (None, None, Some(rho)) => Ok(Rho::new(rho).map_err(value_error)?.into()),
        _ => Err(PyValueError::new_err("expected epsilon, epsilon and delta, or rho")),
    }
}

fn parameters(guarantee: Guarantee) -> Parameters {
    match guarantee {
        Guarantee::Pure { epsilon } => (Some(epsilon.get()), None, None),
        Guarantee::Approximate { epsilon, delta } => (Some(epsilon.get()), Some(delta.get()), None),
        Guarantee::Concentrated { rho } => (None, None, Some(rho.get())),
    }
}

fn neighbours(name: &str) -> PyResult<Neighbours> {
    match name {
        "replace" => Ok(Neighbours::Replace),
        "add-remove" => Ok(Neighbours::AddRemove),
        _ => Err(PyValueError::new_err(format!(
            "neighbours: expected \"add-remove\" or \"replace\", found {name:?}"
        ))),
    }
}

/// What may be spent.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Budget(Mutex<dp::Budget>);

#[pymethods]
impl Budget {
    #[new]
    fn new(total: Parameters, relation: &str) -> PyResult<Self> {
        Ok(Self(Mutex::new(dp::Budget::new(guarantee(total)?, neighbours(relation)?))))
    }

    fn spend(&self, request: Parameters) -> PyResult<Share> {
        let request = guarantee(request)?;
        self.get().spend(request).map(Share::from).map_err(value_error)
    }

    fn rest(&self) -> PyResult<Share> {
        self.get().rest().map(Share::from).map_err(value_error)
    }

    #[getter]
    fn total(&self) -> Parameters {
        parameters(self.get().total())
    }

    #[getter]
    fn remaining(&self) -> Option<Parameters> {
        self.get().remaining().map(parameters)
    }

    fn ledger(&self) -> Ledger {
        Ledger(self.get().ledger())
    }
}

impl Budget {
    fn get(&self) -> std::sync::MutexGuard<'_, dp::Budget> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A part of a budget, which one draw consumes.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Share {
    share: Mutex<Option<dp::Share>>,
    guarantee: Guarantee,
}

impl From<dp::Share> for Share {
    fn from(share: dp::Share) -> Self {
        Self { guarantee: share.guarantee(), share: Mutex::new(Some(share)) }
    }
}

#[pymethods]
impl Share {
    #[getter]
    fn guarantee(&self) -> Parameters {
        parameters(self.guarantee)
    }

    fn split(&self, weights: Vec<f64>) -> PyResult<Vec<Share>> {
        let shares = self.take()?.split_weights(&weights).map_err(value_error)?;
        Ok(shares.into_iter().map(Share::from).collect())
    }

    fn parallel(&self, parts: usize) -> PyResult<Vec<Share>> {
        let shares = self.take()?.parallel(parts).map_err(value_error)?;
        Ok(shares.into_iter().map(Share::from).collect())
    }

    /// Noisy answers, the scale and the standard deviation of the noise. `line` is `integers`,
    /// `grid` or `continuous`.
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        gaussian: bool,
        label: String,
        answers: PyReadonlyArray1<'py, f64>,
        sensitivity: f64,
        line: &str,
        source: &NoiseSource,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, f64, f64)> {
        let answers = answers.as_array().to_vec();
        let line = match line {
            "integers" => NumberLine::Integers,
            "continuous" => NumberLine::Continuous,
            "grid" => {
                let size = Sensitivity::<L1>::new(sensitivity, Neighbours::Replace);
                let spacing = Spacing::fine(size.map_err(value_error)?, answers.len());
                NumberLine::Grid(
                    spacing.ok_or_else(|| value_error("the sensitivity is out of range"))?,
                )
            }
            _ => return Err(value_error("expected \"integers\", \"grid\" or \"continuous\"")),
        };
        let share = self.take()?;
        let relation = share.neighbours();
        let draw = || {
            let mut source = source.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if gaussian {
                let bound =
                    Sensitivity::<L2>::new(sensitivity, relation).map_err(dp::DrawError::from)?;
                share.gaussian(label, &answers, bound, line, &mut source)
            } else {
                let bound =
                    Sensitivity::<L1>::new(sensitivity, relation).map_err(dp::DrawError::from)?;
                share.laplace(label, &answers, bound, line, &mut source)
            }
        };
        let noisy = py.detach(draw).map_err(value_error)?;
        Ok((noisy.values.into_pyarray(py), noisy.scale, noisy.noise_stddev))
    }

    /// Positions that the exponential mechanism selects.
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
    fn select(
        &self,
        py: Python<'_>,
        label: String,
        scores: PyReadonlyArray1<'_, f64>,
        sensitivity: f64,
        monotone: bool,
        count: usize,
        source: &NoiseSource,
    ) -> PyResult<Vec<usize>> {
        let scores = scores.as_array().to_vec();
        let share = self.take()?;
        let bound = Sensitivity::<LInfinity>::new(sensitivity, share.neighbours());
        let bound = bound.map_err(value_error)?;
        let kind = if monotone { Scores::Monotone } else { Scores::General };
        let draw = || {
            let mut source = source.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            share.select_many(label, &scores, bound, kind, count, &mut source)
        };
        py.detach(draw).map_err(value_error)
    }
}

impl Share {
    fn take(&self) -> PyResult<dp::Share> {
        let mut share = self.share.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        share.take().ok_or_else(|| PyRuntimeError::new_err("this share is spent"))
    }
}

/// The draws of a budget and what each cost.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Ledger(dp::Ledger);

#[pymethods]
impl Ledger {
    /// One JSON object per draw and line.
    fn json_lines(&self) -> PyResult<String> {
        let mut text = Vec::new();
        self.0.write_json_lines(&mut text).map_err(value_error)?;
        String::from_utf8(text).map_err(value_error)
    }

    #[staticmethod]
    fn read(text: &str, total: Parameters, relation: &str) -> PyResult<Self> {
        let ledger =
            dp::Ledger::read_json_lines(text.as_bytes(), guarantee(total)?, neighbours(relation)?);
        ledger.map(Self).map_err(value_error)
    }

    /// Recomputes all costs; what was spent, or None if nothing was.
    fn verify(&self, total: Parameters) -> PyResult<Option<Parameters>> {
        let spent = self.0.verify(guarantee(total)?).map_err(value_error)?;
        Ok(spent.map(parameters))
    }
}

/// The largest rho whose zCDP implies (epsilon, delta).
#[pyfunction]
pub(crate) fn rho_implying(epsilon: f64, delta: f64) -> PyResult<f64> {
    let epsilon = Epsilon::new(epsilon).map_err(value_error)?;
    let delta = Delta::new(delta).map_err(value_error)?;
    Rho::implying(epsilon, delta).map(Rho::get).map_err(value_error)
}

/// The epsilon that rho-zCDP gives at delta.
#[pyfunction]
pub(crate) fn epsilon_of_rho(rho: f64, delta: f64) -> PyResult<f64> {
    let delta = Delta::new(delta).map_err(value_error)?;
    let rho = Rho::new(rho).map_err(value_error)?;
    rho.epsilon(delta).map(Epsilon::get).map_err(value_error)
}
