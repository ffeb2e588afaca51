//! Results that would not fit, refused before the work.

use private_pgm::numeric::bytes::Bytes;
use private_pgm::numeric::memory::require;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Results below this many bytes are not checked. One megabyte.
const LARGE: f64 = 1e6;

/// MemoryError if the results of a call need more than half of the machine's memory, as for a fit,
/// or more than is there. `what` begins the message: "1000 records need".
pub(crate) fn check_results(what: impl FnOnce() -> String, bytes: f64) -> PyResult<()> {
    if bytes < LARGE {
        return Ok(());
    }
    let limit = private_pgm::fit::default_memory_limit() as f64;
    if bytes > limit {
        return Err(PyMemoryError::new_err(format!(
            "{} {}, more than half of the machine's memory ({})",
            what(),
            Bytes(bytes),
            Bytes(limit)
        )));
    }
    require(bytes)
        .map_err(|error| PyMemoryError::new_err(format!("{} {}: {error}", what(), Bytes(bytes))))
}

/// The same for Python.
#[pyfunction]
pub(crate) fn check_memory(what: String, bytes: f64) -> PyResult<()> {
    check_results(|| what, bytes)
}
