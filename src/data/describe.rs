use super::schema::{AttributeKind, AttributeSchema, Missing, Schema};
use super::{Dataset, Provenance};
use private_pgm::domain::AttributeId;

#[derive(Clone, Debug)]
pub struct Description {
    pub name: String,
    pub title: String,
    pub licence: Option<String>,
    pub source: Option<String>,
    pub citation: Option<String>,
    pub records: usize,
    /// Of the number of possible records.
    pub log10_domain_size: f64,
    pub provenance: Provenance,
    /// In declared order.
    pub attributes: Vec<AttributeDescription>,
}

#[derive(Clone, Debug)]
pub struct AttributeDescription {
    pub name: String,
    /// "numeric", "date" or "categorical".
    pub kind: &'static str,
    pub bins: usize,
    pub missing: Missing,
    /// The records without a value, if missing values have a code.
    pub missing_records: Option<usize>,
    /// Values outside the bounds or the list.
    pub outside: usize,
    pub labels: Vec<String>,
    /// The one-way marginal.
    pub counts: Vec<usize>,
}

impl Description {
    /// Costs O(m d).
    pub fn new(schema: &Schema, dataset: &Dataset) -> Self {
        let sizes = schema.attributes().iter().map(|attribute| attribute.size() as f64);
        let declared = schema.attributes().iter().zip(schema.domain().declared());
        Self {
            name: schema.name.clone(),
            title: schema.title.clone(),
            licence: schema.licence.clone(),
            source: schema.source.clone(),
            citation: schema.citation.clone(),
            records: dataset.len(),
            log10_domain_size: sizes.map(f64::log10).sum(),
            provenance: dataset.provenance().clone(),
            attributes: declared.map(|(attribute, &id)| describe(attribute, id, dataset)).collect(),
        }
    }
}

fn describe(
    attribute: &AttributeSchema,
    id: AttributeId,
    dataset: &Dataset,
) -> AttributeDescription {
    let mut counts = vec![0; attribute.size()];
    for record in 0..dataset.len() {
        counts[dataset.code(record, id) as usize] += 1;
    }
    AttributeDescription {
        name: attribute.name.clone(),
        kind: match attribute.kind {
            AttributeKind::Numeric { .. } => "numeric",
            AttributeKind::Date { .. } => "date",
            AttributeKind::Categorical { .. } => "categorical",
        },
        bins: attribute.bins(),
        missing: attribute.missing,
        missing_records: counts.get(attribute.bins()).copied(),
        outside: dataset.provenance().outside.get(&attribute.name).copied().unwrap_or(0),
        labels: attribute.labels(),
        counts,
    }
}
