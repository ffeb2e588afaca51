//! The distributions Q^1, ..., Q^T as functions of the answers.

use super::query_block::QueryBlock;
use super::unsatisfied_queries::UnsatisfiedQueries;
use super::weights::{LANES, Lanes};

/// The largest change of the logarithm of a weight within a segment. Our choice. Weights begin
/// between e^-500 and 1 and stay between e^-650 and e^150. Smaller ones count as 0: at the end of a
/// segment they are at most e^-350 and the largest weight is at least e^-150, so all of them
/// together are below 1e-80 of the sum.
const LARGEST_DRIFT: f64 = 150.0;

/// The answers of a game's records, arranged for the sums over all queries that the likelihood
/// needs.
///
/// Before round t = m + 1, a query with the answer a has the weight e^s and its negation e^-s, with
/// s = eta (m a - A), where A of the first m records satisfy the query. From one round to the next,
/// s changes by eta a or by eta (a - 1). So a weight is updated by a multiplication instead of an
/// exponential. Two exponentials are needed per query and segment of [`LARGEST_DRIFT`] / eta
/// rounds. At the start of a segment s is recomputed and the largest weight is scaled to 1. Queries
/// that no record satisfies and whose answers are small are summed by series
/// ([`UnsatisfiedQueries`]).
pub(super) struct History {
    eta: f64,
    rounds: usize,
    /// Queries that some record satisfies.
    active: Vec<u32>,
    /// Queries that no record satisfies.
    unsatisfied: Vec<u32>,
    segments: Vec<Segment>,
}

/// Consecutive rounds, and the answers of their records to the active queries.
struct Segment {
    /// m of the first round.
    first: usize,
    rounds: usize,
    /// A before the first round.
    satisfied: Vec<f64>,
    /// For each block of queries and each round but the last, a bit per query: whether the record
    /// satisfies it.
    satisfies: Vec<u8>,
}

pub(super) struct Workspace {
    active: QueryBlock,
    unsatisfied: UnsatisfiedQueries,
    /// Unsatisfied queries whose answers are too large for the series, and their weights.
    large: Vec<u32>,
    large_block: QueryBlock,
    /// For each round of a segment, the sum of the weights per lane.
    sums: Vec<Lanes>,
}

/// The normaliser of a round: ln Z = shift + ln scaled.
#[derive(Clone, Copy, Debug)]
struct Normaliser {
    shift: f64,
    scaled: f64,
}

impl History {
    /// `answers` are those of the record of a round.
    pub(super) fn new(
        eta: f64,
        queries: usize,
        rounds: usize,
        mut answers: impl FnMut(usize) -> Vec<f64>,
    ) -> Self {
        let satisfies: Vec<Vec<bool>> =
            (0..rounds).map(|round| answers(round).iter().map(|&x| x != 0.0).collect()).collect();
        // The last record changes no weights.
        let used = satisfies.split_last().map_or(&[][..], |(_, used)| used);
        let (active, unsatisfied) = (0..queries as u32)
            .partition(|&query| used.iter().any(|satisfies| satisfies[query as usize]));
        let mut history = Self { eta, rounds, active, unsatisfied, segments: Vec::new() };
        let longest = ((LARGEST_DRIFT / eta) as usize).max(1);
        let mut satisfied = vec![0.0; history.active.len()];
        for first in (0..rounds).step_by(longest) {
            let satisfies = &satisfies[first..rounds.min(first + longest)];
            history.segments.push(Segment::new(first, satisfies, &history.active, &satisfied));
            for satisfies in satisfies {
                let yes = history.active.iter().map(|&query| f64::from(satisfies[query as usize]));
                satisfied.iter_mut().zip(yes).for_each(|(a, yes)| *a += yes);
            }
        }
        history
    }

    pub(super) fn workspace(&self) -> Workspace {
        let longest = self.segments.iter().map(|segment| segment.rounds).max().unwrap_or(0);
        Workspace {
            active: QueryBlock::default(),
            unsatisfied: UnsatisfiedQueries::new(self.unsatisfied.len()),
            large: Vec::new(),
            large_block: QueryBlock::default(),
            sums: vec![[0.0; LANES]; longest],
        }
    }

