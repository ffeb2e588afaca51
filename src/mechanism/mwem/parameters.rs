use serde::Deserialize;

use crate::mechanism::support::round_count::RoundCount;
use crate::mechanism::{Parameter, ParameterError, parse};

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "rounds",
        default: "\"auto\"",
        meaning: "Number of rounds; \"attributes\" means one per attribute. \"auto\" is the same, \
                  or with damped updates the number with the least error on a public table.",
    },
    Parameter {
        name: "updates",
        default: "\"converged\"",
        meaning: "\"converged\" fits all answers after each round; \"damped\" is the original: \
                  passes of small steps, and the average over the rounds as the own estimate.",
    },
    Parameter {
        name: "passes",
        default: "\"auto\"",
        meaning: "Damped updates: passes over all answers after each round; \"auto\" for the \
                  number with the least error on a public table.",
    },
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Parameters {
    pub(super) rounds: Auto<RoundCount>,
    pub(super) updates: Updates,
    pub(super) passes: Auto<usize>,
}

/// How the estimate between rounds follows from the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Updates {
    /// The estimator of the task, on all answers.
    #[default]
    Converged,
    /// Those of the original.
    Damped,
}

/// A value, or the word "auto".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a whole number from 1 on, \"attributes\" or \"auto\"")]
pub(super) enum Auto<T> {
    Given(T),
    Word(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Word {
    Auto,
}

impl<T> Default for Auto<T> {
    fn default() -> Self {
        Self::Word(Word::Auto)
    }
}

impl<T: Copy> Auto<T> {
    pub(super) fn given(self) -> Option<T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Word(Word::Auto) => None,
        }
    }
}

impl Parameters {
    pub(super) fn parse(table: &toml::Table) -> Result<Self, ParameterError> {
        if table.contains_key("measure") {
            let message = "measure: MWEM measures single queries; whole marginals are measured by \
                           the mechanism \"mwem-pgm\"";
            return Err(ParameterError { message: message.into() });
        }
        // The messages about these values do not have the name.
        for (name, is_good) in [
            (
                "rounds",
                (|value: toml::Value| value.try_into::<Auto<RoundCount>>().is_ok()) as IsGood,
            ),
            ("passes", |value: toml::Value| value.try_into::<Auto<usize>>().is_ok()),
        ] {
            if let Some(value) = table.get(name).filter(|value| !is_good((*value).clone())) {
                let or = if name == "rounds" { ", \"attributes\"" } else { "" };
                let expected = format!("a whole number from 1 on{or} or \"auto\"");
                return Err(ParameterError::expected(name, &expected, value));
            }
        }
        let parameters: Self = parse(table)?;
        parameters.rounds.given().map_or(Ok(()), RoundCount::check)?;
        if let Some(passes) = parameters.passes.given() {
            ParameterError::check_count("passes", passes as u64)?;
        }
        Ok(parameters)
    }
}

type IsGood = fn(toml::Value) -> bool;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::support::checked_parameters::check_parameters;

    #[test]
    fn listed_defaults_are_the_defaults_and_bad_values_are_refused_by_name() {
        let refused = [
            ("rounds = 0", "rounds: expected"),
            ("rounds = -3", "rounds: expected"),
            ("rounds = \"many\"", "rounds: expected"),
            ("passes = 0", "passes: expected"),
            ("passes = \"attributes\"", "passes: expected"),
            ("updates = \"slow\"", "unknown variant `slow`"),
            ("measure = \"marginal\"", "mwem-pgm"),
            ("round = 3", "unknown field `round`"),
        ];
        check_parameters(Parameters::parse, PARAMETERS, &refused);
    }
}
