//! Trees of sums: the cells of a marginal as a histogram, measured at every level of a k-ary tree over
//! them (Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms
//! through consistency", PVLDB 2010), post-processed as they do, or by maximum likelihood (Lee, Wang,
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
use private_pgm::baselines::{Estimator, EstimatorError};
use private_pgm::domain::{Clique, Domain};
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

const HTREE: ExtraEstimator = ExtraEstimator {
    name: "htree",
    summary: "The nearest tree whose nodes are the sums of their children, by L2 distance (PVLDB 2010).",
};

/// Trees of sums, as users know them.
pub(super) static TREE: MechanismSpec = MechanismSpec {
    name: "tree",
    title: "Tree of sums",
    summary: "measures the cells of each marginal of the workload and a tree of their sums, with Laplace \
              noise",
    reference: "Hay, Rastogi, Miklau, Suciu, PVLDB 2010",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the noisy leaves themselves",
    workload_dependence: WorkloadDependence::Cliques,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[HTREE, ADMM_L1, ML, NNLS],
    parameters: &[
        Parameter {
            name: "branching",
            default: "2",
            meaning: "how many neighbours a node of the tree sums, at least 2; or \"auto\" for the number \
                      with which HTree has the least expected squared error over random ranges",
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

/// How far one record moves the nodes of the tree, in sum: a record that is added or removed is in one
/// node of each of the h levels, h. One that is replaced leaves the root alone, which counts all
/// records, and moves at most two nodes of each other level by 1, 2 (h - 1).
fn sensitivity(tree: &Tree, neighbours: Neighbours) -> Result<Sensitivity<L1>, MechanismError> {
    let moved = match neighbours {
        Neighbours::AddRemove => tree.levels(),
        // A tree that is its root alone does not move; its noise is that of a count.
        Neighbours::Replace => (2 * (tree.levels() - 1)).max(1),
    };
    Ok(Sensitivity::new(moved as f64, neighbours)?)
}

/// A row for each node, which sums the cells below it.
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
            let moved = sensitivity(&tree, neighbours)?;
            let noisy = share.laplace(label, &nodes, moved, task.noise.whole(), source)?;
            let query = queries(domain, &clique, &tree)?;
            let (y, stddev) = (noisy.values, noisy.noise_stddev);
            trees.push(HTree::new(tree));
            Ok(Measurement { clique, query, y, stddev })
        })?;
        let total = task.total(neighbours, &answers)?;
        let extra_estimators = self.extra_estimators(&trees);
        Ok(Release { extra_estimators, ..Release::of_answers(total, answers, own(&trees), began) })
    }
}

impl SumTree {
    fn extra_estimators(&self, trees: &[HTree]) -> Vec<(&'static str, Box<dyn Estimator>)> {
        let count = trees.len();
        let htree = {
            let trees = trees.to_vec();
            let process = move |place: usize, measured: &Measurement, _: Option<Instant>| {
                let nodes = trees[place].project(&measured.y).map_err(refused)?;
                Ok(Processed { cells: leaves(&trees[place], &nodes), ..Processed::default() })
            };
            Box::new(EachMarginal { count, process }) as Box<dyn Estimator>
        };
        let variants = AdmmVariant::all(self.admm).map(|(name, variant)| {
            let trees = trees.to_vec();
            let process = move |place: usize, measured: &Measurement, deadline| {
                process(variant, &trees[place], measured, deadline)
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
    let found = histogram::estimate(tree, &measured.y, objective, &settings);
    let histogram::Estimate { bins, iterations, residuals } = found.map_err(refused)?;
    Processed::after(iterations, &residuals, bins)
}

fn own(trees: &[HTree]) -> Box<dyn Estimator> {
    let (count, trees) = (trees.len(), trees.to_vec());
    let process = move |place: usize, measured: &Measurement, _: Option<Instant>| {
        Ok(Processed { cells: leaves(&trees[place], &measured.y), ..Processed::default() })
    };
    Box::new(EachMarginal { count, process })
}

fn leaves(tree: &HTree, nodes: &[f64]) -> Vec<f64> {
    nodes[nodes.len() - tree.tree().leaves()..].to_vec()
}
