//! P-HP: divides a marginal as a histogram into clusters of adjacent cells with similar counts, and
//! measures the sums of the clusters (Acs, Castelluccia, Chen, "Differentially private histogram
//! publishing through lossy compression", ICDM 2012).

mod deviation;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::Instant;

use serde::Deserialize;

use super::support::each_marginal::{EachMarginal, Processed};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, Release, Task,
    WorkloadDependence, parse,
};
use dp::{Budget, Epsilon, L1, LInfinity, Neighbours, NoiseSource, Scores, Sensitivity};
use private_pgm::loss::Measurement;
use private_pgm::query::{QueryFactor, QueryMatrix};

pub(super) static PHP: MechanismSpec = MechanismSpec {
    name: "php",
    title: "P-HP",
    summary: "divides each marginal of the workload into clusters of adjacent cells and measures \
              their sums, with Laplace noise",
    reference: "Acs, Castelluccia, Chen, ICDM 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the mean of its cluster for each cell",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[Parameter {
        name: "depth",
        default: "\"auto\"",
        meaning: "levels of division of clusters in two, 1 to 32; they share half of the budget; \
                  \"auto\" for as many as halving needs to reach single cells",
    }],
    build: |table| Ok(Box::new(parse::<Php>(table)?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Php {
    depth: Depth,
}

/// The number of levels of division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
enum Depth {
    /// log2 of the number of cells, rounded up. With fewer levels there are few large clusters, and
    /// where counts change often the error within clusters remains at every epsilon: on 32,768
    /// cells of bursts, 8 levels have 130 per cell at epsilon 1, and 15 have 10. With more levels
    /// each has less of the budget, which matters where epsilon is small.
    #[default]
    Auto,
    Levels(usize),
}

impl TryFrom<toml::Value> for Depth {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
        match (number, value.as_str()) {
            (Some(levels @ 1..=32), _) => Ok(Self::Levels(levels)),
            (_, Some("auto")) => Ok(Self::Auto),
            _ => Err(format!("depth: expected 1 to 32, or \"auto\", found {value}")),
        }
    }
}

impl Depth {
    fn levels(self, cells: usize) -> usize {
        match self {
            Self::Auto => cells.next_power_of_two().ilog2().max(1) as usize,
            Self::Levels(levels) => levels,
        }
    }
}

/// The change of the sum of |x - mean| over a cluster, or over its two parts, if a record is added
/// or removed. One count changes by 1 and the mean of its part, of s counts, by 1/s. So the sum
/// changes by at most (1 - 1/s) + (s - 1)/s < 2.
const DEVIATION_SENSITIVITY: f64 = 2.0;

impl Mechanism for Php {
    /// Each marginal has an equal share of the budget. Half of the share is for the clusters.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let domain = task.workload.domain();
        let answers = task.measure_each(budget, |clique, cells, share| {
            let names = domain.names(&clique).join(", ");
            let mut budget = share.into_budget();
            let clusters = self.divide(cells, &names, &mut budget, source)?;
            // A record is in one cluster, so columns have norm 1.
            let sensitivity = Sensitivity::<L1>::linear(1.0, neighbours)?;
            let sum = |cluster: &Range<usize>| cells[cluster.clone()].iter().sum();
            let sums: Vec<f64> = clusters.iter().map(sum).collect();
            let label = format!("sums of the clusters of {names}");
            let noisy =
                budget.rest()?.laplace(label, &sums, sensitivity, task.noise.whole(), source)?;
            let intervals = clusters.iter().map(|cluster| (cluster.start, cluster.end)).collect();
            let query = QueryMatrix::intervals(domain, &clique, intervals)?;
            let (y, stddev) = (noisy.values, noisy.noise_stddev);
            Ok(Measurement { clique, query, y, stddev })
        })?;
        let total = task.total(neighbours, &answers)?;
        let process = |_: usize, measured: &Measurement, _: Option<Instant>| {
            let mut cells = vec![0.0; measured.query.cols()];
            if let [QueryFactor::Intervals(clusters)] = measured.query.factors() {
                for (&(start, end), sum) in clusters.iter().zip(&measured.y) {
                    cells[start..end].fill(sum / (end - start) as f64);
                }
            }
            Ok(Processed { cells, ..Processed::default() })
        };
        let own_estimator = Box::new(EachMarginal { count: answers.len(), process });
        Ok(Release::of_answers(total, answers, own_estimator, began))
    }
}

impl Php {
    /// Divides the counts level by level. The exponential mechanism divides each cluster in two, or
    /// keeps it. The score is the negative expected error: the sum of |x - mean|, and per part the
    /// expected size of the noise on its sum. The clusters of a level are disjoint, so their costs
    /// do not add up (parallel composition).
    ///
    /// Each level has the same part of half of the budget. If no cluster is left to divide, the
    /// remaining budget goes to the sums. This decision depends on selections that were paid for.
    fn divide(
        &self,
        counts: &[f64],
        names: &str,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Vec<Range<usize>>, MechanismError> {
        let half = budget.total().pure_epsilon()?.get() / 2.0;
        let sum_noise = 1.0 / half;
        let depth = self.depth.levels(counts.len());
        let of_level = Epsilon::new(half / depth as f64)?;
        let mut done = Vec::new();
        let mut open: Vec<Range<usize>> = std::iter::once(0..counts.len()).collect();
        for level in 0..depth {
            if open.is_empty() {
                break;
            }
            let mut next = Vec::new();
            let parts = budget.spend(of_level)?.parallel(open.len())?;
            let parts = dp::sabotage!(
                parts,
                "php-levels-unpaid",
                super::sabotaged::all_unpaid(&parts, of_level.into())
            );
            for (cluster, share) in open.into_iter().zip(parts) {
                let deviations = deviation::of_splits(&counts[cluster.clone()]);
                let parts = |split: usize| if split == 0 { 1.0 } else { 2.0 };
                let scores: Vec<f64> = deviations
                    .iter()
                    .enumerate()
                    .map(|(split, deviation)| -(deviation + parts(split) * sum_noise))
                    .collect();
                let scores = dp::sabotage!(
                    scores,
                    "php-half-the-temperature",
                    scores.iter().map(|score| 2.0 * score).collect::<Vec<f64>>()
                );
                if dp::sabotage!(false, "php-keeps-equal-counts", deviations[0] == 0.0) {
                    done.push(cluster);
                    continue;
                }
                let change = dp::sabotage!(DEVIATION_SENSITIVITY, "php-deviation-of-one", 1.0);
                let sensitivity = Sensitivity::<LInfinity>::new(change, Neighbours::AddRemove)?;
                let label = format!("clusters of {names}, level {level}");
                match share.select(label, &scores, sensitivity, Scores::General, source)? {
                    0 => done.push(cluster),
                    split => {
                        let middle = cluster.start + split;
                        next.extend([cluster.start..middle, middle..cluster.end]);
                    }
                }
            }
            open = next;
        }
        done.extend(open);
        done.sort_by_key(|cluster| cluster.start);
        Ok(done)
    }
}
