//! The description of a table: its files, their format, and the attribute of each column. A schema
//! is a TOML file, validated once when it is read ([`Schema::parse`]).
//!
//! `datasets/README.md` describes every setting.

mod attribute;
mod bins;
mod date;
mod encode;
mod error;
mod generator;
mod number;
mod raw;
mod toml_text;
mod validate;

pub(crate) use attribute::{AttributeKind, DatePart, Keep, MissingWhen, Outside};
pub use attribute::{AttributeSchema, Missing};
pub(crate) use bins::Bins;
pub(crate) use date::{Date, DatePattern, days};
pub use encode::CellProblem;
pub(in crate::data) use encode::Encoded;
pub use error::{AttributeProblem, SchemaError};
pub(crate) use generator::{Generator, Shape};
pub(crate) use number::{Affixes, NumberFormat, SEPARATORS};
pub(in crate::data) use toml_text::quote;

use serde::Deserialize;

use private_pgm::domain::{Clique, Domain};
use raw::RawSchema;
use validate::{resolve_workload, validate_attribute};

/// The most bins of an attribute. Our choice: a marginal of one attribute stays below 10 MB.
pub(crate) const MAX_BINS: u32 = 1_000_000;

#[derive(Clone, Debug)]
pub struct Schema {
    pub name: String,
    pub title: String,
    pub licence: Option<String>,
    pub source: Option<String>,
    pub citation: Option<String>,
    /// Whether bounds and values were taken from the records. `synthesize` refuses a draft.
    pub draft: bool,
    /// The budget file that every release is charged to, in the folder of the schema.
    pub budget: Option<String>,
    /// Whether the files contain a stand-in ([`Provenance::stand_in`](super::Provenance)).
    pub stand_in: bool,
    pub(crate) table: TableFacts,
    /// How to generate a stand-in while the files are missing.
    pub(crate) generator: Option<Generator>,
    pub expected: Expected,
    /// The queries of the ICML 2019 paper.
    pub workload: Option<TripleWorkload>,
    attributes: Vec<AttributeSchema>,
    domain: Domain,
}

/// The format of the files of a table.
#[derive(Clone, Debug)]
pub(crate) struct TableFacts {
    /// Their records are concatenated.
    pub(crate) files: Vec<FileFacts>,
    pub(crate) form: TableForm,
    /// For files without a header line.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) delimiter: u8,
    pub(crate) encoding: Encoding,
    /// Lines whose first field begins with one of these are ignored.
    pub(crate) ignore_lines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileFacts {
    /// In the folder of the schema.
    pub(crate) name: String,
    /// Of the content after decompression. A file with another checksum is refused.
    pub(crate) blake3: Option<String>,
    /// The same, for files whose publisher gives a SHA-256.
    pub(crate) sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TableForm {
    /// A line is a record.
    #[default]
    Records,
    /// A line is the number of records in a cell of the table over all attributes, the last of
    /// which varies fastest: a contingency table, or a histogram.
    Counts,
    /// A line is a record of as many values as it has. Values after those of the columns are left
    /// out; values that a line lacks are empty texts.
    Sequences,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// A field that is not UTF-8 is read as Latin-1, or as Windows-1252 where they differ.
    #[serde(rename = "utf-8-or-latin-1")]
    Utf8OrLatin1,
}

/// Facts about the data that are checked. All of them are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Another number of rows is an error.
    pub rows: Option<usize>,
    /// Another number of records, without the dropped rows, is an error.
    pub records: Option<usize>,
    /// [`super::Dataset::fingerprint`]. Another one means another edition of the data.
    pub fingerprint: Option<String>,
}

/// A workload of three-way marginals with prefix sums over some attributes (ICML 2019, section 6:
/// 15 triples per dataset).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TripleWorkload {
    /// In the order of the schema.
    pub triples: Vec<Clique>,
    /// The attributes with prefix sums.
    pub prefix: Clique,
    /// Whether these are the queries of a publication.
    pub published: bool,
    /// Where they come from, as a phrase for notes.
    pub origin: Option<String>,
}

impl TripleWorkload {
    /// One query per cell of each triple, because an attribute of n values has n prefixes.
    pub fn query_count(&self, domain: &Domain) -> usize {
        self.triples.iter().filter_map(|triple| domain.cells(triple)).sum()
    }
}

