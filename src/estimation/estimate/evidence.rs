use crate::domain::{Clique, Domain};
use crate::estimation::loss::{Measurement, maximal_cliques};
use crate::factor::Potentials;
use crate::numeric::strided::Projection;

/// What is known: noisy answers, what is impossible, and how many records there are.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The attributes.
    pub domain: &'a Domain,
    /// The number of records.
    pub total: f64,
    /// The noisy answers.
    pub measurements: &'a [Measurement],
    /// Combinations that no record has.
    pub zeros: &'a [StructuralZeros],
}

/// Combinations of values that no record can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructuralZeros {
    /// The attributes.
    pub clique: Clique,
    /// The impossible cells of the table over them, ascending.
    pub cells: Vec<usize>,
}

impl Evidence<'_> {
    /// The cliques of the model: those that evidence is about, without those inside others.
    pub(super) fn cliques(&self) -> Vec<Clique> {
        let measured = self.measurements.iter().map(|measurement| &measurement.clique);
        maximal_cliques(measured.chain(self.zeros.iter().map(|zeros| &zeros.clique)))
    }

    /// Sets the potentials of impossible cells to minus infinity.
    pub(super) fn exclude(&self, potentials: &mut Potentials) {
        let layout = std::sync::Arc::clone(potentials.layout());
        for zeros in self.zeros {
            let table = layout.covering(&zeros.clique).expect("zeros are among the cliques");
            let clique = &layout.cliques()[table];
            let kept: Vec<bool> = clique.iter().map(|id| zeros.clique.contains(id)).collect();
            let projection = Projection::new(&self.domain.shape(clique), &kept);
            let mut excluded = vec![0.0; projection.small_len()];
            zeros.cells.iter().for_each(|&cell| excluded[cell] = f64::NEG_INFINITY);
            projection.broadcast(&excluded, potentials.table_mut(table), |cell, z| *cell += z);
        }
    }
}
