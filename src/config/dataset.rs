use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Spanned;

/// Data: a name alone is one of those that `pgmbench datasets list` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dataset {
    /// The name.
    pub name: Spanned<String>,
    /// The schema of the user's own data, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Spanned<PathBuf>>,
    /// For histograms: so many bins, neighbours of the original ones taken together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Spanned<u64>>,
    /// Records that are drawn here, in place of data by that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Spanned<Chain>>,
}

/// Binary records drawn from a Markov chain: the first attribute is 1 with probability `ones`, and each
/// further one repeats the one before it, except with probability `flips`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { attributes = 10, records = 1000 }")]
pub struct Chain {
    /// Their number.
    pub attributes: u64,
    /// Their number.
    pub records: u64,
    /// How likely the first attribute is 1; 0.1 if left out.
    #[serde(default = "Chain::default_ones")]
    pub ones: f64,
    /// How likely an attribute differs from the one before it; 0.1 if left out.
    #[serde(default = "Chain::default_flips")]
    pub flips: f64,
    /// Another seed draws other records. Fewer records with the same seed are the first of more.
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
