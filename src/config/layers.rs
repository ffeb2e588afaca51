//! Estimation settings in layers: `[estimation]` holds for all, `[mechanism.estimation]` changes
//! it for a mechanism, and `estimation` of an arm for that arm.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::check::values::{self, MAX_COUNT, count, positive};
use super::error::ConfigError;
use super::estimation::{Algorithm, Constant, Decreasing, Estimation, Loss, Oracle, Step};
use super::source::Source;

/// One layer as written: what it does not name stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct EstimationLayer {
    algorithm: Option<AlgorithmName>,
    constant: Option<Spanned<Constant>>,
    step: Option<Spanned<Step>>,
    iterations: Option<Spanned<u64>>,
    gap: Option<Spanned<f64>>,
    loss: Option<Loss>,
    oracle: Option<Oracle>,
    trace: Option<Spanned<u64>>,
}

/// An [`Algorithm`] without its settings, as files name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmName {
    /// [`Algorithm::Auto`].
    Auto,
    /// [`Algorithm::Mirror`].
    Mirror,
    /// [`Algorithm::Accelerated`].
    Accelerated,
    /// [`Algorithm::Lbfgs`].
    Lbfgs,
}

impl Algorithm {
    fn name(self) -> AlgorithmName {
        match self {
            Algorithm::Auto => AlgorithmName::Auto,
            Algorithm::Mirror(_) => AlgorithmName::Mirror,
            Algorithm::Accelerated(_) => AlgorithmName::Accelerated,
            Algorithm::Lbfgs => AlgorithmName::Lbfgs,
        }
    }

    /// The algorithm of this name: this one with its settings where it has the name, and otherwise
    /// that one with its defaults.
    pub(super) fn named(self, name: AlgorithmName) -> Self {
        if name == self.name() { self } else { name.with_defaults() }
    }
}

impl AlgorithmName {
    fn with_defaults(self) -> Algorithm {
        match self {
            AlgorithmName::Auto => Algorithm::Auto,
            AlgorithmName::Mirror => Algorithm::Mirror(Step::default()),
            AlgorithmName::Accelerated => Algorithm::Accelerated(Constant::default()),
            AlgorithmName::Lbfgs => Algorithm::Lbfgs,
        }
    }
}

impl EstimationLayer {
    /// These settings, and for the rest those of the layer below. A layer that names another
    /// algorithm than the one below begins with that algorithm's own defaults.
    pub(super) fn over(
        &self,
        source: &Source,
        below: &Estimation,
    ) -> Result<Estimation, ConfigError> {
        Ok(Estimation {
            algorithm: self.algorithm(source, below.algorithm)?,
            iterations: match &self.iterations {
                Some(iterations) => count(source, "iterations", iterations, 1..=MAX_COUNT)?,
                None => below.iterations,
            },
            gap: match &self.gap {
                Some(gap) => Some(values::gap(source, gap)?),
                None => below.gap,
            },
            loss: self.loss.unwrap_or(below.loss),
            oracle: self.oracle.unwrap_or(below.oracle),
            trace: match &self.trace {
                Some(trace) => Some(count(source, "trace", trace, 1..=MAX_COUNT)?),
                None => below.trace,
            },
        })
    }

    fn algorithm(&self, source: &Source, below: Algorithm) -> Result<Algorithm, ConfigError> {
        let mut algorithm = self.algorithm.map_or(below, |name| below.named(name));
        if let Some(written) = &self.constant {
            if let Constant::Fixed(number) = *written.as_ref() {
                positive(source, "constant", &Spanned::new(written.span(), number))?;
            }
            match &mut algorithm {
                Algorithm::Accelerated(constant) => *constant = *written.as_ref(),
                _ => {
                    let message = "`constant` is a setting of the accelerated algorithm";
                    let help = "leave it out, or say algorithm = \"accelerated\" beside it";
                    return Err(source.error(written.span(), message, Some(help)));
                }
            }
        }
        if let Some(written) = &self.step {
            match *written.as_ref() {
                Step::Constant(number) | Step::Decreasing(Decreasing { decreasing: number }) => {
                    positive(source, "step", &Spanned::new(written.span(), number))?;
                }
                Step::Auto | Step::LineSearch => {}
            }
            match &mut algorithm {
                Algorithm::Mirror(step) => *step = *written.as_ref(),
                _ => {
                    let message = "`step` is a setting of the mirror algorithm";
                    let help = "leave it out, or say algorithm = \"mirror\" beside it";
                    return Err(source.error(written.span(), message, Some(help)));
                }
            }
        }
        Ok(algorithm)
    }
}

/// The layer that says everything, wherever it lies.
impl From<Estimation> for EstimationLayer {
    fn from(estimation: Estimation) -> Self {
        let (mut constant, mut step) = (None, None);
        match estimation.algorithm {
            Algorithm::Accelerated(value) => constant = Some(unplaced(value)),
            Algorithm::Mirror(value) => step = Some(unplaced(value)),
            Algorithm::Auto | Algorithm::Lbfgs => {}
        }
        Self {
            algorithm: Some(estimation.algorithm.name()),
            constant,
            step,
            iterations: Some(unplaced(estimation.iterations as u64)),
            gap: estimation.gap.map(unplaced),
            loss: Some(estimation.loss),
            oracle: Some(estimation.oracle),
            trace: estimation.trace.map(|every| unplaced(every as u64)),
        }
    }
}

/// A value that was not read from a file.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}
