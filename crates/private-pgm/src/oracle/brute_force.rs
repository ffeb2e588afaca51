use std::sync::Arc;

use thiserror::Error;

use super::MarginalOracle;
use crate::domain::Clique;
use crate::factor::{CliqueLayout, Factor, Marginals, Potentials};
use crate::numeric::strided::Projection;

/// The exact oracle that enumerates every record.
///
/// The joint table over all attributes of the layout's cliques is filled with sum over C of
/// theta_C(x_C), exponentiated after its maximum is subtracted, and summed onto each clique.
/// Attributes in no clique are left out; each adds ln n_i to ln Z.
///
/// Cost of a call: the cells of the joint table times the number of cliques. For tests and tiny
/// problems.
#[derive(Debug)]
pub struct BruteForce {
    layout: Arc<CliqueLayout>,
    /// From the joint table to the table of each clique.
    projections: Vec<Projection>,
    joint: Factor,
    log_unmentioned: f64,
}

/// Why a layout has no brute-force oracle.
#[derive(Debug, Error, PartialEq)]
pub enum BruteForceError {
    /// The joint table is larger than the caller allows.
    #[error("the joint table has {cells:e} cells, more than the limit of {limit}")]
    TooManyCells {
        /// The number of cells of the joint table.
        cells: f64,
        /// The largest number of cells allowed.
        limit: usize,
    },
}

impl BruteForce {
    /// The oracle for this layout. Its joint table must have at most `limit` cells, and fewer than
    /// 2^32.
    pub fn new(layout: &Arc<CliqueLayout>, limit: usize) -> Result<Self, BruteForceError> {
        let domain = layout.domain();
        let mentioned = Clique::new(layout.cliques().iter().flat_map(Clique::iter));
        // A projection counts cells in 32 bits.
        let most = limit.min(u32::MAX as usize);
        if domain.cells(&mentioned).is_none_or(|cells| cells > most) {
            let cells = domain.cells_f64(&mentioned);
            return Err(BruteForceError::TooManyCells { cells, limit: most });
        }
        let joint = Factor::filled(domain, mentioned, 0.0);
        Ok(Self {
            layout: Arc::clone(layout),
            projections: layout.cliques().iter().map(|clique| joint.projection(clique)).collect(),
            joint,
            log_unmentioned: super::log_unmentioned(layout),
        })
    }

    /// Fills the joint table with the logarithms of the unnormalised probabilities, and returns
    /// the largest.
    fn fill(&mut self, potentials: &Potentials) -> f64 {
        let joint = self.joint.values_mut();
        joint.fill(0.0);
        for (index, projection) in self.projections.iter().enumerate() {
            projection.broadcast(potentials.table(index), joint, |x, theta| *x += theta);
        }
        joint.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

impl MarginalOracle for BruteForce {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        let largest = self.fill(potentials);
        if largest == f64::NEG_INFINITY {
            marginals.values_mut().fill(0.0);
            return f64::NEG_INFINITY;
        }
        let joint = self.joint.values_mut();
        joint.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let mass: f64 = joint.iter().sum();
        joint.iter_mut().for_each(|x| *x *= total / mass);
        for (index, projection) in self.projections.iter().enumerate() {
            projection.sum(joint, marginals.table_mut(index));
        }
        largest + mass.ln() + self.log_unmentioned
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        Some(self.fill(potentials))
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AttributeId, Domain};
    use proptest::prelude::*;

    /// Attributes of sizes 2, 3 and 4, the last in no clique.
    fn two_cliques() -> Arc<CliqueLayout> {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 4)]).unwrap();
        let (a, b) = (AttributeId(0), AttributeId(1));
        CliqueLayout::new(domain, vec![Clique::new([a, b]), Clique::new([b])])
    }

    proptest! {
        #[test]
        fn marginals_agree_with_a_loop_over_every_record(
            theta in prop::collection::vec(-3.0..3.0, 9)
        ) {
            let layout = two_cliques();
            let mut potentials = Potentials::zeros(&layout);
            potentials.values_mut().copy_from_slice(&theta);
            let mut marginals = Marginals::zeros(&layout);
            let mut oracle = BruteForce::new(&layout, 6).unwrap();
            let log_z = oracle.marginals(&potentials, 10.0, &mut marginals);

            let score = |a: usize, b: usize| theta[3 * a + b] + theta[6 + b];
            let mut expected = [0.0; 9];
            let (mut mass, mut best) = (0.0, f64::NEG_INFINITY);
            for (a, b, _c) in records(2, 3, 4) {
                let weight = score(a, b).exp();
                expected[3 * a + b] += weight;
                expected[6 + b] += weight;
                mass += weight;
                best = f64::max(best, score(a, b));
            }
            prop_assert!((log_z - mass.ln()).abs() < 1e-12);
            prop_assert_eq!(oracle.maximum(&potentials), Some(best));
            for (found, expected) in marginals.values().iter().zip(expected) {
                prop_assert!((found - 10.0 * expected / mass).abs() < 1e-12);
            }
        }
    }

    fn records(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..a * b * c).map(move |i| (i / (b * c), i / c % b, i % c))
    }

    #[test]
    fn a_model_without_records_has_zero_marginals() {
        let layout = two_cliques();
        let mut potentials = Potentials::zeros(&layout);
        potentials.table_mut(1).fill(f64::NEG_INFINITY);
        let mut marginals = Marginals::zeros(&layout);
        marginals.values_mut().fill(7.0);
        let mut oracle = BruteForce::new(&layout, 6).unwrap();
        assert_eq!(oracle.marginals(&potentials, 5.0, &mut marginals), f64::NEG_INFINITY);
        assert!(marginals.values().iter().all(|&cell| cell == 0.0));
        assert_eq!(oracle.maximum(&potentials), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn a_joint_table_beyond_the_limit_is_rejected() {
        assert_eq!(
            BruteForce::new(&two_cliques(), 5).unwrap_err(),
            BruteForceError::TooManyCells { cells: 6.0, limit: 5 }
        );
    }
}
