use std::sync::{Mutex, PoisonError};

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::query::{QueryError, QueryMatrix};
use private_pgm::{AttributeId, Clique, MeasurementError, QueryFactor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::domain::{Domain, listed};
use crate::error::value_error;
use crate::interruptible::guarded;
use crate::query::{Factor, matrix};

/// Noisy answers to linear queries, checked and in the order of the engine. A fit consumes it, so
/// that the answers are not copied again.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Measurement(Mutex<Option<private_pgm::Measurement>>);

#[pymethods]
impl Measurement {
    /// Answers to a Kronecker product of one query per attribute; no queries stand for the counts
    /// of all cells.
    #[staticmethod]
    fn kronecker(
        domain: &Domain,
        attributes: Vec<usize>,
        queries: Option<Vec<Factor>>,
        answers: PyReadonlyArray1<'_, f64>,
        stddev: f64,
    ) -> PyResult<Self> {
        guarded(|| {
            let domain = &domain.0;
            let ids = listed(domain, &attributes)?;
            let queries = match queries {
                Some(queries) => queries.into_iter().map(|factor| factor.0).collect(),
                None => vec![QueryFactor::Identity; ids.len()],
            };
            let (query, row_order) =
                QueryMatrix::kronecker(domain, &ids, queries).map_err(of_query)?;
            // The one copy of the answers, which also brings them into the order of the engine.
            let in_order = |answers: &[f64]| match answers.len() == query.rows() {
                true => Ok(row_order.to_axis_order(answers)),
                false => Err(value_error(MeasurementError::Answers {
                    expected: query.rows(),
                    found: answers.len(),
                })),
            };
            let y = match answers.as_slice() {
                Ok(contiguous) => in_order(contiguous),
                Err(_) => in_order(&answers.as_array().to_vec()),
            }?;
            Self::checked(domain, ids, query, y, stddev)
        })
    }

    /// Answers to the rows of a matrix whose columns are the cells of the marginal, row-major.
    #[staticmethod]
    fn dense(
        domain: &Domain,
        attributes: Vec<usize>,
        queries: PyReadonlyArray2<'_, f64>,
        answers: PyReadonlyArray1<'_, f64>,
        stddev: f64,
    ) -> PyResult<Self> {
        let ids = listed(&domain.0, &attributes)?;
        guarded(|| {
            let query = QueryMatrix::dense(&domain.0, &ids, matrix(&queries)).map_err(of_query)?;
            Self::checked(&domain.0, ids, query, answers.as_array().to_vec(), stddev)
        })
    }

    /// The same for a sparse matrix in the CSR format.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "a matrix in CSR format is four of them")]
    fn sparse(
        domain: &Domain,
        attributes: Vec<usize>,
        columns: usize,
        starts: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
        answers: PyReadonlyArray1<'_, f64>,
        stddev: f64,
    ) -> PyResult<Self> {
        let ids = listed(&domain.0, &attributes)?;
        let (starts, indices) = (starts.as_array(), indices.as_array());
        let values = values.as_array();
        let outside = indices.iter().any(|&index| index < 0 || index as usize >= columns);
        let descending = (1..starts.len()).any(|row| starts[row - 1] > starts[row]);
        let ends = starts.iter().any(|&start| start < 0 || start as usize > indices.len());
        if outside || descending || ends || values.len() != indices.len() {
            return Err(PyValueError::new_err("the sparse matrix is not in the CSR format"));
        }
        let mut queries = CsrMatrix::new(columns);
        for row in 1..starts.len() {
            let entries = starts[row - 1] as usize..starts[row] as usize;
            queries.push_row(entries.map(|entry| (indices[entry] as usize, values[entry])));
        }
        guarded(|| {
            let query = QueryMatrix::sparse(&domain.0, &ids, queries).map_err(of_query)?;
            Self::checked(&domain.0, ids, query, answers.as_array().to_vec(), stddev)
        })
    }
}

impl Measurement {
    fn checked(
        domain: &private_pgm::Domain,
        ids: Vec<AttributeId>,
        query: QueryMatrix,
        y: Vec<f64>,
        stddev: f64,
    ) -> PyResult<Self> {
        let clique = Clique::new(ids);
        let measurement = private_pgm::Measurement { clique, query, y, stddev };
        measurement.check(domain).map_err(value_error)?;
        Ok(Self(Mutex::new(Some(measurement))))
    }

    /// The measurement, once.
    pub(crate) fn take(&self) -> PyResult<private_pgm::Measurement> {
        let mut measurement = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = || PyValueError::new_err("this measurement is already part of a fit");
        measurement.take().ok_or_else(taken)
    }
}

fn of_query(error: QueryError) -> PyErr {
    value_error(error)
}

/// The total that the measurements determine best, or None.
#[pyfunction]
pub(crate) fn estimate_total(measurements: Vec<PyRef<'_, Measurement>>) -> PyResult<Option<f64>> {
    let taken = measurements.iter().map(|measurement| measurement.take());
    Ok(private_pgm::loss::estimate_total(&taken.collect::<PyResult<Vec<_>>>()?))
}
