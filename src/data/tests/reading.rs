use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::super::schema::{CellProblem, Schema};
use super::super::source::Source;
use super::super::table::read_table;
use super::super::{DataError, Dataset};
use private_pgm::domain::Clique;
use private_pgm::model::Projectable;

const ATTRIBUTES: &str = "
[[attribute]]
name = 'age'
kind = 'numeric'
bins = 10
low = 0
high = 99

[[attribute]]
name = 'city'
kind = 'categorical'
values = ['Bath', 'Köln']
missing = 'code'
";

fn schema(table: &str) -> Schema {
    let text = format!("name = 'mine'\n[table]\nfiles = [{{ name = 'f' }}]\n{table}\n{ATTRIBUTES}");
    Schema::parse(&text).unwrap()
}

fn read(schema: &Schema, content: &[u8]) -> Result<Dataset, DataError> {
    read_table(schema, vec![Source::from_bytes("f", content)?])
}

/// The counts of the two cities and of missing values.
fn cities(dataset: &Dataset) -> Vec<f64> {
    let city = dataset.domain().id("city").unwrap();
    dataset.project(&Clique::new([city])).unwrap().into_values()
}

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn columns_are_found_by_name_and_others_ignored() {
    let content = "\u{feff}note,city,age\r\nx,Bath,3\r\n\"a, b\", Köln ,99.5\r\n,,12\r\n\r\n";
    let dataset = read(&schema(""), content.as_bytes()).unwrap();
    assert_eq!(cities(&dataset), [1.0, 1.0, 1.0]);
    let age = dataset.domain().id("age").unwrap();
    assert_eq!((0..3).map(|r| dataset.code(r, age)).collect::<Vec<_>>(), [0, 9, 1]);
}

#[test]
fn compression_changes_neither_records_nor_checksum() {
    let content = b"city,age\nBath,3\n";
    let plain = read(&schema(""), content).unwrap();
    let packed = read(&schema(""), &compressed(content)).unwrap();
    assert_eq!(plain.provenance(), packed.provenance());
    assert_eq!(plain.provenance().sources[0].blake3, blake3::hash(content).to_hex().to_string());
    assert_eq!(plain.provenance().sources[0].bytes, 16);
}

#[test]
fn lines_that_are_no_records_are_ignored() {
    let schema = schema("ignore_lines = ['Notes', 'Total']\ndelimiter = ';'");
    let content = b"Notes offered\n\ncity;age\nBath;1\nTotal: 3;;;\n;;;\nBath;2\nTotal";
    assert_eq!(read(&schema, content).unwrap().len(), 2);
}

#[test]
fn files_without_a_header_take_the_columns_of_the_schema() {
    let schema = schema("columns = ['age', 'city']");
    assert_eq!(read(&schema, b"1, Bath\n2, Bath\n").unwrap().len(), 2);
}

#[test]
fn latin_1_is_read_where_the_schema_allows_it() {
    let content = b"city,age\nK\xf6ln,3\nK\xc3\xb6ln,4\n";
    let dataset = read(&schema("encoding = 'utf-8-or-latin-1'"), content).unwrap();
    assert_eq!(cities(&dataset), [0.0, 2.0, 0.0]);
    let refused = read(&schema(""), content).unwrap_err();
    assert!(matches!(
        refused,
        DataError::Cell { line: 2, ref column, problem: CellProblem::NotUtf8, .. }
            if column == "city"
    ));
}

#[test]
fn bytes_that_latin_1_lacks_are_those_of_windows_1252() {
    let text = "name = 'mine'\n[table]\nfiles = [{ name = 'f' }]\nencoding = 'utf-8-or-latin-1'\n\
                [[attribute]]\nname = 'sum'\nkind = 'categorical'\n\
                values = ['1 \u{20ac}', 'caf\u{e9}']\n";
    let dataset = read(&Schema::parse(text).unwrap(), b"sum\n1 \x80\ncaf\xe9\n").unwrap();
    assert_eq!(dataset.len(), 2);
}

#[test]
fn files_that_are_no_tables_are_refused_with_what_to_do() {
    let message = |content: &[u8]| read(&schema(""), content).unwrap_err().to_string();
    for start in [b"\xff\xfec\0i\0", b"\xfe\xff\0c\0i"] {
        let message = message(start);
        assert!(message.starts_with("f: the file is UTF-16 text") && message.contains("iconv"));
    }
    assert!(message(b"PK\x03\x04...").contains("save the table as CSV"));
}

