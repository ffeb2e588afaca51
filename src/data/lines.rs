//! The lines of a CSV file, with their numbers.

use std::borrow::Cow;
use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::DataError;
use super::schema::{CellProblem, Encoding, TableFacts};
use super::source::Source;
use crate::limits;
use private_pgm::numeric::bytes::Bytes;

/// The relevant lines of one file, one at a time.
pub(super) struct Lines<'a> {
    pub(super) file: String,
    pub(super) record: ByteRecord,
    reader: Reader<LastChunk<Source<'a>>>,
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
            .from_reader(LastChunk::new(source));
        let ignored = table.ignore_lines.clone();
        Self { file, record: ByteRecord::new(), reader, ignored, encoding: table.encoding }
    }

    /// Reads the next line that is neither ignored nor blank. A line of delimiters is blank.
    /// `false` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            self.reader.get_mut().since_record = 0;
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
    ///
    /// The reader counts line feeds. It ends a record after the first byte of CR LF, and skips
    /// blank lines before a record, so its own position of a record can be too early. This one
    /// counts back from the end of the record.
    pub(super) fn line(&self) -> u64 {
        let end = self.reader.position();
        let inside: usize =
            self.record.iter().map(|field| field.iter().filter(|&&b| b == b'\n').count()).sum();
        let source = self.reader.get_ref();
        // A quote that is not closed makes the last line feed part of the field.
        let is_open = source.is_done
            && self.record.iter().next_back().is_some_and(|field| field.ends_with(b"\n"));
        let terminated = source.byte_before(end.byte()) == Some(b'\n') && !is_open;
        end.line().saturating_sub(inside as u64 + u64::from(terminated)).max(1)
    }

    /// Call after the last line.
    pub(super) fn into_source(self) -> Source<'a> {
        self.reader.into_inner().source
    }

    /// The names of the columns, from the schema or else from the first line.
    pub(super) fn header(&mut self, table: &TableFacts) -> Result<Vec<String>, DataError> {
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

/// Remembers the bytes that were read last.
struct LastChunk<R> {
    source: R,
    chunk: Vec<u8>,
    /// The byte before the chunk.
    before: Option<u8>,
    /// The offset of the chunk.
    start: u64,
    is_done: bool,
    /// Bytes since a record was asked for.
    since_record: u64,
}

impl<R> LastChunk<R> {
    fn new(source: R) -> Self {
        let (chunk, before, start, since_record) = (Vec::new(), None, 0, 0);
        Self { source, chunk, before, start, is_done: false, since_record }
    }

    /// `offset` is in the last chunk or at one of its ends.
    fn byte_before(&self, offset: u64) -> Option<u8> {
        match offset.checked_sub(self.start)?.checked_sub(1) {
            None => self.before,
            Some(place) => self.chunk.get(usize::try_from(place).ok()?).copied(),
        }
    }
}

impl<R: Read> Read for LastChunk<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The reader of CSV keeps a whole record, and a quote that is not closed makes one of the
        // rest of the file.
        if self.since_record > limits::RECORD {
            let message = format!(
                "a record of more than {}; is a quotation mark not closed?",
                Bytes(limits::RECORD as f64)
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let count = self.source.read(buffer)?;
        if count == 0 {
            self.is_done = true;
            return Ok(0);
        }
        if self.before.is_none()
            && self.chunk.is_empty()
            && let Some(message) = not_a_table(&buffer[..count])
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.since_record += count as u64;
        self.before = self.chunk.last().copied().or(self.before);
        self.start += self.chunk.len() as u64;
        self.chunk.clear();
        self.chunk.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

pub(super) fn decode(field: &[u8], encoding: Encoding) -> Result<Cow<'_, str>, CellProblem> {
    match (std::str::from_utf8(field), encoding) {
        (Ok(text), _) => Ok(Cow::Borrowed(text)),
        (Err(_), Encoding::Utf8OrLatin1) => {
            Ok(Cow::Owned(field.iter().map(|&byte| windows_1252(byte)).collect()))
        }
        (Err(_), Encoding::Utf8) => Err(CellProblem::NotUtf8),
    }
}

/// A byte of Latin-1, or of Windows-1252 where Latin-1 has control characters. Programs that say
/// Latin-1 mean Windows-1252, with the sign of the euro: so the WHATWG standard of encodings.
fn windows_1252(byte: u8) -> char {
    const FROM_80: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}',
        '\u{2021}', '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}',
        '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}',
        '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}',
        '\u{178}',
    ];
    match byte {
        0x80..=0x9f => FROM_80[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// What a file is that begins with these bytes, if it is no CSV file, and what to do.
fn not_a_table(beginning: &[u8]) -> Option<&'static str> {
    match beginning {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("the file is UTF-16 text; save it as UTF-8, as with: iconv -f UTF-16 -t UTF-8")
        }
        [b'P', b'K', 3, 4, ..] => {
            Some("the file is a workbook or a ZIP archive; save the table as CSV")
        }
        _ => None,
    }
}
