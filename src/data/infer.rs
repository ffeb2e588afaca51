mod preamble;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use super::DataError;
use super::lines::{Lines, decode};
use super::profile::{Profile, Proposal, Verdict};
use super::schema::{Encoding, TableFacts, TableForm, quote};
use super::source::Source;
use preamble::preamble;

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
    /// A column with more distinct texts is left out (our choice).
    pub const MAX_VALUES: usize = 100;

    /// The comment at the top of a draft.
    pub const WARNING: &str = "The bounds and the lists of values below were taken from the \
        data. They are not private: \
        they reveal extreme and rare values of single records. Before anything is published under \
        differential privacy, replace them by what is known without looking at the data.";

    /// The checks required before `draft = true` is removed.
    pub const CHECKS: &str = "that bounds and bins (low, high, below, width), lists of values and \
        texts for missing values come from public knowledge, such as a questionnaire or a code \
        book, and not from the records";
}

/// Drafts a schema for a CSV file whose first line names the columns.
///
/// Recognises numbers with separators and units, and dates. Integers get one bin each, or at most
/// 100 bins of a round width; other numbers get at most 100 bins of a round width; dates become
/// years. Everything else becomes a list of values, where texts that differ in capitals are one
/// value. Identifiers and columns with more than [`Draft::MAX_VALUES`] distinct texts are left out,
/// with a proposal as a comment.
pub fn infer(file: &Path) -> Result<Draft, DataError> {
    draft(Source::open(file)?, FileName::Known)
}

/// Like [`infer`], from a stream, such as the standard input. The draft has a comment where the
/// name of the file belongs.
pub fn infer_stream(name: &str, stream: impl Read) -> Result<Draft, DataError> {
    draft(Source::from_stream(name, stream)?, FileName::Unknown)
}

/// Whether the name of a source is that of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileName {
    Known,
    Unknown,
}

/// The most frequent delimiter of the first line.
pub(super) fn guess_delimiter(source: &mut Source) -> Result<u8, DataError> {
    let start = source.peek(1 << 16)?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    // In order of increasing preference: `max_by_key` returns the last maximum.
    Ok(*b"|\t;,".iter().max_by_key(|&&delimiter| count(delimiter)).unwrap_or(&b','))
}

/// What all records of a file show about its columns.
struct Columns {
    file: String,
    /// Each column's name and profile.
    profiles: Vec<(String, Profile)>,
    missing_texts: BTreeSet<&'static str>,
    utf8: bool,
}

impl Columns {
    fn no_header(&self, line: u64, problem: &str) -> DataError {
        DataError::Header { file: self.file.clone(), line, problem: problem.into() }
    }
}

fn read_columns(source: Source, delimiter: u8) -> Result<Columns, DataError> {
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
    let only_numbers = header.iter().all(|name| name.parse::<f64>().is_ok());
    let repeated = (0..header.len()).find(|&i| header[..i].contains(&header[i]));
    let mut columns = Columns {
        file: lines.file.clone(),
        profiles: header.into_iter().map(|name| (name, Profile::new(delimiter))).collect(),
        missing_texts: BTreeSet::from([""]),
        utf8: lines.record.iter().all(|name| std::str::from_utf8(name).is_ok()),
    };
    if only_numbers {
        return Err(columns.no_header(lines.line(), "the first line has only numbers"));
    }
    if let Some(repeated) = repeated {
        let (file, column) = (columns.file, columns.profiles[repeated].0.clone());
        return Err(DataError::DuplicateColumn { file, line: lines.line(), column });
    }
    while lines.advance()? {
        let (expected, found) = (columns.profiles.len(), lines.record.len());
        if expected != found {
            let (file, line) = (columns.file, lines.line());
            return Err(DataError::FieldCount { file, line, expected, found });
        }
        for (field, (_, profile)) in lines.record.iter().zip(&mut columns.profiles) {
            columns.utf8 &= std::str::from_utf8(field).is_ok();
            // Utf8OrLatin1 decodes everything.
            let text = decode(field, table.encoding).unwrap_or_default();
            match MISSING_TEXTS.iter().find(|&&missing| missing == text.trim()) {
                Some(missing) => {
                    columns.missing_texts.insert(missing);
                    profile.missing += 1;
                }
                None => profile.add(text.trim()),
            }
        }
    }
    Ok(columns)
}

