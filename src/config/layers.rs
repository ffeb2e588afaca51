//! Estimation settings in layers: `[estimation]` applies to all, `[mechanism.estimation]` overrides
//! it for a mechanism, and `estimation` of an arm for that arm.

use std::ops::Range;

use private_pgm::fit::{Algorithm, Constant, OracleKind, SettingsLayer, StepSize};
use private_pgm::loss::Norm;
use serde::Deserialize;
use toml::Spanned;

use super::check::values::{MAX_COUNT, count};
use super::error::ConfigError;
use super::estimation::Estimation;
use super::source::Source;

/// The engine's [`SettingsLayer`] with the span of each value in the file, and `trace`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct EstimationLayer {
    algorithm: Option<Algorithm>,
    constant: Option<Spanned<Constant>>,
    step: Option<Spanned<StepSize>>,
    iterations: Option<Spanned<u64>>,
    gap: Option<Spanned<f64>>,
    loss: Option<Norm>,
    oracle: Option<OracleKind>,
    trace: Option<Spanned<u64>>,
}

impl EstimationLayer {
    /// These settings, completed by those of the layer below. A layer with a different algorithm
    /// from the one below starts from that algorithm's defaults.
    pub(super) fn over(
        &self,
        source: &Source,
        below: &Estimation,
    ) -> Result<Estimation, ConfigError> {
        let counted = |setting: &str, written: &Option<Spanned<u64>>| match written {
            Some(written) => count(source, setting, written, 1..=MAX_COUNT).map(Some),
            None => Ok(None),
        };
        let layer = SettingsLayer {
            algorithm: self.algorithm,
            constant: self.constant.as_ref().map(|written| *written.as_ref()),
            step: self.step.as_ref().map(|written| *written.as_ref()),
            iterations: counted("iterations", &self.iterations)?,
            gap: self.gap.as_ref().map(|written| *written.as_ref()),
            loss: self.loss,
            oracle: self.oracle,
        };
        let settings = layer.over(&below.settings).map_err(|error| {
            let place = self.place_of(error.setting());
            source.error(place, error.message(), Some(&error.help()))
        })?;
        Ok(Estimation { settings, trace: counted("trace", &self.trace)?.or(below.trace) })
    }

    /// The span of a setting that the engine may reject.
    fn place_of(&self, setting: &str) -> Range<usize> {
        let place = match setting {
            "constant" => self.constant.as_ref().map(Spanned::span),
            "step" => self.step.as_ref().map(Spanned::span),
            "gap" => self.gap.as_ref().map(Spanned::span),
            "iterations" => self.iterations.as_ref().map(Spanned::span),
            _ => None,
        };
        place.unwrap_or_default()
    }
}
