use numpy::PyReadonlyArray2;
use private_pgm::QueryFactor;
use private_pgm::numeric::matrix::Matrix;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A query factor as Python passes it: the name of its kind, and its argument or None.
pub(crate) struct Factor(pub(crate) QueryFactor);

impl<'a, 'py> FromPyObject<'a, 'py> for Factor {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (kind, argument): (String, Bound<'py, PyAny>) = object.extract()?;
        Ok(Self(match kind.as_str() {
            "identity" => QueryFactor::Identity,
            "prefix" => QueryFactor::Prefix,
            "total" => QueryFactor::Total,
            "ranges" => QueryFactor::Ranges,
            "intervals" => QueryFactor::Intervals(argument.extract()?),
            "evidence" => QueryFactor::Evidence(argument.extract()?),
            "compress" => QueryFactor::Compress(argument.extract()?),
            "moments" => QueryFactor::Moments(argument.extract()?),
            "matrix" => QueryFactor::Dense(matrix(&argument.extract()?)),
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown query {other:?}; expected identity, prefix, total, ranges, \
                     intervals, evidence, compress, moments or matrix"
                )));
            }
        }))
    }
}

/// A copy of an array as a matrix of the engine.
pub(crate) fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let view = array.as_array();
    let (rows, cols) = view.dim();
    Matrix::new(rows, cols, view.iter().copied().collect())
}
