//! Tables between NumPy and the engine.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods, ToPyArray};
use private_pgm::factor::CliqueLayout;
use private_pgm::ndarray::{ArrayD, ArrayViewD};
use private_pgm::{AttributeId, Clique, CliqueVector, Factor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::domain::listed;
use crate::memory::check_results;

/// A table with the positions of its axes.
pub(crate) type PyTable<'py> = (Vec<usize>, Bound<'py, PyArrayDyn<f64>>);

/// The tables of a vector as arrays, their axes in the order of the engine: one copy of each.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    vector: &CliqueVector,
) -> PyResult<Vec<PyTable<'py>>> {
    // NumPy would panic where it cannot allocate.
    let needed = || "copies of these tables need".into();
    check_results(needed, 8.0 * vector.values().len() as f64)?;
    let domain = vector.layout().domain();
    let declared = domain.declared().iter().enumerate();
    let position: HashMap<AttributeId, usize> = declared.map(|(at, &id)| (id, at)).collect();
    let cliques = vector.layout().cliques().iter();
    let tables = cliques.zip(vector.tables());
    let table = |(clique, (_, cells)): (&Clique, (Vec<&str>, ArrayViewD<'_, f64>))| {
        let axes: Vec<usize> = clique.iter().map(|id| position[&id]).collect();
        let cells = match axes.len() > MAX_AXES {
            true => cells.flatten().into_dyn().to_pyarray(py),
            false => cells.to_pyarray(py),
        };
        (axes, cells)
    };
    Ok(tables.map(table).collect())
}

/// NumPy's arrays have at most this number of axes.
const MAX_AXES: usize = 32;

/// A table with its axes as listed, or a vector of its cells if there are too many axes. Such
/// tables have many attributes with a single value.
pub(crate) fn array(table: &Factor, listed: &[AttributeId]) -> ArrayD<f64> {
    let shape: Vec<usize> = listed.iter().map(|&id| axis_size(table, id)).collect();
    shaped(&shape, table.values_as_listed(listed))
}

fn axis_size(table: &Factor, id: AttributeId) -> usize {
    table.clique().axis(id).map_or(1, |axis| table.shape()[axis])
}

/// Cells as an array of this shape, or as a vector if it has too many axes.
pub(crate) fn shaped(shape: &[usize], cells: Vec<f64>) -> ArrayD<f64> {
    let vector = [cells.len()];
    let shape = if shape.len() > MAX_AXES { &vector } else { shape };
    ArrayD::from_shape_vec(shape, cells).expect("a value for each cell")
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
        if ids.len() > MAX_AXES {
            let found = ids.len();
            return Err(PyValueError::new_err(format!(
                "expected a table with at most {MAX_AXES} axes, found {found}"
            )));
        }
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
