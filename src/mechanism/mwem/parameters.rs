use serde::Deserialize;

use super::scores::Measure;
use crate::mechanism::{Parameter, ParameterError, parse};
use private_pgm::domain::Domain;

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "rounds",
        default: "\"attributes\"",
        meaning: "Number of rounds; \"attributes\" means one per attribute.",
    },
    Parameter {
        name: "measure",
        default: "\"query\"",
        meaning: "What a round measures: one `query` of the workload, or a whole `marginal`.",
    },
    Parameter {
        name: "max_cells",
        default: "1000000",
        meaning: "With whole marginals: the most cells of their junction tree. Marginals that \
                  would make it larger are not selected.",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Parameters {
    pub(super) rounds: Rounds,
    pub(super) measure: Measure,
    pub(super) max_cells: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "rounds: expected a whole number from 1 on, or \"attributes\"")]
pub(super) enum Rounds {
    Count(usize),
    Named(Named),
}

/// Numbers of rounds that depend on the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Named {
    Attributes,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rounds: Rounds::Named(Named::Attributes),
            measure: Measure::default(),
            max_cells: 1_000_000,
        }
    }
}

impl Parameters {
    pub(super) fn parse(table: &toml::Table) -> Result<Self, ParameterError> {
        let parameters: Self = parse(table)?;
        let refuse = |message: &str| Err(ParameterError { message: message.into() });
        match parameters {
            Self { rounds: Rounds::Count(0), .. } => {
                refuse("rounds: expected a whole number from 1 on, or \"attributes\", found 0")
            }
            Self { max_cells: 0, .. } => refuse("max_cells: expected at least 1, found 0"),
            _ => Ok(parameters),
        }
    }
}

impl Rounds {
    /// At least 1.
    pub(super) fn number(self, domain: &Domain) -> usize {
        match self {
            Rounds::Count(count) => count,
            Rounds::Named(Named::Attributes) => domain.len().max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Parameters, String> {
        Parameters::parse(&text.parse().unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn listed_defaults_are_the_defaults() {
        let lines = PARAMETERS.iter().map(|p| format!("{} = {}\n", p.name, p.default));
        assert_eq!(parsed(&lines.collect::<String>()), Ok(Parameters::default()));
        assert_eq!(parsed(""), Ok(Parameters::default()));
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        for (text, part) in [
            ("rounds = 0", "rounds: expected"),
            ("rounds = -3", "rounds: expected"),
            ("rounds = \"many\"", "rounds: expected"),
            ("measure = \"cell\"", "`query` or `marginal`"),
            ("max_cells = 0", "max_cells: expected at least 1"),
            ("round = 3", "unknown field `round`"),
        ] {
            let message = parsed(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
