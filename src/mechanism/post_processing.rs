//! The three ways in which noisy answers are made consistent, for mechanisms that offer them.

use std::time::Instant;

use serde::Deserialize;

use super::{Offer, Parameter, ParameterError, parse};
use crate::postprocess::admm::{Settings, SettingsError};
use crate::postprocess::proximal::Objective;

pub(super) const ADMM_L1: Offer = Offer {
    name: "admm-l1",
    summary: "The nearest consistent counts by a mixture of L1 and L2 distance (KDD 2015).",
};
pub(super) const ML: Offer = Offer {
    name: "ml",
    summary: "The most likely consistent counts under Laplace noise: L1 distance alone.",
};
pub(super) const NNLS: Offer = Offer {
    name: "nnls",
    summary: "The nearest consistent counts by L2 distance: least squares without negative counts.",
};

pub(super) const ALPHA: Parameter = Parameter {
    name: "alpha",
    default: "0.9",
    meaning: "admm-l1: the part of the L1 distance, from 0 to 1",
};
pub(super) const RHO: Parameter = Parameter {
    name: "rho",
    default: "\"auto\"",
    meaning: "admm-l1: the penalty parameter of ADMM, positive, or \"auto\" for one that suits the \
              noise; changes the time, and the result only where alpha is 1 and several are best",
};

/// The parameters of admm-l1, which all mechanisms that offer it have in common.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Mixture {
    alpha: f64,
    rho: Penalty,
}

/// rho.
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

impl Default for Mixture {
    /// alpha as in section 5 of KDD 2015.
    fn default() -> Self {
        Self { alpha: 0.9, rho: Penalty::Auto }
    }
}

impl Mixture {
    /// Takes alpha and rho out of the parameters of a mechanism, and returns the others beside them.
    /// Refuses what has no meaning, with the name of the parameter.
    pub(super) fn split(parameters: &toml::Table) -> Result<(Self, toml::Table), ParameterError> {
        let is_ours = |name: &str| [ALPHA, RHO].iter().any(|ours| ours.name == name);
        let (ours, others): (toml::Table, toml::Table) =
            parameters.clone().into_iter().partition(|(name, _)| is_ours(name));
        let mixture: Self = parse(&ours)?;
        let of = |name: &str, error: SettingsError| ParameterError {
            message: format!("{name}: {error}"),
        };
        Objective::new(mixture.alpha).map_err(|error| of(ALPHA.name, error))?;
        if let Penalty::Fixed(rho) = mixture.rho {
            let settings = Settings { rho, ..Settings::default() };
            settings.check().map_err(|error| of(RHO.name, error))?;
        }
        Ok((mixture, others))
    }

    /// For mechanisms that have no other parameters.
    pub(super) fn alone(parameters: &toml::Table) -> Result<Self, ParameterError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}

        let (mixture, others) = Self::split(parameters)?;
        let Nothing {} = parse(&others)?;
        Ok(mixture)
    }
}

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    AdmmL1(Mixture),
    MaximumLikelihood,
    LeastSquares,
}

impl Way {
    /// All three, by the names of their offers.
    pub(super) fn all(mixture: Mixture) -> [(&'static str, Self); 3] {
        [
            (ADMM_L1.name, Way::AdmmL1(mixture)),
            (ML.name, Way::MaximumLikelihood),
            (NNLS.name, Way::LeastSquares),
        ]
    }

    /// The objective for answers with this noise. Pure ones are in units of the noise, so that the
    /// number of iterations does not depend on its size.
    pub(super) fn objective(self, stddev: f64) -> Result<Objective, SettingsError> {
        match self {
            Way::AdmmL1(Mixture { alpha, .. }) => Objective::new(alpha),
            Way::MaximumLikelihood => Ok(Objective::new(1.0)?.in_units_of(stddev)),
            Way::LeastSquares => Ok(Objective::new(0.0)?.in_units_of(stddev)),
        }
    }

    /// How to iterate on answers with this noise, until then at most.
    pub(super) fn settings(self, stddev: f64, deadline: Option<Instant>) -> Settings {
        let settings = match self {
            Way::AdmmL1(Mixture { alpha, rho }) => {
                let suited = Settings::suited(alpha, stddev);
                match rho {
                    Penalty::Fixed(rho) => Settings { rho, ..suited },
                    Penalty::Auto => suited,
                }
            }
            // In units of the noise.
            Way::MaximumLikelihood => Settings::suited(1.0, 1.0),
            Way::LeastSquares => Settings::suited(0.0, 1.0),
        };
        Settings { deadline, ..settings }
    }
}
