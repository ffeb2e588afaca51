use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::form;

/// The queries: for each set of attributes, the Kronecker product of one query matrix per
/// attribute. Default: the sets of the data's schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Workload {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginals: Option<Spanned<Vec<AttributeNames>>>,
    /// All sets of this many attributes. Excludes `marginals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Spanned<u64>>,
    /// Restricts `every` to sets with this attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Spanned<String>>,
    /// Sets drawn at random. Excludes `marginals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "form::spanned_table")]
    pub random: Option<Spanned<RandomMarginals>>,
    /// The attributes with prefix queries. Default: those of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Vec<Spanned<String>>>,
    /// Whether these are the queries of a publication. Default: what the schema says of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<bool>,
    /// Where the queries come from, as a phrase for notes. Default: what the schema says of its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Queries on the contingency table of all attributes; each kind is a separate case. Excludes
    /// the other keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<Spanned<Vec<Spanned<Queries>>>>,
}

/// Queries on the cells of the contingency table of all attributes, in row-major order: for a
/// histogram, its bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queries {
    Identity,
    /// Every range of consecutive cells.
    AllRanges,
    /// Random ranges of consecutive cells.
    Ranges(RandomRanges),
    /// The number of rows, each of random zeros and ones.
    Predicates(u64),
    /// The number of rows, each of random signs.
    Signs(u64),
}

/// Random ranges: `count` of each size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { size = 16, count = 1000 }")]
pub struct RandomRanges {
    /// In cells. Default: 2, 4, 8, ..., up to a quarter of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    pub count: u64,
}

/// A set of attributes, by name.
pub type AttributeNames = Spanned<Vec<Spanned<String>>>;

/// Sets of attributes, drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { marginals = 15, size = 3, seed = 1 }")]
pub struct RandomMarginals {
    /// The number of sets, which are distinct.
    pub marginals: Spanned<u64>,
    /// Attributes per set.
    pub size: Spanned<u64>,
    #[serde(default)]
    pub seed: u64,
    /// Whether some attributes are drawn far more often than others. Default: no.
    #[serde(default)]
    pub skewed: bool,
    /// Independent draws, each of which is a case. Default: a single draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<Spanned<u64>>,
    /// Only draws whose number of queries is within this factor of that of the schema's workload;
    /// all such draws are equally likely. Excludes `skewed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_within: Option<Spanned<f64>>,
}
