use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use super::DataError;
use super::profile::{Profile, Verdict};
use super::schema::{Encoding, TableFacts, TableForm};
use super::source::Source;
use super::table::{Lines, decode};

/// Common texts for a missing value.
const MISSING_TEXTS: &[&str] = &["", "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"];

/// A schema drafted from a file.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The text of the schema, beginning with the warning; to be saved as `schema.toml` next to the
    /// file and edited.
    pub schema: String,
    /// The columns that did not become attributes, each with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Draft {
    /// A column with more distinct texts is taken for identifiers or free text (our choice).
    pub const MAX_VALUES: usize = 1000;

    /// The comment at the top of a draft.
    pub const WARNING: &str = "The bounds and the lists of values below were taken from the \
        data. They are not private: \
        they reveal extreme and rare values of single records. Before anything is published under \
        differential privacy, replace them by what is known without looking at the data.";

    /// The checks required before `draft = true` is removed.
    pub const CHECKS: &str = "that bounds and bins (low, high, below, bins), lists of values and \
        texts for missing values come from public knowledge, such as a questionnaire or a code \
        book, and not from the records";
}

/// Drafts a schema for a CSV file whose first line names the columns.
///
/// Integers get one bin each, or 100 bins when they span more; other numbers get 100 bins;
/// everything else becomes a list of values. Columns with more than [`Draft::MAX_VALUES`] distinct
/// texts are left out.
pub fn infer(file: &Path) -> Result<Draft, DataError> {
    let delimiter = guess_delimiter(Source::open(file)?)?;
    draft(Source::open(file)?, delimiter)
}

/// The most frequent delimiter of the first line.
fn guess_delimiter(mut source: Source) -> Result<u8, DataError> {
    let mut start = Vec::new();
    let read = source.by_ref().take(1 << 16).read_to_end(&mut start);
    read.map_err(|error| DataError::Io { file: source.name, error })?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    // In order of increasing preference: `max_by_key` returns the last maximum.
    Ok(*b"|\t;,".iter().max_by_key(|&&delimiter| count(delimiter)).unwrap_or(&b','))
}

fn draft(source: Source, delimiter: u8) -> Result<Draft, DataError> {
    let table = TableFacts {
        form: TableForm::Records,
        files: Vec::new(),
        columns: None,
        delimiter,
        encoding: Encoding::Utf8OrLatin1,
        ignore_lines: Vec::new(),
    };
    let mut lines = Lines::new(source, &table);
    let header = lines.read_header()?;
    let file = lines.file.clone();
    let no_header = |line, problem: &str| DataError::Header {
        file: file.clone(),
        line,
        problem: problem.into(),
    };
    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(no_header(lines.line(), "the first line has only numbers"));
    }
    if let Some(name) = header.iter().enumerate().find(|(i, name)| header[..*i].contains(name)) {
        let (column, line) = (name.1.clone(), lines.line());
        return Err(DataError::DuplicateColumn { file, line, column });
    }
    let mut profiles = vec![Profile::default(); header.len()];
    let mut missing_texts = BTreeSet::from([""]);
    let mut utf8 = true;
    while lines.advance()? {
        let (expected, found) = (header.len(), lines.record.len());
        if expected != found {
            return Err(DataError::FieldCount { file, line: lines.line(), expected, found });
        }
        for (field, profile) in lines.record.iter().zip(&mut profiles) {
            utf8 &= std::str::from_utf8(field).is_ok();
            // Utf8OrLatin1 decodes everything.
            let text = decode(field, table.encoding).unwrap_or_default();
            match MISSING_TEXTS.iter().find(|&&missing| missing == text.trim()) {
                Some(missing) => {
                    missing_texts.insert(missing);
                    profile.missing += 1;
                }
                None => profile.add(text.trim()),
            }
        }
    }
    let mut left_out = Vec::new();
    let mut attributes = String::new();
    for (name, profile) in header.into_iter().zip(profiles) {
        match profile.verdict() {
            Verdict::Attribute(_) if name.is_empty() => {
                left_out.push((name, "the column has no name".into()));
            }
            Verdict::Attribute(settings) => {
                let _ =
                    writeln!(attributes, "\n[[attribute]]\nname = {}\n{settings}", quote(&name));
            }
            Verdict::LeftOut(reason) => left_out.push((name, reason)),
        }
    }
    if attributes.is_empty() {
        return Err(no_header(1, "none of the columns can become an attribute"));
    }
    let mut schema = preamble(&file, delimiter, utf8, &missing_texts);
    for (column, reason) in &left_out {
        let _ = writeln!(schema, "# Left out: column {}, because {reason}.", quote(column));
    }
    schema.push_str(&attributes);
    Ok(Draft { schema, left_out })
}

