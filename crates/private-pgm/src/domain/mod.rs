//! The attributes of a record, each with finitely many values, and sets of attributes.
//!
//! # Axis order
//!
//! Every table is stored row-major, its axes in ascending [`AttributeId`]. Ids are assigned by
//! ascending size; attributes of one size keep their declared order. The longest axis of a table is
//! therefore the last, contiguous one, which the kernels in [`crate::numeric`] are fastest on.
//! Input and output use the declared order, [`Domain::declared`]; nothing else in the crate does.

mod clique;
mod labels;

pub use clique::Clique;
pub use labels::{Labels, LabelsError};

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The rank of an attribute in the axis order of its [`Domain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(pub u32);

impl AttributeId {
    /// The rank as an index into slices that have one entry per attribute.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A column of the data with the values `0..size`.
#[derive(Clone, Debug)]
struct Attribute {
    name: String,
    size: usize,
    labels: Option<Arc<Labels>>,
}

/// Labels are descriptions.
impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, size, labels: _ } = self;
        (name, size) == (&other.name, &other.size)
    }
}

impl Eq for Attribute {}

/// A product of finite attribute domains, the paper's X = X_1 x ... x X_d.
///
/// Domains are equal if their attributes have the same names, sizes and order, whatever their
/// [`Labels`].
#[derive(Clone, PartialEq, Eq)]
pub struct Domain {
    attributes: Vec<Attribute>,
    declared: Vec<AttributeId>,
    by_name: HashMap<String, AttributeId>,
}

/// Why a list of attributes is not a valid domain.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DomainError {
    /// Two attributes share a name.
    #[error("attribute '{0}' is declared twice")]
    DuplicateAttribute(String),
    /// An attribute has no values.
    #[error("attribute '{0}' has size 0; an attribute needs at least one value")]
    EmptyAttribute(String),
}

impl Domain {
    /// The domain with these attributes, by name and size in declared order. Names must be unique
    /// and sizes at least 1.
    pub fn new<N: Into<String>>(
        attributes: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Self, DomainError> {
        let listed: Vec<Attribute> = attributes
            .into_iter()
            .map(|(name, size)| Attribute { name: name.into(), size, labels: None })
            .collect();
        if let Some(empty) = listed.iter().find(|a| a.size == 0) {
            return Err(DomainError::EmptyAttribute(empty.name.clone()));
        }
        let mut by_size: Vec<usize> = (0..listed.len()).collect();
        by_size.sort_by_key(|&position| listed[position].size);
        let mut declared = vec![AttributeId(0); listed.len()];
        let mut by_name = HashMap::with_capacity(listed.len());
        for (rank, &position) in by_size.iter().enumerate() {
            let id = AttributeId(rank as u32);
            declared[position] = id;
            let name = &listed[position].name;
            if by_name.insert(name.clone(), id).is_some() {
                return Err(DomainError::DuplicateAttribute(name.clone()));
            }
        }
        let attributes = by_size.into_iter().map(|position| listed[position].clone()).collect();
        Ok(Self { attributes, declared, by_name })
    }

    /// The number of attributes, d.
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Whether the domain has no attributes.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// All ids, in axis order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = AttributeId> + use<> {
        (0..self.attributes.len() as u32).map(AttributeId)
    }

    /// All ids, in declared order.
    pub fn declared(&self) -> &[AttributeId] {
        &self.declared
    }

    /// n_i, the number of values of an attribute.
    ///
    /// # Panics
    /// If the id is not in the domain.
    pub fn size(&self, id: AttributeId) -> usize {
        self.attributes[id.index()].size
    }

    /// The name of an attribute.
    ///
    /// # Panics
    /// If the id is not in the domain.
    pub fn name(&self, id: AttributeId) -> &str {
        &self.attributes[id.index()].name
    }

    /// The id of the attribute with this name.
    pub fn id(&self, name: &str) -> Option<AttributeId> {
        self.by_name.get(name).copied()
    }

    /// The same domain with the meaning of an attribute's values.
    pub fn with_labels(mut self, name: &str, labels: Labels) -> Result<Self, LabelsError> {
        let id = self.id(name).ok_or_else(|| LabelsError::NoSuchAttribute(name.into()))?;
        let attribute = &mut self.attributes[id.index()];
        if labels.names().len() != attribute.size {
            let (labels, values) = (labels.names().len(), attribute.size);
            return Err(LabelsError::Count { labels, values });
        }
        attribute.labels = Some(Arc::new(labels));
        Ok(self)
    }

    /// The meaning of an attribute's values, if known.
    ///
    /// # Panics
    /// If the id is not in the domain.
    pub fn labels(&self, id: AttributeId) -> Option<&Labels> {
        self.attributes[id.index()].labels.as_deref()
    }

    /// The name of a value; its number if it has none.
    ///
    /// # Panics
    /// If the id is not in the domain.
    pub fn label(&self, id: AttributeId, value: usize) -> String {
        let name = self.labels(id).and_then(|labels| labels.names().get(value));
        name.map_or_else(|| value.to_string(), Clone::clone)
    }

    /// The sizes along the axes of a table over `clique`.
    pub fn shape(&self, clique: &Clique) -> Vec<usize> {
        clique.iter().map(|id| self.size(id)).collect()
    }

    /// The number of cells of a table over `clique`; `None` if it exceeds `usize::MAX`.
    pub fn cells(&self, clique: &Clique) -> Option<usize> {
        clique.iter().try_fold(1usize, |cells, id| cells.checked_mul(self.size(id)))
    }

    /// The number of cells of a table over `clique` as a float: exact up to 2^53, infinite beyond
    /// 1e308.
    pub fn cells_f64(&self, clique: &Clique) -> f64 {
        clique.iter().map(|id| self.size(id) as f64).product()
    }

    /// The clique of all attributes.
    pub fn everything(&self) -> Clique {
        Clique::new(self.ids())
    }

    /// The names of a clique's attributes, in axis order.
    pub fn names(&self, clique: &Clique) -> Vec<&str> {
        clique.iter().map(|id| self.name(id)).collect()
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.declared.iter().map(|&id| (self.name(id), self.size(id))))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend_with_size_and_the_declared_order_is_kept() {
        let domain = Domain::new([("age", 12), ("sex", 2), ("hours", 8), ("race", 2)]).unwrap();
        let names = |ids: &[AttributeId]| -> Vec<String> {
            ids.iter().map(|&id| domain.name(id).to_string()).collect()
        };
        assert_eq!(names(&domain.ids().collect::<Vec<_>>()), ["sex", "race", "hours", "age"]);
        assert_eq!(names(domain.declared()), ["age", "sex", "hours", "race"]);
        assert_eq!(domain.id("age"), Some(AttributeId(3)));
        assert_eq!(domain.id("income"), None);
    }

    #[test]
    fn duplicates_and_empty_attributes_are_refused() {
        assert_eq!(
            Domain::new([("a", 2), ("a", 3)]).unwrap_err(),
            DomainError::DuplicateAttribute("a".into())
        );
        assert_eq!(Domain::new([("a", 0)]).unwrap_err(), DomainError::EmptyAttribute("a".into()));
    }

    #[test]
    fn cells_of_a_huge_domain_overflow_to_none() {
        let domain = Domain::new((0..100).map(|i| (format!("x{i}"), 100))).unwrap();
        assert_eq!(domain.cells(&domain.everything()), None);
        assert!((domain.cells_f64(&domain.everything()).log10() - 200.0).abs() < 1e-9);
    }
}