fn draft(mut source: Source, file: FileName) -> Result<Draft, DataError> {
    let delimiter = guess_delimiter(&mut source)?;
    let mut columns = read_columns(source, delimiter)?;
    let texts: Vec<&str> = columns.missing_texts.iter().copied().collect();
    let mut left_out = Vec::new();
    let (mut attributes, mut reasons, mut kept) = (String::new(), String::new(), 0);
    for (name, profile) in std::mem::take(&mut columns.profiles) {
        match profile.verdict(&texts) {
            Verdict::Attribute(_) if name.is_empty() => {
                left_out.push((name, "the column has no name".into()));
            }
            Verdict::Attribute(proposal) => {
                kept += 1;
                attributes += &proposal.written(&name, "");
            }
            Verdict::LeftOut { reason, proposal } => {
                let mut reason = reason;
                if let Some(proposal) = proposal.filter(|_| !name.is_empty()) {
                    attributes += &format!("\n# Left out, because {reason}. A proposal:");
                    attributes += &proposal.written(&name, "# ");
                    reason += "; the draft has a proposal as a comment";
                }
                left_out.push((name, reason));
            }
        }
    }
    if kept == 0 {
        return Err(columns.no_header(1, "none of the columns can become an attribute"));
    }
    for (column, reason) in &left_out {
        let _ = writeln!(reasons, "# Left out: column {}, because {reason}.", quote(column));
    }
    let file = (file == FileName::Known).then_some(&*columns.file);
    let mut schema = preamble(file, delimiter, columns.utf8, &columns.missing_texts);
    schema.push_str(&reasons);
    schema.push_str(&attributes);
    Ok(Draft { schema, left_out })
}

