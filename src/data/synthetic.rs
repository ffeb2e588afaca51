//! Synthetic records from files: with the labels of a schema or a model, or in the form of the
//! original.

use super::column::Column;
use super::infer::guess_delimiter;
use super::lines::{Lines, decode};
use super::schema::{AttributeSchema, CellProblem, Encoding, Schema, TableFacts, TableForm};
use super::source::Source;
use super::{DataError, Dataset, Provenance};
use crate::limits;
use crate::spreadsheet;
use private_pgm::domain::{AttributeId, Domain};

/// The codes of the texts of an attribute.
trait Codes {
    /// The columns that it may have, the first one that exists counts.
    fn columns(&self) -> Vec<&str>;

    fn size(&self) -> usize;

    /// `None` for a record that the schema drops.
    fn code(&self, text: &str) -> Result<Option<u32>, CellProblem>;
}

/// An attribute with its labels.
struct Labelled<'s> {
    attribute: &'s AttributeSchema,
    labels: Vec<String>,
}

impl Codes for Labelled<'_> {
    fn columns(&self) -> Vec<&str> {
        vec![&self.attribute.name, &self.attribute.column]
    }

    fn size(&self) -> usize {
        self.labels.len()
    }

    fn code(&self, text: &str) -> Result<Option<u32>, CellProblem> {
        match self.labels.iter().position(|label| label == spreadsheet::text(text)) {
            Some(code) => Ok(Some(code as u32)),
            None => self.attribute.encode(text).map(|encoded| encoded.code),
        }
    }
}

/// An attribute of a model.
struct OfDomain<'d> {
    domain: &'d Domain,
    id: AttributeId,
}

impl Codes for OfDomain<'_> {
    fn columns(&self) -> Vec<&str> {
        vec![self.domain.name(self.id)]
    }

    fn size(&self) -> usize {
        self.domain.size(self.id)
    }

    fn code(&self, text: &str) -> Result<Option<u32>, CellProblem> {
        let found = match self.domain.labels(self.id) {
            Some(labels) => labels.find(spreadsheet::text(text)),
            None => text.parse().ok().filter(|&code| code < self.size()),
        };
        found.map(|code| Some(code as u32)).ok_or_else(|| {
            let named = 0..self.size().min(10);
            let listed: Vec<String> =
                named.map(|value| self.domain.label(self.id, value)).collect();
            CellProblem::UnknownLabel { text: text.into(), listed: listed.join(", ") }
        })
    }
}

/// The records of a file whose values are labels of the schema, or as in the original file. `name`
/// is for messages.
pub fn read_synthetic(name: &str, content: &[u8], schema: &Schema) -> Result<Dataset, DataError> {
    let labelled = |attribute| Labelled { attribute, labels: attribute.labels() };
    let attributes: Vec<Labelled> = schema.attributes().iter().map(labelled).collect();
    read(name, content, schema.domain(), &attributes, schema.table.columns.as_ref())
}

/// The records of a file whose values are the labels of the domain, or numbers where it has none.
pub fn read_labelled(name: &str, content: &[u8], domain: &Domain) -> Result<Dataset, DataError> {
    let declared = domain.declared().iter();
    let attributes: Vec<OfDomain> = declared.map(|&id| OfDomain { domain, id }).collect();
    read(name, content, domain, &attributes, None)
}

/// The column of an attribute, under any of its names.
fn place_in<C: Codes>(header: &[String], attribute: &C) -> Option<usize> {
    let place = |column: &str| header.iter().position(|name| spreadsheet::text(name) == column);
    attribute.columns().into_iter().find_map(place)
}

