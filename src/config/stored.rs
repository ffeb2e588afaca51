//! Experiments in manifests: an experiment file as JSON, with the same validation.

use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use super::error::ConfigError;
use super::experiment::Experiment;
use super::source::Source;

impl<'de> Deserialize<'de> for Experiment {
    /// A manifest is untrusted input and is validated like a file. The spans are those of an
    /// equivalent TOML text, and have no meaning to a user.
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

/// TOML has no null: absent values are omitted.
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