impl Proposal {
    /// The attributes of a column, each line after `mark`; all but the first as comments.
    fn written(&self, column: &str, mark: &str) -> String {
        let mut text = String::from("\n");
        for comment in &self.comments {
            let _ = writeln!(text, "# {comment}");
        }
        let _ = writeln!(text, "{mark}[[attribute]]\n{mark}name = {}", quote(column));
        for line in self.settings.lines() {
            let _ = writeln!(text, "{mark}{line}");
        }
        for (suffix, settings) in &self.more {
            let name = quote(&format!("{column} {suffix}"));
            let _ = writeln!(text, "#\n# [[attribute]]\n# name = {name}");
            let _ = writeln!(text, "# column = {}", quote(column));
            for line in settings.lines() {
                let _ = writeln!(text, "# {line}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::schema::{Missing, Schema};
    use super::super::table::read_table;
    use super::*;

    fn draft_of(content: &[u8]) -> Result<Draft, DataError> {
        draft(Source::from_bytes("my data.csv", content)?, FileName::Known)
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
        assert_eq!((age.bins(), age.label(0), age.missing), (12, Some("30".into()), Missing::Code));
        assert_eq!(height.label(22).unwrap(), "[1.82, 1.83)");
        assert_eq!((height.bins(), height.missing), (23, Missing::Error));
        assert_eq!(city.labels(), ["Bath", "Ely, UK", "missing"]);
        assert_eq!(zip.labels(), ["01", "02", "10"]);
    }

    /// The settings of a column with these values.
    fn settings(values: &[&str], delimiter: &str) -> String {
        let rows: Vec<String> = values.iter().map(|v| format!("\"{v}\"{delimiter}a\n")).collect();
        let file = format!("x{delimiter}y\n{}", rows.concat().repeat(10));
        let schema = draft_of(file.as_bytes()).unwrap().schema;
        assert!(Schema::parse(&schema).is_ok(), "{schema}");
        schema.split("\n[[attribute]]\nname = \"x\"\n").nth(1).unwrap_or(&schema).into()
    }

    #[test]
    fn a_stream_gives_the_draft_of_the_file_but_for_its_name() {
        // Longer than what the delimiter is guessed from.
        let rows: Vec<String> = (0..20_000).map(|i| format!("{};{}\n", i % 60, i % 2)).collect();
        let content = format!("age;sex\n{}", rows.concat());
        let from_file = draft_of(content.as_bytes()).unwrap().schema;
        let from_stream = infer_stream("the standard input", content.as_bytes()).unwrap().schema;
        assert!(from_stream.contains("# The draft was made from the standard input"));
        let attributes = |schema: &str| schema.split_once("delimiter").unwrap().1.to_string();
        assert_eq!(attributes(&from_stream), attributes(&from_file));
        let schema = Schema::parse(&from_stream).unwrap();
        let source = Source::from_bytes("f", content.as_bytes()).unwrap();
        assert_eq!(read_table(&schema, vec![source]).unwrap().len(), rows.len());
    }

    #[test]
    fn formats_of_numbers_are_recognised() {
        for (values, delimiter, expected) in [
            (&["1,5", "20,25"][..], ";", r#"number = { decimal = ",", digits = 2 }"#),
            (&["$1,200", "-$3"], ",", r#"number = { thousands = ",", prefix = "$" }"#),
            (&["1.200,5 €", "7"], ";", r#"decimal = ",", thousands = ".", suffix = " €""#),
            (&["12 %", "7.5 %"], ",", r#"number = { suffix = " %", digits = 1 }"#),
            (&["1'200", "3'400.5"], ",", r#"number = { thousands = "'", digits = 1 }"#),
            (&["1,234", "5,678"], ",", r#"number = { thousands = "," }"#),
            (&["1,234", "5,678"], ";", r#"number = { decimal = ",", digits = 3 }"#),
        ] {
            let found = settings(values, delimiter);
            assert!(found.starts_with("kind = \"numeric\"\n"), "{values:?}: {found}");
            assert!(found.contains(expected), "{values:?}: {found}");
        }
        for values in [["$1", "€2"], ["01", "12"], ["1a", "2a"]] {
            let found = settings(&values, ",");
            assert!(found.starts_with("kind = \"categorical\""), "{values:?}: {found}");
        }
    }

    #[test]
    fn whole_numbers_get_bins_of_whole_widths() {
        for (values, expected) in [
            (["0", "99"], "width = 1\nlow = 0\nhigh = 99\n"),
            (["0", "104"], "width = 2\nlow = 0\nhigh = 105\n"),
            (["17", "5003"], "width = 50\nlow = 0\nhigh = 5049\n"),
            (["-30", "470"], "width = 5\nlow = -30\nhigh = 474\n"),
        ] {
            assert!(settings(&values, ",").contains(expected), "{}", settings(&values, ","));
        }
    }

    #[test]
    fn dates_are_recognised_and_proposed_as_years_months_and_weekdays() {
        let found = settings(&["31.12.1999", "1.2.2003"], ";");
        let year = "kind = \"date\"\ndate = \"DD.MM.YYYY\"\npart = \"year\"\nwidth = 1\n\
                    low = 1999\nhigh = 2003\n";
        assert!(found.starts_with(year), "{found}");
        for part in ["month", "weekday"] {
            assert!(found.contains(&format!("# name = \"x {part}\"\n# column = \"x\"")), "{found}");
        }
        assert!(settings(&["20240131"], ",").contains("date = \"YYYYMMDD\""));
        let ambiguous = draft_of(b"x,y\n01/02/2003,a\n").unwrap().schema;
        assert!(ambiguous.contains("could also be of the form MM/DD/YYYY"), "{ambiguous}");
        let clear = draft_of(b"x,y\n01/22/2003,a\n").unwrap().schema;
        assert!(
            clear.contains("date = \"MM/DD/YYYY\"") && !clear.contains("could also"),
            "{clear}"
        );
    }

    #[test]
    fn a_few_texts_among_numbers_are_missing_values_of_that_column() {
        let mut rows: Vec<String> = (0..97).map(|i| format!("{},ok", i % 50)).collect();
        rows.extend(["unknown,ok", "unknown,NA", "90+,missing"].map(String::from));
        let file = format!("age,state\n{}\n", rows.join("\n"));
        let draft = draft_of(file.as_bytes()).unwrap();
        let expected = "missing_texts = [\"\", \"NA\", \"90+\", \"unknown\"]\nmissing = \"code\"";
        assert!(draft.schema.contains(expected), "{}", draft.schema);
        let schema = Schema::parse(&draft.schema).unwrap();
        assert_eq!(schema.attributes()[0].bins(), 50);
        assert_eq!(schema.attributes()[1].labels(), ["missing", "ok", "(missing)"]);
    }

    #[test]
    fn capitals_do_not_make_values() {
        let found = settings(&["Bath", "bath", "Bath", "Ely"], ",");
        let expected = "values = [\"Bath\", \"Ely\"]\nspellings = [[\"Bath\", \"bath\"]]\n";
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn columns_with_many_values_are_left_out_with_a_proposal() {
        let rows: Vec<String> =
            (0..400).map(|i| format!("{},t{},{}\n", i + 7, i % 150, i % 2)).collect();
        let draft = draft_of(format!("id,town,sex\n{}", rows.concat()).as_bytes()).unwrap();
        let reasons: Vec<&str> = draft.left_out.iter().map(|(_, reason)| &**reason).collect();
        assert!(reasons[0].contains("its own number (an identifier?)"), "{reasons:?}");
        assert!(reasons[1].contains("different values in 400 records; the draft"), "{reasons:?}");
        assert_eq!(Schema::parse(&draft.schema).unwrap().attributes().len(), 1);
        // The proposals are schemas, too.
        let uncommented: String = draft
            .schema
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if rest.starts_with('[') || rest.contains(" = ") => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let schema = Schema::parse(&uncommented).unwrap();
        assert_eq!(schema.attributes()[0].labels().len(), 21, "{uncommented}");
    }

    #[test]
    fn identifiers_and_empty_columns_are_left_out() {
        let mut content = String::from("who;;nothing;x\n");
        (0..2000).for_each(|i| content.push_str(&format!("p{i};1;;{}\n", i % 3)));
        let draft = draft_of(content.as_bytes()).unwrap();
        let names: Vec<&str> = draft.left_out.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["who", "", "nothing"]);
        assert!(draft.left_out[0].1.contains("an identifier, or free text?"));
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
