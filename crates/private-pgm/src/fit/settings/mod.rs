//! What to minimise and how: the one definition of every setting and of its spelling.
//!
//! Configuration files, the command line and programs all read settings through this module. As
//! text they are one flat table:
//!
//! | key | values | default |
//! | --- | --- | --- |
//! | `algorithm` | `auto`, `mirror`, `dual-averaging`, `accelerated`, `lbfgs` | `auto` |
//! | `step` (of `mirror`) | see [`StepSize`] | `auto` |
//! | `constant` (of `dual-averaging`) | `spectral`, `smoothness`, a number | `spectral` |
//! | `constant` (of `accelerated`) | `adaptive`, `smoothness`, a number | `adaptive` |
//! | `iterations` | a positive whole number | as many as take some seconds |
//! | `gap` | a number that is not negative | 1e-11 of the loss (1e-8 for L1), or 1e-12 |
//! | `loss` | `l1`, `l2` | `l2` |
//! | `oracle` | `exact`, `loopy`, `convex` | `exact` |

mod algorithm;
mod choice;
mod error;
mod step_size;
#[cfg(test)]
mod tests;
mod written;

pub use algorithm::{Algorithm, Constant, OracleKind};
pub use choice::Choice;
pub use error::SettingsError;
pub use written::NotASetting;

use serde::{Deserialize, Serialize};

use crate::loss::Norm;
use crate::optimiser::StepSize;

/// What to minimise and how. The result depends on these and on the evidence alone, not on limits
/// of memory and time or on the number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "SettingsLayer", try_from = "SettingsLayer")]
pub struct Settings {
    /// The optimiser, with its own settings.
    pub algorithm: Algorithm,
    /// How residuals are penalised: L1 or L2.
    pub loss: Norm,
    /// How marginals are computed.
    pub oracle: OracleKind,
    /// The largest number of calls of the oracle. Default: as many as take some seconds, from 2000
    /// to two million; no limit where a gap is given.
    pub iterations: Option<usize>,
    /// The run ends once the loss is certified to be at most this above the smallest possible.
    /// Default: 1e-11 of the loss (1e-8 of the L1 loss), or 1e-12.
    pub gap: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            loss: Norm::L2,
            oracle: OracleKind::Exact,
            iterations: None,
            gap: None,
        }
    }
}

impl Settings {
    /// Whether the settings agree with each other and are in range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive = |setting, number: Option<f64>| match number {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                Err(SettingsError::OutOfRange { setting, value, expected: POSITIVE })
            }
            _ => Ok(()),
        };
        positive("step", self.algorithm.step().and_then(StepSize::size))?;
        match (self.algorithm, self.algorithm.constant()) {
            (Algorithm::Accelerated(_), Some(Constant::Spectral)) => {
                return Err(SettingsError::ConstantOf {
                    constant: "spectral",
                    owner: "dual-averaging",
                });
            }
            (Algorithm::DualAveraging(_), Some(Constant::Adaptive)) => {
                return Err(SettingsError::ConstantOf {
                    constant: "adaptive",
                    owner: "accelerated",
                });
            }
            (_, Some(Constant::Fixed(number))) => positive("constant", Some(number))?,
            _ => {}
        }
        if let Some(value) = self.gap.filter(|gap| !(*gap >= 0.0 && gap.is_finite())) {
            let expected = "a number that is not negative, in units of the loss";
            return Err(SettingsError::OutOfRange { setting: "gap", value, expected });
        }
        if self.iterations == Some(0) {
            let expected = "a positive whole number";
            return Err(SettingsError::OutOfRange { setting: "iterations", value: 0.0, expected });
        }
        match self.loss {
            // A stage on the way to the L1 loss, not a loss to ask for.
            Norm::Huber(value) => {
                Err(SettingsError::OutOfRange { setting: "loss", value, expected: "l1 or l2" })
            }
            Norm::L1 | Norm::L2 => Ok(()),
        }
    }
}

const POSITIVE: &str = "a positive, finite number";

/// Settings as written: what is not named stays as it is in the layer below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub struct SettingsLayer {
    /// An algorithm other than the one below begins with its own defaults.
    pub algorithm: Option<Algorithm>,
    /// Of `dual-averaging` and `accelerated`.
    pub constant: Option<Constant>,
    /// Of `mirror`.
    pub step: Option<StepSize>,
    /// [`Settings::iterations`].
    pub iterations: Option<usize>,
    /// [`Settings::gap`].
    pub gap: Option<f64>,
    /// [`Settings::loss`].
    pub loss: Option<Norm>,
    /// [`Settings::oracle`].
    pub oracle: Option<OracleKind>,
}

impl SettingsLayer {
    /// The settings below with those of this layer in their place.
    pub fn over(&self, below: &Settings) -> Result<Settings, SettingsError> {
        let mut algorithm = match self.algorithm {
            Some(named) if named.name() != below.algorithm.name() => named,
            _ => below.algorithm,
        };
        if let Some(constant) = self.constant {
            algorithm = algorithm.with_constant(constant)?;
        }
        if let Some(step) = self.step {
            algorithm = algorithm.with_step(step)?;
        }
        let settings = Settings {
            algorithm,
            loss: self.loss.unwrap_or(below.loss),
            oracle: self.oracle.unwrap_or(below.oracle),
            iterations: self.iterations.or(below.iterations),
            gap: self.gap.or(below.gap),
        };
        settings.check()?;
        Ok(settings)
    }
}

impl TryFrom<SettingsLayer> for Settings {
    type Error = SettingsError;

    fn try_from(layer: SettingsLayer) -> Result<Self, SettingsError> {
        layer.over(&Settings::default())
    }
}

/// The layer that names everything, whatever is below it.
impl From<Settings> for SettingsLayer {
    fn from(settings: Settings) -> Self {
        Self {
            algorithm: Some(settings.algorithm),
            constant: settings.algorithm.constant(),
            step: settings.algorithm.step(),
            iterations: settings.iterations,
            gap: settings.gap,
            loss: Some(settings.loss),
            oracle: Some(settings.oracle),
        }
    }
}
