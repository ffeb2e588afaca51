//! Parses the lines of a table and discretises them by its schema.

use std::borrow::Cow;
use std::collections::BTreeMap;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::column::Column;
use super::counts::Counts;
use super::schema::{AttributeSchema, CellProblem, Encoding, Schema, TableFacts, TableForm};
use super::source::Source;
use super::{DataError, Dataset, Provenance};

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
            TableForm::Records => intake.read(source)?,
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
    rows: usize,
    dropped: usize,
    outside: BTreeMap<String, usize>,
}

/// The fields of an attribute in a line.
struct Place {
    field: usize,
    missing_when: Option<usize>,
}

impl<'s> Intake<'s> {
    fn new(schema: &'s Schema) -> Self {
        let columns = schema.attributes().iter().map(|a| Column::new(a.size())).collect();
        Self { schema, columns, rows: 0, dropped: 0, outside: BTreeMap::new() }
    }

    fn read<'a>(&mut self, source: Source<'a>) -> Result<Source<'a>, DataError> {
        let mut lines = Lines::new(source, &self.schema.table);
        let header = lines.header(&self.schema.table)?;
        let places = self.places(&lines, &header)?;
        let mut codes = vec![0; places.len()];
        while lines.advance()? {
            if lines.record.len() != header.len() {
                return Err(DataError::FieldCount {
                    file: lines.file.clone(),
                    line: lines.line(),
                    expected: header.len(),
                    found: lines.record.len(),
                });
            }
            self.rows += 1;
            if self.discretise(&lines, &places, &mut codes)? {
                for (column, &code) in self.columns.iter_mut().zip(&codes) {
                    column.push(code);
                }
            } else {
                self.dropped += 1;
            }
        }
        Ok(lines.reader.into_inner())
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
        for ((attribute, place), code) in self.schema.attributes().iter().zip(places).zip(codes) {
            let at = |column: &str, problem| DataError::Cell {
                file: lines.file.clone(),
                line: lines.line(),
                column: column.into(),
                problem,
            };
            let text = |field, column: &str| {
                decode(&lines.record[field], encoding).map_err(|problem| at(column, problem))
            };
            let absent = match (&attribute.missing_when, place.missing_when) {
                (Some(when), Some(field)) => text(field, &when.column)?.trim() == when.is,
                _ => false,
            };
            let encoded = if absent {
                attribute.encode_missing(false)
            } else {
                attribute.encode(&text(place.field, &attribute.column)?)
            };
            let encoded = encoded.map_err(|problem| at(&attribute.column, problem))?;
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

/// The relevant lines of one file, one at a time.
pub(super) struct Lines<'a> {
    pub(super) file: String,
    pub(super) record: ByteRecord,
    pub(super) reader: Reader<Source<'a>>,
    ignored: Vec<String>,
    encoding: Encoding,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: Source<'a>, table: &TableFacts) -> Self {
        let file = source.name.clone();
        let reader = ReaderBuilder::new()
            .delimiter(table.delimiter)
            .has_headers(false)
            .flexible(true)
            // Larger than the default, because BLAKE3 is fast on long blocks.
            .buffer_capacity(1 << 16)
            .from_reader(source);
        let ignored = table.ignore_lines.clone();
        Self { file, record: ByteRecord::new(), reader, ignored, encoding: table.encoding }
    }

    /// Reads the next line that is neither ignored nor blank. A line of delimiters is blank.
    /// `false` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            let more = self
                .reader
                .read_byte_record(&mut self.record)
                .map_err(|error| DataError::Io { file: self.file.clone(), error: error.into() })?;
            if !more {
                return Ok(false);
            }
            let first = self.record.get(0).unwrap_or_default().trim_ascii_start();
            let ignored = self.ignored.iter().any(|start| first.starts_with(start.as_bytes()));
            let blank = self.record.iter().all(<[u8]>::is_empty);
            if !ignored && !blank {
                return Ok(true);
            }
        }
    }

    /// The line at which the current record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.record.position().map_or(1, |position| position.line())
    }

    /// The names of the columns, from the schema or else from the first line.
    fn header(&mut self, table: &TableFacts) -> Result<Vec<String>, DataError> {
        if let Some(columns) = &table.columns {
            return Ok(columns.clone());
        }
        self.read_header()
    }

    pub(super) fn read_header(&mut self) -> Result<Vec<String>, DataError> {
        if !self.advance()? {
            return Err(DataError::Empty { file: self.file.clone() });
        }
        let mut names = Vec::with_capacity(self.record.len());
        for (position, field) in self.record.iter().enumerate() {
            let name = decode(field, self.encoding).map_err(|problem| DataError::Cell {
                file: self.file.clone(),
                line: self.line(),
                column: format!("number {}", position + 1),
                problem,
            })?;
            names.push(name.trim().to_string());
        }
        Ok(names)
    }
}

pub(super) fn decode(field: &[u8], encoding: Encoding) -> Result<Cow<'_, str>, CellProblem> {
    match (std::str::from_utf8(field), encoding) {
        (Ok(text), _) => Ok(Cow::Borrowed(text)),
        (Err(_), Encoding::Utf8OrLatin1) => {
            Ok(Cow::Owned(field.iter().map(|&byte| char::from(byte)).collect()))
        }
        (Err(_), Encoding::Utf8) => Err(CellProblem::NotUtf8),
    }
}