impl Schema {
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let raw: RawSchema =
            toml::from_str(text).map_err(|error| SchemaError::toml(text, &error))?;
        let is_name_char = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if raw.name.is_empty() || !raw.name.chars().all(is_name_char) {
            return Err(SchemaError::Name(raw.name));
        }
        if raw.attribute.is_empty() {
            return Err(SchemaError::NoAttributes);
        }
        if raw.table.files.is_empty() {
            return Err(SchemaError::NoFiles);
        }
        let delimiter = raw.table.delimiter.unwrap_or(',');
        if !delimiter.is_ascii() || matches!(delimiter, '"' | '\n' | '\r') {
            return Err(SchemaError::Delimiter(delimiter));
        }
        if raw.table.form == TableForm::Sequences && raw.table.columns.is_none() {
            return Err(SchemaError::SequencesWithoutColumns);
        }
        let missing_texts = raw.table.missing.unwrap_or_else(|| vec![String::new()]);
        let mut attributes = Vec::with_capacity(raw.attribute.len());
        for spanned in raw.attribute {
            let line = 1 + text[..spanned.span().start].matches('\n').count();
            let raw = spanned.into_inner();
            let name = raw.name.clone();
            let attribute = validate_attribute(raw, &missing_texts)
                .map_err(|problem| SchemaError::Attribute { line, name, problem })?;
            attributes.push(attribute);
        }
        let domain = Domain::new(attributes.iter().map(|a| (a.name.as_str(), a.size())))?;
        let generator = raw.generator;
        if let Some(generator) = &generator {
            generator.check(&domain, &raw.expected)?;
        }
        let workload = raw.workload.map(|raw| resolve_workload(raw, &domain)).transpose()?;
        Ok(Self {
            title: raw.title.unwrap_or_else(|| raw.name.clone()),
            name: raw.name,
            licence: raw.licence,
            source: raw.source,
            citation: raw.citation,
            draft: raw.draft,
            budget: raw.budget,
            stand_in: raw.stand_in,
            table: TableFacts {
                files: raw.table.files,
                form: raw.table.form,
                columns: raw.table.columns,
                delimiter: delimiter as u8,
                encoding: raw.table.encoding,
                ignore_lines: raw.table.ignore_lines,
            },
            generator,
            expected: raw.expected,
            workload,
            attributes,
            domain,
        })
    }

    /// In declared order.
    pub fn attributes(&self) -> &[AttributeSchema] {
        &self.attributes
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The domain with the meaning of its values, for problem and model files.
    pub fn labelled_domain(&self) -> Domain {
        self.attributes.iter().fold(self.domain.clone(), |domain, attribute| {
            let labels = attribute.domain_labels();
            match labels.and_then(|labels| domain.clone().with_labels(&attribute.name, labels)) {
                Ok(labelled) => labelled,
                Err(_) => domain,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schema(attribute: &str) -> Result<Schema, SchemaError> {
        Schema::parse(&format!(
            "name = 'mine'\n[table]\nfiles = [{{ name = 'mine.csv' }}]\n[[attribute]]\nname = 'x'\n\
             {attribute}"
        ))
    }

    fn problem(attribute: &str) -> AttributeProblem {
        match schema(attribute).unwrap_err() {
            SchemaError::Attribute { line: 4, name, problem } if name == "x" => problem,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn high_is_the_largest_integer_and_below_the_open_end() {
        let size = |text| schema(text).unwrap().attributes()[0].size();
        assert_eq!(size("kind = 'numeric'\nbins = 85\nlow = 16\nhigh = 100"), 85);
        assert_eq!(size("kind = 'numeric'\nbins = 10\nlow = 0\nbelow = 0.5\nmissing = 'code'"), 11);
    }

    #[test]
    fn contradictory_attributes_are_refused() {
        use AttributeProblem::*;
        let numeric = "kind = 'numeric'\nbins = 2\nlow = 0\nhigh = 1\n";
        let listed = "kind = 'categorical'\nvalues = ['a', 'b']\n";
        assert!(matches!(problem("kind = 'numeric'\nbins = 2\nlow = 0"), Needs { .. }));
        assert!(matches!(problem("kind = 'categorical'"), Needs { .. }));
        assert!(matches!(problem(&format!("{numeric}values = ['a']")), NotForKind { .. }));
        assert!(matches!(problem(&format!("{listed}low = 3")), NotForKind { .. }));
        assert!(matches!(problem(&format!("{listed}outside = 'clamp'")), NotForKind { .. }));
        assert_eq!(problem("kind = 'numeric'\nbins = 0\nlow = 0\nhigh = 1"), Bins(0));
        assert_eq!(
            problem("kind = 'numeric'\nbins = 3\nlow = 5\nhigh = 4"),
            Bounds { low: 5.0, end: 5.0 }
        );
        assert!(matches!(
            problem("kind = 'numeric'\nbins = 3\nlow = nan\nhigh = 4"),
            Bounds { .. }
        ));
        assert_eq!(
            problem("kind = 'categorical'\nvalues = ['a', 'a']"),
            DuplicateValue("a".into())
        );
        assert_eq!(
            problem(&format!("{listed}spellings = [['a', 'b']]")),
            DuplicateValue("b".into())
        );
        assert_eq!(
            problem(&format!("{listed}spellings = [['c', 'd']]")),
            SpellingOfNoValue("c".into())
        );
        assert_eq!(problem(&format!("{numeric}width = 2")), Both { one: "bins", other: "width" });
        assert_eq!(
            problem("kind = 'numeric'\nedges = [0, 1]\nlow = 0"),
            Both { one: "edges", other: "low" }
        );
        assert_eq!(problem("kind = 'numeric'\nedges = [0, 2, 1]"), Edges(2));
        assert_eq!(
            problem(&format!("{numeric}labels = ['a', 'b', 'c']")),
            Labels { labels: 3, bins: 2 }
        );
        assert_eq!(problem(&format!("{numeric}spacing = 'log'")), LogFrom(0.0));
        assert!(matches!(problem(&format!("{numeric}number = {{ decimal = ';' }}")), Number(_)));
        assert!(matches!(
            problem(&format!("{listed}number = {{ digits = 2 }}")),
            NotForKind { .. }
        ));
        assert!(matches!(
            problem("kind = 'date'\npart = 'month'\ndate = 'YY-MM-DD'"),
            DatePattern(_)
        ));
        assert!(matches!(problem("kind = 'date'\ndate = 'YYYY-MM-DD'"), Needs { .. }));
        assert!(matches!(
            problem("kind = 'date'\npart = 'month'\ndate = 'YYYY-MM-DD'\nlow = 3"),
            NotForKind { .. }
        ));
        assert_eq!(
            problem(&format!("{listed}other = 'c'\noutside = 'missing'\nmissing = 'code'")),
            OtherAndMissing
        );
        assert_eq!(problem(&format!("{listed}outside = 'missing'")), OutsideMissing);
        assert_eq!(
            problem(&format!("{listed}missing_when = {{ column = 'y', is = '0' }}")),
            MissingWhen
        );
    }

    #[test]
    fn unknown_settings_are_named_with_their_line() {
        let message = schema("kind = 'numeric'\nbinz = 3").unwrap_err().to_string();
        assert!(
            message.starts_with("line 7, column 1: there is no setting `binz` here"),
            "{message}"
        );
        assert!(message.contains("did you mean `bins`?"), "{message}");
    }

    #[test]
    fn values_of_the_wrong_type_are_reported_on_one_line() {
        let message = schema("kind = 'numeric'\nbins = 'many'").unwrap_err().to_string();
        let expected =
            "line 7, column 8: expected a whole number that is not negative, but found \"many\"";
        assert_eq!(message, expected);
        let message = schema("kind = 'numeric'\nbins = = 3").unwrap_err().to_string();
        assert!(message.starts_with("line 7, column ") && !message.contains('\n'), "{message}");
    }

    #[test]
    fn a_workload_names_attributes_of_the_schema() {
        let attribute = |name| {
            format!("[[attribute]]\nname = '{name}'\nkind = 'categorical'\nvalues = ['0', '1']\n")
        };
        let with = |workload: &str| {
            Schema::parse(&format!(
                "name = 'mine'\n[table]\nfiles = [{{ name = 'f' }}]\n{}{}{}[workload]\n{workload}",
                attribute("a"),
                attribute("b"),
                attribute("c"),
            ))
        };
        let schema = with("prefix = ['b']\ntriples = [['c', 'a', 'b']]").unwrap();
        let workload = schema.workload.as_ref().unwrap();
        assert_eq!(workload.triples, [schema.domain().everything()]);
        assert_eq!(workload.query_count(schema.domain()), 8);
        assert!(matches!(
            with("prefix = ['d']\ntriples = []"),
            Err(SchemaError::UnknownAttribute(name)) if name == "d"
        ));
        assert!(matches!(
            with("prefix = []\ntriples = [['a', 'b', 'a']]"),
            Err(SchemaError::NotATriple(_))
        ));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Schema::parse(&text);
        }

        #[test]
        fn no_attribute_panics(bins: u32, low: f64, high: f64) {
            let bounds = format!("low = {low:?}\nhigh = {high:?}");
            let _ = schema(&format!("kind = 'numeric'\nbins = {bins}\n{bounds}"));
        }
    }
}
