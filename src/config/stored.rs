//! Experiments as manifests hold them: an experiment file in another format, checked like one.

use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use super::error::ConfigError;
use super::experiment::Experiment;
use super::source::Source;

impl<'de> Deserialize<'de> for Experiment {
    /// A manifest may come from a stranger, so it is trusted no more than a file. Places are those
    /// of a file that means the same, and of no use.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let settings = without_nulls(Value::deserialize(deserializer)?);
        let text = toml::to_string(&settings).map_err(D::Error::custom)?;
        let source = Source { path: PathBuf::new(), text };
        source.parse_stored().map_err(|error| match error {
            ConfigError::Invalid(mistake) => D::Error::custom(mistake.message),
            other => D::Error::custom(other),
        })
    }
}

/// TOML has no null: what is not there is left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
