//! The fitted model: a distribution in a few tables, and what can be asked of it.

mod answers;
mod calibration;
mod clique_pass;
mod conditional;
mod error;
mod evaluation;
pub mod file;
mod marginals;
mod origin;
mod plan;
mod region;
mod route;
mod sampling;
mod table;
#[cfg(test)]
mod tests;

pub use calibration::{Calibrated, DEFAULT_CELL_LIMIT};
pub use error::InferenceError;
pub use origin::Origin;
pub use sampling::Sampling;

use std::sync::Arc;

use crate::domain::Domain;
use crate::factor::{CliqueLayout, Potentials};

/// A graphical model p(x) proportional to exp(sum over C of theta_C(x_C)), scaled to `total`
/// records (Definition 3 of the paper). Attributes that no clique has are uniform and independent
/// of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    total: f64,
    potentials: Potentials,
    origin: Option<Origin>,
}

impl Model {
    /// The model with these potentials (minus infinity: impossible; never NaN or plus infinity),
    /// whose marginals sum to `total`.
    pub fn new(total: f64, potentials: Potentials) -> Self {
        Self { total, potentials, origin: None }
    }

    /// The same model with notes on where it comes from.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Where the model comes from, when it is known.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The attributes.
    pub fn domain(&self) -> &Domain {
        self.layout().domain()
    }

    /// The number of records that the model stands for; need not be whole.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The log-potentials, one table a clique.
    pub fn potentials(&self) -> &Potentials {
        &self.potentials
    }

    /// The cliques.
    pub fn layout(&self) -> &Arc<CliqueLayout> {
        self.potentials.layout()
    }
}
