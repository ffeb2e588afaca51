use private_pgm::{AttributeId, Clique};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

/// Attributes with their sizes, as the engine keeps them.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct Domain(pub(crate) private_pgm::Domain);

#[pymethods]
impl Domain {
    #[new]
    fn new(attributes: Vec<(String, usize)>) -> PyResult<Self> {
        let domain = private_pgm::Domain::new(attributes);
        domain.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The attributes at these positions of the declared order.
pub(crate) fn listed(
    domain: &private_pgm::Domain,
    positions: &[usize],
) -> PyResult<Vec<AttributeId>> {
    positions.iter().map(|&position| attribute(domain, position)).collect()
}

/// The attribute at this position of the declared order.
pub(crate) fn attribute(domain: &private_pgm::Domain, position: usize) -> PyResult<AttributeId> {
    let missing = || PyIndexError::new_err(format!("no attribute at position {position}"));
    domain.declared().get(position).copied().ok_or_else(missing)
}

/// The positions of a clique's attributes, ascending.
pub(crate) fn positions(domain: &private_pgm::Domain, clique: &Clique) -> Vec<usize> {
    let declared = domain.declared().iter().enumerate();
    declared.filter(|(_, id)| clique.contains(**id)).map(|(position, _)| position).collect()
}
