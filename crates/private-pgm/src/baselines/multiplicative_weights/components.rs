use crate::domain::{Clique, Domain};

/// Joint tables that exceed the memory limit, and the measurement that causes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LimitExceeded {
    /// The number of the measurement, counted from 1.
    pub(super) number: usize,
    /// The bytes of the joint tables of the measurements up to this one.
    pub(super) bytes: f64,
    /// The attributes of the largest joint table.
    pub(super) attributes: Clique,
}

/// The connected components of a collection of cliques, in the order of their first cliques. Two
/// cliques with a common attribute are in the same component.
pub(super) fn components<'a>(cliques: impl IntoIterator<Item = &'a Clique>) -> Vec<Clique> {
    cliques.into_iter().fold(Vec::new(), join)
}

/// The components after one more clique.
fn join(mut components: Vec<Clique>, clique: &Clique) -> Vec<Clique> {
    let overlaps = |component: &Clique| !component.intersection(clique).is_empty();
    let Some(first) = components.iter().position(overlaps) else {
        components.push(clique.clone());
        return components;
    };
    let mut joined = clique.clone();
    components.retain(|component| {
        let overlapping = overlaps(component);
        if overlapping {
            joined = joined.union(component);
        }
        !overlapping
    });
    components.insert(first, joined);
    components
}

/// The first measurement after which the joint tables of the components exceed `limit` bytes.
pub(super) fn first_exceeding<'a>(
    domain: &Domain,
    measured: impl IntoIterator<Item = &'a Clique>,
    limit: u64,
) -> Option<LimitExceeded> {
    let mut components = Vec::new();
    for (number, clique) in (1..).zip(measured) {
        components = join(components, clique);
        let bytes = table_bytes(domain, &components);
        if bytes > limit as f64 {
            let attributes = largest(domain, &components).clone();
            return Some(LimitExceeded { number, bytes, attributes });
        }
    }
    None
}

/// The clique with the most cells.
///
/// # Panics
/// If there are no cliques.
pub(super) fn largest<'a>(domain: &Domain, cliques: &'a [Clique]) -> &'a Clique {
    let larger = |a: &'a Clique, b: &'a Clique| match domain.cells_f64(b) > domain.cells_f64(a) {
        true => b,
        false => a,
    };
    cliques.iter().reduce(larger).expect("at least one clique")
}

/// The bytes of one table of `f64` per clique.
pub(super) fn table_bytes(domain: &Domain, cliques: &[Clique]) -> f64 {
    let cells: f64 = cliques.iter().map(|clique| domain.cells_f64(clique)).sum();
    cells * size_of::<f64>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AttributeId;

    fn clique(ids: &[u32]) -> Clique {
        ids.iter().map(|&id| AttributeId(id)).collect()
    }

    #[test]
    fn cliques_that_share_attributes_are_one_component() {
        let chain = [clique(&[0, 1]), clique(&[4, 5]), clique(&[2, 3]), clique(&[1, 2])];
        assert_eq!(components(&chain), [clique(&[0, 1, 2, 3]), clique(&[4, 5])]);
        assert_eq!(components(&[clique(&[]), clique(&[1])]), [clique(&[]), clique(&[1])]);
        assert_eq!(components(&[]), []);
    }

    #[test]
    fn the_first_measurement_that_exceeds_the_limit_is_found() {
        let domain = Domain::new((0..6).map(|i| (format!("x{i}"), 10))).unwrap();
        let measured = [clique(&[0, 1]), clique(&[2, 3]), clique(&[1, 2]), clique(&[4])];
        assert_eq!(first_exceeding(&domain, &measured, 8 * 10_010), None);
        let exceeded = first_exceeding(&domain, &measured, 8 * 9_999).unwrap();
        assert_eq!((exceeded.number, exceeded.bytes), (3, 80_000.0));
        assert_eq!(exceeded.attributes, clique(&[0, 1, 2, 3]));
    }
}
