//! The exact oracle: contracts the tables of potentials along a tree and differentiates ln Z.

mod gauge;
mod program;
mod run;

use std::sync::Arc;

use gauge::Gauge;
use program::Program;
use run::{Run, Workspace};

use super::{MarginalOracle, log_unmentioned};
use crate::domain::{Clique, Domain};
use crate::estimation::contraction::ContractionTree;
use crate::estimation::junction_tree::JunctionTree;
use crate::factor::{CliqueLayout, Marginals, Potentials};

/// Exact marginals by contraction of the measured tables (see [`crate::estimation::contraction`]).
///
/// The cost of a call is three times the multiply-adds of the tree, and an exponential and a
/// logarithm for each cell that is stored. Potentials may have any size; minus infinity gives exact
/// zeros.
pub struct Exact {
    program: Program,
    workspace: Workspace,
    log_unmentioned: f64,
    parallel: bool,
    gauge: Option<Gauge>,
    /// Tiny sums have mattered since potentials were last relieved.
    strained: bool,
}

impl Exact {
    /// Compiles an oracle for potentials on these cliques, of which none contains another.
    ///
    /// Its [`layout`](MarginalOracle::layout) has the same cliques in an order of its own.
    pub fn new(domain: &Domain, cliques: &[Clique], tree: &JunctionTree) -> Self {
        Self::from_plan(domain, cliques, &ContractionTree::new(domain, cliques, tree))
    }

    /// Compiles an oracle along a contraction tree over these cliques.
    pub fn from_plan(domain: &Domain, cliques: &[Clique], plan: &ContractionTree) -> Self {
        let program = Program::new(domain, cliques, plan);
        let workspace = Workspace::new(&program);
        let log_unmentioned = log_unmentioned(&program.layout);
        Self { program, workspace, log_unmentioned, parallel: true, gauge: None, strained: false }
    }

    /// Whether a call may use several threads (it may, by default). The result is the same.
    pub fn with_threads(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Memory that the oracle holds.
    pub fn bytes(&self) -> usize {
        self.workspace.bytes()
    }
}

impl MarginalOracle for Exact {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.program.layout
    }

    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        let mut run =
            Run { program: &self.program, potentials, parallel: self.parallel, mend: false };
        loop {
            let log_z = self.log_unmentioned + self.workspace.forward(&run);
            if log_z == f64::NEG_INFINITY {
                marginals.values_mut().fill(0.0);
                return log_z;
            }
            if self.workspace.backward(&run, total, marginals) {
                return log_z;
            }
            run.mend = true;
            self.strained = true;
        }
    }

    fn relieve(&mut self, potentials: &mut Potentials) {
        if std::mem::take(&mut self.strained) {
            let gauge = self.gauge.get_or_insert_with(|| Gauge::new(&self.program.layout));
            gauge.apply(potentials);
        }
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let run = Run { program: &self.program, potentials, parallel: self.parallel, mend: false };
        Some(self.workspace.maximum(&run))
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AttributeId;
    use crate::factor::Factor;
    use crate::numeric::exp::log_sum_exp;
    use crate::numeric::strided::Projection;
    use proptest::prelude::*;

    /// ln p(x) up to a constant, for every record x: the obvious way.
    fn joint(domain: &Domain, potentials: &Potentials) -> Vec<f64> {
        let everything = domain.everything();
        let shape = domain.shape(&everything);
        let mut joint = vec![0.0; shape.iter().product()];
        for (index, clique) in potentials.layout().cliques().iter().enumerate() {
            let kept: Vec<bool> = everything.iter().map(|id| clique.contains(id)).collect();
            let projection = Projection::new(&shape, &kept);
            projection.broadcast(potentials.table(index), &mut joint, |j, t| *j += t);
        }
        joint
    }

    fn model() -> impl Strategy<Value = (Domain, Vec<Clique>)> {
        let sizes = prop::collection::vec(1usize..5, 1..7);
        (sizes, prop::collection::vec(prop::collection::vec(0u32..7, 0..4), 0..7)).prop_map(
            |(sizes, sets)| {
                let d = sizes.len() as u32;
                let named = sizes.into_iter().enumerate().map(|(i, n)| (format!("x{i}"), n));
                let domain = Domain::new(named).unwrap();
                let sets: Vec<Clique> = sets
                    .into_iter()
                    .map(|set| set.into_iter().map(|i| AttributeId(i % d)).collect())
                    .collect();
                let maximal = |c: &Clique| !sets.iter().any(|o| c != o && c.is_subset(o));
                let mut cliques: Vec<Clique> =
                    sets.iter().filter(|c| maximal(c)).cloned().collect();
                cliques.sort();
                cliques.dedup();
                (domain, cliques)
            },
        )
    }

    fn potentials(oracle: &Exact, spread: f64, zeros: bool, salt: u64) -> Potentials {
        let mut potentials = Potentials::zeros(oracle.layout());
        for (i, value) in potentials.values_mut().iter_mut().enumerate() {
            let hash =
                (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt * 0x1234_5679);
            let unit = ((hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64
                / 2f64.powi(53);
            *value = spread * (unit - 0.5);
            if zeros && unit < 0.15 {
                *value = f64::NEG_INFINITY;
            }
        }
        potentials
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force((domain, cliques) in model(), salt in 0u64..1_000_000,
                spread in prop_oneof![Just(0.0), Just(4.0), Just(400.0), Just(6000.0)], zeros: bool) {
            let tree = JunctionTree::new(&domain, &cliques);
            let mut oracle = Exact::new(&domain, &cliques, &tree);
            let potentials = potentials(&oracle, spread, zeros, salt);
            let joint = joint(&domain, &potentials);
            let expected_log_z = log_sum_exp(&joint);
            let mut marginals = Marginals::zeros(oracle.layout());
            let log_z = oracle.marginals(&potentials, 10.0, &mut marginals);
            if expected_log_z == f64::NEG_INFINITY {
                prop_assert_eq!(log_z, expected_log_z);
                prop_assert!(marginals.values().iter().all(|&m| m == 0.0));
            } else {
                prop_assert!((log_z - expected_log_z).abs() <= 1e-12 * (1.0 + expected_log_z.abs() + spread));
                let p = joint.iter().map(|j| 10.0 * (j - expected_log_z).exp()).collect();
                let p = Factor::new(&domain, domain.everything(), p);
                for (index, clique) in marginals.layout().cliques().iter().enumerate() {
                    let expected = p.sum_onto(clique);
                    for (ours, theirs) in marginals.table(index).iter().zip(expected.values()) {
                        prop_assert!((ours - theirs).abs() <= 1e-12 * (10.0 + spread * 10.0), "{ours} {theirs}");
                    }
                }
            }
            let mut moved = potentials.clone();
            Gauge::new(oracle.layout()).apply(&mut moved);
            for (before, after) in joint.iter().zip(self::joint(&domain, &moved)) {
                prop_assert!(*before == after || (before - after).abs() <= 1e-12 * (1.0 + spread));
            }
            let best = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let maximum = oracle.maximum(&potentials).unwrap();
            prop_assert!(maximum == best || (maximum - best).abs() <= 1e-12 * (1.0 + best.abs() + spread));
        }
    }
}
