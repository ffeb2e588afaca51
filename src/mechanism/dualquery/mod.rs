//! DualQuery: synthetic records from a game between a player who looks for queries that the records
//! answer wrongly and one who looks for a record that answers them better.
//!
//! # The game
//!
//! The queries q are yes-or-no questions about a record, all those of the workload and their
//! negations; q(X) is the fraction of the data that says yes. In round t the query player holds the
//! distribution
//!
//! Q^t(q) proportional to exp(eta sum over s < t of (q(X) - q(x^s)))
//!
//! over them, and draws S queries from it. The record player, who never sees the data, answers with
//! the record x^t that says yes to most of them ([`record`]). After T rounds the records
//! x^1, ..., x^T are the synthetic data. (The print has the other sign throughout; as the queries
//! are closed under negation it is the same game.)
//!
//! # Privacy
//!
//! In counts the score of q before round t is (t - 1) c_q - N A_q, where c_q of the N records and
//! A_q of the t - 1 synthetic ones say yes; that of its negation is minus the same. A replaced
//! record moves c_q by 1 at most, hence scores by t - 1, and Q^t is the exponential mechanism at
//! temperature N / eta: each query drawn in round t is epsilon_t-private with
//! epsilon_t = 2 eta (t - 1) / N. Round 1 is uniform and costs nothing. The S (T - 1) draws of the
//! other rounds are added up by advanced composition ([`rounds`]), within a budget of
//! (epsilon, delta). The temperature is public because N is: when records are added or removed N is
//! private, the fraction q(X) has no fixed sensitivity, and the mechanism refuses.
//!
//! # What is published
//!
//! The sampled queries and the records. The mechanism's own estimator answers from the records;
//! others work from the likelihood of the samples ([`likelihood`]).
//!
//! References: Gaboardi, Gallego Arias, Hsu, Roth, Wu, Dual Query, ICML 2014; McKenna, Sheldon,
//! Miklau, ICML 2019, section 4 and supplement C.3.

mod ascent;
mod elimination;
mod likelihood;
mod order;
mod payoff;
mod queries;
mod query_block;
mod record;
mod rounds;
mod softmax;
mod synthetic_records;
#[cfg(test)]
mod tests;
mod unsatisfied_queries;

use std::time::Instant;

use rand::RngExt;
use serde::Deserialize;

use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, ParameterError,
    ReleaseDiagnostics,
};
use super::{Published, Release, Task, Times, WorkloadDependence, parse};
use crate::data::{Dataset, Provenance};
use dp::{Budget, Guarantee, Neighbours, NoiseSource, Scores, Sensitivity, Share};
use likelihood::SampledQueries;
use queries::{Queries, Sample};
use record::{Ties, best_record};
use rounds::{Counting, Game};
use synthetic_records::SyntheticRecords;

/// DualQuery, as users know it.
pub(super) static DUALQUERY: MechanismSpec = MechanismSpec {
    name: "dualquery",
    title: "DualQuery",
    summary: "synthetic records, each the best answer to queries that the earlier ones get wrong",
    reference: "Gaboardi, Gallego Arias, Hsu, Roth, Wu, ICML 2014",
    guarantee: GuaranteeKind::Approximate,
    own_estimator: "the synthetic records",
    workload_dependence: WorkloadDependence::Queries,
    // Some fifty rounds that weigh every query.
    cost_model: CostModel { seconds_per_query: 1.5e-5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[],
    parameters: &[
        Parameter {
            name: "eta",
            default: "2.0",
            meaning: "how fast the distribution over queries follows the errors",
        },
        Parameter { name: "samples", default: "50", meaning: "queries drawn in each round" },
        Parameter {
            name: "counting",
            default: "\"largest\"",
            meaning: "how the draws are counted: all as the largest, as printed, or each as it is",
        },
        Parameter {
            name: "ties",
            default: "\"random\"",
            meaning: "which of several best records is taken: any, or the first in the order of their values",
        },
    ],
    build: |table| Ok(Box::new(DualQuery::checked(parse(table)?)?)),
};

/// The mechanism with its parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct DualQuery {
    /// eta.
    eta: f64,
    /// S, the queries that are drawn in a round.
    samples: usize,
    /// How the number of rounds is chosen.
    counting: Counting,
    /// Which of several best records is taken.
    ties: Ties,
}

impl Default for DualQuery {
    /// The values of the ICML 2019 experiments.
    fn default() -> Self {
        Self { eta: 2.0, samples: 50, counting: Counting::Largest, ties: Ties::Random }
    }
}

/// A larger eta would let the weights of a single round leave the range of floats.
const LARGEST_ETA: f64 = 100.0;

impl DualQuery {
    fn checked(self) -> Result<Self, ParameterError> {
        let refuse = |message: String| Err(ParameterError { message });
        if !(self.eta > 0.0 && self.eta <= LARGEST_ETA) {
            let eta = self.eta;
            return refuse(format!("eta must be above 0 and at most {LARGEST_ETA}, not {eta}"));
        }
        if self.samples == 0 {
            return refuse("samples must be at least 1".into());
        }
        Ok(self)
    }

