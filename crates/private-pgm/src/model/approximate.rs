use super::marginals::DisjointProduct;
use super::{InferenceError, MarginalError, Model, Projectable};
use crate::domain::{Clique, Domain};
use crate::factor::{CliqueLayout, Factor, Marginals};
use crate::oracle::{Loopy, MarginalOracle};

/// Approximate marginals from loopy belief propagation, for a model whose junction tree is too
/// large.
///
/// Gives the marginal on any subset of a clique with potentials, times uniform attributes that are
/// in no clique. All marginals sum to the total. Marginals of overlapping cliques agree on their
/// intersection only as far as belief propagation converged.
#[derive(Debug)]
pub struct Approximate {
    marginals: Marginals,
    total: f64,
}

impl Model {
    /// Approximate marginals of the model. Cost: one call of the oracle.
    ///
    /// # Panics
    /// If the oracle was built for a layout other than [`Model::layout`].
    pub fn approximate(&self, mut oracle: Loopy) -> Result<Approximate, InferenceError> {
        let mut marginals = Marginals::zeros(self.layout());
        let log_z = oracle.marginals(self.potentials(), self.total(), &mut marginals);
        match log_z == f64::NEG_INFINITY {
            true => Err(InferenceError::Impossible),
            false => Ok(Approximate { marginals, total: self.total() }),
        }
    }
}

impl Approximate {
    fn layout(&self) -> &CliqueLayout {
        self.marginals.layout()
    }
}

impl Projectable for Approximate {
    fn domain(&self) -> &Domain {
        self.layout().domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        let (domain, cliques) = (self.domain(), self.layout().cliques());
        let is_modelled = |id: &_| cliques.iter().any(|clique| clique.contains(*id));
        let modelled: Clique = clique.iter().filter(is_modelled).collect();
        let mut product = DisjointProduct::new(domain, self.total);
        if !modelled.is_empty() {
            let index = self
                .layout()
                .covering(&modelled)
                .ok_or_else(|| InferenceError::NotTogether { attributes: modelled.clone() })?;
            let table = self.marginals.factor(index).sum_onto(&modelled);
            let probabilities = table.values().iter().map(|count| count / self.total);
            product.multiply(modelled.clone(), probabilities.collect());
        }
        for id in clique.minus(&modelled).iter() {
            let size = domain.size(id);
            product.multiply(Clique::new([id]), vec![1.0 / size as f64; size]);
        }
        Ok(product.into_factor())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::AttributeId;
    use crate::factor::Potentials;
    use crate::oracle::{LoopyError, LoopyOptions};

    /// Potentials on a-b and b-c; d is in no clique.
    fn chain() -> (Model, [AttributeId; 4]) {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 2), ("d", 4)]).unwrap();
        let ids = ["a", "b", "c", "d"].map(|name| domain.id(name).unwrap());
        let [a, b, c, _] = ids;
        let layout = CliqueLayout::new(domain, vec![Clique::new([a, b]), Clique::new([b, c])]);
        let mut potentials = Potentials::zeros(&layout);
        for (i, cell) in potentials.values_mut().iter_mut().enumerate() {
            *cell = (i * 7 % 5) as f64 / 3.0;
        }
        (Model::new(90.0, potentials), ids)
    }

    #[test]
    fn on_a_chain_the_bethe_marginals_are_exact() {
        let (model, [a, b, c, d]) = chain();
        let exact = model.calibrate().unwrap();
        type New = fn(&Arc<CliqueLayout>, LoopyOptions) -> Result<Loopy, LoopyError>;
        // The convex entropy differs from the entropy of the chain.
        for (new, is_exact) in [(Loopy::bethe as New, true), (Loopy::convex, false)] {
            let oracle = new(model.layout(), LoopyOptions::default()).unwrap();
            let approximate = model.approximate(oracle).unwrap();
            for clique in [vec![a, b], vec![b], vec![c, d], vec![d], vec![]] {
                let clique: Clique = clique.into_iter().collect();
                let (ours, truth) =
                    (approximate.project(&clique).unwrap(), exact.marginal(&clique).unwrap());
                assert_eq!(ours.clique(), truth.clique());
                assert!((ours.total() - 90.0).abs() < 1e-6);
                let close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-5;
                assert!(!is_exact || ours.values().iter().zip(truth.values()).all(close));
            }
        }
    }

    #[test]
    fn attributes_in_no_common_clique_are_an_error() {
        let (model, [a, _, c, _]) = chain();
        let oracle = Loopy::convex(model.layout(), LoopyOptions::default()).unwrap();
        let asked = Clique::new([a, c]);
        let refused = model.approximate(oracle).unwrap().project(&asked);
        let not_together = InferenceError::NotTogether { attributes: asked };
        assert_eq!(refused, Err(not_together.into()));
    }
}