    /// The sum over the rounds of ln Z_t, where Z_t is the sum of the weights of all queries and
    /// negations.
    pub(super) fn log_normalisers(&self, answers: &[f64], work: &mut Workspace) -> f64 {
        self.prepare(answers, work);
        self.segments.iter().map(|segment| log_sum(&self.normalise(segment, work))).sum()
    }

    /// The same. Adds to `slopes` `factor` times the derivative by each answer, which is the sum
    /// over the rounds of eta m (Q^t(q) - Q^t(not q)).
    pub(super) fn log_normalisers_and_slopes(
        &self,
        answers: &[f64],
        factor: f64,
        slopes: &mut [f64],
        work: &mut Workspace,
    ) -> f64 {
        self.prepare(answers, work);
        let mut sum = 0.0;
        let mut series_rounds = Vec::with_capacity(self.rounds);
        for segment in &self.segments {
            let normalisers = self.normalise(segment, work);
            sum += log_sum(&normalisers);
            let coefficients: Vec<f64> = (segment.first..)
                .zip(&normalisers)
                .map(|(updates, z)| factor * self.eta * updates as f64 / z.scaled)
                .collect();
            work.active.add_slopes(&self.active, &segment.satisfies, &coefficients, slopes);
            work.large_block.add_slopes(&work.large, &[], &coefficients, slopes);
            let unscaled = coefficients.iter().zip(&normalisers).map(|(c, z)| c * (-z.shift).exp());
            series_rounds.extend((segment.first..).map(|m| self.share(m)).zip(unscaled));
        }
        work.unsatisfied.add_slopes(&self.unsatisfied, series_rounds.into_iter(), slopes);
        sum
    }

    /// m / M, with M the last m.
    fn share(&self, updates: usize) -> f64 {
        updates as f64 / self.last_updates()
    }

    fn last_updates(&self) -> f64 {
        self.rounds.saturating_sub(1).max(1) as f64
    }

    fn prepare(&self, answers: &[f64], work: &mut Workspace) {
        let scale = self.eta * self.last_updates();
        work.unsatisfied.take(&self.unsatisfied, answers, scale, &mut work.large);
        work.active.take(&self.active, answers, self.eta);
        work.large_block.take(&work.large, answers, self.eta);
    }

    /// The normalisers of a segment. Leaves the weights of its first round in the workspace.
    fn normalise(&self, segment: &Segment, work: &mut Workspace) -> Vec<Normaliser> {
        let Workspace { active, unsatisfied, large_block, sums, .. } = work;
        let largest = active.begin(segment.first, &segment.satisfied, self.eta);
        // UnsatisfiedQueries queries with small answers have weights near 1.
        let shift = largest.max(large_block.begin(segment.first, &[], self.eta)).max(0.0);
        active.exponentiate(shift);
        large_block.exponentiate(shift);
        let sums = &mut sums[..segment.rounds];
        sums.fill([0.0; LANES]);
        active.add_sums(&segment.satisfies, sums);
        large_block.add_sums(&[], sums);
        let small = (-shift).exp();
        (segment.first..)
            .zip(&*sums)
            .map(|(updates, lanes)| {
                let scaled =
                    lanes.iter().sum::<f64>() + small * unsatisfied.sum(self.share(updates));
                Normaliser { shift, scaled }
            })
            .collect()
    }
}

impl Segment {
    fn new(first: usize, answers: &[Vec<bool>], active: &[u32], satisfied: &[f64]) -> Self {
        let steps = answers.len() - 1;
        let bits = |(block, step): (&[u32], usize)| {
            let answers = &answers[step];
            block.iter().rev().fold(0, |bits, &q| bits << 1 | u8::from(answers[q as usize]))
        };
        let blocks =
            active.chunks(LANES).flat_map(|block| (0..steps).map(move |step| (block, step)));
        let satisfies = blocks.map(bits).collect();
        Self { first, rounds: answers.len(), satisfied: satisfied.to_vec(), satisfies }
    }
}

fn log_sum(normalisers: &[Normaliser]) -> f64 {
    normalisers.iter().map(|z| z.shift + z.scaled.ln()).sum()
}
