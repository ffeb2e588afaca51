//! Writes problems as files.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::labels::WrittenLists;
use super::query::WrittenQuery;
use super::{Problem, StructuralZeros};
use crate::domain::{Domain, Labels};
use crate::loss::Measurement;

impl Problem {
    /// The problem as JSON, which reads as an equal problem. Attributes are listed in axis order.
    /// An estimated total is omitted; readers estimate it again.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("every key of ours is a string")
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let domain = &self.domain;
        let measurements = self.measurements.iter();
        let zeros = self.zeros.iter();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("domain", &WrittenDomain(domain))?;
        map.serialize_entry("total", &(!self.total_is_estimated).then_some(self.total))?;
        map.serialize_entry(
            "measurements",
            &measurements.map(|item| WrittenMeasurement(domain, item)).collect::<Vec<_>>(),
        )?;
        map.serialize_entry(
            "zeros",
            &zeros.map(|item| WrittenZeros(domain, item)).collect::<Vec<_>>(),
        )?;
        let labels = WrittenLists::new(domain, Labels::names);
        if !labels.is_empty() {
            map.serialize_entry("labels", &labels)?;
        }
        let edges = WrittenLists::new(domain, Labels::edges);
        if !edges.is_empty() {
            map.serialize_entry("edges", &edges)?;
        }
        map.end()
    }
}

struct WrittenDomain<'a>(&'a Domain);

impl Serialize for WrittenDomain<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let declared = self.0.declared().iter();
        to.collect_map(declared.map(|&id| (self.0.name(id), self.0.size(id))))
    }
}

struct WrittenMeasurement<'a>(&'a Domain, &'a Measurement);

impl Serialize for WrittenMeasurement<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Measurement { clique, query, y, stddev } = self.1;
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("attrs", &self.0.names(clique))?;
        map.serialize_entry("query", &WrittenQuery { query, attributes: clique.len() })?;
        map.serialize_entry("y", y)?;
        map.serialize_entry("stddev", stddev)?;
        map.end()
    }
}

struct WrittenZeros<'a>(&'a Domain, &'a StructuralZeros);

impl Serialize for WrittenZeros<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let StructuralZeros { clique, cells } = self.1;
        let shape = self.0.shape(clique);
        let values = |&cell: &usize| {
            let mut rest = cell;
            let mut values = vec![0; shape.len()];
            for (value, &size) in values.iter_mut().zip(&shape).rev() {
                *value = rest % size;
                rest /= size;
            }
            values
        };
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("attrs", &self.0.names(clique))?;
        map.serialize_entry("cells", &cells.iter().map(values).collect::<Vec<_>>())?;
        map.end()
    }
}
