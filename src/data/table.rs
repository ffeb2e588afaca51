//! Parses the lines of a table and discretises them by its schema.

use std::collections::BTreeMap;

use super::code_cache::CodeCache;
use super::column::Column;
use super::counts::Counts;
use super::lines::{Lines, decode};
use super::schema::{AttributeSchema, Schema, TableForm};
use super::source::Source;
use super::{DataError, Dataset, Provenance};
use crate::limits;

/// The records of these files, which correspond to the files of the schema in order.
///
/// One pass over the bytes; memory for the codes only.
pub(super) fn read_table(schema: &Schema, sources: Vec<Source>) -> Result<Dataset, DataError> {
    let mut intake = Intake::new(schema);
    let mut counts = Counts::new(schema);
    let mut facts = Vec::with_capacity(sources.len());
    let mut last_file = String::new();
    for (position, source) in sources.into_iter().enumerate() {
        last_file = source.name.clone();
        let file = schema.table.files.get(position);
        let expected_sha256 = file.and_then(|file| file.sha256.as_ref());
        let source = if expected_sha256.is_some() { source.with_sha256() } else { source };
        let source = match schema.table.form {
            TableForm::Records | TableForm::Sequences => intake.read(source)?,
            TableForm::Counts => counts.read(source)?,
        };
        let source = source.into_facts();
        let checksums = [
            ("BLAKE3", file.and_then(|file| file.blake3.as_ref()), Some(&source.blake3)),
            ("SHA-256", expected_sha256, source.sha256.as_ref()),
        ];
        for (kind, expected, found) in checksums {
            if let Some(expected) = expected.filter(|&expected| Some(expected) != found) {
                let (expected, found) = (expected.clone(), found.cloned().unwrap_or_default());
                return Err(DataError::Checksum { file: last_file, kind, expected, found });
            }
        }
        facts.push(source);
    }
    if schema.table.form == TableForm::Counts {
        (intake.columns, intake.rows) = counts.into_records(&last_file)?;
    }
    intake.check_counts(last_file)?;
    let provenance = Provenance {
        sources: facts,
        stand_in: schema.stand_in,
        rows: intake.rows,
        dropped: intake.dropped,
        outside: intake.outside,
    };
    Ok(Dataset::from_declared(&schema.name, schema.domain(), intake.columns, provenance))
}

/// The records read so far.
struct Intake<'s> {
    schema: &'s Schema,
    columns: Vec<Column>,
    /// By attribute.
    codes: Vec<CodeCache>,
    rows: usize,
    dropped: usize,
    outside: BTreeMap<String, usize>,
    /// Of all codes.
    max_bytes: u64,
}

/// The records between two checks of the memory that they take.
const CHECK_INTERVAL: usize = 1 << 16;

/// The fields of an attribute in a line.
struct Place {
    field: usize,
    missing_when: Option<usize>,
}

impl<'s> Intake<'s> {
    fn new(schema: &'s Schema) -> Self {
        let columns = schema.attributes().iter().map(|a| Column::new(a.size())).collect();
        let codes = schema.attributes().iter().map(|_| CodeCache::new()).collect();
        let max_bytes = limits::data_bytes();
        Self { schema, columns, codes, rows: 0, dropped: 0, outside: BTreeMap::new(), max_bytes }
    }

