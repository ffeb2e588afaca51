//! The extension module `pgmbench._core`: a thin layer over the engine.
//!
//! Attributes are passed as positions in the declared order of a `domain::Domain`; the Python
//! side turns names into positions. Work runs on threads of its own without the interpreter's
//! lock, see `interruptible`.

mod domain;
mod error;
mod estimate;
#[cfg(feature = "experiments")]
mod experiments;
mod interruptible;
mod loss;
mod measurement;
mod memory;
mod model;
mod privacy;
mod query;
mod tables;
mod tree;
mod uncertainty;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::domain::Domain;
    #[pymodule_export]
    use crate::estimate::{Estimate, default_memory_limit, estimate};
    #[cfg(feature = "experiments")]
    #[pymodule_export]
    use crate::experiments::{analyse_results, run_experiment};
    #[pymodule_export]
    use crate::measurement::{Measurement, estimate_total};
    #[pymodule_export]
    use crate::memory::check_memory;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::privacy::{Budget, Ledger, NoiseSource, Share, epsilon_of_rho, rho_implying};
    #[pymodule_export]
    use crate::tree::JunctionTree;
    #[pymodule_export]
    use crate::uncertainty::{simulated_errors, unbiased_marginal, z_score};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
