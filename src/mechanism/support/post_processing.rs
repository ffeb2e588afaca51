//! The three variants of ADMM that make noisy answers consistent, for the mechanisms that provide
//! them.

use std::time::Instant;

use serde::Deserialize;

use crate::mechanism::{ExtraEstimator, Parameter, ParameterError, parse};
use crate::postprocess::admm::{Settings, SettingsError};
use crate::postprocess::proximal::Objective;

pub(crate) const ADMM_L1: ExtraEstimator = ExtraEstimator {
    name: "admm-l1",
    summary: "The nearest consistent counts by a mixture of L1 and L2 distance (KDD 2015).",
};
pub(crate) const ML: ExtraEstimator = ExtraEstimator {
    name: "ml",
    summary: "The most likely consistent counts under Laplace noise: L1 distance alone.",
};
pub(crate) const NNLS: ExtraEstimator = ExtraEstimator {
    name: "nnls",
    summary: "The nearest consistent counts by L2 distance: least squares without negative counts.",
};

pub(crate) const ALPHA: Parameter = Parameter {
    name: "alpha",
    default: "0.9",
    meaning: "admm-l1: the weight of the L1 distance, from 0 to 1",
};
pub(crate) const RHO: Parameter = Parameter {
    name: "rho",
    default: "\"auto\"",
    meaning: "admm-l1: the penalty parameter of ADMM, positive, or \"auto\" for one that fits the \
              noise; it changes the time, and the result only if alpha is 1 and the optimum is not \
              unique",
};

/// The parameters of admm-l1, the same for all mechanisms that provide it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AdmmParameters {
    alpha: f64,
    rho: Penalty,
}

/// The penalty parameter of ADMM.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
enum Penalty {
    Fixed(f64),
    Auto,
}

impl TryFrom<toml::Value> for Penalty {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = value.as_float().or(value.as_integer().map(|number| number as f64));
        match (number, value.as_str()) {
            (Some(rho), _) => Ok(Self::Fixed(rho)),
            (_, Some("auto")) => Ok(Self::Auto),
            _ => Err(format!("rho: expected a positive number, or \"auto\", found {value}")),
        }
    }
}

impl Default for AdmmParameters {
    /// alpha from section 5 of KDD 2015.
    fn default() -> Self {
        Self { alpha: 0.9, rho: Penalty::Auto }
    }
}

impl AdmmParameters {
    /// Splits the parameters of a mechanism into alpha and rho, and the others. An invalid value is
    /// refused with the name of the parameter.
    pub(crate) fn split(parameters: &toml::Table) -> Result<(Self, toml::Table), ParameterError> {
        let is_ours = |name: &str| [ALPHA, RHO].iter().any(|ours| ours.name == name);
        let (ours, others): (toml::Table, toml::Table) =
            parameters.clone().into_iter().partition(|(name, _)| is_ours(name));
        let admm: Self = parse(&ours)?;
        let of = |name: &str, error: SettingsError| ParameterError {
            message: format!("{name}: {error}"),
        };
        Objective::new(admm.alpha).map_err(|error| of(ALPHA.name, error))?;
        if let Penalty::Fixed(rho) = admm.rho {
            let settings = Settings { rho, ..Settings::default() };
            settings.check().map_err(|error| of(RHO.name, error))?;
        }
        Ok((admm, others))
    }

    /// For mechanisms without other parameters.
    pub(crate) fn alone(parameters: &toml::Table) -> Result<Self, ParameterError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}

        let (admm, others) = Self::split(parameters)?;
        let Nothing {} = parse(&others)?;
        Ok(admm)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AdmmVariant {
    AdmmL1(AdmmParameters),
    MaximumLikelihood,
    LeastSquares,
}

impl AdmmVariant {
    /// All variants, by the names of their [`ExtraEstimator`]s.
    pub(crate) fn all(parameters: AdmmParameters) -> [(&'static str, Self); 3] {
        [
            (ADMM_L1.name, AdmmVariant::AdmmL1(parameters)),
            (ML.name, AdmmVariant::MaximumLikelihood),
            (NNLS.name, AdmmVariant::LeastSquares),
        ]
    }

    /// The objective for answers with this noise. A pure L1 or L2 objective is in units of the
    /// noise, so that the number of iterations does not depend on the scale.
    pub(crate) fn objective(self, stddev: f64) -> Result<Objective, SettingsError> {
        match self {
            AdmmVariant::AdmmL1(AdmmParameters { alpha, .. }) => Objective::new(alpha),
            AdmmVariant::MaximumLikelihood => Ok(Objective::new(1.0)?.in_units_of(stddev)),
            AdmmVariant::LeastSquares => Ok(Objective::new(0.0)?.in_units_of(stddev)),
        }
    }

    pub(crate) fn settings(self, stddev: f64, deadline: Option<Instant>) -> Settings {
        let settings = match self {
            AdmmVariant::AdmmL1(AdmmParameters { alpha, rho }) => {
                let suited = Settings::suited(alpha, stddev);
                match rho {
                    Penalty::Fixed(rho) => Settings { rho, ..suited },
                    Penalty::Auto => suited,
                }
            }
            // In units of the noise.
            AdmmVariant::MaximumLikelihood => Settings::suited(1.0, 1.0),
            AdmmVariant::LeastSquares => Settings::suited(0.0, 1.0),
        };
        Settings { deadline, ..settings }
    }
}
