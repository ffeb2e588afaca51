//! Tables between NumPy and the engine.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods, ToPyArray};
use private_pgm::factor::CliqueLayout;
use private_pgm::ndarray::ArrayViewD;
use private_pgm::{AttributeId, Clique, CliqueVector, Factor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::domain::listed;

/// A table with the positions of its axes.
pub(crate) type PyTable<'py> = (Vec<usize>, Bound<'py, PyArrayDyn<f64>>);

/// The tables of a vector as arrays, their axes in the order of the engine: one copy of each.
pub(crate) fn to_python<'py>(py: Python<'py>, vector: &CliqueVector) -> Vec<PyTable<'py>> {
    let domain = vector.layout().domain();
    let declared = domain.declared().iter().enumerate();
    let position: HashMap<AttributeId, usize> = declared.map(|(at, &id)| (id, at)).collect();
    let cliques = vector.layout().cliques().iter();
    let tables = cliques.zip(vector.tables());
    let table = |(clique, (_, cells)): (&Clique, (Vec<&str>, ArrayViewD<'_, f64>))| {
        (clique.iter().map(|id| position[&id]).collect(), cells.to_pyarray(py))
    };
    tables.map(table).collect()
}

/// Arrays, with the positions of their axes, as a vector of the engine.
pub(crate) fn from_python(
    domain: &private_pgm::Domain,
    tables: &[(Vec<usize>, PyReadonlyArrayDyn<'_, f64>)],
) -> PyResult<CliqueVector> {
    let mut cliques = Vec::with_capacity(tables.len());
    for (positions, table) in tables {
        let ids = listed(domain, positions)?;
        let clique = Clique::new(ids.iter().copied());
        let shape: Vec<usize> = ids.iter().map(|&id| domain.size(id)).collect();
        if clique.len() != ids.len() || shape != table.shape() {
            return Err(PyValueError::new_err(format!(
                "expected a table of shape {shape:?}, found {:?}",
                table.shape()
            )));
        }
        cliques.push(clique);
    }
    let mut vector = CliqueVector::zeros(&CliqueLayout::new(domain.clone(), cliques));
    for (index, (positions, table)) in tables.iter().enumerate() {
        fill(vector.layout().clone(), positions, table, vector.table_mut(index))?;
    }
    Ok(vector)
}

/// Writes an array to a table of the engine, with its axes in the engine's order.
pub(crate) fn fill(
    layout: Arc<CliqueLayout>,
    positions: &[usize],
    array: &PyReadonlyArrayDyn<'_, f64>,
    table: &mut [f64],
) -> PyResult<()> {
    let domain = layout.domain();
    let ids = listed(domain, positions)?;
    let factor = match array.as_slice() {
        // A slice of an array in Fortran's order has its cells in another order.
        Ok(cells) if array.is_c_contiguous() => Factor::from_listed(domain, &ids, cells),
        _ => {
            let cells: Vec<f64> = array.as_array().iter().copied().collect();
            Factor::from_listed(domain, &ids, &cells)
        }
    };
    table.copy_from_slice(factor.values());
    Ok(())
}