    /// The game that the budget allows, and its number of rounds.
    fn game(&self, task: &Task<'_>, budget: &Budget) -> Result<(Game, usize), MechanismError> {
        let unsuitable = |reason: String| Err(MechanismError::Unsuitable(reason));
        if budget.neighbours() != Neighbours::Replace {
            return unsuitable(
                "DualQuery needs a public number of records: it works between neighbours by \
                 replacing a record, not by adding or removing one"
                    .into(),
            );
        }
        let Some(Guarantee::Approximate { epsilon, delta }) = budget.remaining() else {
            let total = budget.total();
            return unsuitable(format!(
                "DualQuery needs a budget of epsilon and delta, not {total}"
            ));
        };
        if task.data.is_empty() {
            return unsuitable("DualQuery needs at least one record".into());
        }
        let DualQuery { eta, samples, counting, .. } = *self;
        let game = Game { eta, samples, records: task.data.len() };
        let rounds = game.rounds(counting, epsilon, delta);
        if rounds < 2 {
            let least = game.epsilon(counting, 2, delta);
            return unsuitable(format!(
                "{epsilon} is too small an epsilon for DualQuery on {} records: a round that looks \
                 at them takes {least:.3}",
                game.records
            ));
        }
        Ok((game, rounds))
    }
}

impl Mechanism for DualQuery {
    fn needs_public_total(&self) -> bool {
        true
    }

    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let (game, rounds) = self.game(task, budget)?;
        let queries = Queries::new(task.workload)?;
        let bytes = queries.len() as f64 * (rounds as f64 / 8.0 + 64.0);
        if bytes > task.memory_limit as f64 {
            let message = format!("{rounds} rounds of {} queries", queries.len());
            return Err(MechanismError::Infeasible { bytes, message });
        }
        let counts = queries.counts(task.data)?;
        let counted = began.elapsed().as_secs_f64();
        let shares = budget.rest()?.advanced(&game.draws(rounds)?)?;
        let played = play(&game, self.ties, task, &queries, &counts, shares, source)?;
        let total = task.data.len() as f64;
        let domain = task.workload.domain();
        let records = Dataset::from_codes(
            "synthetic records",
            domain,
            &columns(task, &played.records),
            Provenance::default(),
        )?;
        let likelihood = SampledQueries::new(&game, &queries, &played.samples, &played.records);
        Ok(Release {
            total,
            published: Published::Likelihood(Box::new(likelihood)),
            own_estimator: Box::new(SyntheticRecords::new(records, played.searched)),
            extra_estimators: Vec::new(),
            times: Times { select: began.elapsed().as_secs_f64() - counted, measure: counted },
            diagnostics: ReleaseDiagnostics::default(),
        })
    }
}

/// What came out of the game.
struct Played {
    /// For each round, the queries that were drawn.
    samples: Vec<Vec<Sample>>,
    /// For each round, the record: a code for each attribute, in axis order.
    records: Vec<Vec<u32>>,
    /// In how many rounds the record was searched for rather than computed.
    searched: usize,
}

/// A first round, which is free, and one for each of the shares.
fn play(
    game: &Game,
    ties: Ties,
    task: &Task<'_>,
    queries: &Queries,
    counts: &[f64],
    shares: Vec<Share>,
    source: &mut NoiseSource,
) -> Result<Played, MechanismError> {
    let mut choices = source.public_choices();
    let shares = std::iter::once(None).chain(shares.into_iter().map(Some));
    let mut played = Played { samples: Vec::new(), records: Vec::new(), searched: 0 };
    // A_q.
    let mut satisfied = vec![0.0; queries.len()];
    let mut scores = vec![0.0; 2 * queries.len()];
    for (updates, share) in shares.enumerate() {
        task.in_time()?;
        let chosen: Vec<usize> = match share {
            None => (0..game.samples).map(|_| choices.random_range(0..scores.len())).collect(),
            Some(share) => {
                game.scores(updates, counts, &satisfied, &mut scores);
                let sensitivity = Sensitivity::new(updates as f64, Neighbours::Replace)?;
                let label = format!("queries of round {}", updates + 1);
                let kind = Scores::General;
                share.select_many(label, &scores, sensitivity, kind, game.samples, source)?
            }
        };
        let samples: Vec<Sample> = chosen.into_iter().map(|i| queries.sample(i)).collect();
        let best = best_record(queries, &samples, ties, task.memory_limit, &mut choices);
        let answers = queries.answers(&best.record);
        satisfied.iter_mut().zip(&answers).for_each(|(a, x)| *a += x);
        played.samples.push(samples);
        played.records.push(best.record);
        played.searched += usize::from(best.searched);
    }
    Ok(played)
}

/// Records as columns in declared order.
fn columns(task: &Task<'_>, records: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let declared = task.workload.domain().declared().iter();
    declared.map(|id| records.iter().map(|record| record[id.index()]).collect()).collect()
}
