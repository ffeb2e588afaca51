use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A data set. A name alone refers to one that `pgmbench datasets list` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dataset {
    pub name: Spanned<String>,
    /// Its name in the results. Default: `name`; data that is listed twice needs two labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Spanned<String>>,
    /// The schema of the user's own data, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Spanned<PathBuf>>,
    /// For histograms: the number of bins after merging adjacent ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Spanned<u64>>,
    /// Attributes that are removed before anything else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Spanned<String>>,
    /// The attributes that are kept. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Spanned<Vec<Spanned<String>>>>,
    /// Of those, the first ones of the schema that are kept. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Spanned<u64>>,
    /// The size of a random subsample. Default: all records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Spanned<u64>>,
    /// Generates records in place of data with that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Spanned<Chain>>,
    /// The numbers of values of attributes, in place of data: for predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Spanned<Vec<u64>>>,
}

impl Dataset {
    /// All of the data with this name.
    pub(super) fn named(name: Spanned<String>) -> Self {
        let without = Vec::new();
        Self {
            name,
            label: None,
            schema: None,
            bins: None,
            without,
            only: None,
            attributes: None,
            records: None,
            chain: None,
            sizes: None,
        }
    }

    /// Its name in the results.
    pub fn label(&self) -> &Spanned<String> {
        self.label.as_ref().unwrap_or(&self.name)
    }
}

/// Binary records drawn from a Markov chain: the first attribute is 1 with probability `ones`, and
/// each further one differs from its predecessor with probability `flips`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { attributes = 10, records = 1000 }")]
pub struct Chain {
    pub attributes: u64,
    pub records: u64,
    /// P(first attribute = 1). Default: 0.1.
    #[serde(default = "Chain::default_ones")]
    pub ones: f64,
    /// P(attribute differs from its predecessor). Default: 0.1.
    #[serde(default = "Chain::default_flips")]
    pub flips: f64,
    /// With the same seed, fewer records are a prefix of more.
    #[serde(default)]
    pub seed: u64,
}

impl Chain {
    fn default_ones() -> f64 {
        0.1
    }

    fn default_flips() -> f64 {
        0.1
    }
}
