//! One draw: its parameters, and whether its noise suffices for a guarantee.

use serde::{Deserialize, Serialize};

use super::{Guarantee, ParameterError, Provenance, Rho};

/// Relative tolerance of the verification of a ledger: a few units in the last place, for
/// recomputed quotients and exponentials. Sums of costs are exact and need none.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// Whether a recomputed number is within its bound.
pub(super) fn within(computed: f64, bound: f64) -> bool {
    computed <= bound * (1.0 + SLACK)
}

/// How a draw was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Exact discrete Laplace noise, on the integers or on a grid.
    DiscreteLaplace,
    /// Exact discrete Gaussian noise, on the integers or on a grid.
    DiscreteGaussian,
    /// Laplace noise in floating point; not for releases.
    ContinuousLaplace,
    /// Gaussian noise in floating point; not for releases.
    ContinuousGaussian,
    /// The exponential mechanism with exp(epsilon score / (2 sensitivity)).
    Exponential,
    /// The exponential mechanism for monotone scores, with exp(epsilon score / sensitivity).
    MonotoneExponential,
    /// Drawn by other code, which claims that its guarantee holds. Nothing verifies it.
    Claimed,
}

/// A draw of noise or a selection, as recorded in the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// What was drawn, as named by the caller.
    pub label: String,
    /// How it was sampled.
    pub mechanism: Mechanism,
    /// The sensitivity that the scale was computed for, including the allowance for rounding to a
    /// grid: L1 for Laplace, L2 for Gaussian, L-infinity of the scores for selections. 0 for a
    /// claim, about which it is not known.
    pub sensitivity: f64,
    /// Laplace: b. Gaussian: sigma. Exponential: the temperature t of exp(score / t). 0 for a
    /// claim.
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
    /// The number of sequentially composed draws: selections count one by one, noisy answers
    /// together.
    pub(super) fn draws(&self) -> usize {
        match self.mechanism {
            Mechanism::Exponential | Mechanism::MonotoneExponential => self.values.max(1),
            _ => 1,
        }
    }

    /// Whether the noise suffices for this guarantee. True for a claim: only its cost is checked.
    pub(super) fn keeps(&self, granted: Guarantee) -> Result<bool, ParameterError> {
        let ratio = self.sensitivity / self.scale;
        if self.mechanism != Mechanism::Claimed && !(ratio > 0.0 && ratio.is_finite()) {
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
                    // Gaussian noise is never purely private.
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
            Mechanism::Claimed => true,
        })
    }
}