    fn read<'a>(&mut self, source: Source<'a>) -> Result<Source<'a>, DataError> {
        let mut lines = Lines::new(source, &self.schema.table);
        let header = lines.header(&self.schema.table)?;
        let places = self.places(&lines, &header)?;
        let mut codes = vec![0; places.len()];
        let any_length = self.schema.table.form == TableForm::Sequences;
        while lines.advance()? {
            if lines.record.len() != header.len() && !any_length {
                return Err(DataError::FieldCount {
                    file: lines.file.clone(),
                    line: lines.line(),
                    expected: header.len(),
                    found: lines.record.len(),
                });
            }
            self.rows += 1;
            if self.rows.is_multiple_of(CHECK_INTERVAL)
                && !Column::fit(&self.columns, self.rows as u64, self.max_bytes)
            {
                return Err(DataError::TooManyRecords { file: lines.file, limit: self.max_bytes });
            }
            if self.discretise(&lines, &places, &mut codes)? {
                for (column, &code) in self.columns.iter_mut().zip(&codes) {
                    column.push(code);
                }
            } else {
                self.dropped += 1;
            }
        }
        Ok(lines.into_source())
    }

    /// The fields of all attributes.
    fn places(&self, lines: &Lines, header: &[String]) -> Result<Vec<Place>, DataError> {
        let find = |column: &str| {
            let mut found = (0..header.len()).filter(|&field| header[field] == column);
            let (file, line) = (lines.file.clone(), lines.line());
            match (found.next(), found.next()) {
                (Some(field), None) => Ok(field),
                (None, _) => Err(DataError::NoColumn {
                    file,
                    line,
                    column: column.into(),
                    found: header.to_vec(),
                }),
                (Some(_), Some(_)) => {
                    Err(DataError::DuplicateColumn { file, line, column: column.into() })
                }
            }
        };
        let place = |attribute: &AttributeSchema| {
            let condition = attribute.missing_when.as_ref();
            Ok(Place {
                field: find(&attribute.column)?,
                missing_when: condition.map(|when| find(&when.column)).transpose()?,
            })
        };
        self.schema.attributes().iter().map(place).collect()
    }

    /// Computes the codes of the current line. `false` if the line is dropped.
    fn discretise(
        &mut self,
        lines: &Lines,
        places: &[Place],
        codes: &mut [u32],
    ) -> Result<bool, DataError> {
        let mut complete = true;
        let encoding = self.schema.table.encoding;
        let attributes = self.schema.attributes().iter().zip(&mut self.codes);
        for (((attribute, known), place), code) in attributes.zip(places).zip(codes) {
            let at = |column: &str, problem| DataError::Cell {
                file: lines.file.clone(),
                line: lines.line(),
                column: column.into(),
                problem,
            };
            let text = |field, column: &str| {
                let bytes = lines.record.get(field).unwrap_or_default();
                decode(bytes, encoding).map_err(|problem| at(column, problem))
            };
            let absent = match (&attribute.missing_when, place.missing_when) {
                (Some(when), Some(field)) => text(field, &when.column)?.trim() == when.is,
                _ => false,
            };
            let problem_at = |problem| at(&attribute.column, problem);
            let encoded = if absent {
                attribute.encode_missing(false).map_err(problem_at)?
            } else {
                known.get_or(&lines.record[place.field], || {
                    let text = text(place.field, &attribute.column)?;
                    attribute.encode(&text).map_err(problem_at)
                })?
            };
            if encoded.outside {
                *self.outside.entry(attribute.name.clone()).or_default() += 1;
            }
            match encoded.code {
                Some(value) => *code = value,
                None => complete = false,
            }
        }
        Ok(complete)
    }

    fn check_counts(&self, file: String) -> Result<(), DataError> {
        let (rows, dropped) = (self.rows, self.dropped);
        let records = rows - dropped;
        let expected = &self.schema.expected;
        for (what, expected, found) in
            [("rows", expected.rows, rows), ("records", expected.records, records)]
        {
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                return Err(DataError::Count { file, what, expected, found });
            }
        }
        if records == 0 {
            return Err(DataError::NoRecords { file, rows, dropped });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "name = 'm'\n[table]\nfiles = [{ name = 'f' }]\nform = 'FORM'\n\
        [[attribute]]\nname = 'a'\nkind = 'categorical'\nvalues = ['x', 'y']\n";

    #[test]
    fn records_are_read_up_to_the_limit_for_their_codes() {
        let schema = Schema::parse(&SCHEMA.replace("FORM", "records")).unwrap();
        let text = "a\n".to_string() + &"x\n".repeat(2 * CHECK_INTERVAL);
        let read = |max_bytes: usize| {
            let mut intake = Intake { max_bytes: max_bytes as u64, ..Intake::new(&schema) };
            let source = Source::from_bytes("f", text.as_bytes()).unwrap();
            intake.read(source).map(|_| intake.columns[0].len()).map_err(|error| error.to_string())
        };
        assert_eq!(read(2 * CHECK_INTERVAL), Ok(2 * CHECK_INTERVAL));
        let refused = read(CHECK_INTERVAL).unwrap_err();
        assert!(
            refused.starts_with("f: the codes of its records take more than 66 kB"),
            "{refused}"
        );
    }

    #[test]
    fn counts_that_stand_for_more_records_than_fit_are_refused() {
        let schema = Schema::parse(&SCHEMA.replace("FORM", "counts")).unwrap();
        let read = |text: &str| {
            let source = Source::from_bytes("f", text.as_bytes()).unwrap();
            read_table(&schema, vec![source]).map(|data| data.len())
        };
        assert_eq!(read("3,4\n").unwrap(), 7);
        let mut counts = Counts::new(&schema);
        counts.set_limit(1000);
        counts.read(Source::from_bytes("f", b"4294967295,4294967295\n").unwrap()).unwrap();
        assert!(matches!(counts.into_records("f"), Err(DataError::TooManyRecords { .. })));
        assert!(matches!(read("3,4,5\n"), Err(DataError::CellCount { expected: 2, found: 3, .. })));
    }
}