fn read<C: Codes>(
    name: &str,
    content: &[u8],
    domain: &Domain,
    attributes: &[C],
    columns: Option<&Vec<String>>,
) -> Result<Dataset, DataError> {
    let source = || Source::from_bytes(name, content);
    let table = TableFacts {
        files: Vec::new(),
        form: TableForm::Records,
        columns: None,
        delimiter: guess_delimiter(&mut source()?)?,
        encoding: Encoding::Utf8OrLatin1,
        ignore_lines: Vec::new(),
    };
    let mut lines = Lines::new(source()?, &table);
    let mut header = lines.read_header()?;
    // The original may have no header line, and so has a file in its form.
    if let Some(columns) = columns.filter(|_| place_in(&header, &attributes[0]).is_none()) {
        header.clone_from(columns);
        lines = Lines::new(source()?, &table);
    }
    let missing = |attribute: &C| DataError::NoColumn {
        file: name.into(),
        line: lines.line(),
        column: attribute.columns()[0].into(),
        found: header.clone(),
    };
    let place = |attribute| place_in(&header, attribute).ok_or_else(|| missing(attribute));
    let places = attributes.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    let mut codes: Vec<Column> = attributes.iter().map(|a| Column::new(a.size())).collect();
    let (mut record, mut rows, mut dropped) = (vec![0; codes.len()], 0, 0);
    while lines.advance()? {
        let (expected, found) = (header.len(), lines.record.len());
        if expected != found {
            let (file, line) = (name.into(), lines.line());
            return Err(DataError::FieldCount { file, line, expected, found });
        }
        rows += 1;
        if !Column::fit(&codes, rows as u64, limits::data_bytes()) {
            let (file, limit) = (name.into(), limits::data_bytes());
            return Err(DataError::TooManyRecords { file, limit });
        }
        let mut complete = true;
        for ((attribute, &place), code) in attributes.iter().zip(&places).zip(&mut record) {
            let text = decode(&lines.record[place], table.encoding).unwrap_or_default();
            let found = attribute.code(text.trim()).map_err(|problem| DataError::Cell {
                file: name.into(),
                line: lines.line(),
                column: header[place].clone(),
                problem,
            })?;
            match found {
                Some(found) => *code = found,
                None => complete = false,
            }
        }
        match complete {
            true => codes.iter_mut().zip(&record).for_each(|(column, &code)| column.push(code)),
            false => dropped += 1,
        }
    }
    if rows == dropped {
        return Err(DataError::NoRecords { file: name.into(), rows, dropped });
    }
    let provenance = Provenance { rows, dropped, ..Provenance::default() };
    Ok(Dataset::from_declared(name, domain, codes, provenance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::domain::Labels;
    use private_pgm::model::Projectable;

    const SCHEMA: &str = "name = 'm'\n[table]\nfiles = [{ name = 'f' }]\n\
        [[attribute]]\nname = 'age'\ncolumn = 'AGE'\nkind = 'numeric'\nwidth = 10\nlow = 0\n\
        high = 29\nmissing = 'code'\n\
        [[attribute]]\nname = 'sex'\nkind = 'categorical'\nvalues = ['F', 'M']\n";

    fn codes(data: &Dataset) -> Vec<Vec<u32>> {
        let of = |record| {
            data.domain().declared().iter().map(|&id| data.code(record, id)).collect::<Vec<u32>>()
        };
        (0..data.len()).map(of).collect()
    }

    #[test]
    fn labels_and_the_form_of_the_original_are_read() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let expected = [[1, 0], [3, 1], [2, 1]];
        for content in [
            "age,sex\n\"[10, 20)\",F\nmissing,M\n\"[20, 30)\",M\n",
            "sex;name;AGE\nF;x;17\nM;y;\nM;z;29\n",
        ] {
            let data = read_synthetic("s.csv", content.as_bytes(), &schema).unwrap();
            assert_eq!(codes(&data), expected, "{content}");
        }
        let refused = |content: &str| {
            read_synthetic("s.csv", content.as_bytes(), &schema).unwrap_err().to_string()
        };
        assert!(refused("age,sex\n17,X\n").starts_with("s.csv, line 2, column 'sex': 'X'"));
        assert!(refused("age\n17\n").contains("there is no column 'sex'"));
    }

    #[test]
    fn a_model_reads_its_labels_and_numbers() {
        let labels = Labels::new(["F", "M"]).unwrap();
        let domain = Domain::new([("sex", 2), ("x", 3)]).unwrap();
        let domain = domain.with_labels("sex", labels).unwrap();
        let data = read_labelled("s.csv", b"x,sex\n2,M\n0,F\n", &domain).unwrap();
        assert_eq!(codes(&data), [[1, 2], [0, 0]]);
        let refused = |content: &str| {
            read_labelled("s.csv", content.as_bytes(), &domain).unwrap_err().to_string()
        };
        assert!(refused("x,sex\n3,M\n").contains("'3' is not one of 0, 1, 2"));
        assert!(refused("x,sex\n1,1\n").contains("'1' is not one of F, M"));
    }
}
