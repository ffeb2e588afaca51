//! Spanning tree: all one-way marginals, and the two-way marginals along a tree that is chosen
//! privately (the mechanism MST, in spirit).
//!
//! A third of the budget each, in zCDP:
//!
//! 1. *Attributes.* The d one-way marginals, with Gaussian noise.
//! 2. *Tree.* Edge by edge, d - 1 times, the exponential mechanism chooses among the pairs of
//!    attributes that are not connected yet the one whose table the one-way marginals explain least
//!    (`edges`).
//! 3. *Pairs.* The d - 1 two-way marginals of the tree, with Gaussian noise.
//!
//! A replaced record changes two cells of a marginal by 1, an L2 norm of sqrt(2); an added or
//! removed one changes one. Every graphical model of a tree is tractable: its junction tree has the
//! chosen pairs for cliques.
//!
//! *The budget* should be one in rho, [`Rho::implying`](dp::Rho::implying) the epsilon
//! and delta that are promised ([`budget`]). Any other but a pure one is spent too, in parts that
//! add up in its own currency and therefore buy less.
//!
//! Reference: McKenna, Miklau, Sheldon, Winning the NIST contest, Journal of Privacy and
//! Confidentiality 11(3), 2021. Theirs also merges rare values, which this one does not.

mod edges;
mod synthesize;
#[cfg(test)]
mod tests;

pub use synthesize::{Synthesis, synthesize};

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
use private_pgm::factor::Projectable;
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

/// The mechanism as users know it.
pub(super) static SPANNING_TREE: MechanismSpec = MechanismSpec {
    name: "spanning-tree",
    title: "Spanning tree",
    summary: "Measures all one-way marginals, and the two-way marginals of a maximum spanning tree \
              that the exponential mechanism chooses.",
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
        meaning: "how the budget is divided: one-way marginals, choosing the tree, its pairs",
    }],
    build: |table| Ok(Box::new(SpanningTree::checked(parse(table)?)?)),
};

/// A budget that pays for this much privacy: in rho, which adds up best.
pub fn budget(
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Budget, PrivacyParameterError> {
    Ok(Budget::new(Rho::implying(epsilon, delta)?, neighbours))
}

/// The mechanism, with its parameters.
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

    /// The shares of the one-way marginals, of the choices and of the two-way marginals.
    fn split(&self, whole: Share, attributes: usize) -> Result<[Vec<Share>; 3], MechanismError> {
        // One attribute has no tree, and all of the budget to itself.
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
        // Whether there are records is public only where their number is.
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

/// The marginals on these cliques with Gaussian noise, one share each.
fn measure(
    data: &Dataset,
    cliques: impl Iterator<Item = Clique>,
    shares: Vec<Share>,
    line: NumberLine,
    source: &mut NoiseSource,
) -> Result<Vec<Measurement>, MechanismError> {
    let domain = data.domain();
    let one = |(clique, share): (Clique, Share)| {
        // A marginal's columns are unit vectors.
        let sensitivity = Sensitivity::<L2>::nonnegative_linear(1.0, share.neighbours())?;
        let label = format!("marginal of {}", domain.names(&clique).join(" x "));
        let counts = data.project(&clique)?;
        let noisy = share.gaussian(label, counts.values(), sensitivity, line, source)?;
        let query = QueryMatrix::identity(domain, &clique)?;
        Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
    };
    cliques.zip(shares).map(one).collect()
}

/// The tree with all edges pointing away from the first attribute, parents before children.
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
