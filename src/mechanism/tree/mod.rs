//! Trees of sums: measures the cells of a marginal as a histogram, at every level of a k-ary tree
//! (Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms
//! through consistency", PVLDB 2010). Post-processing is theirs, or maximum likelihood (Lee, Wang,
//! Kifer, KDD 2015, section 5.2).

mod branching;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use self::branching::Branching;
use super::support::each_marginal::{EachMarginal, Processed, refused};
use super::support::post_processing::{ADMM_L1, ALPHA, AdmmParameters, AdmmVariant, ML, NNLS, RHO};
use super::{
    CostModel, ExtraEstimator, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter,
    Release, Task, WorkloadDependence, parse,
};
use crate::postprocess::histogram;
use crate::postprocess::htree::HTree;
use crate::postprocess::tree::Tree;
use dp::{Budget, L1, Neighbours, NoiseSource, Sensitivity};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Estimator, EstimatorError};
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

const HTREE: ExtraEstimator = ExtraEstimator {
    name: "htree",
    summary: "The L2-nearest tree whose nodes are the sums of their children (PVLDB 2010).",
};

pub(super) static TREE: MechanismSpec = MechanismSpec {
    name: "tree",
    title: "Tree",
    summary: "measures the cells of each marginal of the workload and a tree of their sums, with \
              Laplace noise",
    reference: "Hay, Rastogi, Miklau, Suciu, PVLDB 2010",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the noisy leaves themselves",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[HTREE, ADMM_L1, ML, NNLS],
    parameters: &[
        Parameter {
            name: "branching",
            default: "2",
            meaning: "number of children of a node, at least 2; or \"auto\" for the number with \
                      which HTree has the least expected squared error over random ranges",
        },
        ALPHA,
        RHO,
    ],
    build: |table| {
        let (admm, others) = AdmmParameters::split(table)?;
        Ok(Box::new(SumTree { admm, ..parse(&others)? }))
    },
};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SumTree {
    branching: Branching,
    #[serde(skip)]
    admm: AdmmParameters,
}

impl Default for SumTree {
    fn default() -> Self {
        Self { branching: Branching::Fixed(2), admm: AdmmParameters::default() }
    }
}

/// The L1 sensitivity of the nodes of a tree with h levels. An added or removed record is in one
/// node per level: h. A replaced record does not change the root, which counts all records. On
/// every other level it changes at most two nodes by 1: 2 (h - 1).
fn sensitivity(tree: &Tree, neighbours: Neighbours) -> Result<Sensitivity<L1>, MechanismError> {
    let changed = match neighbours {
        Neighbours::AddRemove => {
            dp::sabotage!(tree.levels(), "tree-without-its-root", (tree.levels() - 1).max(1))
        }
        // A single root does not change. The noise is that of a count.
        Neighbours::Replace => (2 * (tree.levels() - 1)).max(1),
    };
    Ok(Sensitivity::new(changed as f64, neighbours)?)
}

/// A row per node, the sum of the cells below it.
fn queries(domain: &Domain, clique: &Clique, tree: &Tree) -> Result<QueryMatrix, MechanismError> {
    let sums = tree.spans().map(|span| (span.start, span.end)).collect();
    Ok(QueryMatrix::intervals(domain, clique, sums)?)
}

impl Mechanism for SumTree {
    /// Each marginal has an equal share of the budget.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let domain = task.workload.domain();
        let mut trees = Vec::new();
        let answers = task.measure_each(budget, |clique, cells, share| {
            let tree = self.branching.tree(cells.len(), neighbours)?;
            let nodes = tree.sums(cells);
            let label = format!("tree of sums over {}", domain.names(&clique).join(", "));
            let sensitivity = sensitivity(&tree, neighbours)?;
            let noisy = share.laplace(label, &nodes, sensitivity, task.noise.whole(), source)?;
            let query = queries(domain, &clique, &tree)?;
            let (y, stddev) = (noisy.values, noisy.noise_stddev);
            trees.push(HTree::new(tree));
            Ok(Measurement { clique, query, y, stddev })
        })?;
        let total = task.total(neighbours, &answers)?;
        let extra_estimators = self.extra_estimators(&trees);
        Ok(Release {
            extra_estimators,
            ..Release::of_answers(total, answers, own_estimator(&trees), began)
        })
    }
}

impl SumTree {
    fn extra_estimators(&self, trees: &[HTree]) -> Vec<(&'static str, Box<dyn Estimator>)> {
        let count = trees.len();
        let htree = {
            let trees = trees.to_vec();
            let process = move |index: usize, measured: &Measurement, _: Option<Instant>| {
                let nodes = trees[index].project(&measured.y).map_err(refused)?;
                Ok(Processed { cells: leaves(&trees[index], &nodes), ..Processed::default() })
            };
            Box::new(EachMarginal { count, process }) as Box<dyn Estimator>
        };
        let variants = AdmmVariant::all(self.admm).map(|(name, variant)| {
            let trees = trees.to_vec();
            let process = move |index: usize, measured: &Measurement, deadline| {
                process(variant, &trees[index], measured, deadline)
            };
            (name, Box::new(EachMarginal { count, process }) as Box<dyn Estimator>)
        });
        [(HTREE.name, htree)].into_iter().chain(variants).collect()
    }
}

fn process(
    variant: AdmmVariant,
    tree: &HTree,
    measured: &Measurement,
    deadline: Option<Instant>,
) -> Result<Processed, EstimatorError> {
    let objective = variant.objective(measured.stddev).map_err(refused)?;
    let settings = variant.settings(measured.stddev, deadline);
    let estimate = histogram::estimate(tree, &measured.y, objective, &settings);
    Processed::new(estimate.map_err(refused)?)
}

fn own_estimator(trees: &[HTree]) -> Box<dyn Estimator> {
    let (count, trees) = (trees.len(), trees.to_vec());
    let process = move |index: usize, measured: &Measurement, _: Option<Instant>| {
        Ok(Processed { cells: leaves(&trees[index], &measured.y), ..Processed::default() })
    };
    Box::new(EachMarginal { count, process })
}

fn leaves(tree: &HTree, nodes: &[f64]) -> Vec<f64> {
    nodes[nodes.len() - tree.tree().leaves()..].to_vec()
}