#[test]
fn errors_name_file_line_column_and_the_expected_value() {
    let message = |content: &[u8]| read(&schema(""), content).unwrap_err().to_string();
    assert_eq!(
        message(b"city,age\nBath,1\nParis,2\n"),
        "f, line 3, column 'city': 'Paris' is not one of the 2 values: Bath, Köln; add it to \
         values, or write other = \"other\" for all values that are not listed"
    );
    assert_eq!(message(b"city,age\nBath,x\n"), "f, line 2, column 'age': 'x' is not a number");
    assert!(message(b"city,age\nBath,100\n").contains("100 is outside [0, 100)"));
    assert!(message(b"city,age\nBath,\n").contains("the value is missing"));
    assert_eq!(message(b"city,age\nBath,1,\n"), "f, line 2: 3 field(s) instead of 2");
    assert_eq!(
        message(b"city,years\nBath,1\n"),
        "f, line 1: there is no column 'age'; the columns are city, years"
    );
    assert_eq!(message(b"age,city,age\n1,Bath,1\n"), "f, line 1: there are two columns 'age'");
    assert_eq!(message(b""), "f: the file is empty");
    assert_eq!(message(b"city,age\n"), "f: no records; 0 row(s) were read, 0 of them dropped");
    assert!(message(&compressed(b"city,age\n")[..15]).starts_with("f: "));
}

#[test]
fn lines_are_counted_as_an_editor_does() {
    let line = |content: &str| match read(&schema(""), content.as_bytes()) {
        Err(DataError::Cell { line, .. } | DataError::FieldCount { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    for end in ["\n", "\r\n"] {
        let of = |text: &str| line(&text.replace('\n', end));
        assert_eq!(of("city,age\nBath,1\nBath,x\nBath,2\n"), 3);
        assert_eq!(of("city,age\nBath,1\nBath,x"), 3);
        assert_eq!(of("\n\ncity,age\n\nBath,1\n\n\nBath,x\n"), 8);
        assert_eq!(of("city,age\n\"Bath\n\",1\nBath,x\n"), 4);
        assert_eq!(of("city,age\nBath,1\n\"Ba\nth\",1\n"), 3);
        assert_eq!(of("city,age\nBath,1\nBath,\"2\nBath,3\n"), 3);
        let many = "Bath,1\n".repeat(20_000);
        assert_eq!(of(&format!("city,age\n{many}Bath,x\n")), 20_002);
    }
}

#[test]
fn rows_and_checksums_are_checked_where_the_schema_gives_them() {
    let content = b"city,age\nBath,3\n";
    let other = schema("[expected]\nrows = 2");
    assert_eq!(read(&other, content).unwrap_err().to_string(), "f: 1 rows; the schema expects 2");
    let text =
        format!("name = 'm'\n[table]\nfiles = [{{ name = 'f', blake3 = '00' }}]{ATTRIBUTES}");
    let refused = read(&Schema::parse(&text).unwrap(), content);
    assert!(matches!(refused, Err(DataError::Checksum { .. })));
}

proptest! {
    #[test]
    fn no_bytes_panic(content: Vec<u8>, header: bool, gzip: bool) {
        let mut all = if header { b"city,age\n".to_vec() } else { Vec::new() };
        if gzip { all.splice(0..0, [0x1f, 0x8b, 8, 0]); }
        all.extend(content);
        let _ = read(&schema(""), &all);
        let _ = read(&schema("encoding = 'utf-8-or-latin-1'\ncolumns = ['age', 'city']"), &all);
    }

    #[test]
    fn malformed_tables_never_panic(
        lines in prop::collection::vec("[BathKöln0-9,.\"\n -]{0,12}", 0..20),
    ) {
        let _ = read(&schema(""), format!("city,age\n{}", lines.join("\n")).as_bytes());
    }
}

#[test]
fn a_sequence_may_be_shorter_or_longer_than_the_columns() {
    let page = |k: usize| {
        let kind = "kind = 'numeric'\nwidth = 1\nlow = 1\nhigh = 3\nmissing = 'code'";
        format!("[[attribute]]\nname = 'page-{k}'\n{kind}\n")
    };
    let with = |columns: &str| {
        let table = "name = 'm'\n[table]\nfiles = [{ name = 'f' }]\nform = 'sequences'\n\
                     delimiter = ' '\nignore_lines = ['%', 'news']\n";
        Schema::parse(&format!("{table}{columns}\n{}{}", page(1), page(2)))
    };
    let schema = with("columns = ['page-1', 'page-2']").unwrap();
    // As in the file of MSNBC: lines end with a space.
    let data = read(&schema, b"% pages\n\nnews sports\n\n\n1 1 \n2 \n3 2 1 1 \n").unwrap();
    let codes = |name: &str| {
        let id = data.domain().id(name).unwrap();
        (0..data.len()).map(|record| data.code(record, id)).collect::<Vec<_>>()
    };
    assert_eq!((codes("page-1"), codes("page-2")), (vec![0, 1, 2], vec![0, 3, 1]));
    let refused = read(&schema, b"1 9 \n").unwrap_err().to_string();
    assert!(refused.contains("page-2") && refused.contains('9'), "{refused}");
    let refused = with("").unwrap_err().to_string();
    assert!(refused.contains("table.columns is missing"), "{refused}");
}
