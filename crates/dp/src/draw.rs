//! One draw: how it was made, and whether its noise suffices for a guarantee.

use serde::{Deserialize, Serialize};

use super::{Guarantee, ParameterError, Provenance, Rho};

/// Relative slack when a ledger is verified: a few units in the last place, for quotients and
/// exponentials that are computed again. Sums of costs are exact and need none.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// Whether what is computed again is within its bound.
pub(super) fn within(computed: f64, bound: f64) -> bool {
    computed <= bound * (1.0 + SLACK)
}

/// The ways to buy an output with privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Exact discrete Laplace noise, on the integers or on a grid.
    DiscreteLaplace,
    /// Exact discrete Gaussian noise, on the integers or on a grid.
    DiscreteGaussian,
    /// Laplace noise in floating point.
    ContinuousLaplace,
    /// Gaussian noise in floating point.
    ContinuousGaussian,
    /// The exponential mechanism.
    Exponential,
    /// The exponential mechanism for scores that one record moves in one direction.
    MonotoneExponential,
}

/// A draw of noise or a selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// What was drawn, in the mechanism's words.
    pub label: String,
    /// How.
    pub mechanism: Mechanism,
    /// The sensitivity that the scale was computed for: L1 for Laplace, L2 for Gaussian, of the
    /// scores for selections; with the allowance for rounding to a grid.
    pub sensitivity: f64,
    /// Laplace: b. Gaussian: sigma. Exponential: the temperature t of exp(score / t).
    pub scale: f64,
    /// The spacing of the grid, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<f64>,
    /// The number of noisy values, or of selections.
    pub values: usize,
    /// Where the randomness came from.
    pub randomness: Provenance,
}

impl Draw {
    /// How many independent outputs it has: selections are made one by one, noisy answers together.
    pub(super) fn draws(&self) -> usize {
        match self.mechanism {
            Mechanism::Exponential | Mechanism::MonotoneExponential => self.values.max(1),
            _ => 1,
        }
    }

    /// Whether the noise suffices for this guarantee.
    pub(super) fn keeps(&self, granted: Guarantee) -> Result<bool, ParameterError> {
        let ratio = self.sensitivity / self.scale;
        if !(ratio > 0.0 && ratio.is_finite()) {
            return Ok(false);
        }
        let count = self.values as f64;
        Ok(match self.mechanism {
            Mechanism::DiscreteLaplace | Mechanism::ContinuousLaplace => {
                within(ratio, granted.pure_epsilon()?.get())
            }
            Mechanism::DiscreteGaussian | Mechanism::ContinuousGaussian => {
                let rho = ratio * ratio / 2.0;
                match granted {
                    Guarantee::Concentrated { rho: bound } => within(rho, bound.get()),
                    Guarantee::Approximate { epsilon, delta } => {
                        within(rho, Rho::implying(epsilon, delta)?.get())
                    }
                    // No Gaussian is pure.
                    Guarantee::Pure { .. } => false,
                }
            }
            Mechanism::Exponential | Mechanism::MonotoneExponential => {
                let factor = if self.mechanism == Mechanism::Exponential { 2.0 } else { 1.0 };
                let epsilon = factor * ratio;
                match granted {
                    Guarantee::Concentrated { rho } => {
                        within(count * epsilon * epsilon / 8.0, rho.get())
                    }
                    Guarantee::Pure { epsilon: bound }
                    | Guarantee::Approximate { epsilon: bound, .. } => {
                        within(count * epsilon, bound.get())
                    }
                }
            }
        })
    }
}
