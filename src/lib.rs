//! The harness: runs differentially private mechanisms, estimates from what they publish with and
//! without a graphical model, and shows what the estimator changes.
//!
//! The engine is a crate of its own, [`private_pgm`]; budgets, ledgers and samplers of noise are in
//! [`dp`].

pub mod atomic_file;
pub mod audit;
pub mod budget_file;
pub mod comparison;
pub mod config;
pub mod data;
mod did_you_mean;
mod evaluation;
pub mod experiment;
pub mod figures;
pub mod limits;
pub mod mechanism;
pub(crate) mod numeric;
pub mod postprocess;
pub mod report;
pub mod results;
pub mod spreadsheet;
pub mod workload;
