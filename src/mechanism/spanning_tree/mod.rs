//! Spanning tree: all one-way marginals, and the two-way marginals of a privately selected tree (a
//! simplified MST mechanism).
//!
//! A third of the budget each, in zCDP:
//!
//! 1. *Attributes.* The d one-way marginals, with Gaussian noise.
//! 2. *Tree.* d - 1 times, the exponential mechanism selects a pair of attributes that are not
//!    connected yet, by the error of the one-way marginals on its table (`edges`).
//! 3. *Pairs.* The d - 1 two-way marginals of the tree, with Gaussian noise.
//!
//! A replaced record changes two cells of a marginal by 1, which has the L2 norm sqrt(2). An added
//! or removed record changes one cell. Every graphical model of a tree is tractable: the cliques of
//! its junction tree are the selected pairs.
//!
//! *The budget* should be in rho, [`Rho::implying`](dp::Rho::implying) the promised epsilon and
//! delta (`budget`). A budget of (epsilon, delta) works too, but its parts add up in epsilon and
//! delta and therefore have more noise. A pure budget is refused.
//!
//! Reference: McKenna, Miklau, Sheldon, Winning the NIST contest, Journal of Privacy and
//! Confidentiality 11(3), 2021. MST also merges rare values; this mechanism does not.

mod edges;
mod synthesize;
#[cfg(test)]
mod tests;

pub use synthesize::Synthesis;
pub(crate) use synthesize::synthesize;

use std::time::Instant;

use serde::Deserialize;

use super::support::bayesian_network::{BayesianNetwork, Family};
use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, ParameterError,
    Published, Release, ReleaseDiagnostics, Task, Times, WorkloadDependence, parse,
};
use crate::data::Dataset;
use dp::{
    Budget, Delta, Epsilon, L2, Neighbours, NoiseSource, NumberLine,
    ParameterError as PrivacyParameterError, Rho, Sensitivity, Share,
};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;

pub(super) static SPANNING_TREE: MechanismSpec = MechanismSpec {
    name: "spanning-tree",
    title: "Spanning tree",
    summary: "Measures all one-way marginals, and the two-way marginals of a maximum spanning tree \
              that the exponential mechanism selects.",
    reference: "McKenna, Miklau, Sheldon, Journal of Privacy and Confidentiality 11(3), 2021",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "records drawn along the tree",
    workload_dependence: WorkloadDependence::Queries,
    cost_model: CostModel {
        seconds_per_pair: 1e-4,
        measured_fraction: 0.01,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: &[Parameter {
        name: "weights",
        default: "[1.0, 1.0, 1.0]",
        meaning: "weights in the budget: one-way marginals, selection of the tree, its pairs",
    }],
    build: |table| Ok(Box::new(SpanningTree::checked(parse(table)?)?)),
};

/// A budget in rho for this guarantee.
pub(crate) fn budget(
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Budget, PrivacyParameterError> {
    Ok(Budget::new(Rho::implying(epsilon, delta)?, neighbours))
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SpanningTree {
    weights: [f64; 3],
}

impl Default for SpanningTree {
    fn default() -> Self {
        Self { weights: [1.0; 3] }
    }
}

impl SpanningTree {
    fn checked(self) -> Result<Self, ParameterError> {
        match self.weights.iter().find(|&&weight| !(weight > 0.0 && weight.is_finite())) {
            Some(weight) => {
                let message = format!("weights: expected three positive numbers, found {weight}");
                Err(ParameterError { message })
            }
            None => Ok(self),
        }
    }

    /// The shares of the one-way marginals, of the selections and of the two-way marginals.
    fn split(&self, whole: Share, attributes: usize) -> Result<[Vec<Share>; 3], MechanismError> {
        // A single attribute has no tree, and all of the budget.
        if attributes == 1 {
            return Ok([vec![whole], Vec::new(), Vec::new()]);
        }
        let counts = [attributes, attributes - 1, attributes - 1];
        let mut shares = [Vec::new(), Vec::new(), Vec::new()];
        let parts = whole.split_weights(&self.weights)?;
        for ((shares, part), count) in shares.iter_mut().zip(parts).zip(counts) {
            *shares = part.split(count)?;
        }
        Ok(shares)
    }
}

impl Mechanism for SpanningTree {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let (data, domain, neighbours) = (task.data, task.data.domain(), budget.neighbours());
        // Whether there are any records is public only if their number is.
        if domain.is_empty() || (data.is_empty() && neighbours == Neighbours::Replace) {
            return Err(MechanismError::Unsuitable(
                "a spanning tree needs data with at least one record and one attribute".into(),
            ));
        }
        let [one_way, choices, two_way] = self.split(budget.rest()?, domain.len())?;
        task.in_time()?;
        let line = task.noise.whole();
        let started = Instant::now();
        let singles = domain.ids().map(|id| Clique::new([id]));
        let mut answers = measure(data, singles, one_way, line, source)?;
        let total = task.total(neighbours, &answers)?;
        let measured_singles = started.elapsed();

        let started = Instant::now();
        let edges = edges::choose(data, &answers, total, choices, source)?;
        let select = started.elapsed().as_secs_f64();

        let started = Instant::now();
        answers.extend(measure(data, edges.iter().cloned(), two_way, line, source)?);
        let measure = (measured_singles + started.elapsed()).as_secs_f64();
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(BayesianNetwork { families: directed(domain, &edges) }),
            extra_estimators: Vec::new(),
            times: Times { select, measure },
            diagnostics: ReleaseDiagnostics::default(),
        })
    }
}

/// Measures the marginals on these cliques with Gaussian noise, one share each.
fn measure(
    data: &Dataset,
    cliques: impl Iterator<Item = Clique>,
    shares: Vec<Share>,
    line: NumberLine,
    source: &mut NoiseSource,
) -> Result<Vec<Measurement>, MechanismError> {
    let domain = data.domain();
    let one = |(clique, share): (Clique, Share)| {
        // The columns of a marginal are unit vectors.
        let sensitivity = Sensitivity::<L2>::nonnegative_linear(1.0, share.neighbours())?;
        let label = format!("marginal of {}", domain.names(&clique).join(" x "));
        let counts = data.project(&clique)?;
        let noisy = share.gaussian(label, counts.values(), sensitivity, line, source)?;
        let query = QueryMatrix::identity(domain, &clique)?;
        Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
    };
    cliques.zip(shares).map(one).collect()
}

/// The tree with all edges directed away from the first attribute. Parents come before children.
fn directed(domain: &Domain, edges: &[Clique]) -> Vec<Family> {
    let mut rest: Vec<AttributeId> = domain.ids().collect();
    let mut families: Vec<Family> = Vec::new();
    while !rest.is_empty() {
        let next = rest.iter().enumerate().find_map(|(place, &child)| {
            let parent = families
                .iter()
                .map(|family| family.child)
                .find(|&parent| edges.contains(&Clique::new([parent, child])));
            parent.map(|parent| (place, Clique::new([parent])))
        });
        let (place, parents) = next.unwrap_or((0, Clique::empty()));
        families.push(Family { child: rest.remove(place), parents });
    }
    families
}
