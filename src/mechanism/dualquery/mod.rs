//! DualQuery: synthetic records from a game between two players. The query player looks for queries
//! that the records answer wrongly. The record player looks for a record that answers these queries
//! well.
//!
//! # The game
//!
//! A query q is a predicate on records. The queries are those of the workload and their negations;
//! q(X) is the fraction of the data that satisfies q. In round t the query player has the
//! distribution
//!
//! Q^t(q) proportional to exp(eta sum over s < t of (q(X) - q(x^s)))
//!
//! and draws S queries from it. The record player does not see the data. It answers with the record
//! x^t that satisfies most of the drawn queries ([`record`]). After T rounds the records x^1, ...,
//! x^T are the synthetic data. (The paper has the opposite sign throughout. The queries are closed
//! under negation, so the game is the same.)
//!
//! # Privacy
//!
//! In counts, the score of q before round t is (t - 1) c_q - N A_q, where c_q of the N records and
//! A_q of the t - 1 synthetic records satisfy q. The score of the negation is the negative of that.
//! Replacing a record changes c_q by at most 1 and a score by at most t - 1. Q^t is the exponential
//! mechanism with these scores at temperature N / eta, so each query drawn in round t is
//! epsilon_t-private with epsilon_t = 2 eta (t - 1) / N. Round 1 is uniform and costs nothing. The
//! S (T - 1) draws of the other rounds are composed by advanced composition ([`rounds`]) within a
//! budget of (epsilon, delta). The temperature depends on N, which is public for replaced records.
//! If records are added or removed, N is private and the fraction q(X) has no fixed sensitivity;
//! the mechanism refuses.
//!
//! # What is published
//!
//! The sampled queries and the records. The mechanism's own estimator answers from the records.
//! Other estimators use the likelihood of the samples ([`likelihood`]).
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
mod weights;

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

pub(super) static DUALQUERY: MechanismSpec = MechanismSpec {
    name: "dualquery",
    title: "DualQuery",
    summary: "synthetic records, each chosen to answer queries that the earlier ones answer \
              wrongly",
    reference: "Gaboardi, Gallego Arias, Hsu, Roth, Wu, ICML 2014",
    guarantee: GuaranteeKind::Approximate,
    own_estimator: "the synthetic records",
    workload_dependence: WorkloadDependence::Queries,
    has_rounds: false,
    // About fifty rounds, each with a weight per query.
    cost_model: CostModel { seconds_per_query: 1.5e-5, ..CostModel::NEGLIGIBLE },
    extra_estimators: &[],
    parameters: &[
        Parameter {
            name: "eta",
            default: "2.0",
            meaning: "step size of the distribution over queries",
        },
        Parameter { name: "samples", default: "50", meaning: "number of queries drawn per round" },
        Parameter {
            name: "counting",
            default: "\"largest\"",
            meaning: "privacy cost of a draw: that of the largest one (\"largest\", as in the \
                      paper), or its own (\"each\")",
        },
        Parameter {
            name: "ties",
            default: "\"random\"",
            meaning: "choice among several best records: uniform (\"random\"), or the \"first\" \
                      by values",
        },
    ],
    build: |table| Ok(Box::new(DualQuery::checked(parse(table)?)?)),
};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct DualQuery {
    eta: f64,
    /// S.
    samples: usize,
    counting: Counting,
    ties: Ties,
}

impl Default for DualQuery {
    /// The values of the ICML 2019 experiments.
    fn default() -> Self {
        Self { eta: 2.0, samples: 50, counting: Counting::Largest, ties: Ties::Random }
    }
}

