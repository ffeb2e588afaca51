//! Post-processing of noisy answers: what is known to hold of the true ones (they are counts, they add
//! up, some of them are public) makes them better, and costs no privacy.
//!
//! Maximum likelihood under consistency constraints (Lee, Wang, Kifer, "Maximum likelihood
//! postprocessing for differential privacy under consistency constraints", KDD 2015): Laplace noise
//! makes the most likely consistent answers those with the least sum of absolute changes. One core,
//! [`admm`], with three recipes: tables with public marginals ([`contingency`]), histograms with a tree
//! of sums ([`histogram`]), and any strategy of the matrix mechanism ([`strategy`]). Beside them are the
//! transforms that they are compared with.

pub mod admm;
pub mod contingency;
mod copies;
pub mod haar;
pub mod histogram;
pub mod htree;
pub mod map;
pub mod proximal;
pub mod strategy;
#[cfg(test)]
mod tests;
pub mod tree;
