use crate::domain::{Clique, Domain};

/// A joint table that does not fit, and the measurement that made it so large.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outgrown {
    /// The place of the measurement, counted from 1.
    pub(super) place: usize,
    /// Bytes of all joint tables by then.
    pub(super) bytes: f64,
    /// The attributes of the largest one.
    pub(super) attributes: Clique,
}

/// The connected components of a collection of cliques, in the order in which they began: two
/// cliques with a common attribute are in the same one.
pub(super) fn components<'a>(cliques: impl IntoIterator<Item = &'a Clique>) -> Vec<Clique> {
    cliques.into_iter().fold(Vec::new(), join)
}

/// The components after one more clique.
fn join(mut components: Vec<Clique>, clique: &Clique) -> Vec<Clique> {
    let touches = |component: &Clique| !component.intersection(clique).is_empty();
    let Some(first) = components.iter().position(touches) else {
        components.push(clique.clone());
        return components;
    };
    let mut joined = clique.clone();
    components.retain(|component| {
        let touched = touches(component);
        if touched {
            joined = joined.union(component);
        }
        !touched
    });
    components.insert(first, joined);
    components
}

/// The first of the measured cliques after which the joint tables of the components take more than
/// `limit` bytes.
pub(super) fn outgrown<'a>(
    domain: &Domain,
    measured: impl IntoIterator<Item = &'a Clique>,
    limit: u64,
) -> Option<Outgrown> {
    let mut grown = Vec::new();
    for (place, clique) in (1..).zip(measured) {
        grown = join(grown, clique);
        let bytes = table_bytes(domain, &grown);
        if bytes > limit as f64 {
            return Some(Outgrown { place, bytes, attributes: largest(domain, &grown).clone() });
        }
    }
    None
}

/// The clique with the most cells; there must be one.
pub(super) fn largest<'a>(domain: &Domain, cliques: &'a [Clique]) -> &'a Clique {
    let larger = |a: &'a Clique, b: &'a Clique| match domain.cells_f64(b) > domain.cells_f64(a) {
        true => b,
        false => a,
    };
    cliques.iter().reduce(larger).expect("something takes the memory")
}

/// Bytes of one table for each of the cliques.
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
    fn the_measurement_that_joins_too_much_is_found() {
        let domain = Domain::new((0..6).map(|i| (format!("x{i}"), 10))).unwrap();
        let measured = [clique(&[0, 1]), clique(&[2, 3]), clique(&[1, 2]), clique(&[4])];
        assert_eq!(outgrown(&domain, &measured, 8 * 10_010), None);
        let outgrown = outgrown(&domain, &measured, 8 * 9_999).unwrap();
        assert_eq!((outgrown.place, outgrown.bytes), (3, 80_000.0));
        assert_eq!(outgrown.attributes, clique(&[0, 1, 2, 3]));
    }
}
