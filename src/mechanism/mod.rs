//! Privacy mechanisms: each selects what to measure and measures it, once; estimators then work
//! from what it has published.
//!
//! A mechanism is a folder here and a line in [`MECHANISMS`].

mod bayesian_network;
mod counting_query;
mod dualquery;
mod each_marginal;
mod effort;
pub mod efpa;
mod error;
pub mod gaussian;
pub mod hdmm;
pub mod laplace;
pub mod matrix_mechanism;
mod mwem;
pub mod php;
mod pmw;
mod post_processing;
pub mod privbayes;
pub mod privlet;
mod records;
mod release;
#[cfg(test)]
mod small_table;
pub mod spanning_tree;
mod strategy;
mod task;
pub mod tree;

pub use effort::Effort;
pub use error::{MechanismError, ParameterError};
pub use release::{Course, Published, Release, Rounds, Times};
pub use task::{Noise, Task};

use dp::{Budget, NoiseSource};

/// Selects, measures and publishes.
pub trait Mechanism: Send + Sync {
    /// What it publishes about the data. Whatever depends on the data is paid for from `budget`.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError>;

    /// Whether it has to know the number of records, and so refuses neighbours by adding and removing.
    fn needs_public_total(&self) -> bool {
        false
    }
}

/// A mechanism as users know it.
pub struct Kind {
    /// In configurations: `hdmm`.
    pub name: &'static str,
    /// For people: `HDMM`.
    pub title: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Where it is from.
    pub reference: &'static str,
    /// Which guarantee it gives.
    pub guarantee: GuaranteeKind,
    /// What its own estimator is called, in a few words.
    pub own: &'static str,
    /// What it reads of the workload.
    pub reads: Reads,
    /// What its release takes.
    pub effort: Effort,
    /// The estimators that work from its measurements alone.
    pub offers: &'static [Offer],
    /// What can be set, with defaults.
    pub parameters: &'static [Parameter],
    /// The mechanism with these parameters; those that are missing have their defaults.
    pub build: fn(&toml::Table) -> Result<Box<dyn Mechanism>, ParameterError>,
}

/// Which guarantee a mechanism gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuaranteeKind {
    /// epsilon alone.
    Pure,
    /// epsilon and delta.
    Approximate,
    /// epsilon and delta, accounted for in rho: its budget is made of
    /// [`Rho::implying`](dp::Rho::implying) them.
    Concentrated,
}

/// What a mechanism reads of a workload. One that reads the cliques alone measures the same for all
/// workloads over the same cliques, so that one release answers them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The sets of attributes.
    Cliques,
    /// The queries themselves.
    Queries,
}

/// An estimator that a mechanism offers beside its own: it knows the structure of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// In configurations: `htree`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
}

/// What can be set about a mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The value that it has otherwise, as in TOML.
    pub default: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// All mechanisms.
pub static MECHANISMS: &[&Kind] = &[
    &privbayes::PRIVBAYES,
    &dualquery::DUALQUERY,
    &mwem::KIND,
    &pmw::PURE,
    &pmw::APPROXIMATE,
    &hdmm::HDMM,
    &spanning_tree::SPANNING_TREE,
    &laplace::LAPLACE,
    &gaussian::GAUSSIAN,
    &tree::TREE,
    &privlet::PRIVLET,
    &efpa::EFPA,
    &php::PHP,
    &matrix_mechanism::MATRIX_MECHANISM,
    &matrix_mechanism::LOW_RANK,
];

/// The mechanism of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    MECHANISMS.iter().copied().find(|kind| kind.name == name)
}

/// Parameters as a mechanism's own type; its `Deserialize` refuses unknown names.
fn parse<P: serde::de::DeserializeOwned>(table: &toml::Table) -> Result<P, ParameterError> {
    table
        .clone()
        .try_into()
        .map_err(|reason: toml::de::Error| ParameterError { message: reason.message().to_string() })
}
