//! Records as lines of CSV: exactly one line per record, whatever its texts contain.

use std::io::{self, Write};
use std::path::Path;

use serde::de::value::Error as NamesError;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::{Serialize, forward_to_deserialize_any};

use crate::atomic_file::NewFile;
use crate::spreadsheet;

/// The names of a record's fields, in the order in which they are written.
pub(super) fn columns<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The record passes its field names to the deserializer, which then fails: no value is needed.
    let _ = T::deserialize(FieldNames(&mut names));
    names
}

/// The first line of a file of such records, with its line break.
pub(super) fn header<T: DeserializeOwned>() -> String {
    columns::<T>().join(",") + "\n"
}

/// The record's line, with its line break. Line breaks within texts become spaces, so that a line
/// is a record and a truncated file is recognisable.
pub(super) fn line<T: Serialize>(record: &T) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(record)?;
    let mut line = writer.into_inner().map_err(|error| error.into_error())?;
    let breaks = |byte: &&mut u8| matches!(**byte, b'\n' | b'\r');
    line.iter_mut().rev().skip(1).filter(breaks).for_each(|byte| *byte = b' ');
    spreadsheet::fields_of(line)
}

/// The record's fields as text.
pub(super) fn fields<T: Serialize>(record: &T) -> io::Result<Vec<String>> {
    let line = line(record)?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&line[..]);
    let mut fields = csv::StringRecord::new();
    reader.read_record(&mut fields)?;
    Ok(fields.iter().map(|field| spreadsheet::text(field).into()).collect())
}

/// The record of a line without its line break; `None` if the line is not a record.
pub(super) fn parse<T: DeserializeOwned>(line: &str) -> Option<T> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let mut fields = csv::StringRecord::new();
    let is_record = reader.read_record(&mut fields).ok()? && fields.len() == columns::<T>().len();
    is_record.then(|| spreadsheet::texts_of(&fields).deserialize(None).ok()).flatten()
}

/// The records of a file with a header.
pub(super) fn read_file<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, csv::Error> {
    let mut reader = csv::Reader::from_path(path)?;
    let header = reader.headers()?.clone();
    let record = |record: Result<csv::StringRecord, csv::Error>| {
        spreadsheet::texts_of(&record?).deserialize(Some(&header))
    };
    reader.records().map(record).collect()
}

/// Writes a file of records atomically.
pub(super) fn write_file<T>(path: &Path, records: &[T]) -> io::Result<()>
where
    T: Serialize + DeserializeOwned,
{
    let mut file = NewFile::create(path)?;
    file.write_all(header::<T>().as_bytes())?;
    for record in records {
        file.write_all(&line(record)?)?;
    }
    file.commit()
}

/// A deserializer that records the field names of a struct and fails.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = NamesError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NamesError> {
        Err(NamesError::custom("not a record"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NamesError> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Record {
        name: String,
        #[serde(rename = "is")]
        flag: bool,
        value: Option<f64>,
        count: Option<usize>,
    }

    #[test]
    fn the_header_is_the_one_that_the_csv_writer_would_write() {
        let record = Record { name: "a".into(), flag: true, value: None, count: Some(3) };
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(&record).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text, header::<Record>() + "a,true,,3\n");
    }

    #[test]
    fn a_line_with_a_field_too_many_or_too_few_is_no_record() {
        assert!(parse::<Record>("a,true,1.5,3").is_some());
        for text in ["a,true,1.5", "a,true,1.5,3,4", "a,maybe,1.5,3", ""] {
            assert_eq!(parse::<Record>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_record_is_one_line_and_comes_back_but_for_line_breaks(
            name in "[a,;\"\n\r=@'\u{e4} ]{0,12}",
            flag: bool,
            value: Option<f64>,
            count: Option<usize>,
        ) {
            let written = line(&Record { name: name.clone(), flag, value, count }).unwrap();
            let text = String::from_utf8(written).unwrap();
            prop_assert_eq!(text.find(['\n', '\r']), Some(text.len() - 1));
            let read: Record = parse(text.trim_end_matches('\n')).unwrap();
            let name = name.replace(['\n', '\r'], " ");
            prop_assert_eq!(read, Record { name, flag, value, count });
        }
    }
}
