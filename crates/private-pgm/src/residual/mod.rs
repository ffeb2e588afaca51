//! Residuals of marginals: estimates from noisy marginals without a graphical model.
//!
//! # Definition
//!
//! Let n_i be the number of values of attribute i and J the matrix of ones. The residual of a set
//! of attributes A is the part of the marginal on A that no smaller marginal determines:
//!
//! r_A = P_A mu_A, where P_A is the Kronecker product over A of I - J / n_i.
//!
//! It is a table over A whose sum along every axis is zero. The residual of the empty set is the
//! number of records. The residual spaces of different sets are orthogonal as spaces of queries on
//! the full table, and those of all subsets of A together span the queries on the marginal of A:
//!
//! mu_A = sum over B within A of r_B / (product of n_i over A minus B), repeated along the axes
//! outside B.
//!
//! Xiao et al. write residuals in the coordinates R_A mu_A = (Kronecker product of S) mu_A, where
//! the rows of S are e_1 - e_(j+1). As S^+ S = I - J / n, r_A is S^+ applied to these coordinates
//! along every axis, and S r_A are the coordinates: both say the same. The tables here prefer no
//! value, and need additions only. Both directions cost a constant times the cells of the marginal
//! ([`split`], [`assemble`]).
//!
//! # Noise
//!
//! A marginal on C with independent noise of variance s on every cell gives a measurement of the
//! residual of every B within C, with the covariance s (product of n_i over C minus B) P_B. The
//! measurements of different sets are uncorrelated, and for Gaussian noise independent. All
//! measurements of one residual have covariances that are multiples of one matrix, so the best
//! estimate is their average weighted by inverse variances ([`Residuals`], GReM-MLE). Residuals
//! that were not measured are zero: marginals are then as close to uniform as the estimate allows.
//!
//! - [`Grem`]: the estimate without constraints, in closed form. For Gaussian noise it is the
//!   maximum of the likelihood, for other noise with the same variances the best linear unbiased
//!   estimate. It equals least squares over the full table, with the solution of minimum norm.
//!   Cells may be negative.
//! - [`GremLnn`]: the same likelihood, with the marginals of chosen sets constrained to be
//!   non-negative (local non-negativity), with a certified gap.
//!
//! References: Xiao, He, Zhang, Kifer, An optimal and scalable matrix mechanism for noisy marginals
//! under convex loss functions, NeurIPS 2023; Mullins, Fuentes, Xiao, Kifer, Musco, Sheldon,
//! Efficient and private marginal reconstruction with local non-negativity, NeurIPS 2024.

mod admm;
mod closure;
mod error;
mod estimators;
mod nonnegative;
mod observe;
mod residuals;
#[cfg(test)]
mod tests;
mod transform;

pub use closure::downward_closure;
pub use error::ResidualError;
pub use estimators::{Grem, GremLnn, TotalSource};
pub use nonnegative::{Nonnegative, Stopping};
pub use residuals::{Residual, Residuals};
pub use transform::{assemble, split};
