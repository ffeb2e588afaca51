//! What is public about a marginal.

use crate::data::MarginalTooLarge;
use crate::domain::{AttributeId, Clique};
use crate::factor::{Factor, Projectable};

/// The marginals on all sets of `order` attributes of `clique`, or on all of them when these are fewer.
pub(super) fn marginals<P: Projectable<Error = MarginalTooLarge>>(
    data: &P,
    clique: &Clique,
    order: usize,
) -> Result<Vec<Factor>, MarginalTooLarge> {
    let mut sets = Vec::new();
    subsets(clique.as_slice(), order.min(clique.len()), &mut Vec::new(), &mut sets);
    sets.iter().map(|set| data.project(set)).collect()
}

/// The sets of `size` of `attributes`, each with those that were `chosen` before.
fn subsets(
    attributes: &[AttributeId],
    size: usize,
    chosen: &mut Vec<AttributeId>,
    sets: &mut Vec<Clique>,
) {
    if size == 0 {
        sets.push(Clique::new(chosen.iter().copied()));
        return;
    }
    for (place, &attribute) in attributes.iter().enumerate() {
        chosen.push(attribute);
        subsets(&attributes[place + 1..], size - 1, chosen, sets);
        chosen.pop();
    }
}
