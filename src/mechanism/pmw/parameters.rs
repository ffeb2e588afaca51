use serde::Deserialize;

use crate::mechanism::{Parameter, ParameterError, parse};

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "alpha",
        default: "\"auto\"",
        meaning: "The target error, between 0 and 1, which is also the step size of an update; \
                  \"auto\" is the smallest value for which the accuracy is proved.",
    },
    Parameter {
        name: "beta",
        default: "0.05",
        meaning: "The failure probability of the accuracy guarantee.",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Parameters {
    pub(super) alpha: Alpha,
    pub(super) beta: f64,
}

/// alpha of the lecture.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "alpha: expected a number between 0 and 1, or \"auto\"")]
pub(super) enum Alpha {
    Fixed(f64),
    Named(Named),
}

/// Values of alpha that depend on the number of records, the queries and the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Named {
    Auto,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { alpha: Alpha::Named(Named::Auto), beta: 0.05 }
    }
}

impl Parameters {
    pub(super) fn parse(table: &toml::Table) -> Result<Self, ParameterError> {
        let parameters: Self = parse(table)?;
        match parameters.alpha {
            Alpha::Fixed(alpha) if !(alpha > 0.0 && alpha < 1.0) => {
                let expected = "a number between 0 and 1, or \"auto\"";
                return Err(ParameterError::expected("alpha", expected, alpha));
            }
            _ => {}
        }
        ParameterError::check_fraction("beta", parameters.beta)?;
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::support::checked_parameters::check_parameters;

    #[test]
    fn listed_defaults_are_the_defaults_and_bad_values_are_refused_by_name() {
        let refused = [
            ("alpha = 0.0", "alpha: expected a number between 0 and 1"),
            ("alpha = 1.0", "found 1"),
            ("alpha = -0.1", "found -0.1"),
            ("alpha = nan", "alpha: expected"),
            ("alpha = \"small\"", "alpha: expected"),
            ("beta = 1.0", "beta: expected"),
            ("eta = 0.1", "unknown field `eta`"),
        ];
        check_parameters(Parameters::parse, PARAMETERS, &refused);
    }
}
