//! Pairs of neighbouring data sets that are hard cases for a mechanism.

use super::pair::Records;
use super::shape::{Data, Shape};
use crate::data::{CodesError, Dataset};
use crate::mechanism::MechanismSpec;
use crate::workload::Workload;
use dp::Neighbours;
use private_pgm::domain::{AttributeId, Clique, Domain, DomainError};
use private_pgm::model::Projectable;
use private_pgm::query::QueryError;

/// Two neighbouring data sets, the workload, and the parameters of the mechanism.
pub struct Case {
    pub title: &'static str,
    pub parameters: toml::Table,
    pub one: Dataset,
    /// `one` with the first record replaced, or without it.
    pub other: Dataset,
    pub workload: Workload,
    /// In words: records with their counts, and the one that differs.
    pub pair: String,
    pub(super) neighbours: Neighbours,
    pub(super) records: Records,
}

impl Case {
    /// The same case with other records.
    pub(super) fn with(&self, records: Records) -> Result<Self, CaseError> {
        let domain = self.one.domain();
        let (one, other) = records.datasets(domain, self.neighbours)?;
        let Self { title, parameters, workload, neighbours, .. } = self;
        Ok(Self {
            title,
            parameters: parameters.clone(),
            one,
            other,
            workload: workload.clone(),
            pair: records.describe(*neighbours),
            neighbours: *neighbours,
            records,
        })
    }
}

/// The cases of a mechanism. A mechanism that is not listed here has the general case, in which a
/// record moves from one cell of a marginal to another. A new mechanism needs an entry only if its
/// selection has a special worst case.
pub fn cases(
    spec: &MechanismSpec,
    epsilon: f64,
    neighbours: Neighbours,
) -> Result<Vec<Case>, CaseError> {
    let plans: &[Plan] = match spec.name {
        "mwem" | "mwem-pgm" => {
            &[Plan { title: "one round", parameters: "rounds = 1", shape: Shape::Rivals }]
        }
        "aim" => &[
            Plan {
                title: "a few rounds",
                parameters: "rounds_per_attribute = 1",
                shape: Shape::Triangle,
            },
            Plan {
                title: "rival attributes",
                parameters: "rounds_per_attribute = 2",
                shape: Shape::Rivals,
            },
        ],
        "hdmm" => &[
            Plan { title: "a marginal", parameters: "restarts = 1", shape: Shape::Marginal },
            Plan { title: "prefix sums", parameters: "restarts = 1", shape: Shape::Prefix },
        ],
        "mm" | "lrm" => &[
            Plan { title: "a marginal", parameters: "", shape: Shape::Marginal },
            Plan { title: "prefix sums", parameters: "", shape: Shape::Prefix },
        ],
        // With the default theta no table of so few records is useful. The scores of one pair of
        // tables cannot both change by their sensitivities, so that parts are audited apart too.
        "privbayes" => &[
            Plan { title: "score R", parameters: "theta = 0.01", shape: Shape::Triangle },
            Plan {
                title: "mutual information",
                parameters: "theta = 0.01\nscore = \"mutual-information\"",
                shape: Shape::Triangle,
            },
            Plan {
                title: "nine tenths of the budget for tables",
                parameters: "theta = 0.01\nnetwork_share = 0.1",
                shape: Shape::Marginal,
            },
        ],
        "php" => &[
            Plan { title: "a marginal", parameters: "", shape: Shape::Marginal },
            Plan { title: "one division", parameters: "depth = 1", shape: Shape::Plateau },
        ],
        "efpa" => &[
            Plan { title: "a marginal", parameters: "", shape: Shape::Marginal },
            Plan { title: "a wave", parameters: "", shape: Shape::Wave },
        ],
        "mst" => &[Plan { title: "a tree of three", parameters: "", shape: Shape::Tree }],
        "residual-planner" => &[
            Plan { title: "least sum of variances", parameters: "", shape: Shape::Marginal },
            Plan {
                title: "least largest variance",
                parameters: "objective = \"largest\"",
                shape: Shape::Triangle,
            },
            Plan { title: "one attribute", parameters: "", shape: Shape::Coin },
        ],
        "pmw" | "pmw-delta" => &[
            Plan { title: "two rounds at most", parameters: "alpha = 0.99", shape: Shape::Coin },
            Plan { title: "six rounds at most", parameters: "alpha = 0.9", shape: Shape::Rivals },
        ],
        // Advanced composition of few draws charges several times what they can show. One draw is
        // charged what it costs.
        "dualquery" => &[
            Plan { title: "one draw", parameters: "eta = 4.0\nsamples = 1", shape: Shape::OneDraw },
            Plan { title: "the game", parameters: "eta = 1.0\nsamples = 2", shape: Shape::Game },
        ],
        _ => &[Plan { title: "a marginal", parameters: "", shape: Shape::Marginal }],
    };
    plans.iter().map(|plan| plan.case(epsilon, neighbours)).collect()
}

/// The cases of a mechanism of which nothing is known.
pub fn general_cases(epsilon: f64, neighbours: Neighbours) -> Result<Vec<Case>, CaseError> {
    let plans = [
        Plan { title: "a marginal", parameters: "", shape: Shape::Marginal },
        Plan { title: "rival attributes", parameters: "", shape: Shape::Rivals },
    ];
    plans.iter().map(|plan| plan.case(epsilon, neighbours)).collect()
}

/// Cannot happen with the cases above.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error(transparent)]
    Domain(#[from] DomainError),
    #[error(transparent)]
    Codes(#[from] CodesError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Parameters(#[from] toml::de::Error),
}

struct Plan {
    title: &'static str,
    parameters: &'static str,
    shape: Shape,
}

impl Plan {
    fn case(&self, epsilon: f64, neighbours: Neighbours) -> Result<Case, CaseError> {
        let Data { sizes, records, replacement, cliques, prefix } =
            self.shape.data(epsilon, neighbours);
        let domain = Domain::new(["a", "b", "c"].into_iter().zip(sizes.iter().copied()))?;
        let id = |index: &usize| -> AttributeId { domain.declared()[*index] };
        let cliques: Vec<Clique> =
            cliques.iter().map(|indices| indices.iter().map(id).collect()).collect();
        let prefix: Clique = prefix.iter().map(id).collect();
        let records = Records { all: records, replacement };
        let (one, other) = records.datasets(&domain, neighbours)?;
        Ok(Case {
            title: self.title,
            parameters: self.parameters.parse()?,
            one,
            other,
            workload: Workload::marginals(&domain, &cliques, &prefix)?,
            pair: records.describe(neighbours),
            neighbours,
            records,
        })
    }
}