/// With a larger eta, the weights of a single round would leave the range of floats.
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

    /// The game, and the number of rounds that the budget allows.
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
        let records = task.public_records(budget.neighbours()).unwrap_or(0);
        if records == 0 {
            return unsuitable("DualQuery needs at least one record".into());
        }
        let DualQuery { eta, samples, counting, .. } = *self;
        let game = Game { eta, samples, records };
        let rounds = game.rounds(counting, epsilon, delta);
        if rounds < 2 {
            let least = game.epsilon(counting, 2, delta);
            return unsuitable(format!(
                "{epsilon} is too small an epsilon for DualQuery on {} records: a round that uses \
                 them needs {least:.3}",
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
        let share = budget.rest()?;
        let counts = queries.counts(task.data.read(&share))?;
        let counted = began.elapsed().as_secs_f64();
        let shares = share.advanced(&game.draws(rounds)?)?;
        let setup = Setup { game, ties: self.ties, queries: &queries, counts: &counts };
        let played = play(&setup, task, shares, source)?;
        let total = game.records as f64;
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
            bounds: None,
            warm_start: None,
        })
    }
}

struct Setup<'a> {
    game: Game,
    ties: Ties,
    queries: &'a Queries,
    /// c_q.
    counts: &'a [f64],
}

struct Played {
    /// By round.
    samples: Vec<Vec<Sample>>,
    /// By round: a code per attribute, in axis order.
    records: Vec<Vec<u32>>,
    /// The number of rounds whose record is the result of a local search.
    searched: usize,
}

/// Plays a first round, which is free, and a round for each of the shares.
fn play(
    setup: &Setup<'_>,
    task: &Task<'_>,
    shares: Vec<Share>,
    source: &mut NoiseSource,
) -> Result<Played, MechanismError> {
    let Setup { game, ties, queries, counts } = setup;
    let mut choices = source.public_choices();
    let shares = dp::sabotage!(shares, "dualquery-one-round-too-many", {
        let last = shares
            .last()
            .map(|share| super::sabotaged::unpaid(share.guarantee(), share.neighbours()));
        shares.into_iter().chain(last).collect()
    });
    let shares = std::iter::once(None).chain(shares.into_iter().map(Some));
    let mut played = Played { samples: Vec::new(), records: Vec::new(), searched: 0 };
    // A_q.
    let mut satisfied = vec![0.0; queries.len()];
    let mut scores = vec![0.0; 2 * queries.len()];
    for (updates, share) in shares.enumerate() {
        task.in_time()?;
        let chosen: Vec<usize> = match share {
            None => dp::sabotage!(
                (0..game.samples).map(|_| choices.random_range(0..scores.len())).collect(),
                "dualquery-first-round-by-the-data",
                vec![super::sabotaged::largest(counts); game.samples]
            ),
            Some(share) => {
                game.scores(updates, counts, &satisfied, &mut scores);
                let change = dp::sabotage!(updates as f64, "dualquery-sensitivity-of-one", 1.0);
                let sensitivity = Sensitivity::new(change, Neighbours::Replace)?;
                let label = format!("queries of round {}", updates + 1);
                let general = Scores::General;
                share.select_many(label, &scores, sensitivity, general, game.samples, source)?
            }
        };
        let samples: Vec<Sample> = chosen.into_iter().map(|i| queries.sample(i)).collect();
        let best = best_record(queries, &samples, *ties, task.memory_limit, &mut choices);
        let best = dp::sabotage!(
            best,
            "dualquery-publishes-a-record",
            record::Best { record: true_record(task), ..best }
        );
        let answers = queries.answers(&best.record);
        satisfied.iter_mut().zip(&answers).for_each(|(a, x)| *a += x);
        played.samples.push(samples);
        played.records.push(best.record);
        played.searched += usize::from(best.searched);
    }
    Ok(played)
}

/// Planted as a bug: a record of the data.
#[cfg(feature = "sabotage")]
fn true_record(task: &Task<'_>) -> Vec<u32> {
    task.workload.domain().ids().map(|id| task.data.unpaid().code(0, id)).collect()
}

/// Records as columns in declared order.
fn columns(task: &Task<'_>, records: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let declared = task.workload.domain().declared().iter();
    declared.map(|id| records.iter().map(|record| record[id.index()]).collect()).collect()
}
