use serde::Deserialize;

use crate::mechanism::{Parameter, ParameterError};
use private_pgm::domain::Domain;

pub(crate) const ROUNDS: Parameter = Parameter {
    name: "rounds",
    default: "\"attributes\"",
    meaning: "Number of rounds; \"attributes\" means one per attribute.",
};

/// The number of rounds of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "rounds: expected a whole number from 1 on, or \"attributes\"")]
pub(crate) enum RoundCount {
    Count(usize),
    Named(Named),
}

/// Numbers of rounds that depend on the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Named {
    Attributes,
}

impl Default for RoundCount {
    fn default() -> Self {
        Self::Named(Named::Attributes)
    }
}

impl RoundCount {
    pub(crate) fn check(self) -> Result<(), ParameterError> {
        match self {
            Self::Count(0) => {
                let expected = "a whole number from 1 on, or \"attributes\"";
                Err(ParameterError::expected("rounds", expected, 0))
            }
            _ => Ok(()),
        }
    }

    /// At least 1.
    pub(crate) fn number(self, domain: &Domain) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Named(Named::Attributes) => domain.len().max(1),
        }
    }
}
