//! p^ of the lecture: a table with a probability per possible record.

use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::domain::Domain;
use private_pgm::factor::Factor;
use private_pgm::numeric::memory;

pub(super) fn bytes(domain: &Domain) -> f64 {
    size_of::<f64>() as f64 * domain.cells_f64(&domain.everything())
}

/// The uniform distribution.
///
/// # Panics
/// If the number of cells overflows. Check [`bytes`] first.
pub(super) fn uniform(domain: &Domain) -> Factor {
    let everything = domain.everything();
    let cells = domain.cells(&everything).expect("a table that fits into memory");
    Factor::filled(domain, everything, 1.0 / cells as f64)
}

/// The update U(q, p^): multiplies each cell by exp(-eta q) and normalises.
pub(super) fn update(table: &mut Factor, query: &CountingQuery, eta: f64) {
    let projection = table.projection(&query.clique);
    let mut factors = memory::filled(projection.small_len(), 1.0);
    query.cells.iter().for_each(|&cell| factors[cell] = (-eta).exp());
    projection.broadcast(&factors, table.values_mut(), |cell, factor| *cell *= factor);
    let sum = table.sum_in_blocks();
    table.values_mut().iter_mut().for_each(|cell| *cell /= sum);
}
