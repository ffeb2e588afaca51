use thiserror::Error;

use super::bins::BinsError;
use crate::did_you_mean::in_words;
use private_pgm::domain::DomainError;

#[derive(Debug, Error)]
pub enum SchemaError {
    #[error("line {line}, column {column}: {problem}")]
    Toml {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The error and what is expected, on one line.
        problem: String,
    },
    #[error("not UTF-8 text; a schema is a TOML file")]
    NotText,
    #[error("no attributes; a schema needs at least one [[attribute]]")]
    NoAttributes,
    #[error("table.files is empty; name the file, or files, with the data")]
    NoFiles,
    #[error("table.delimiter is '{0}'; expected a single ASCII character such as ',' or ';'")]
    Delimiter(char),
    #[error("name = '{0}'; expected letters, digits, '-' and '_'")]
    Name(String),
    #[error(
        "table.form is \"sequences\", but table.columns is missing; name the values that count"
    )]
    SequencesWithoutColumns,
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The settings of one attribute contradict each other.
    #[error("line {line}, attribute '{name}': {problem}")]
    Attribute {
        /// The first line of its table, from 1.
        line: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        problem: AttributeProblem,
    },
    #[error("workload: there is no attribute '{0}'")]
    UnknownAttribute(String),
    #[error("workload: the triple {0:?} names an attribute twice")]
    NotATriple([String; 3]),
    /// No histogram satisfies the settings of the generator.
    #[error("generator: {0}")]
    Generator(&'static str),
}

impl SchemaError {
    /// With the same wording as errors in experiment files.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (message, help) = in_words(error.message());
        let problem = [Some(message), help].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Self::Toml {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
            // The parser's messages may have several lines and quote the file.
            problem: problem.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

#[derive(Debug, Error, PartialEq)]
pub enum AttributeProblem {
    #[error("{kind} attributes need {needs}")]
    Needs {
        /// Numeric or categorical.
        kind: &'static str,
        needs: &'static str,
    },
    #[error("'{setting}' is not for {kind} attributes")]
    NotForKind {
        /// Numeric or categorical.
        kind: &'static str,
        setting: &'static str,
    },
    #[error("bins = {0}; the number of bins is between 1 and {max}", max = super::MAX_BINS)]
    Bins(u32),
    #[error("the bins cover [{low}, {end}); expected an interval of finite, positive length")]
    Bounds { low: f64, end: f64 },
    #[error("width = {0}; the width of bins is a positive number")]
    Width(f64),
    #[error("edges: at least two are needed, found {0}")]
    TooFewEdges(usize),
    #[error("edges[{0}]: the edges of bins are finite and ascend")]
    Edges(usize),
    #[error(
        "low = {0}; log-spaced bins begin above 0; for data with zeros, write edges = [0, 1, ...]"
    )]
    LogFrom(f64),
    #[error("'{one}' and '{other}' both describe the bins; remove one of them")]
    Both { one: &'static str, other: &'static str },
    #[error("labels: {labels} for {bins} bins; expected one per bin")]
    Labels { labels: usize, bins: usize },
    #[error("number: {0}")]
    Number(&'static str),
    #[error(
        "date = \"{0}\"; expected a pattern with YYYY, MM (or MMM for names) and DD, and hh, mm \
         and ss for a time of day, such as \"DD.MM.YYYY\" or \"YYYY-MM-DD hh:mm:ss\""
    )]
    DatePattern(String),
    #[error(
        "'other' takes all values that are not listed, so that outside = \"missing\" has no \
         effect; remove one of them"
    )]
    OtherAndMissing,
    /// A value or a spelling has two codes.
    #[error("'{0}' is listed twice")]
    DuplicateValue(String),
    /// The first entry of a list of spellings is no value.
    #[error("spellings of '{0}', which is not among the values")]
    SpellingOfNoValue(String),
    #[error("outside = \"missing\" needs missing = \"code\" or \"drop\"")]
    OutsideMissing,
    #[error("missing_when needs missing = \"code\" or \"drop\"")]
    MissingWhen,
}

impl From<BinsError> for AttributeProblem {
    fn from(error: BinsError) -> Self {
        match error {
            BinsError::Count(bins) => Self::Bins(bins),
            BinsError::Bounds { low, end } => Self::Bounds { low, end },
            BinsError::Width(width) => Self::Width(width),
            BinsError::NotAscending(edge) => Self::Edges(edge),
            BinsError::TooFewEdges(edges) => Self::TooFewEdges(edges),
            BinsError::NotPositive(low) => Self::LogFrom(low),
        }
    }
}
