//! Post-processing of noisy answers. Known facts about the true answers (they are counts, they add
//! up, some of them are public) reduce the error and cost no privacy.
//!
//! Maximum likelihood under consistency constraints (Lee, Wang, Kifer, "Maximum likelihood
//! postprocessing for differential privacy under consistency constraints", KDD 2015): under Laplace
//! noise the most likely consistent answers minimise the sum of absolute changes. [`admm`] is the
//! solver for three problems: tables with public marginals ([`contingency`]), histograms with a
//! tree of sums ([`histogram`]), and strategies of the matrix mechanism (`strategy`). `haar`
//! and [`htree`] are the transforms that the papers compare with.

pub mod admm;
pub mod contingency;
mod copies;
pub(crate) mod haar;
pub mod histogram;
pub mod htree;
mod map;
pub mod proximal;
pub(crate) mod strategy;
#[cfg(test)]
mod tests;
pub mod tree;
