use super::allocation::{Allocation, Objective, Weights};
use super::base::Base;
use dp::{Neighbours, Rho};
use private_pgm::domain::{Clique, Domain};

/// The errors of ResidualPlanner's own estimator, exact and without data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub marginals: usize,
    pub cells: f64,
    /// The root of the mean variance of all cells.
    pub root_mean_squared_error: f64,
    /// The largest standard deviation of a cell.
    pub largest_stddev: f64,
}

/// Predicts the errors on the marginals on `cliques`. `None` if nothing would be measured.
pub fn predict(
    domain: &Domain,
    cliques: &[Clique],
    neighbours: Neighbours,
    objective: Objective,
    rho: Rho,
) -> Option<Prediction> {
    let private_total = neighbours == Neighbours::AddRemove;
    let bases = Base::of_workload(domain, cliques, neighbours, private_total);
    if bases.is_empty() {
        return None;
    }
    let allocation = Allocation::new(domain, cliques, bases, objective, Weights::Cells);
    let (mut cells, mut sum, mut largest) = (0.0, 0.0, 0.0f64);
    for clique in cliques {
        let variance = allocation.cell_variance(clique, rho.get());
        cells += domain.cells_f64(clique);
        sum += domain.cells_f64(clique) * variance;
        largest = largest.max(variance);
    }
    Some(Prediction {
        marginals: cliques.len(),
        cells,
        root_mean_squared_error: (sum / cells).sqrt(),
        largest_stddev: largest.sqrt(),
    })
}
