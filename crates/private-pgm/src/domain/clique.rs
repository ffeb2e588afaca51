use super::AttributeId;

/// A set of attributes, sorted by id.
///
/// In the paper: a measurement set, or a clique of the graphical model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clique(Box<[AttributeId]>);

impl Clique {
    /// The set of these attributes, in any order and with repetitions.
    pub fn new(attributes: impl IntoIterator<Item = AttributeId>) -> Self {
        let mut ids: Vec<AttributeId> = attributes.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids.into())
    }

    /// The empty set. A table over it has one cell.
    pub fn empty() -> Self {
        Self(Box::new([]))
    }

    /// The attributes in ascending order.
    pub fn as_slice(&self) -> &[AttributeId] {
        &self.0
    }

    /// The attributes in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = AttributeId> + ExactSizeIterator + '_ {
        self.0.iter().copied()
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set has no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: AttributeId) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// The axis of `id` in a table over this set; `None` if it is not in the set.
    pub fn axis(&self, id: AttributeId) -> Option<usize> {
        self.0.binary_search(&id).ok()
    }

    /// Whether every attribute of this set is in `other`.
    pub fn is_subset(&self, other: &Clique) -> bool {
        let mut rest = other.iter();
        self.iter().all(|id| rest.any(|candidate| candidate == id))
    }

    /// The attributes in either set.
    pub fn union(&self, other: &Clique) -> Clique {
        Clique::new(self.iter().chain(other.iter()))
    }

    /// The attributes in both sets.
    pub fn intersection(&self, other: &Clique) -> Clique {
        Clique(self.iter().filter(|&id| other.contains(id)).collect())
    }

    /// All subsets with `size` attributes, in lexicographic order.
    pub fn subsets(&self, size: usize) -> Vec<Clique> {
        let mut subsets = Vec::new();
        choose(&self.0, size, &mut Vec::new(), &mut subsets);
        subsets
    }

    /// The attributes of this set that are not in `other`.
    pub fn minus(&self, other: &Clique) -> Clique {
        Clique(self.iter().filter(|&id| !other.contains(id)).collect())
    }
}

/// Appends all sets that consist of `chosen` and `size` of `attributes`.
fn choose(
    attributes: &[AttributeId],
    size: usize,
    chosen: &mut Vec<AttributeId>,
    subsets: &mut Vec<Clique>,
) {
    if size == 0 {
        subsets.push(Clique(chosen.as_slice().into()));
        return;
    }
    for (position, &attribute) in attributes.iter().enumerate() {
        if attributes.len() - position < size {
            return;
        }
        chosen.push(attribute);
        choose(&attributes[position + 1..], size - 1, chosen, subsets);
        chosen.pop();
    }
}

impl FromIterator<AttributeId> for Clique {
    fn from_iter<I: IntoIterator<Item = AttributeId>>(attributes: I) -> Self {
        Self::new(attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clique(ids: &[u32]) -> Clique {
        ids.iter().map(|&id| AttributeId(id)).collect()
    }

    #[test]
    fn set_operations_agree_with_their_definitions() {
        let (a, b) = (clique(&[3, 1, 1, 7]), clique(&[7, 2, 3]));
        assert_eq!(a, clique(&[1, 3, 7]));
        assert_eq!(a.union(&b), clique(&[1, 2, 3, 7]));
        assert_eq!(a.intersection(&b), clique(&[3, 7]));
        assert_eq!(a.minus(&b), clique(&[1]));
        assert!(clique(&[1, 7]).is_subset(&a));
        assert!(!clique(&[1, 2]).is_subset(&a));
        assert!(Clique::empty().is_subset(&b));
        assert_eq!(a.subsets(2), [clique(&[1, 3]), clique(&[1, 7]), clique(&[3, 7])]);
        assert_eq!((a.subsets(0), a.subsets(4)), (vec![Clique::empty()], Vec::new()));
        assert_eq!(a.axis(AttributeId(7)), Some(2));
    }
}
