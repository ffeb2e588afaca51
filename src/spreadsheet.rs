//! Texts in CSV files that a spreadsheet program would run as formulas.
//!
//! A text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is not a number is
//! written with an apostrophe in front, as spreadsheets mark texts. Numbers stay as they are. So
//! that every text can be read back, a text that already begins with apostrophes before such a
//! beginning gets one more.

use std::borrow::Cow;
use std::io;

use csv::{ReaderBuilder, StringRecord, WriterBuilder};

/// The beginnings of formulas, as spreadsheets recognise them.
const BEGINNINGS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text for a field of a CSV file.
pub fn field(text: &str) -> Cow<'_, str> {
    match is_formula(text.trim_start_matches('\'')) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// The text of a field that [`field`] wrote.
pub fn text(field: &str) -> &str {
    match field.strip_prefix('\'') {
        Some(text) if is_formula(text.trim_start_matches('\'')) => text,
        _ => field,
    }
}

/// A single sign, as in columns where `-` stands for nothing, is a text in every spreadsheet.
fn is_formula(text: &str) -> bool {
    text.starts_with(BEGINNINGS) && text.chars().nth(1).is_some() && text.parse::<f64>().is_err()
}

/// The same file with its texts as [`field`] writes them.
pub fn fields_of(csv: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&csv[..]);
    let mut writer = WriterBuilder::new().flexible(true).from_writer(Vec::with_capacity(csv.len()));
    let (mut record, mut changed) = (StringRecord::new(), false);
    while reader.read_record(&mut record)? {
        for text in &record {
            let field = field(text);
            changed |= matches!(field, Cow::Owned(_));
            writer.write_field(&*field)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    match changed {
        true => writer.into_inner().map_err(|error| error.into_error()),
        false => Ok(csv),
    }
}

/// The texts of the fields of a record, at the same place in its file.
pub fn texts_of(record: &StringRecord) -> StringRecord {
    let mut texts: StringRecord = record.iter().map(text).collect();
    texts.set_position(record.position().cloned());
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_become_texts_and_numbers_stay_numbers() {
        let formulas = [
            "=1+1",
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-2+3",
            "--1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "-5%",
            "'=1",
        ];
        for formula in formulas {
            assert_eq!(field(formula), format!("'{formula}"));
        }
        for harmless in
            ["-1", "+1", "-1.5e-3", "-0", "-", "+", "=", "", "a=b", "[0, 1)", "'quoted'"]
        {
            assert_eq!(field(harmless), harmless);
        }
    }

    #[test]
    fn a_file_without_formulas_stays_the_same_byte_for_byte() {
        let harmless = b"a,b\r\n-1,\"x\"\n".to_vec();
        assert_eq!(fields_of(harmless.clone()).unwrap(), harmless);
        let found = fields_of(b"=a,b\n-1,\"@x,y\"\n".to_vec()).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), "'=a,b\n-1,\"'@x,y\"\n");
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(text in "['=+@\t\ra1-]{0,6}") {
            let written = field(&text).into_owned();
            prop_assert_eq!(super::text(&written), text);
        }

        #[test]
        fn no_field_is_a_formula(text in "['=+@\t\ra1-]{0,6}") {
            prop_assert!(!is_formula(&field(&text)));
        }
    }
}
