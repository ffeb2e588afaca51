use super::marginals::Product;
use super::{InferenceError, Model};
use crate::domain::{Clique, Domain};
use crate::factor::{CliqueLayout, Factor, Marginals, Projectable};
use crate::oracle::{Loopy, MarginalOracle};

/// A model whose junction tree may be too large for exact answers, by what belief propagation says of
/// its own cliques.
///
/// It has marginals within a clique that has potentials, and of attributes in no clique, which are
/// uniform. They sum to the total, but those of different cliques agree on what they share only as
/// far as the propagation converged.
#[derive(Debug)]
pub struct Approximate {
    marginals: Marginals,
    total: f64,
}

impl Model {
    /// Asks an oracle of the model's [layout](Model::layout) once. Costs its sweeps.
    ///
    /// # Panics
    /// When the oracle is for another layout.
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
    type Error = InferenceError;

    fn domain(&self) -> &Domain {
        self.layout().domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, InferenceError> {
        let (domain, cliques) = (self.domain(), self.layout().cliques());
        let is_mentioned = |id: &_| cliques.iter().any(|clique| clique.contains(*id));
        let mentioned: Clique = clique.iter().filter(is_mentioned).collect();
        let mut product = Product::new(domain, self.total);
        if !mentioned.is_empty() {
            let homes = (0..cliques.len()).filter(|&home| mentioned.is_subset(&cliques[home]));
            let home = homes
                .min_by_key(|&home| self.layout().range(home).len())
                .ok_or_else(|| InferenceError::NotTogether { attributes: mentioned.clone() })?;
            let table = self.marginals.table(home).to_vec();
            let table = Factor::new(domain, cliques[home].clone(), table).sum_onto(&mentioned);
            let probabilities = table.values().iter().map(|count| count / self.total);
            product.multiply(mentioned.clone(), probabilities.collect());
        }
        for id in clique.minus(&mentioned).iter() {
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

    /// a - b - c and d alone, with some potentials.
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
    fn without_cycles_the_answers_of_bethe_are_the_exact_ones() {
        let (model, [a, b, c, d]) = chain();
        let exact = model.calibrate().unwrap();
        type New = fn(&Arc<CliqueLayout>, LoopyOptions) -> Result<Loopy, LoopyError>;
        // The convex entropy is not that of the chain.
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
    fn attributes_that_are_in_no_clique_together_have_no_answer() {
        let (model, [a, _, c, _]) = chain();
        let oracle = Loopy::convex(model.layout(), LoopyOptions::default()).unwrap();
        let asked = Clique::new([a, c]);
        let refused = model.approximate(oracle).unwrap().project(&asked);
        assert_eq!(refused, Err(InferenceError::NotTogether { attributes: asked }));
    }
}