/// The schema up to the attributes.
fn preamble(file: &str, delimiter: u8, utf8: bool, missing_texts: &BTreeSet<&str>) -> String {
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = file.split('.').next().unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let name = if name.is_empty() { "mine" } else { &name };
    let mut text = String::new();
    text.push_str(&comment(Draft::WARNING));
    let _ = writeln!(text, "\nname = {}\n", quote(name));
    let mark = format!(
        "A draft. Check {}. Then remove the next line by hand: `pgmbench synthesize` refuses a \
         draft.",
        Draft::CHECKS
    );
    let _ = writeln!(text, "{}draft = true\n\n[table]", comment(&mark));
    let _ = writeln!(text, "files = [{{ name = {} }}]", quote(file));
    if delimiter != b',' {
        let _ = writeln!(text, "delimiter = {}", quote(&char::from(delimiter).to_string()));
    }
    if !utf8 {
        let _ = writeln!(text, "encoding = \"utf-8-or-latin-1\"");
    }
    let missing: Vec<String> = missing_texts.iter().map(|text| quote(text)).collect();
    let _ = writeln!(text, "missing = [{}]", missing.join(", "));
    text
}

/// The text as TOML comments.
fn comment(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.len() + 1 + word.len() > COLUMNS) {
            lines.push("#".into());
        }
        if let Some(line) = lines.last_mut() {
            line.extend([" ", word]);
        }
    }
    lines.join("\n") + "\n"
}

/// The text as a TOML string on one line.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::schema::{AttributeKind, Missing, Schema};
    use super::super::table::read_table;
    use super::*;

    fn draft_of(content: &[u8]) -> Result<Draft, DataError> {
        let delimiter = guess_delimiter(Source::from_bytes("my data.csv", content)?)?;
        draft(Source::from_bytes("my data.csv", content)?, delimiter)
    }

    #[test]
    fn kinds_bounds_and_missing_values_are_recognised() {
        let draft = draft_of(
            b"id,age,height,city,zip\n\
              x1,30,1.75,Bath,01\n\
              x2,NA,1.6,\"Ely, UK\",02\n\
              x3,41,1.82,?,10\n",
        )
        .unwrap();
        assert!(draft.schema.starts_with("# The bounds"));
        let schema = Schema::parse(&draft.schema).unwrap();
        let unmarked = Schema::parse(&draft.schema.replace("draft = true", "")).unwrap();
        assert!(schema.draft && !unmarked.draft);
        assert_eq!(schema.name, "my_data");
        let [_, age, height, city, zip] = schema.attributes() else { panic!() };
        assert!(matches!(age.kind, AttributeKind::Numeric { low: 30.0, end: 42.0, bins: 12 }));
        assert_eq!(age.missing, Missing::Code);
        assert!(matches!(height.kind, AttributeKind::Numeric { low: 1.6, end: 1.83, bins: 100 }));
        assert_eq!(height.missing, Missing::Error);
        for (attribute, expected) in
            [(city, &["Bath", "Ely, UK"][..]), (zip, &["01", "02", "10"][..])]
        {
            let AttributeKind::Categorical { values, .. } = &attribute.kind else { panic!() };
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn identifiers_and_empty_columns_are_left_out() {
        let mut content = String::from("who;;nothing;x\n");
        (0..2000).for_each(|i| content.push_str(&format!("p{i};1;;{}\n", i % 3)));
        let draft = draft_of(content.as_bytes()).unwrap();
        let names: Vec<&str> = draft.left_out.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["who", "", "nothing"]);
        assert_eq!(Schema::parse(&draft.schema).unwrap().attributes().len(), 1);
    }

    #[test]
    fn files_without_a_header_are_refused() {
        assert!(matches!(draft_of(b"1,2\n3,4\n"), Err(DataError::Header { .. })));
        assert!(matches!(draft_of(b""), Err(DataError::Empty { .. })));
        assert!(matches!(draft_of(b"a,a\n3,4\n"), Err(DataError::DuplicateColumn { .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(content: Vec<u8>) {
            let _ = draft_of(&content);
        }

        #[test]
        fn a_draft_reads_the_file_that_it_was_made_from(
            rows in prop::collection::vec(
                ("\\PC{0,3}", -1e6..1e6f64, -300..300i32, any::<f64>()),
                1..20,
            ),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["text", "real", "integer", "any"]).unwrap();
            for (text, real, integer, any) in &rows {
                let [real, integer] = [real.to_string(), integer.to_string()];
                writer.write_record([text, &real, &integer, &format!("{any:e}")]).unwrap();
            }
            let content = writer.into_inner().unwrap();
            let schema = Schema::parse(&draft_of(&content).unwrap().schema).unwrap();
            let source = Source::from_bytes("f", &content).unwrap();
            let dataset = read_table(&schema, vec![source]).unwrap();
            prop_assert_eq!(dataset.len(), rows.len());
            prop_assert!(dataset.provenance().outside.is_empty());
        }
    }
}
