use private_pgm::Clique;
use pyo3::prelude::*;

use crate::domain::{Domain, listed, positions};
use crate::interruptible;

/// A junction tree: cliques, edges and the order of elimination that led to it.
#[pyclass(frozen, module = "pgmbench._core")]
pub(crate) struct JunctionTree(private_pgm::junction_tree::JunctionTree);

#[pymethods]
impl JunctionTree {
    #[new]
    fn new(py: Python<'_>, domain: &Domain, cliques: Vec<Vec<usize>>) -> PyResult<Self> {
        let domain = domain.0.clone();
        let cliques = cliques.iter().map(|clique| Ok(Clique::new(listed(&domain, clique)?)));
        let cliques = cliques.collect::<PyResult<Vec<_>>>()?;
        let search = move || private_pgm::junction_tree::JunctionTree::new(&domain, &cliques);
        interruptible::run(py, search).map(Self)
    }

    /// The maximal cliques, each as ascending positions.
    #[getter]
    fn cliques(&self) -> Vec<Vec<usize>> {
        let cliques = self.0.cliques().iter();
        cliques.map(|clique| positions(self.0.domain(), clique)).collect()
    }

    /// Pairs of neighbouring cliques, child before parent.
    #[getter]
    fn edges(&self) -> Vec<(usize, usize)> {
        (0..self.0.len()).filter_map(|child| Some((child, self.0.parent(child)?))).collect()
    }

    #[getter]
    fn elimination_order(&self) -> Vec<usize> {
        let position = |id| self.0.domain().declared().iter().position(|&other| other == id);
        self.0.elimination_order().iter().filter_map(|&id| position(id)).collect()
    }

    /// Cells of all cliques.
    #[getter]
    fn cells(&self) -> f64 {
        self.0.size().cells
    }
}
