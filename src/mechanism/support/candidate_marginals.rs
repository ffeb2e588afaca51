//! Marginals among which a mechanism selects by the error of its current estimate.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::score_grid::on_grid;
use crate::mechanism::{MechanismError, Private};
use dp::{Neighbours, Share};
use private_pgm::domain::Clique;
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// The most cells of estimated marginals that are held at the same time, our choice: 32 MiB.
const BATCH_CELLS: f64 = (1 << 22) as f64;

/// No distance is larger: tables have at most 2^32 records, and so have estimates that are
/// compared with them. Sums of multiples of 2^-20 are exact up to it.
pub(crate) const LARGEST_DISTANCE: f64 = (1u64 << 33) as f64;

/// The cliques, with the exact marginals of the data.
///
/// Exact marginals do not change between rounds. They are counted when they are first needed and
/// stored as their occupied cells, of which there are at most as many as records. Beyond
/// `cache_bytes` they are counted again in each round.
pub(crate) struct CandidateMarginals<'a> {
    data: Private<'a>,
    cliques: Vec<Clique>,
    exact: Vec<OnceLock<OccupiedCells>>,
    cache_bytes_left: AtomicU64,
}

/// The cells of a marginal with a count above 0, ascending.
struct OccupiedCells {
    cells: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> CandidateMarginals<'a> {
    pub(crate) fn new(data: Private<'a>, cliques: Vec<Clique>, cache_bytes: u64) -> Self {
        let exact = cliques.iter().map(|_| OnceLock::new()).collect();
        Self { data, cliques, exact, cache_bytes_left: AtomicU64::new(cache_bytes) }
    }

    pub(crate) fn cliques(&self) -> &[Clique] {
        &self.cliques
    }

    /// |M_r(D) - M_r(p)|_1 for the cliques at `wanted`, with the marginals of p rounded to
    /// multiples of 2^-20.
    ///
    /// *Sensitivity*: 1 if a record is added or removed, 2 if one is replaced ([`change`]).
    /// *Proof.* p is the same for both tables, and by the triangle inequality the distance to a
    /// fixed vector changes by at most the L1 norm of the change of the counts: one cell, or two,
    /// by 1. Rounding does not increase it: counts are integers, all terms are multiples of 2^-20,
    /// and sums of them are exact up to 2^33, which bounds the records of the data and |M_r(p)|_1
    /// together; where |M_r(p)|_1 is above 2^32, the distance is set to 2^33. QED.
    pub(crate) fn distances(
        &self,
        wanted: &[usize],
        estimate: &dyn Projectable,
        share: &Share,
    ) -> Result<Vec<f64>, MechanismError> {
        let domain = self.data.domain();
        let mut distances = Vec::with_capacity(wanted.len());
        let mut rest = wanted;
        while !rest.is_empty() {
            let mut cells = 0.0;
            let fits = rest.iter().take_while(|&&place| {
                cells += domain.cells_f64(&self.cliques[place]);
                cells <= BATCH_CELLS
            });
            let (batch, others) = rest.split_at(fits.count().max(1));
            let cliques: Vec<Clique> =
                batch.iter().map(|&place| self.cliques[place].clone()).collect();
            let marginals = estimate.marginals(&cliques)?;
            let distances_of_batch: Vec<f64> = batch
                .par_iter()
                .zip(marginals)
                .map(|(&place, marginal)| self.distance(place, &marginal, share))
                .collect::<Result<_, _>>()?;
            distances.extend(distances_of_batch);
            rest = others;
        }
        Ok(distances)
    }

    fn distance(
        &self,
        place: usize,
        estimate: &Factor,
        share: &Share,
    ) -> Result<f64, MarginalError> {
        if let Some(exact) = self.exact[place].get() {
            return Ok(exact.distance(estimate.values()));
        }
        let exact = OccupiedCells::new(&self.data.read(share).project(&self.cliques[place])?);
        let distance = exact.distance(estimate.values());
        let take = |left: u64| left.checked_sub(exact.bytes());
        let order = Ordering::Relaxed;
        if self.cache_bytes_left.fetch_update(order, order, take).is_ok() {
            // Only one thread has this place.
            _ = self.exact[place].set(exact);
        }
        Ok(distance)
    }
}

