use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use super::form::{self, Form};
use super::layers::EstimationLayer;

/// How graphical models are estimated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "EstimationLayer")]
pub struct Estimation {
    /// The optimiser, with its own settings.
    pub algorithm: Algorithm,
    /// The largest number of iterations.
    pub iterations: usize,
    /// Stop once the loss is certified to be at most this above the smallest possible.
    pub gap: Option<f64>,
    /// How residuals are penalised.
    pub loss: Loss,
    /// Who computes marginals.
    pub oracle: Oracle,
    /// Record losses and workload error every so many iterations.
    pub trace: Option<usize>,
}

impl Default for Estimation {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            // Our choice: `auto` is far below the noise by then, on data like the paper's.
            iterations: 1000,
            gap: None,
            loss: Loss::L2,
            oracle: Oracle::Exact,
            trace: None,
        }
    }
}

/// An optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// The fastest that needs no tuning.
    Auto,
    /// Algorithm 1 of the paper.
    Mirror(Step),
    /// Algorithm 2 of the paper.
    Accelerated(Constant),
    /// Quasi-Newton steps on the potentials.
    Lbfgs,
}

/// The step size of mirror descent: `"line-search"`, `0.5` (constant), `{ decreasing = 0.5 }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Found by line search; decreasing for the L1 loss, whose gradient jumps.
    #[default]
    Auto,
    /// Found by line search.
    LineSearch,
    /// This number, in every iteration.
    #[serde(untagged)]
    Constant(f64),
    /// This number divided by the iteration.
    #[serde(untagged)]
    Decreasing(Decreasing),
}

/// A step size that decreases as 1/t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decreasing {
    /// The first step.
    pub decreasing: f64,
}

/// The constant K of the accelerated method, divided by N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constant {
    /// The smallest that the steps bear out, found on the way.
    Adaptive,
    /// The smoothness of the loss.
    #[default]
    Smoothness,
    /// The largest eigenvalue of Q^T Q, as in the paper.
    Spectral,
    /// This number.
    #[serde(untagged)]
    Fixed(f64),
}

/// How residuals are penalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The sum of absolute residuals.
    L1,
    /// Half the sum of their squares.
    L2,
    /// The one that suits the noise of the mechanism.
    Auto,
}

/// Who computes marginals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// Exact inference.
    Exact,
    /// Loopy belief propagation, an approximation.
    Loopy,
    /// Convex belief propagation, an approximation that always converges.
    Convex,
}

impl<'de> Form<'de> for Step {
    const EXPECTED: &'static str =
        "\"line-search\", a number (constant) or a table such as { decreasing = 1.0 }";

    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        match text.as_str() {
            "auto" => Ok(Self::Auto),
            "line-search" => Ok(Self::LineSearch),
            other => Err(E::unknown_variant(other, &["auto", "line-search"])),
        }
    }

    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Ok(Self::Constant(number))
    }

    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        form::fields(table).map(Self::Decreasing)
    }
}

impl Form<'_> for Constant {
    const EXPECTED: &'static str = "\"adaptive\", \"smoothness\", \"spectral\" or a number";

    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        match text.as_str() {
            "adaptive" => Ok(Self::Adaptive),
            "smoothness" => Ok(Self::Smoothness),
            "spectral" => Ok(Self::Spectral),
            other => Err(E::unknown_variant(other, &["adaptive", "smoothness", "spectral"])),
        }
    }

    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Ok(Self::Fixed(number))
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        form::deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        form::deserialize(deserializer)
    }
}
