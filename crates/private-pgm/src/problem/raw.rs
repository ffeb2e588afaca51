//! The syntax of a problem file: the types of values are checked, their consistency is not.

use serde::de::{IgnoredAny, MapAccess};

use super::ProblemError;
use super::answers::Answers;
use super::labels::RawLists;
use super::place::{Fields, Place, Read, fill, read_as_object, read_fields, unknown};
use super::query::RawQuery;

#[derive(Default)]
pub(super) struct RawProblem {
    pub(super) domain: Option<RawDomain>,
    pub(super) total: Option<Option<f64>>,
    pub(super) measurements: Option<Vec<RawMeasurement>>,
    pub(super) zeros: Option<Vec<RawZeros>>,
    pub(super) labels: Option<RawLists<String>>,
    pub(super) edges: Option<RawLists<f64>>,
}

/// Names and sizes, in the order of the file.
#[derive(Default)]
pub(super) struct RawDomain(pub(super) Vec<(String, usize)>);

#[derive(Default)]
pub(super) struct RawMeasurement {
    pub(super) attrs: Option<Vec<String>>,
    pub(super) query: Option<RawQuery>,
    pub(super) y: Option<Answers>,
    pub(super) stddev: Option<f64>,
}

#[derive(Default)]
pub(super) struct RawZeros {
    pub(super) attrs: Option<Vec<String>>,
    pub(super) cells: Option<Vec<Vec<usize>>>,
}

/// The byte order mark that some editors write at the start of UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a whole text as one value.
pub(super) fn from_json<T: Read>(text: &[u8]) -> Result<T, ProblemError> {
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err(ProblemError::Utf16);
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Err(ProblemError::Empty);
    }
    let place = Place::default();
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = T::read(&mut json, &place).and_then(|raw| json.end().map(|()| raw));
    read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let mut message = error.to_string();
        // Serde's text ends with the position, which is a separate field here.
        if let Some(end) = message.rfind(" at line ") {
            message.truncate(end);
        }
        // Python's json.dumps writes these by default.
        let word = word_at(text, line, column);
        if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) {
            message = format!("expected a finite number, found {word}, which JSON does not have");
        }
        ProblemError::Json { field: place.to_string(), message, line, column }
    })
}

/// The word at a position as serde counts: lines from 1, columns in bytes.
fn word_at(text: &[u8], line: usize, column: usize) -> String {
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    let line = text.split(|&byte| byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let at = column.saturating_sub(1).min(line.len());
    let start = at - line[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let end = at + line[at..].iter().take_while(|byte| is_part(byte)).count();
    String::from_utf8_lossy(&line[start..end]).into_owned()
}

impl Fields for RawProblem {
    const KIND: &'static str = "an object with domain, measurements, and total or zeros";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        match key {
            "domain" => fill(&mut self.domain, map, place),
            "total" => fill(&mut self.total, map, place),
            "measurements" => fill(&mut self.measurements, map, place),
            "zeros" => fill(&mut self.zeros, map, place),
            "labels" => fill(&mut self.labels, map, place),
            "edges" => fill(&mut self.edges, map, place),
            // For people and for other programs.
            "name" | "notes" | "optimum" => map.next_value::<IgnoredAny>().map(|_| ()),
            _ => {
                let known = ["domain", "total", "measurements", "zeros", "labels", "edges"];
                Err(unknown(key, "field", &[&known[..], &["name", "notes"]].concat()))
            }
        }
    }
}

impl Fields for RawDomain {
    const KIND: &'static str = "an object with the number of values of each attribute";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        let mut size = None;
        fill(&mut size, map, place)?;
        self.0.extend(size.map(|size| (key.to_string(), size)));
        Ok(())
    }
}

read_as_object!(RawProblem);
read_as_object!(RawDomain);
read_fields!(RawMeasurement { attrs, query, y and stddev });
read_fields!(RawZeros { attrs and cells });
