//! Pairs of neighbouring data sets that are hard cases for a mechanism.

use crate::data::{CodesError, Dataset, Provenance};
use crate::mechanism::MechanismSpec;
use crate::workload::Workload;
use dp::Neighbours;
use private_pgm::domain::{AttributeId, Clique, Domain, DomainError};
use private_pgm::query::QueryError;

/// Two neighbouring data sets, the workload, and the parameters of the mechanism.
pub struct Case {
    pub title: &'static str,
    pub parameters: toml::Table,
    pub one: Dataset,
    /// `one` with the first record replaced, or without it.
    pub other: Dataset,
    pub workload: Workload,
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
        "hdmm" => {
            &[Plan { title: "prefix sums", parameters: "restarts = 1", shape: Shape::Prefix }]
        }
        "mm" | "lrm" => &[Plan { title: "prefix sums", parameters: "", shape: Shape::Prefix }],
        // With the default theta no table of so few records is useful.
        "privbayes" => &[
            Plan { title: "score R", parameters: "theta = 0.01", shape: Shape::Triangle },
            Plan {
                title: "mutual information",
                parameters: "theta = 0.01\nscore = \"mutual-information\"",
                shape: Shape::Triangle,
            },
        ],
        "mst" => &[Plan { title: "a tree of three", parameters: "", shape: Shape::Triangle }],
        "residual-planner" => &[
            Plan { title: "least sum of variances", parameters: "", shape: Shape::Marginal },
            Plan {
                title: "least largest variance",
                parameters: "objective = \"largest\"",
                shape: Shape::Triangle,
            },
        ],
        "pmw" | "pmw-delta" => &[
            Plan { title: "two rounds at most", parameters: "alpha = 0.99", shape: Shape::Coin },
            Plan { title: "six rounds at most", parameters: "alpha = 0.9", shape: Shape::Rivals },
        ],
        "dualquery" => {
            &[Plan { title: "the game", parameters: "eta = 1.0\nsamples = 2", shape: Shape::Game }]
        }
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

/// Data and workload. The first record is replaced or removed.
#[derive(Clone, Copy)]
enum Shape {
    /// A record moves from one cell of a two-way marginal to another. This is the worst case of
    /// noisy answers.
    Marginal,
    /// The same for prefix sums, whose strategy has entries that are not integers.
    Prefix,
    /// Two marginals compete in a selection. The record increases the error of one and decreases
    /// that of the other, so all scores change by the most that is possible, one half up and the
    /// other half down. The first marginal is behind by about one and a half temperatures, because
    /// the probability of a rare selection changes by the largest factor.
    Rivals,
    /// Two records of one bit. Stopping rules use fractions of the records, and one record of two
    /// changes a fraction the most.
    Coin,
    /// Three attributes, one of which depends on another. The record strengthens one pair and
    /// weakens another.
    Triangle,
    /// Two marginals, and a number of records that allows a few rounds of the game.
    Game,
}

impl Plan {
    fn case(&self, epsilon: f64, neighbours: Neighbours) -> Result<Case, CaseError> {
        let Data { sizes, records, replacement, cliques, prefix } = self.shape.data(epsilon);
        let domain = Domain::new(["a", "b", "c"].into_iter().zip(sizes.iter().copied()))?;
        let id = |index: &usize| -> AttributeId { domain.declared()[*index] };
        let cliques: Vec<Clique> =
            cliques.iter().map(|indices| indices.iter().map(id).collect()).collect();
        let prefix: Clique = prefix.iter().map(id).collect();
        let others: Vec<Vec<u32>> = match neighbours {
            Neighbours::Replace => {
                [replacement].into_iter().chain(records[1..].iter().cloned()).collect()
            }
            Neighbours::AddRemove => records[1..].to_vec(),
        };
        let dataset = |records: &[Vec<u32>]| {
            let column = |index| records.iter().map(|record: &Vec<u32>| record[index]).collect();
            let codes: Vec<Vec<u32>> = (0..domain.len()).map(column).collect();
            Dataset::from_codes("audit", &domain, &codes, Provenance::default())
        };
        Ok(Case {
            title: self.title,
            parameters: self.parameters.parse()?,
            one: dataset(&records)?,
            other: dataset(&others)?,
            workload: Workload::marginals(&domain, &cliques, &prefix)?,
        })
    }
}

struct Data {
    sizes: &'static [usize],
    records: Vec<Vec<u32>>,
    replacement: Vec<u32>,
    /// By index in the list of attributes.
    cliques: &'static [&'static [usize]],
    prefix: &'static [usize],
}

impl Shape {
    fn data(self, epsilon: f64) -> Data {
        match self {
            Shape::Marginal => Data {
                sizes: &[2, 3],
                records: (0..12).map(|i| vec![i % 2, i % 3]).collect(),
                replacement: vec![1, 2],
                cliques: &[&[0, 1]],
                prefix: &[],
            },
            Shape::Prefix => Data {
                sizes: &[2, 3],
                records: (0..12).map(|i| vec![i % 2, i % 3]).collect(),
                replacement: vec![0, 2],
                cliques: &[&[1]],
                prefix: &[1],
            },
            Shape::Rivals => {
                // The temperature is 4 / epsilon for queries. For marginals it is twice that, and
                // the scores are twice as far apart.
                let ahead = (6.0 / epsilon).clamp(1.0, 200.0).round() as u32;
                let half = ahead + 6;
                Data {
                    sizes: &[2, 2],
                    records: (0..2 * half)
                        .map(|i| vec![i % 2, u32::from(i < half + ahead)])
                        .collect(),
                    replacement: vec![1, 0],
                    cliques: &[&[0], &[1]],
                    prefix: &[],
                }
            }
            Shape::Coin => Data {
                sizes: &[2],
                records: vec![vec![0], vec![1]],
                replacement: vec![1],
                cliques: &[&[0]],
                prefix: &[],
            },
            Shape::Triangle => Data {
                sizes: &[2, 2, 2],
                // The first record has b unlike a and c like a; its replacement the reverse.
                records: (0..40u32)
                    .map(|i| {
                        let (differs, parts) = (i.is_multiple_of(4), i % 5 == 1);
                        vec![i % 2, (i + u32::from(differs)) % 2, (i + u32::from(parts)) % 2]
                    })
                    .collect(),
                replacement: vec![0, 0, 1],
                cliques: &[&[0, 1], &[0, 2], &[1, 2]],
                prefix: &[],
            },
            Shape::Game => {
                let records = (200.0 / epsilon).clamp(4.0, 4000.0) as u32;
                Data {
                    sizes: &[2, 2],
                    records: (0..records).map(|i| vec![i % 2, u32::from(i % 3 == 0)]).collect(),
                    replacement: vec![1, 0],
                    cliques: &[&[0], &[1]],
                    prefix: &[],
                }
            }
        }
    }
}
