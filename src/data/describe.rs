use super::schema::{AttributeSchema, Kind, Missing, Schema};
use super::{Dataset, Provenance};
use private_pgm::domain::AttributeId;

/// What people want to know about a dataset.
#[derive(Clone, Debug)]
pub struct Description {
    /// The name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The terms on which it may be used.
    pub licence: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// How to cite it.
    pub citation: Option<String>,
    /// The number of records.
    pub records: usize,
    /// The decimal logarithm of the number of possible records.
    pub log10_domain_size: f64,
    /// Its files, and what was dropped.
    pub provenance: Provenance,
    /// The attributes, in declared order.
    pub attributes: Vec<AttributeDescription>,
}

/// What people want to know about an attribute.
#[derive(Clone, Debug)]
pub struct AttributeDescription {
    /// The name.
    pub name: String,
    /// "numeric" or "categorical".
    pub kind: &'static str,
    /// The number of bins or listed values.
    pub bins: usize,
    /// What becomes of missing values.
    pub missing: Missing,
    /// The number of records without a value, where they have a code.
    pub missing_records: Option<usize>,
    /// The number of values outside the bounds or the list.
    pub outside: usize,
    /// What each code stands for.
    pub labels: Vec<String>,
    /// The one-way marginal: how many records have each code.
    pub counts: Vec<usize>,
}

impl Description {
    /// Describes records that were read by this schema: O(m d).
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
            Kind::Numeric { .. } => "numeric",
            Kind::Categorical { .. } => "categorical",
        },
        bins: attribute.bins(),
        missing: attribute.missing,
        missing_records: counts.get(attribute.bins()).copied(),
        outside: dataset.provenance().outside.get(&attribute.name).copied().unwrap_or(0),
        labels: (0..attribute.size() as u32).filter_map(|code| attribute.label(code)).collect(),
        counts,
    }
}
