use private_pgm::domain::Clique;
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// The marginals on all sets of `order` attributes of `clique`, or on `clique` if it has fewer
/// attributes.
pub(super) fn marginals(
    data: &dyn Projectable,
    clique: &Clique,
    order: usize,
) -> Result<Vec<Factor>, MarginalError> {
    data.marginals(&clique.subsets(order.min(clique.len())))
}
