use std::io::{self, Write};

use pgmbench::spreadsheet::field;
use serde::Serialize;
use serde_json::Map;

/// A table of answers, row-major in the attributes as listed.
#[derive(Serialize)]
pub(crate) struct Table {
    #[serde(rename = "attrs")]
    pub(crate) attributes: Vec<String>,
    /// The attributes with a fixed value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) given: Map<String, serde_json::Value>,
    /// What holds for the counted records.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<String>,
    /// The names along each axis, if they are more than their positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<Vec<Vec<String>>>,
    #[serde(skip)]
    pub(crate) shape: Vec<usize>,
    #[serde(skip_serializing_if = "Unit::is_count")]
    pub(crate) unit: Unit,
    pub(crate) values: Vec<f64>,
}

/// Of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Count,
    Probability,
}

impl Unit {
    fn is_count(&self) -> bool {
        *self == Self::Count
    }

    fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Probability => "probability",
        }
    }
}

impl Table {
    /// A header with the attributes and the unit, then one line per answer.
    fn write_csv(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        let names = self.attributes.iter().map(|name| field(name).into_owned());
        writer.write_record(names.chain([self.unit.name().into()]))?;
        let mut indices = vec![0; self.shape.len()];
        for value in &self.values {
            for (axis, index) in indices.iter().enumerate() {
                match &self.labels {
                    Some(labels) => writer.write_field(&*field(&labels[axis][*index]))?,
                    None => writer.write_field(index.to_string())?,
                }
            }
            writer.write_field(value.to_string())?;
            writer.write_record(None::<&[u8]>)?;
            for (index, &size) in indices.iter_mut().zip(&self.shape).rev() {
                *index += 1;
                if *index < size {
                    break;
                }
                *index = 0;
            }
        }
        writer.flush()
    }
}

/// Tables are separated by an empty line.
pub(crate) fn write_csv(tables: &[Table], output: &mut dyn Write) -> io::Result<()> {
    for (index, table) in tables.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        table.write_csv(output)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_separated_by_an_empty_line_and_names_are_quoted() {
        let table = |attributes: &[&str], shape: &[usize], values: &[f64]| Table {
            attributes: attributes.iter().map(ToString::to_string).collect(),
            given: Map::new(),
            condition: None,
            labels: None,
            shape: shape.to_vec(),
            unit: Unit::Count,
            values: values.to_vec(),
        };
        let mut tables =
            [table(&["a,1", "b"], &[2, 2], &[0.5, 1.0, 2.0, 3e-7]), table(&[], &[], &[6.5])];
        let csv = |tables: &[Table]| {
            let mut text = Vec::new();
            write_csv(tables, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let expected = "\"a,1\",b,count\n0,0,0.5\n0,1,1\n1,0,2\n1,1,0.0000003\n\ncount\n6.5\n";
        assert_eq!(csv(&tables), expected);
        let json = serde_json::to_string(&tables[1]).unwrap();
        assert_eq!(json, r#"{"attrs":[],"values":[6.5]}"#);
        let names = |texts: [&str; 2]| texts.map(String::from).to_vec();
        tables[0].labels = Some(vec![names(["[0, 5)", "old"]), names(["F", "M"])]);
        tables[0].unit = Unit::Probability;
        let expected = "\"a,1\",b,probability\n\"[0, 5)\",F,0.5\n";
        assert!(csv(&tables).starts_with(expected), "{}", csv(&tables));
    }
}
