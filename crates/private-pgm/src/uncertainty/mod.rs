//! Error bars: how far answers of an estimate may be from the truth because of the noise.
//!
//! - Estimates from residuals ([`Grem`](crate::residual::Grem)) are unbiased and have exact
//!   variances ([`Residuals::cell_variance`](crate::residual::Residuals::cell_variance),
//!   [`Residuals::query_variance`](crate::residual::Residuals::query_variance)). The interval of
//!   [`z_score`] standard deviations on both sides covers the truth with the probability that it
//!   claims.
//! - A graphical model is more precise, as its counts are not negative, and has no formula for its
//!   errors. [`Bootstrap`] simulates them.
//!
//! Both are about noise alone. A marginal that no measurement determines follows from the
//! independences of the model, whose bias no measurement shows.

mod bootstrap;
#[cfg(test)]
mod tests;
mod z_score;

pub use bootstrap::{Bootstrap, BootstrapError};
pub use z_score::z_score;
