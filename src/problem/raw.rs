//! A problem file as written: the right kinds of values, not yet compared with each other.

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess};

use super::ProblemError;
use super::place::{Fields, Place, Read, fill, read_object};
use super::query::RawQuery;

#[derive(Default)]
pub(super) struct RawProblem {
    pub(super) domain: Option<RawDomain>,
    pub(super) total: Option<Option<f64>>,
    pub(super) measurements: Option<Vec<RawMeasurement>>,
    pub(super) zeros: Option<Vec<RawZeros>>,
}

/// Names and sizes, in the order of the file.
#[derive(Default)]
pub(super) struct RawDomain(pub(super) Vec<(String, usize)>);

#[derive(Default)]
pub(super) struct RawMeasurement {
    pub(super) attrs: Option<Vec<String>>,
    pub(super) query: Option<RawQuery>,
    pub(super) y: Option<Vec<f64>>,
    pub(super) stddev: Option<f64>,
}

#[derive(Default)]
pub(super) struct RawZeros {
    pub(super) attrs: Option<Vec<String>>,
    pub(super) cells: Option<Vec<Vec<usize>>>,
}

/// Reads a whole text as one value.
pub(super) fn from_json<T: Read>(text: &[u8]) -> Result<T, ProblemError> {
    let place = Place::default();
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = T::read(&mut json, &place).and_then(|raw| json.end().map(|()| raw));
    read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let mut message = error.to_string();
        // Serde puts the position at the end of its text; we have it as data.
        if let Some(end) = message.rfind(" at line ") {
            message.truncate(end);
        }
        ProblemError::Json { field: place.to_string(), message, line, column }
    })
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
            // Names, notes, what is known of the answer: other programs' business.
            _ => map.next_value::<IgnoredAny>().map(|_| ()),
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

impl Fields for RawMeasurement {
    const KIND: &'static str = "an object with attrs, query, y and stddev";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        match key {
            "attrs" => fill(&mut self.attrs, map, place),
            "query" => fill(&mut self.query, map, place),
            "y" => fill(&mut self.y, map, place),
            "stddev" => fill(&mut self.stddev, map, place),
            _ => Err(A::Error::custom("unknown field, expected attrs, query, y or stddev")),
        }
    }
}

impl Fields for RawZeros {
    const KIND: &'static str = "an object with attrs and cells";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        match key {
            "attrs" => fill(&mut self.attrs, map, place),
            "cells" => fill(&mut self.cells, map, place),
            _ => Err(A::Error::custom("unknown field, expected attrs or cells")),
        }
    }
}

macro_rules! read_as_object {
    ($($name:ty),*) => {$(
        impl Read for $name {
            fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
                read_object(from, place)
            }
        }
    )*};
}
read_as_object!(RawProblem, RawDomain, RawMeasurement, RawZeros);
