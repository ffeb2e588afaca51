//! Arguments with the engine's names as possible values.

use std::error::Error;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use private_pgm::fit::Choice;

/// A parser of the names of `T`, which the help lists with their summaries.
pub(crate) fn one_of<T: Choice + FromStr<Err: Error + Send + Sync> + Send + Sync>()
-> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|one| PossibleValue::new(one.name()).help(one.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
