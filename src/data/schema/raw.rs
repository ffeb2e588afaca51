//! A schema as typed: the shape of `schema.toml`, before anything is checked.

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchema {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) licence: Option<String>,
    pub(super) source: Option<String>,
    pub(super) citation: Option<String>,
    #[serde(default)]
    pub(super) draft: bool,
    pub(super) budget: Option<String>,
    #[serde(default)]
    pub(super) stand_in: bool,
    pub(super) table: RawTable,
    pub(super) generator: Option<super::Generator>,
    #[serde(default)]
    pub(super) expected: super::Expected,
    pub(super) workload: Option<RawWorkload>,
    #[serde(default)]
    pub(super) attribute: Vec<Spanned<RawAttribute>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    pub(super) files: Vec<super::FileFacts>,
    #[serde(default)]
    pub(super) form: super::TableForm,
    pub(super) columns: Option<Vec<String>>,
    pub(super) delimiter: Option<char>,
    #[serde(default)]
    pub(super) encoding: super::Encoding,
    pub(super) missing: Option<Vec<String>>,
    #[serde(default)]
    pub(super) ignore_lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    #[serde(default)]
    pub(super) published: bool,
    pub(super) origin: Option<String>,
    pub(super) prefix: Vec<String>,
    pub(super) triples: Vec<[String; 3]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAttribute {
    pub(super) name: String,
    pub(super) column: Option<String>,
    pub(super) kind: RawKind,
    pub(super) bins: Option<u32>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) below: Option<f64>,
    pub(super) width: Option<f64>,
    pub(super) edges: Option<Vec<f64>>,
    pub(super) spacing: Option<Spacing>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) number: Option<super::NumberFormat>,
    pub(super) date: Option<String>,
    pub(super) part: Option<RawPart>,
    pub(super) values: Option<Vec<String>>,
    pub(super) other: Option<String>,
    pub(super) spellings: Option<Vec<Vec<String>>>,
    #[serde(default)]
    pub(super) missing: super::Missing,
    #[serde(default)]
    pub(super) outside: super::Outside,
    pub(super) missing_texts: Option<Vec<String>>,
    pub(super) missing_when: Option<super::MissingWhen>,
    pub(super) strip_suffix: Option<String>,
    #[serde(default)]
    pub(super) remove_spaces: bool,
    pub(super) keep: Option<super::Keep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawKind {
    Numeric,
    Date,
    Categorical,
}

/// Of the edges of bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Spacing {
    Equal,
    /// Equal ratios.
    Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawPart {
    Year,
    Month,
    Weekday,
}
