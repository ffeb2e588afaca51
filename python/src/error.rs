//! Errors of the engine as Python's exceptions.

use private_pgm::{EstimateError, InferenceError};
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyTimeoutError, PyValueError};

/// ValueError with the message of any error.
pub(crate) fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn of_estimate(error: EstimateError) -> PyErr {
    let message = error.to_string();
    match error {
        EstimateError::TooLarge(_) | EstimateError::OutOfMemory(_) => {
            PyMemoryError::new_err(message)
        }
        EstimateError::Deadline { .. } => PyTimeoutError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

pub(crate) fn of_inference(error: InferenceError) -> PyErr {
    match error {
        InferenceError::TooLarge { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
