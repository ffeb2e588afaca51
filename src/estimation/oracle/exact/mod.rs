//! The exact oracle: contracts the tables of potentials along a tree and differentiates ln Z.

mod gauge;
mod leaves;
mod program;
mod run;
mod table;

use std::sync::Arc;

use gauge::Gauge;
use leaves::Leaves;
use program::Program;
use run::{Run, Workspace};

use super::{Descent, Landing, MarginalOracle, log_unmentioned};
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

    /// Writes marginals and returns ln Z; `None` when tiny sums mattered that were not mended.
    fn attempt(&mut self, mut leaves: Leaves<'_>, total: f64, mend: bool) -> Option<f64> {
        let run = Run { program: &self.program, parallel: self.parallel, mend };
        let log_z = self.log_unmentioned + self.workspace.forward(&run, &mut leaves);
        let trusted =
            log_z == f64::NEG_INFINITY || self.workspace.backward(&run, total, &mut leaves);
        trusted.then_some(log_z)
    }

    /// What the first attempt said, or else a second one with tiny sums mended.
    fn mended(
        &mut self,
        first: Option<f64>,
        potentials: &Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> f64 {
        let log_z = first.or_else(|| {
            self.strained = true;
            self.attempt(Leaves::new(potentials, marginals), total, true)
        });
        let log_z = log_z.expect("what was mended is trusted");
        if log_z == f64::NEG_INFINITY {
            marginals.values_mut().fill(0.0);
        }
        log_z
    }
}

impl MarginalOracle for Exact {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.program.layout
    }

    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        let log_z = self.attempt(Leaves::new(potentials, marginals), total, false);
        self.mended(log_z, potentials, total, marginals)
    }

    fn descend(
        &mut self,
        descent: Descent<'_>,
        potentials: &mut Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> Landing {
        let log_z = self.attempt(Leaves::stepping(descent, potentials, marginals), total, false);
        let square = self.workspace.square();
        Landing { log_z: self.mended(log_z, potentials, total, marginals), square }
    }

    fn relieve(&mut self, potentials: &mut Potentials) -> bool {
        let strained = std::mem::take(&mut self.strained);
        if strained {
            let gauge = self.gauge.get_or_insert_with(|| Gauge::new(&self.program.layout));
            gauge.apply(potentials);
        }
        strained
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let run = Run { program: &self.program, parallel: self.parallel, mend: false };
        Some(self.workspace.maximum(&run, potentials))
    }

    fn is_parallel(&self) -> bool {
        self.parallel
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
    use crate::numeric::pointwise::add_scaled;
    use crate::numeric::step::DistanceStep;
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

    #[test]
    fn a_step_within_the_oracle_is_the_step_and_then_the_oracle_whatever_the_threads() {
        let domain = Domain::new((0..60).map(|i| (format!("x{i}"), 7 + i % 3))).unwrap();
        let cliques: Vec<Clique> =
            (2..60).map(|i| [i - 2, i - 1, i].into_iter().map(AttributeId).collect()).collect();
        let tree = JunctionTree::new(&domain, &cliques);
        let mut alone = Exact::new(&domain, &cliques, &tree).with_threads(false);
        let mut shared = Exact::new(&domain, &cliques, &tree);
        for spread in [4.0, 3000.0] {
            let mut theta = potentials(&alone, spread, true, 1);
            let mut nu = Marginals(potentials(&alone, 10.0, false, 2).0);
            let y = potentials(&alone, 10.0, false, 3);
            let mut mean = potentials(&alone, 10.0, false, 4);
            let step = DistanceStep { blend: [0.25, 0.5], weights: [0.3, 0.7], length: 0.1 };

            let (mut moved, mut expected) = (theta.clone(), Marginals::zeros(alone.layout()));
            let mut blended = mean.clone();
            let stepped =
                step.take(blended.values_mut(), nu.values(), y.values(), moved.values_mut());
            let expected_log_z = alone.marginals(&moved, 10.0, &mut expected);

            let (mut other_theta, mut other_mean) = (theta.clone(), mean.clone());
            let mut next = Marginals::zeros(alone.layout());
            let (mean_cells, y_cells, kept) =
                (other_mean.values_mut(), y.values(), Some(nu.values()));
            let descent = Descent::Distance { step, mean: mean_cells, y: y_cells, nu: kept };
            let Landing { log_z, square } =
                shared.descend(descent, &mut other_theta, 10.0, &mut next);
            assert!((square - stepped.square).abs() <= 1e-12 * square, "{square} {stepped:?}");
            assert_eq!((&other_theta, &other_mean, &next), (&moved, &blended, &expected));
            assert_eq!(log_z, expected_log_z);

            let mean_cells = mean.values_mut();
            let descent = Descent::Distance { step, mean: mean_cells, y: y_cells, nu: None };
            let Landing { log_z, .. } = shared.descend(descent, &mut theta, 10.0, &mut nu);
            assert_eq!((&theta, &mean, &nu), (&moved, &blended, &expected));
            assert_eq!(log_z, expected_log_z);

            let descent = Descent::Gradient { length: 0.5, gradient: y.values() };
            let Landing { log_z, .. } = shared.descend(descent, &mut theta, 10.0, &mut nu);
            add_scaled(-0.5, y.values(), moved.values_mut());
            assert_eq!(log_z, alone.marginals(&moved, 10.0, &mut expected));
            assert_eq!((&theta, &nu), (&moved, &expected));
        }
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
            let after = self::joint(&domain, &moved);
            let moves = joint.iter().zip(&after).find(|(before, _)| before.is_finite());
            let by = moves.map_or(0.0, |(before, after)| before - after);
            for (before, after) in joint.iter().zip(&after) {
                let same = (before - after - by).abs() <= 2e-12 * (1.0 + spread);
                prop_assert!(same || before == after);
            }
            for table in 0..moved.layout().cliques().len() {
                let largest = moved.table(table).iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(largest == 0.0 || largest == f64::NEG_INFINITY);
            }
            let best = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let maximum = oracle.maximum(&potentials).unwrap();
            prop_assert!(maximum == best || (maximum - best).abs() <= 1e-12 * (1.0 + best.abs() + spread));
        }
    }
}
