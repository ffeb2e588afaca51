use serde::Deserialize;

use crate::mechanism::support::round_count::{ROUNDS, RoundCount};
use crate::mechanism::{Parameter, ParameterError, parse};

pub(super) static PARAMETERS: &[Parameter] = &[ROUNDS];

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Parameters {
    pub(super) rounds: RoundCount,
}

impl Parameters {
    pub(super) fn parse(table: &toml::Table) -> Result<Self, ParameterError> {
        if table.contains_key("measure") {
            let message = "measure: MWEM measures single queries; whole marginals are measured by \
                           the mechanism \"mwem-pgm\"";
            return Err(ParameterError { message: message.into() });
        }
        let parameters: Self = parse(table)?;
        parameters.rounds.check()?;
        Ok(parameters)
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
            ("measure = \"marginal\"", "mwem-pgm"),
            ("round = 3", "unknown field `round`"),
        ] {
            let message = parsed(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
