//! Arguments that are one of the engine's names.

use std::error::Error;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use private_pgm::fit::Choice;

/// The names of the engine, with what they mean, as the help shows them.
pub(crate) fn one_of<T: Choice + FromStr<Err: Error + Send + Sync> + Send + Sync>()
-> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|one| PossibleValue::new(one.name()).help(one.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
