//! Privacy mechanisms. A mechanism selects what to measure, measures it with noise, and publishes
//! the result. Estimators work from the published result alone.
//!
//! A mechanism is a folder here and an entry of [`MECHANISMS`]. Its specification is a static named
//! like the mechanism in configurations, in upper case (`pmw-delta`: `PMW_DELTA`).

mod aim;
pub(crate) mod command;
mod dualquery;
mod efpa;
mod error;
mod error_bounds;
mod gaussian;
mod hdmm;
mod independent;
mod laplace;
mod matrix_mechanism;
mod mst;
mod mwem;
mod mwem_pgm;
mod php;
mod pmw;
mod private;
mod privbayes;
mod privlet;
mod release;
pub mod residual_planner;
#[cfg(feature = "sabotage")]
mod sabotaged;
mod support;
mod task;
#[cfg(test)]
#[path = "../../examples/mechanism-template/mod.rs"]
mod template;
mod tree;

pub use error::{MechanismError, ParameterError};
pub use error_bounds::{Bound, BoundSource, BoundsBasis, ErrorBounds};
pub use private::Private;
pub use release::{Published, Release, ReleaseDiagnostics, Rounds, Times};
pub use support::cost_model::{CostModel, Measured};
pub use task::{Noise, Task};

use dp::{Budget, NoiseSource};
use serde::{Deserialize, Serialize};

pub trait Mechanism: Send + Sync {
    /// Publishes a result about the data. Everything in it that depends on the data is paid for
    /// from `budget`.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError>;

    /// Whether the mechanism uses the exact number of records. Such a mechanism refuses neighbours
    /// by adding and removing records.
    fn needs_public_total(&self) -> bool {
        false
    }

    /// With the parameters of this one; `default` is that of [`MechanismSpec`].
    fn cost_model(&self, default: CostModel) -> CostModel {
        default
    }
}

pub struct MechanismSpec {
    /// In configurations: `hdmm`.
    pub name: &'static str,
    /// In texts: `HDMM`.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    pub reference: &'static str,
    pub guarantee: GuaranteeKind,
    /// A short description of the mechanism's own estimator.
    pub own_estimator: &'static str,
    pub workload_dependence: WorkloadDependence,
    /// Whether it works in rounds and publishes their number.
    pub has_rounds: bool,
    pub cost_model: CostModel,
    /// Estimators that only this mechanism's measurements allow.
    pub extra_estimators: &'static [ExtraEstimator],
    pub parameters: &'static [Parameter],
    /// Builds the mechanism. Missing parameters have their defaults.
    pub build: fn(&toml::Table) -> Result<Box<dyn Mechanism>, ParameterError>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuaranteeKind {
    /// epsilon
    #[default]
    Pure,
    /// (epsilon, delta)
    Approximate,
    /// (epsilon, delta), accounted for in rho. The budget is
    /// [`Rho::implying`](dp::Rho::implying) of the two.
    Concentrated,
}

/// The part of a workload that a mechanism uses. A mechanism that uses the cliques alone measures
/// the same for all workloads over the same cliques, so one release serves all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadDependence {
    Cliques,
    Queries,
}

/// An estimator that a mechanism provides in addition to its own. It uses the structure of what was
/// measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraEstimator {
    /// In configurations: `htree`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    pub name: &'static str,
    /// In TOML.
    pub default: &'static str,
    pub meaning: &'static str,
}

pub static MECHANISMS: &[&MechanismSpec] = &[
    &privbayes::PRIVBAYES,
    &dualquery::DUALQUERY,
    &mwem::MWEM,
    &pmw::PMW,
    &pmw::PMW_DELTA,
    &hdmm::HDMM,
    &aim::AIM,
    &mst::MST,
    &mwem_pgm::MWEM_PGM,
    &independent::INDEPENDENT,
    &laplace::LAPLACE,
    &gaussian::GAUSSIAN,
    &residual_planner::RESIDUAL_PLANNER,
    &tree::TREE,
    &privlet::PRIVLET,
    &efpa::EFPA,
    &php::PHP,
    &matrix_mechanism::MM,
    &matrix_mechanism::LRM,
    // Compiled and run by tests, as a mechanism of the user's own would be.
    #[cfg(test)]
    &template::TEMPLATE,
];

pub fn find(name: &str) -> Option<&'static MechanismSpec> {
    MECHANISMS.iter().copied().find(|spec| spec.name == name)
}

/// Deserialises parameters to a mechanism's own type. The type has to refuse unknown names
/// (`deny_unknown_fields`).
fn parse<P: serde::de::DeserializeOwned>(table: &toml::Table) -> Result<P, ParameterError> {
    table
        .clone()
        .try_into()
        .map_err(|reason: toml::de::Error| ParameterError { message: reason.message().to_string() })
}
