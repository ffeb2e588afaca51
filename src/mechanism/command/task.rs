use std::fmt::Write;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::data::Dataset;
use crate::workload::{SubWorkload, Workload};
use dp::{Guarantee, Neighbours};
use private_pgm::domain::Domain;
use private_pgm::model::Projectable;
use private_pgm::problem::WrittenQuery;

/// What a command reads.
#[derive(Serialize)]
pub(super) struct WrittenTask<'a> {
    pub(super) format: u32,
    pub(super) asks_for: &'static str,
    pub(super) domain: Sizes<'a>,
    pub(super) workload: Vec<WrittenQueries<'a>>,
    /// A file with a column of codes per attribute.
    pub(super) data: &'a Path,
    pub(super) records: usize,
    pub(super) neighbours: Neighbours,
    pub(super) budget: Guarantee,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public: Option<usize>,
    pub(super) parameters: &'a toml::Table,
    pub(super) seed: u64,
    pub(super) memory_limit: u64,
    pub(super) seconds: Option<f64>,
}

/// The attributes with their sizes, in declared order.
pub(super) struct Sizes<'a>(pub(super) &'a Domain);

impl Sizes<'_> {
    fn pairs(domain: &Domain) -> impl Iterator<Item = (&str, usize)> {
        domain.declared().iter().map(|&id| (domain.name(id), domain.size(id)))
    }

    pub(super) fn equal(&self, other: &Domain) -> bool {
        Self::pairs(self.0).eq(Self::pairs(other))
    }
}

impl Serialize for Sizes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Self::pairs(self.0))
    }
}

/// The queries on one clique, as a measurement without its answers.
#[derive(Serialize)]
pub(super) struct WrittenQueries<'a> {
    attrs: Vec<&'a str>,
    query: WrittenQuery<'a>,
}

impl<'a> WrittenTask<'a> {
    pub(super) fn workload(workload: &'a Workload) -> Vec<WrittenQueries<'a>> {
        let written = |part: &'a SubWorkload| WrittenQueries {
            attrs: workload.domain().names(&part.clique),
            query: WrittenQuery { query: &part.query, attributes: part.clique.len() },
        };
        workload.parts().iter().map(written).collect()
    }
}

/// The records as CSV: a header with the names in declared order, then codes.
pub(super) fn csv(data: &Dataset) -> String {
    let domain = data.domain();
    let names: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A writer to memory does not fail.
    let header = writer.write_record(&names).ok().and_then(|()| writer.into_inner().ok());
    let mut text = String::from_utf8(header.unwrap_or_default()).unwrap_or_default();
    for record in 0..data.len() {
        for (place, &id) in domain.declared().iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{}", data.code(record, id));
        }
        text.push('\n');
    }
    text
}
