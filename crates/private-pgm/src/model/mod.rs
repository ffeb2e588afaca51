//! The fitted model: potentials on cliques, and inference with them.
//!
//! A [`Model`] answers questions by the names of attributes; the first one sends all messages of
//! the junction tree ([`Model::calibrated`]). [`Calibrated`] answers them by [`Clique`], and leaves
//! the choice of junction tree and memory limit to the caller.
//!
//! ```
//! use private_pgm::domain::{Clique, Domain};
//! use private_pgm::model::{Model, Sampling};
//! use private_pgm::factor::{CliqueLayout, Potentials};
//! use private_pgm::query::QueryFactor;
//! use rand::SeedableRng;
//!
//! let domain = Domain::new([("age", 3), ("sex", 2), ("income", 2)])?;
//! let [age, sex, income] = ["age", "sex", "income"].map(|name| domain.id(name).unwrap());
//! let cliques = vec![Clique::new([age, sex]), Clique::new([age, income])];
//! let mut potentials = Potentials::zeros(&CliqueLayout::new(domain, cliques));
//! potentials.table_mut(0)[0] = 1.0;
//! let model = Model::new(1000.0, potentials).calibrate()?;
//!
//! let unmeasured = model.marginal(&Clique::new([sex, income]))?;
//! assert!((unmeasured.total() - 1000.0).abs() < 1e-9);
//! let given_income = model.conditional(&Clique::new([age]), &[(income, 1)])?;
//! assert!((given_income.total() - 1.0).abs() < 1e-12);
//! let query = [(age, QueryFactor::Prefix), (sex, QueryFactor::Evidence(vec![1]))];
//! assert_eq!(model.answer(&query)?.len(), 3);
//! let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(7);
//! let columns = model.synthesize(500, Sampling::Rounded, &mut rng)?;
//! assert_eq!((columns.len(), columns[0].len()), (3, 500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod approximate;
mod calibration;
mod clique_pass;
mod conditional;
mod error;
mod evaluation;
pub mod file;
mod log_product;
mod marginals;
mod named;
mod origin;
mod plan;
mod projectable;
mod region;
mod region_plan;
mod sampling;
mod scaled_table;
#[cfg(test)]
mod tests;

pub use approximate::Approximate;
pub use calibration::{Calibrated, DEFAULT_CELL_LIMIT};
pub use error::InferenceError;
pub use origin::Origin;
pub use projectable::{MarginalError, Projectable};
pub use sampling::Sampling;

use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use crate::domain::Clique;
use crate::domain::Domain;
use crate::factor::{CliqueLayout, Potentials};

/// A graphical model p(x) proportional to exp(sum over C of theta_C(x_C)), scaled to `total`
/// records (Definition 3 of the paper). Attributes that no clique has are uniform and independent
/// of the rest.
#[derive(Clone, Debug)]
pub struct Model {
    total: f64,
    potentials: Potentials,
    origin: Option<Origin>,
    /// Computed from the rest when it is first needed.
    calibrated: OnceLock<Arc<Calibrated>>,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        let Self { total, potentials, origin, calibrated: _ } = self;
        (total, potentials, origin) == (&other.total, &other.potentials, &other.origin)
    }
}

impl Model {
    /// The model with these potentials, whose marginals sum to `total`. A potential is finite, or
    /// minus infinity for an impossible combination of values; never NaN or plus infinity.
    pub fn new(total: f64, potentials: Potentials) -> Self {
        Self { total, potentials, origin: None, calibrated: OnceLock::new() }
    }

    /// The same model with its provenance.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// The provenance of the model, if recorded.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The attributes and their sizes.
    pub fn domain(&self) -> &Domain {
        self.layout().domain()
    }

    /// N, the sum of every marginal; need not be an integer.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// theta, one table of log-potentials per clique.
    pub fn potentials(&self) -> &Potentials {
        &self.potentials
    }

    /// The cliques, in the order of their tables.
    pub fn layout(&self) -> &Arc<CliqueLayout> {
        self.potentials.layout()
    }
}