impl OccupiedCells {
    fn new(marginal: &Factor) -> Self {
        let occupied = (0u32..).zip(marginal.values()).filter(|&(_, &count)| count > 0.0);
        let (cells, counts) = occupied.map(|(cell, &count)| (cell, count as u32)).unzip();
        Self { cells, counts }
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.cells[..]) + size_of_val(&self.counts[..])) as u64
    }

    /// The sum over all cells of |x - e|: that of |e|, corrected at the occupied cells.
    fn distance(&self, estimate: &[f64]) -> f64 {
        let all: f64 = estimate.iter().map(|&e| on_grid(e).abs()).sum();
        // Public, so that neighbours agree in it.
        if all > LARGEST_DISTANCE / 2.0 {
            return LARGEST_DISTANCE;
        }
        let corrected = self.cells.iter().zip(&self.counts).map(|(&cell, &count)| {
            let e = on_grid(estimate[cell as usize]);
            (f64::from(count) - e).abs() - e.abs()
        });
        all + corrected.sum::<f64>()
    }
}

/// The sensitivity of [`CandidateMarginals::distances`].
pub(crate) fn change(neighbours: Neighbours) -> f64 {
    match neighbours {
        Neighbours::Replace => dp::sabotage!(2.0, "distances-as-added", 1.0),
        Neighbours::AddRemove => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::support::small_table::SmallTable;
    use dp::sensitivity::brute_force::{Records, worst_case};
    use dp::{Budget, Epsilon, LInfinity};
    use private_pgm::baselines::Tables;

    fn share(neighbours: Neighbours) -> Share {
        Budget::new(Epsilon::new(1.0).unwrap(), neighbours).rest().unwrap()
    }

    /// Tables that are not integral, below some counts and above others, one of them negative.
    fn estimate(table: &SmallTable) -> Tables {
        let domain = table.data.domain();
        let whole =
            Factor::new(domain, domain.everything(), vec![0.3, 1.7, 0.0, 2.2, -0.1, 1.0 / 3.0]);
        let cliques = table.workload.cliques();
        Tables::new(domain, cliques.iter().map(|clique| whole.sum_onto(clique)).collect())
    }

    #[test]
    fn the_sensitivity_of_distances_is_as_claimed_on_all_small_tables() {
        for (neighbours, tables) in
            [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
        {
            for cache_bytes in [0, 1 << 20] {
                let distances = |counts: &[u64]| {
                    let table = SmallTable::new(counts);
                    let cliques = table.workload.cliques();
                    let candidates =
                        CandidateMarginals::new(table.task().data, cliques, cache_bytes);
                    let share = &share(neighbours);
                    let first = candidates.distances(&[0, 1, 2], &estimate(&table), share).unwrap();
                    let second =
                        candidates.distances(&[0, 1, 2], &estimate(&table), share).unwrap();
                    assert_eq!(first, second);
                    first
                };
                let worst = worst_case::<LInfinity>(SmallTable::CELLS, tables, distances).distance;
                assert_eq!(worst, change(neighbours));
            }
        }
    }

    #[test]
    fn distances_from_occupied_cells_are_those_of_all_cells() {
        let table = SmallTable::new(&[3, 0, 2, 0, 1, 0]);
        let (cliques, estimate) = (table.workload.cliques(), estimate(&table));
        let candidates = CandidateMarginals::new(table.task().data, cliques.clone(), 1 << 20);
        let found = candidates.distances(&[2, 0], &estimate, &share(Neighbours::Replace)).unwrap();
        let expected = [2, 0].map(|place: usize| {
            let exact = table.data.project(&cliques[place]).unwrap();
            let marginal = estimate.marginals(&cliques[place..=place]).unwrap().remove(0);
            let cells = exact.values().iter().zip(marginal.values());
            cells.map(|(x, e)| (x - e).abs()).sum::<f64>()
        });
        assert!(found.iter().zip(expected).all(|(found, e)| (found - e).abs() < 1e-5), "{found:?}");
    }
}
