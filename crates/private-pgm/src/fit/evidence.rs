use std::sync::Arc;

use crate::domain::{Clique, Domain};
use crate::factor::{CliqueLayout, Potentials};
use crate::loss::{Loss, Measurement, maximal_cliques};
use crate::numeric::strided::Projection;

/// What a model is fitted to: observations, structural zeros and the number of records.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The attributes.
    pub domain: &'a Domain,
    /// The number of records.
    pub total: f64,
    /// What was observed.
    pub observed: Observed<'a>,
    /// Combinations that no record has.
    pub zeros: &'a [StructuralZeros],
}

/// What a mechanism has published, borrowed from whoever holds it: a release, a problem, or a
/// mechanism between its rounds.
#[derive(Clone, Copy)]
pub enum Observed<'a> {
    /// Noisy answers to linear queries.
    Answers(&'a [Measurement]),
    /// Evidence of another kind, by its likelihood.
    Likelihood(&'a dyn Likelihood),
}

/// Evidence that is not a noisy answer: how likely it is, given the marginals.
pub trait Likelihood: Send + Sync {
    /// The cliques whose marginals it depends on.
    fn cliques(&self) -> Vec<Clique>;

    /// Minus the logarithm of the likelihood, up to a constant, over the marginals of a layout
    /// whose cliques contain all of them.
    fn loss(&self, layout: &Arc<CliqueLayout>) -> Box<dyn Loss>;
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
    /// The cliques of the model: those of the observations and zeros, without those inside others.
    pub(crate) fn cliques(&self) -> Vec<Clique> {
        let observed = match self.observed {
            Observed::Answers(answers) => {
                answers.iter().map(|measurement| measurement.clique.clone()).collect()
            }
            Observed::Likelihood(likelihood) => likelihood.cliques(),
        };
        maximal_cliques(observed.iter().chain(self.zeros.iter().map(|zeros| &zeros.clique)))
    }

    /// Sets the potentials of impossible cells to minus infinity.
    pub(crate) fn exclude(&self, potentials: &mut Potentials) {
        let layout = Arc::clone(potentials.layout());
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
