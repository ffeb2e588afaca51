//! How far the answers of an estimate may be from the truth because of the noise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use numpy::{IntoPyArray, PyArrayDyn, PyReadonlyArrayDyn};
use private_pgm::fit::{Choice, StructuralZeros};
use private_pgm::model::{Calibrated, DEFAULT_CELL_LIMIT, Origin};
use private_pgm::ndarray::ArrayD;
use private_pgm::rand::SeedableRng;
use private_pgm::residual::Residuals;
use private_pgm::uncertainty::{Bootstrap, BootstrapError};
use private_pgm::{AttributeId, Clique, EstimateError, Norm, OracleKind, Problem};
use pyo3::exceptions::{PyMemoryError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;

use crate::domain::{Domain, listed};
use crate::error::{of_estimate, of_inference, value_error};
use crate::estimate::excluded;
use crate::interruptible;
use crate::loss::choice;
use crate::measurement::Measurement;
use crate::model::Model;
use crate::tables::{array, shaped};

/// The root mean square error of every cell of these marginals of a model, by a parametric
/// bootstrap. See `markov_random_field.py` for the arguments.
#[pyfunction]
#[pyo3(signature = (
    model, measurements, *, zeros, total_is_estimated, norm, oracle, attributes, replicates, seed,
    memory_limit, time_limit
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
pub(crate) fn simulated_errors<'py>(
    py: Python<'py>,
    model: PyRef<'py, Model>,
    measurements: Vec<PyRef<'py, Measurement>>,
    zeros: Vec<(Vec<usize>, PyReadonlyArrayDyn<'py, bool>)>,
    total_is_estimated: bool,
    norm: &str,
    oracle: &str,
    attributes: Vec<Vec<usize>>,
    replicates: usize,
    seed: u64,
    memory_limit: Option<u64>,
    time_limit: Option<f64>,
) -> PyResult<Vec<Bound<'py, PyArrayDyn<f64>>>> {
    let lists = attributes.iter().map(|attributes| model.distinct(attributes));
    let lists = lists.collect::<PyResult<Vec<_>>>()?;
    model.check_marginals(&lists)?;
    // A model that was copied or read does not say how it was fitted.
    let oracle: OracleKind = choice(oracle)?;
    let origin = Origin {
        norm: choice::<Norm>(norm)?.name().into(),
        oracle: oracle.name().into(),
        oracle_is_exact: oracle == OracleKind::Exact,
        ..Origin::default()
    };
    let model = (*model.0).clone().with_origin(origin);
    let domain = model.domain().clone();
    let problem = Problem {
        total: model.total(),
        total_is_estimated,
        measurements: measurements.iter().map(|item| item.take()).collect::<PyResult<_>>()?,
        zeros: zeros
            .iter()
            .map(|(list, cells)| excluded(&domain, list, cells))
            .collect::<PyResult<Vec<StructuralZeros>>>()?,
        domain,
    };
    let stop_flag = Arc::new(AtomicBool::new(false));
    let limit = time_limit.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let bootstrap = Bootstrap {
        replicates,
        memory_limit,
        deadline: limit.map(|limit| Instant::now() + limit),
        stop_flag: Some(Arc::clone(&stop_flag)),
    };
    let compute = move || -> Result<Vec<ArrayD<f64>>, BootstrapError> {
        let cliques: Vec<Clique> =
            lists.iter().map(|list| list.iter().copied().collect()).collect();
        let cells = |model: &Calibrated| {
            let marginals = model.marginals(&cliques)?;
            let pairs = marginals.iter().zip(&lists);
            Ok(pairs.flat_map(|(marginal, list)| marginal.values_as_listed(list)).collect())
        };
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(seed);
        let errors = bootstrap.errors(&problem, &model, cells, &mut rng)?;
        Ok(split(&problem.domain, &lists, errors))
    };
    let outcome = interruptible::run(py, compute);
    // Work that was left behind ends at its next iteration.
    stop_flag.store(true, Ordering::Relaxed);
    let arrays = outcome?.map_err(of_bootstrap)?;
    Ok(arrays.into_iter().map(|array| array.into_pyarray(py)).collect())
}

/// Values of several marginals, one after the other, as arrays.
fn split(
    domain: &private_pgm::Domain,
    lists: &[Vec<AttributeId>],
    values: Vec<f64>,
) -> Vec<ArrayD<f64>> {
    let mut values = values.into_iter();
    let mut next = |list: &Vec<AttributeId>| {
        let shape: Vec<usize> = list.iter().map(|&id| domain.size(id)).collect();
        shaped(&shape, values.by_ref().take(shape.iter().product()).collect())
    };
    lists.iter().map(&mut next).collect()
}

fn of_bootstrap(error: BootstrapError) -> PyErr {
    match error {
        BootstrapError::Estimate(error @ EstimateError::Deadline { .. }) => {
            PyTimeoutError::new_err(format!("a simulation did not end in time: {error}"))
        }
        BootstrapError::Estimate(error) => of_estimate(error),
        BootstrapError::Inference(error) => of_inference(error),
        other => value_error(other),
    }
}

/// The unbiased estimate of a marginal from residuals, and the variance of each of its cells.
///
/// `total` is the number of records if it is known.
#[pyfunction]
pub(crate) fn unbiased_marginal<'py>(
    py: Python<'py>,
    domain: &Domain,
    measurements: Vec<PyRef<'py, Measurement>>,
    total: Option<f64>,
    attributes: Vec<usize>,
) -> PyResult<(Bound<'py, PyArrayDyn<f64>>, f64)> {
    let ids = listed(&domain.0, &attributes)?;
    let clique: Clique = ids.iter().copied().collect();
    let domain = domain.0.clone();
    if clique.len() != ids.len() {
        return Err(PyValueError::new_err("expected every attribute once"));
    }
    // As many as the engine's inference writes down.
    let cells = domain.cells_f64(&clique);
    if cells > DEFAULT_CELL_LIMIT as f64 {
        return Err(PyMemoryError::new_err(format!(
            "the marginal has {cells:.4e} cells, more than the limit of {DEFAULT_CELL_LIMIT}"
        )));
    }
    let measurements = measurements.iter().map(|item| item.take()).collect::<PyResult<Vec<_>>>()?;
    let compute = move || {
        let residuals = Residuals::estimate(&domain, &measurements, total).map_err(value_error)?;
        let Some(variance) = residuals.cell_variance(&clique) else {
            let names = domain.names(&clique).join(", ");
            return Err(PyValueError::new_err(format!(
                "no unbiased estimate of ({names}): these attributes are not inside a marginal \
                 whose cells were all measured; method=\"bootstrap\" has the model's own errors"
            )));
        };
        Ok((array(&residuals.marginal(&clique), &ids), variance))
    };
    let (values, variance) = interruptible::run(py, compute)??;
    Ok((values.into_pyarray(py), variance))
}

/// The number of standard deviations within which a Gaussian variable is with this probability.
#[pyfunction]
pub(crate) fn z_score(confidence: f64) -> PyResult<f64> {
    private_pgm::uncertainty::z_score(confidence).ok_or_else(|| {
        PyValueError::new_err(format!(
            "confidence: expected a probability between 0 and 1 such as 0.95, found {confidence}"
        ))
    })
}
