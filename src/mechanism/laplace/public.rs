use crate::data::MarginalTooLarge;
use private_pgm::domain::Clique;
use private_pgm::factor::{Factor, Projectable};

/// The marginals on all sets of `order` attributes of `clique`, or on `clique` if it has fewer
/// attributes.
pub(super) fn marginals<P: Projectable<Error = MarginalTooLarge>>(
    data: &P,
    clique: &Clique,
    order: usize,
) -> Result<Vec<Factor>, MarginalTooLarge> {
    let sets = clique.subsets(order.min(clique.len()));
    sets.iter().map(|set| data.project(set)).collect()
}
