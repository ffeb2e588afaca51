//! What the parameters of every mechanism keep, for tests.

use std::fmt::Debug;

use crate::mechanism::{Parameter, ParameterError};

/// Checks that the listed defaults are those of the type, and that each of the `refused` texts has
/// a message with the part next to it.
pub(crate) fn check_parameters<P: Debug + Default + PartialEq>(
    parse: fn(&toml::Table) -> Result<P, ParameterError>,
    listed: &[Parameter],
    refused: &[(&str, &str)],
) {
    let parsed = |text: &str| parse(&text.parse().unwrap()).map_err(|error| error.message);
    let lines = listed.iter().map(|p| format!("{} = {}\n", p.name, p.default));
    assert_eq!(parsed(&lines.collect::<String>()), Ok(P::default()));
    assert_eq!(parsed(""), Ok(P::default()));
    for (text, part) in refused {
        let message = parsed(text).unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
}
