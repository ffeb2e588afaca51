use serde::{Deserialize, Serialize};
use toml::Spanned;

/// What is asked of the data: for each of some sets of attributes, the product of one query matrix
/// for each attribute. The sets are those of the data's schema unless others are given here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Workload {
    /// The sets of attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginals: Option<Spanned<Vec<AttributeNames>>>,
    /// All sets of so many attributes. Never together with `marginals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Spanned<u64>>,
    /// Sets drawn at random. Never together with `marginals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Spanned<RandomMarginals>>,
    /// The attributes that are asked by prefix; by default those of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Vec<Spanned<String>>>,
    /// Queries on the table of all attributes; each kind is a case of its own. Never together with the
    /// others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<Spanned<Vec<Spanned<Queries>>>>,
}

/// Queries on the cells of the table of all attributes, in the order of the table: for a histogram,
/// its bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queries {
    /// Every cell.
    Identity,
    /// Every range of neighbouring cells.
    AllRanges,
    /// Random ranges of neighbouring cells.
    Ranges(RandomRanges),
    /// Rows of random zeros and ones, so many.
    Predicates(u64),
    /// Rows of random signs, so many.
    Signs(u64),
}

/// Random ranges: so many for each size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { size = 16, count = 1000 }")]
pub struct RandomRanges {
    /// The size; when left out 2, 4, 8 and so on, up to a quarter of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How many of each size.
    pub count: u64,
}

/// A set of attributes, by name.
pub type AttributeNames = Spanned<Vec<Spanned<String>>>;

/// Sets of attributes to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { marginals = 15, size = 3, seed = 1 }")]
pub struct RandomMarginals {
    /// How many, all different.
    pub marginals: Spanned<u64>,
    /// The number of attributes of each.
    pub size: Spanned<u64>,
    /// Another seed draws other sets.
    #[serde(default)]
    pub seed: u64,
}
