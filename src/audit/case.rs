//! Pairs of neighbouring data sets that are hard cases for a mechanism.

use super::pair::Records;
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
            Plan { title: "one division", parameters: "depth = 1", shape: Shape::Marginal },
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
    /// Three attributes of three values, frequent enough that none is merged. All pairs depend on
    /// each other equally, so that each is a likely edge of a tree. The record changes every
    /// marginal; it strengthens one pair and weakens the two others by the most that is possible.
    Tree,
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
            Shape::Tree => Data {
                sizes: &[3, 3, 3],
                records: tree(epsilon),
                replacement: vec![1, 1, 1],
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

/// The records of [`Shape::Tree`], first one of three zeros. Two cells of a pair that differ in
/// both attributes have deviations from independence of opposite signs, which three values allow.
fn tree(epsilon: f64) -> Vec<Vec<u32>> {
    const DEPENDENCE: [[i64; 3]; 3] = [[1, 0, -1], [0, -1, 1], [-1, 1, 0]];
    // The deviations have to be larger than the noise of the one-way marginals.
    let unit = (7.0 / epsilon).clamp(1.0, 70.0) as i64;
    let cells = (0..27).map(|cell| [cell / 9, cell / 3 % 3, cell % 3]);
    let record = |[a, b, c]: [usize; 3]| {
        let deviation = DEPENDENCE[a][b] + DEPENDENCE[a][c] - DEPENDENCE[b][c];
        let count = (4 + deviation) * unit;
        std::iter::repeat_n(vec![a as u32, b as u32, c as u32], count as usize)
    };
    cells.flat_map(record).collect()
}
