use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyReadonlyArrayDyn};
use private_pgm::ndarray::ArrayD;
use private_pgm::oracle::MarginalOracle;
use private_pgm::rand::SeedableRng;
use private_pgm::{
    AttributeId, Clique, InferenceError, Marginals, OracleKind, Potentials, Sampling,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::domain::{Domain, attribute, listed};
use crate::error::{of_inference, value_error};
use crate::interruptible::guarded;
use crate::memory::check_results;
use crate::query::Factor;
use crate::tables::{self, PyTable, array};
use crate::{interruptible, loss};

/// A graphical model: potentials, and inference with them.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Model(pub(crate) Arc<private_pgm::Model>);

#[pymethods]
impl Model {
    /// The model with these log-potentials; each table comes with the positions of its axes.
    #[new]
    fn new(
        domain: &Domain,
        tables: Vec<(Vec<usize>, PyReadonlyArrayDyn<'_, f64>)>,
        total: f64,
    ) -> PyResult<Self> {
        let vector = guarded(|| tables::from_python(&domain.0, &tables))?;
        if vector.values().iter().any(|&cell| cell.is_nan() || cell == f64::INFINITY) {
            let wrong = "potentials: expected finite numbers or -inf, found nan or inf";
            return Err(PyValueError::new_err(wrong));
        }
        Ok(Self(Arc::new(private_pgm::Model::new(total, Potentials(vector)))))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = private_pgm::Model::read(bytes).map_err(value_error)?;
        Ok(Self(Arc::new(model)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.0.write(&mut bytes).map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The attributes with their sizes, in declared order.
    #[getter]
    fn attributes(&self) -> Vec<(String, usize)> {
        let domain = self.0.domain();
        let declared = domain.declared().iter();
        declared.map(|&id| (domain.name(id).to_string(), domain.size(id))).collect()
    }

    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    #[getter]
    fn potentials<'py>(&self, py: Python<'py>) -> PyResult<Vec<PyTable<'py>>> {
        tables::to_python(py, self.0.potentials())
    }

    /// Marginals on many sets of attributes, in counts.
    fn marginals<'py>(
        &self,
        py: Python<'py>,
        attributes: Vec<Vec<usize>>,
    ) -> PyResult<Vec<Bound<'py, PyArrayDyn<f64>>>> {
        let lists = attributes.iter().map(|attributes| self.distinct(attributes));
        let lists = lists.collect::<PyResult<Vec<_>>>()?;
        self.check_marginals(&lists)?;
        let model = Arc::clone(&self.0);
        let compute = move || -> Result<Vec<ArrayD<f64>>, InferenceError> {
            let set = |list: &Vec<AttributeId>| Clique::new(list.iter().copied());
            let cliques: Vec<Clique> = lists.iter().map(set).collect();
            let factors = model.calibrated()?.marginals(&cliques)?;
            // Each table is dropped once it is written as an array.
            Ok(factors.into_iter().zip(&lists).map(|(table, list)| array(&table, list)).collect())
        };
        let arrays = interruptible::run(py, compute)?.map_err(of_inference)?;
        Ok(arrays.into_iter().map(|array| array.into_pyarray(py)).collect())
    }

    /// The marginals of the tables' own cliques by an approximate oracle, and whether message
    /// passing converged.
    fn approximate<'py>(
        &self,
        py: Python<'py>,
        oracle: &str,
        sweeps: usize,
        damping: f64,
    ) -> PyResult<(Vec<PyTable<'py>>, bool)> {
        let kind = loss::choice::<OracleKind>(oracle)?;
        let model = Arc::clone(&self.0);
        let compute = move || {
            let mut oracle = loss::loopy(model.layout(), kind, sweeps, damping)?;
            let mut marginals = Marginals::zeros(model.layout());
            oracle.marginals(model.potentials(), model.total(), &mut marginals);
            Ok((marginals, oracle.convergence().converged))
        };
        let result: Result<_, private_pgm::oracle::LoopyError> = interruptible::run(py, compute)?;
        let (marginals, converged) = result.map_err(value_error)?;
        Ok((tables::to_python(py, &marginals)?, converged))
    }

    /// The distribution of attributes given values of others; sums to 1.
    fn conditional<'py>(
        &self,
        py: Python<'py>,
        attributes: Vec<usize>,
        given: Vec<(usize, usize)>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let list = self.distinct(&attributes)?;
        let evidence = given.iter().map(|&(position, value)| Ok((self.id(position)?, value)));
        let evidence = evidence.collect::<PyResult<Vec<_>>>()?;
        let model = Arc::clone(&self.0);
        let compute = move || {
            let targets = Clique::new(list.iter().copied());
            Ok(array(&model.calibrated()?.conditional(&targets, &evidence)?, &list))
        };
        let array = interruptible::run(py, compute)?.map_err(of_inference)?;
        Ok(array.into_pyarray(py))
    }

    /// The answers to a Kronecker product of queries, row-major as listed.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        queries: Vec<(usize, Factor)>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let query =
            queries.into_iter().map(|(position, factor)| Ok((self.id(position)?, factor.0)));
        let query = query.collect::<PyResult<Vec<_>>>()?;
        let model = Arc::clone(&self.0);
        let compute = move || model.calibrated()?.answer(&query);
        let answers = interruptible::run(py, compute)?.map_err(of_inference)?;
        Ok(answers.into_pyarray(py))
    }

    /// Synthetic records: a column per attribute, in declared order.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        records: usize,
        rounded: bool,
        seed: u64,
    ) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
        let model = Arc::clone(&self.0);
        let method = if rounded { Sampling::Rounded } else { Sampling::Independent };
        let compute = move || {
            let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(seed);
            model.calibrated()?.synthesize(records, method, &mut rng)
        };
        let columns = interruptible::run(py, compute)?.map_err(of_inference)?;
        Ok(columns.into_iter().map(|column| column.into_pyarray(py)).collect())
    }
}

impl Model {
    fn id(&self, position: usize) -> PyResult<AttributeId> {
        attribute(self.0.domain(), position)
    }

    /// MemoryError if these marginals would not fit.
    pub(crate) fn check_marginals(&self, lists: &[Vec<AttributeId>]) -> PyResult<()> {
        let domain = self.0.domain();
        let cells = |list: &Vec<AttributeId>| domain.cells_f64(&list.iter().copied().collect());
        let bytes = 8.0 * lists.iter().map(cells).sum::<f64>();
        let needed = || match lists.len() {
            1 => "the marginal needs".into(),
            many => format!("these {many} marginals need"),
        };
        check_results(needed, bytes)
    }

    pub(crate) fn distinct(&self, positions: &[usize]) -> PyResult<Vec<AttributeId>> {
        let ids = listed(self.0.domain(), positions)?;
        match Clique::new(ids.iter().copied()).len() == ids.len() {
            true => Ok(ids),
            false => Err(PyValueError::new_err("expected every attribute once")),
        }
    }
}
