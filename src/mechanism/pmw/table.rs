use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::numeric::strided::Projection;

/// p^ of the lecture: a probability per possible record.
pub(super) struct Table {
    everything: Clique,
    shape: Vec<usize>,
    cells: Vec<f64>,
}

impl Table {
    pub(super) fn bytes(domain: &Domain) -> f64 {
        size_of::<f64>() as f64 * domain.cells_f64(&domain.everything())
    }

    /// # Panics
    /// If the number of cells overflows. Check [`Table::bytes`] first.
    pub(super) fn uniform(domain: &Domain) -> Self {
        let everything = domain.everything();
        let count = domain.cells(&everything).expect("a table that fits into memory");
        let shape = domain.shape(&everything);
        Self { everything, shape, cells: vec![1.0 / count as f64; count] }
    }

    /// The update U(q, p^): multiplies each cell by exp(-eta q) and normalises.
    pub(super) fn update(&mut self, query: &CountingQuery, eta: f64) {
        let projection = self.onto(&query.clique);
        let mut factors = vec![1.0; projection.small_len()];
        query.cells.iter().for_each(|&cell| factors[cell] = (-eta).exp());
        projection.broadcast(&factors, &mut self.cells, |cell, factor| *cell *= factor);
        // Sums of blocks have a smaller rounding error than one long sum.
        let sum: f64 = self.cells.chunks(1 << 12).map(|block| block.iter().sum::<f64>()).sum();
        self.cells.iter_mut().for_each(|cell| *cell /= sum);
    }

    /// The projection to the marginal on `clique`.
    pub(super) fn onto(&self, clique: &Clique) -> Projection {
        let kept: Vec<bool> = self.everything.iter().map(|id| clique.contains(id)).collect();
        Projection::new(&self.shape, &kept)
    }

    pub(super) fn marginal(&self, projection: &Projection) -> Vec<f64> {
        let mut marginal = vec![0.0; projection.small_len()];
        projection.sum(&self.cells, &mut marginal);
        marginal
    }

    pub(super) fn into_factor(mut self, domain: &Domain, total: f64) -> Factor {
        self.cells.iter_mut().for_each(|cell| *cell *= total);
        Factor::new(domain, self.everything, self.cells)
    }
}
