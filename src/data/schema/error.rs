use thiserror::Error;

use crate::wording::in_words;
use private_pgm::domain::DomainError;

/// What is wrong with a schema.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// Not TOML, or a key or a type that schemas do not have.
    #[error("line {line}, column {column}: {problem}")]
    Toml {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong, and what would be right, on one line.
        problem: String,
    },
    /// The file is not text.
    #[error("not UTF-8 text; a schema is a TOML file")]
    NotText,
    /// A schema without attributes describes no records.
    #[error("no attributes; a schema needs at least one [[attribute]]")]
    NoAttributes,
    /// A schema without files cannot be read or imported.
    #[error("table.files is empty; name the file, or files, with the data")]
    NoFiles,
    /// A delimiter that is not one byte.
    #[error("table.delimiter is '{0}'; it has to be a single ASCII character such as ',' or ';'")]
    Delimiter(char),
    /// A name that could not be a folder.
    #[error("name = '{0}'; a name consists of letters, digits, '-' and '_'")]
    Name(String),
    /// Two attributes share a name.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// One attribute is at odds with itself.
    #[error("line {line}, attribute '{name}': {problem}")]
    Attribute {
        /// Where its table begins in the schema, counted from 1.
        line: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        problem: AttributeProblem,
    },
    /// The workload names an attribute that the schema does not have.
    #[error("workload: there is no attribute '{0}'")]
    UnknownAttribute(String),
    /// A triple with an attribute in it twice.
    #[error("workload: the triple {0:?} names an attribute twice")]
    NotATriple([String; 3]),
    /// There are no histograms as the generator should make them.
    #[error("generator: {0}")]
    Generator(&'static str),
}

impl SchemaError {
    /// In the words that experiment files are spoken of.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (message, help) = in_words(error.message());
        let problem = [Some(message), help].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Self::Toml {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
            // The parser has messages of several lines, and some quote the file.
            problem: problem.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

/// What is wrong with one attribute of a schema.
#[derive(Debug, Error, PartialEq)]
pub enum AttributeProblem {
    /// A setting that its kind needs is not there.
    #[error("{kind} attributes need {needs}")]
    Needs {
        /// Numeric or categorical.
        kind: &'static str,
        /// The setting.
        needs: &'static str,
    },
    /// A setting that belongs to the other kind.
    #[error("'{setting}' is not for {kind} attributes")]
    NotForKind {
        /// Numeric or categorical.
        kind: &'static str,
        /// The setting.
        setting: &'static str,
    },
    /// No bins, or more than any marginal could use.
    #[error("bins = {0}; the number of bins is between 1 and {max}", max = super::MAX_BINS)]
    Bins(u32),
    /// The bins would have no width.
    #[error("the bins would cover [{low}, {end}), which is not an interval of finite length")]
    Bounds {
        /// The left end.
        low: f64,
        /// The right end.
        end: f64,
    },
    /// A value, or a spelling of one, stands for two codes.
    #[error("'{0}' is listed twice")]
    DuplicateValue(String),
    /// A list of spellings that does not begin with a value.
    #[error("spellings of '{0}', which is not among the values")]
    SpellingOfNoValue(String),
    /// Values outside are to be missing, but nothing may be missing.
    #[error("outside = \"missing\" needs missing = \"code\" or \"drop\"")]
    OutsideMissing,
    /// Some records are to be missing, but nothing may be missing.
    #[error("missing_when needs missing = \"code\" or \"drop\"")]
    MissingWhen,
}
