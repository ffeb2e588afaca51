//! Records as a file: with the labels of their values, or in the form of the original file.

use std::collections::BTreeMap;
use std::io;

use rand::{Rng, RngExt};
use thiserror::Error;

use super::schema::{AttributeKind, AttributeSchema, Bins, Date, DatePart, Schema, days};
use crate::spreadsheet::field;

/// The text of a value in a file of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// The code of the value. A column per attribute.
    Code,
    /// The label of the value, such as `[20, 30)`. A column per attribute.
    Label,
    /// The middle of a bin, as the original writes its numbers.
    Midpoint,
    /// A uniform draw from a bin, as the original writes its numbers.
    Uniform,
}

/// Why records cannot be written in the form of the original.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FormError {
    #[error(
        "column '{column}' has several attributes ({}), so its text cannot be composed; write \
         labels instead",
        .attributes.join(", ")
    )]
    SeveralAttributes { column: String, attributes: Vec<String> },
    #[error(
        "column '{column}' has dates of which no attribute has the year, so none can be written; \
         add an attribute with part = \"year\", or write labels instead"
    )]
    NoYear { column: String },
}

/// Writes records that are encoded by a schema.
#[derive(Debug)]
pub struct RecordWriter<'s> {
    schema: &'s Schema,
    form: ValueForm,
    /// Absent if the original has no header line.
    header: Option<Vec<String>>,
    /// Per column, the attributes that it has, by their positions in the schema.
    columns: Vec<Vec<usize>>,
}

impl<'s> RecordWriter<'s> {
    /// `original` are the columns of the original file, if known. Those that no attribute describes
    /// become empty. Codes and labels have a column per attribute instead.
    pub fn new(
        schema: &'s Schema,
        form: ValueForm,
        original: Option<Vec<String>>,
    ) -> Result<Self, FormError> {
        let attributes = schema.attributes();
        if matches!(form, ValueForm::Code | ValueForm::Label) {
            let header = Some(attributes.iter().map(|a| a.name.clone()).collect());
            let columns = (0..attributes.len()).map(|position| vec![position]).collect();
            return Ok(Self { schema, form, header, columns });
        }
        let mut by_column: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (position, attribute) in attributes.iter().enumerate() {
            by_column.entry(&attribute.column).or_default().push(position);
        }
        for (column, positions) in &by_column {
            check_column(column, positions.iter().map(|&position| &attributes[position]))?;
        }
        let names = original.unwrap_or_else(|| {
            let mut names: Vec<String> = Vec::new();
            for attribute in attributes {
                if !names.contains(&attribute.column) {
                    names.push(attribute.column.clone());
                }
            }
            names
        });
        let columns =
            names.iter().map(|name| by_column.get(&**name).cloned().unwrap_or_default()).collect();
        let header = schema.table.columns.is_none().then_some(names);
        Ok(Self { schema, form, header, columns })
    }

