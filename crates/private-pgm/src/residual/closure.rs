use std::collections::BTreeSet;

use crate::domain::{Clique, Domain};

/// All subsets of these cliques, each once, by size and then in lexicographic order. The empty set
/// is the first. Empty if there are no cliques.
pub fn downward_closure<'a>(cliques: impl IntoIterator<Item = &'a Clique>) -> Vec<Clique> {
    let mut subsets: BTreeSet<(usize, Clique)> = BTreeSet::new();
    for clique in cliques {
        for size in 0..=clique.len() {
            subsets.extend(clique.subsets(size).into_iter().map(|subset| (size, subset)));
        }
    }
    subsets.into_iter().map(|(_, subset)| subset).collect()
}

/// The subset of `clique` whose axes are the bits of `mask`.
pub(super) fn masked(clique: &Clique, mask: usize) -> Clique {
    clique.iter().enumerate().filter(|(axis, _)| mask >> axis & 1 == 1).map(|(_, id)| id).collect()
}

/// The product of the sizes of the axes that are not in `mask`.
pub(super) fn cells_outside(shape: &[usize], mask: usize) -> f64 {
    let outside = shape.iter().enumerate().filter(|(axis, _)| mask >> axis & 1 == 0);
    outside.map(|(_, &n)| n as f64).product()
}

/// The attributes with at least two values. A table over them has the same cells, and the residual
/// of a set with an attribute of one value is zero.
pub(super) fn varying(domain: &Domain, clique: &Clique) -> Clique {
    clique.iter().filter(|&id| domain.size(id) > 1).collect()
}