    /// The file of these records: a list of codes per attribute, in declared order. `rng` draws the
    /// values of [`ValueForm::Uniform`]. Names and listed values are texts for spreadsheets
    /// ([`spreadsheet`](crate::spreadsheet)); numbers and dates are as the schema writes them.
    pub fn write(&self, codes: &[Vec<u32>], rng: &mut impl Rng) -> io::Result<Vec<u8>> {
        let delimiter = match self.form {
            ValueForm::Code | ValueForm::Label => b',',
            _ => self.schema.table.delimiter,
        };
        let mut csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        if let Some(header) = &self.header {
            csv.write_record(header.iter().map(|name| field(name).into_owned()))?;
        }
        let attributes = self.schema.attributes();
        let texts: Vec<Vec<String>> = attributes.iter().map(|a| self.texts(a)).collect();
        for record in 0..codes.first().map_or(0, Vec::len) {
            for positions in &self.columns {
                let values = positions.iter().map(|&at| (&attributes[at], codes[at][record]));
                let missing = values.clone().find(|(attribute, code)| attribute.is_missing(*code));
                match (positions[..].first(), missing) {
                    (None, _) => csv.write_field("")?,
                    (Some(&at), _) if !texts[at].is_empty() => {
                        csv.write_field(&texts[at][codes[at][record] as usize])?;
                    }
                    (_, Some((attribute, _))) => {
                        csv.write_field(&*field(attribute.missing_text()))?
                    }
                    (_, None) => csv.write_field(self.original_text(values, rng))?,
                }
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.into_inner().map_err(|error| error.into_error())
    }

    /// The texts of all codes; none where they have the form of the original.
    fn texts(&self, attribute: &AttributeSchema) -> Vec<String> {
        let codes = 0..attribute.size() as u32;
        match self.form {
            ValueForm::Code => codes.map(|code| code.to_string()).collect(),
            ValueForm::Label => codes
                .map(|code| match attribute.is_missing(code) {
                    true => attribute.missing_text().into(),
                    false => attribute.label(code).unwrap_or_default(),
                })
                .map(|text: String| field(&text).into_owned())
                .collect(),
            ValueForm::Midpoint | ValueForm::Uniform => Vec::new(),
        }
    }

    /// The text of a column with these attributes and codes, none of them missing.
    fn original_text<'a>(
        &self,
        values: impl Iterator<Item = (&'a AttributeSchema, u32)>,
        rng: &mut impl Rng,
    ) -> String {
        let (mut date, mut text) = (DateParts::default(), String::new());
        for (attribute, code) in values {
            let bin = code as usize;
            match &attribute.kind {
                AttributeKind::Categorical { values, .. } => {
                    text = field(&values[bin]).into_owned();
                }
                AttributeKind::Numeric { bins, format } => {
                    let decimals = format.digits.unwrap_or(bins.decimals());
                    let (value, decimals) = self.number(bins, bin, decimals, rng);
                    text = format.write(value, decimals);
                }
                AttributeKind::Date { pattern, part } => {
                    match part {
                        DatePart::Year(bins) => {
                            date.year = self.number(bins, bin, 0, rng).0.round() as i32;
                        }
                        DatePart::Month => date.month = Some(code + 1),
                        DatePart::Weekday => date.weekday = Some(code),
                    }
                    date.pattern = Some(pattern);
                }
            }
        }
        match date.pattern {
            Some(pattern) => pattern.write(self.date(&date, rng)),
            None => text,
        }
    }

    /// A number of a bin with this many decimals, or as many as it takes for the bin to have one.
    fn number(&self, bins: &Bins, bin: usize, decimals: usize, rng: &mut impl Rng) -> (f64, usize) {
        let (left, right) = bins.interval(bin);
        // Beyond 15 digits a double has no such multiples.
        let most = (15.0 - left.abs().max(right.abs()).max(1.0).log10().ceil()).max(0.0) as usize;
        for decimals in decimals.min(most)..=most {
            let unit = 10f64.powi(decimals as i32);
            let is_in = |multiple: i64| {
                let value = multiple as f64 / unit;
                bins.contains(value) && bins.find(value) as usize == bin
            };
            let first = (left * unit).floor() as i64;
            let last = (right * unit).ceil() as i64;
            // The edges of floating point may differ from the printed ones by one multiple.
            let first = (first..=first + 2).find(|&multiple| is_in(multiple));
            let last = (last - 3..=last).rev().find(|&multiple| is_in(multiple));
            if let (Some(first), Some(last)) = (first, last.filter(|&last| Some(last) >= first)) {
                let multiple = match self.form {
                    ValueForm::Uniform => rng.random_range(first..=last),
                    // Of two, the upper one: the middle of [20, 30) is 25, not 24.
                    _ => first + (last - first + 1) / 2,
                };
                return (multiple as f64 / unit, decimals);
            }
        }
        (left, most)
    }

    /// A day of the year, month and weekday that are known.
    fn date(&self, parts: &DateParts, rng: &mut impl Rng) -> Date {
        let is_uniform = self.form == ValueForm::Uniform;
        let year = parts.year;
        let month = parts.month.unwrap_or(if is_uniform { rng.random_range(1..=12) } else { 7 });
        let fits = |day: &u32| {
            let date = Date { year, month, day: *day };
            parts.weekday.is_none_or(|weekday| date.weekday() == weekday)
        };
        // Every month has every weekday.
        let days: Vec<u32> = (1..=days(year, month)).filter(fits).collect();
        let place = if is_uniform { rng.random_range(0..days.len()) } else { days.len() / 2 };
        Date { year, month, day: days[place] }
    }
}

/// What the attributes of a column say about a date.
#[derive(Default)]
struct DateParts<'a> {
    pattern: Option<&'a super::schema::DatePattern>,
    year: i32,
    month: Option<u32>,
    weekday: Option<u32>,
}

/// Whether the text of a column follows from its attributes.
fn check_column<'a>(
    column: &str,
    attributes: impl Iterator<Item = &'a AttributeSchema> + Clone,
) -> Result<(), FormError> {
    let is_date = |a: &AttributeSchema| matches!(a.kind, AttributeKind::Date { .. });
    let has_year =
        |a: &AttributeSchema| matches!(a.kind, AttributeKind::Date { part: DatePart::Year(_), .. });
    if attributes.clone().all(is_date) {
        return match attributes.clone().any(has_year) {
            true => Ok(()),
            false => Err(FormError::NoYear { column: column.into() }),
        };
    }
    match attributes.clone().count() {
        1 => Ok(()),
        _ => Err(FormError::SeveralAttributes {
            column: column.into(),
            attributes: attributes.map(|attribute| attribute.name.clone()).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::super::source::Source;
    use super::super::table::read_table;
    use super::*;
    use private_pgm::model::Projectable;

    const SCHEMA: &str = r#"
name = "messy"
[table]
files = [{ name = "f" }]
delimiter = ";"
missing = ["-"]
[[attribute]]
name = "born"
column = "birthday"
kind = "date"
date = "DD.MM.YYYY"
part = "year"
width = 10
low = 1920
high = 2019
missing = "code"
[[attribute]]
name = "weekday"
column = "birthday"
kind = "date"
date = "DD.MM.YYYY"
part = "weekday"
missing = "code"
[[attribute]]
name = "income"
kind = "numeric"
edges = [0, 0.01, 1000, 2500.5, 100000]
number = { decimal = ",", thousands = ".", suffix = " €", digits = 2 }
[[attribute]]
name = "city"
kind = "categorical"
values = ["Bath", "Ely; UK", "=1+1"]
other = "other"
missing = "code"
[[attribute]]
name = "share"
kind = "numeric"
bins = 100
low = 0
high = 104
"#;

    fn write(schema: &Schema, form: ValueForm, codes: &[Vec<u32>], seed: u64) -> String {
        let original = ["id", "city", "birthday", "income", "share"].map(String::from).to_vec();
        let writer = RecordWriter::new(schema, form, Some(original)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        String::from_utf8(writer.write(codes, &mut rng).unwrap()).unwrap()
    }

    #[test]
    fn the_form_of_the_original_has_its_columns_and_formats() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let codes = [vec![3, 10], vec![5, 2], vec![2, 3], vec![1, 4], vec![2, 104 - 5]];
        let text = write(&schema, ValueForm::Midpoint, &codes, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "id;city;birthday;income;share");
        // The middle of [1000, 2500.5), and a Saturday of July 1955.
        assert_eq!(lines[1], ";\"Ely; UK\";16.07.1955;1.750,25 €;3");
        assert_eq!(lines[2], ";-;-;51.250,25 €;104");
        let text = write(&schema, ValueForm::Label, &codes, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "born,weekday,income,city,share");
        assert_eq!(
            lines[1],
            "\"[1950, 1960)\",Saturday,\"[1000, 2500.5)\",Ely; UK,\"[2.1, 3.15)\""
        );
        assert_eq!(lines[2], "-,Wednesday,\"[2500.5, 100000)\",-,\"[103.95, 105)\"");
    }

    #[test]
    fn columns_whose_text_is_not_determined_are_refused() {
        let refused = |attributes: &str| {
            let table = "name = 'x'\n[table]\nfiles = [{ name = 'f' }]\n";
            let schema = Schema::parse(&format!("{table}{attributes}")).unwrap();
            RecordWriter::new(&schema, ValueForm::Uniform, None).unwrap_err()
        };
        let one = |name: &str, settings: &str| {
            format!("[[attribute]]\nname = '{name}'\ncolumn = 'c'\n{settings}\n")
        };
        let listed = "kind = 'categorical'\nvalues = ['a']";
        let both = format!("{}{}", one("x", listed), one("y", listed));
        assert!(matches!(refused(&both), FormError::SeveralAttributes { .. }));
        let month = "kind = 'date'\ndate = 'YYYY-MM-DD'\npart = 'month'";
        assert_eq!(refused(&one("x", month)), FormError::NoYear { column: "c".into() });
    }

    proptest! {
        #[test]
        fn what_is_written_in_the_original_form_is_read_as_the_same_codes(
            records in
                prop::collection::vec((0..11u32, 0..8u32, 0..4u32, 0..5u32, 0..100u32), 1..40),
            seed: u64,
            uniform: bool,
        ) {
            let schema = Schema::parse(SCHEMA).unwrap();
            let mut codes = vec![Vec::new(); 5];
            for &(born, weekday, income, city, share) in &records {
                // The parts of a date are missing together.
                let weekday = if born == 10 { 7 } else { weekday.min(6) };
                let record = [born, weekday, income, city, share];
                codes.iter_mut().zip(record).for_each(|(column, code)| column.push(code));
            }
            let form = if uniform { ValueForm::Uniform } else { ValueForm::Midpoint };
            let text = write(&schema, form, &codes, seed);
            let source = Source::from_bytes("f", text.as_bytes()).unwrap();
            let read = read_table(&schema, vec![source]).unwrap();
            for (&id, column) in read.domain().declared().iter().zip(&codes) {
                let found: Vec<u32> = (0..read.len()).map(|record| read.code(record, id)).collect();
                prop_assert_eq!(&found, column, "{}", read.domain().name(id));
            }
        }
    }
}
