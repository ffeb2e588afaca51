//! The distributions Q^1, ..., Q^T as functions of the answers.

use std::collections::BTreeMap;

use super::query_block::{QueryBlock, Satisfied};
use super::uniform_blocks::Runs;
use super::unsatisfied_queries::{OddSeries, Powers, UnsatisfiedQueries, even_series};
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
///
/// Answers are handed over in consecutive parts, as counts, and each part is overwritten by its
/// slopes. Both passes find a part in the cache:
/// [`begin`](Self::begin), [`take`](Self::take) for every part, then
/// [`log_normalisers`](Self::log_normalisers), or
/// [`log_normalisers_and_slopes`](Self::log_normalisers_and_slopes) and
/// [`replace_by_slopes`](Self::replace_by_slopes) for every part.
pub(super) struct History {
    eta: f64,
    rounds: usize,
    /// 1 / N: a is this times a count.
    per_record: f64,
    /// Queries that some record satisfies, in ascending order, and their places in blocks.
    active: Vec<(u32, u32)>,
    /// The blocks of each run of [`uniform_blocks`](super::uniform_blocks). They come first.
    runs: Vec<usize>,
    segments: Vec<Segment>,
}

/// Consecutive rounds, and the answers of their records to the active queries.
struct Segment {
    /// m of the first round.
    first: usize,
    rounds: usize,
    /// A before the first round, by place.
    satisfied: Vec<f64>,
    /// For each run and each round but the last, whether the record satisfies its queries.
    runs: Vec<bool>,
    /// For each of the other blocks and each round but the last, a bit per query: whether the
    /// record satisfies it.
    satisfies: Vec<u8>,
}

pub(super) struct Workspace {
    active: QueryBlock,
    unsatisfied: UnsatisfiedQueries,
    /// Unsatisfied queries whose answers are too large for the series.
    large: QueryBlock,
    large_queries: Vec<u32>,
    /// The slopes of the other unsatisfied queries.
    series: OddSeries,
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
        records: usize,
        queries: usize,
        rounds: usize,
        mut answers: impl FnMut(usize) -> Vec<f64>,
    ) -> Self {
        let satisfies: Vec<Vec<bool>> =
            (0..rounds).map(|round| answers(round).iter().map(|&x| x != 0.0).collect()).collect();
        // The last record changes no weights.
        let used = satisfies.split_last().map_or(&[][..], |(_, used)| used);
        let (order, runs) = in_blocks(queries, used);
        let mut active: Vec<(u32, u32)> = order.iter().copied().zip(0..).collect();
        active.sort_unstable();
        let per_record = (records as f64).recip();
        let mut segments = Vec::new();
        let longest = ((LARGEST_DRIFT / eta) as usize).max(1);
        let mut satisfied = vec![0.0; order.len()];
        for first in (0..rounds).step_by(longest) {
            let satisfies = &satisfies[first..rounds.min(first + longest)];
            segments.push(Segment::new(first, satisfies, &order, &runs, &satisfied));
            for satisfies in satisfies {
                let yes = order.iter().map(|&query| f64::from(satisfies[query as usize]));
                satisfied.iter_mut().zip(yes).for_each(|(a, yes)| *a += yes);
            }
        }
        Self { eta, rounds, per_record, active, runs, segments }
    }

    pub(super) fn workspace(&self) -> Workspace {
        let longest = self.segments.iter().map(|segment| segment.rounds).max().unwrap_or(0);
        Workspace {
            active: QueryBlock::of(self.active.len()),
            unsatisfied: UnsatisfiedQueries::default(),
            large: QueryBlock::default(),
            large_queries: Vec::new(),
            series: OddSeries::default(),
            sums: vec![[0.0; LANES]; longest],
        }
    }

    /// Starts an evaluation.
    pub(super) fn begin(&self, work: &mut Workspace) {
        work.large.clear();
        work.large_queries.clear();
        work.unsatisfied =
            UnsatisfiedQueries::new(self.eta * self.last_updates() * self.per_record);
    }

    /// Takes the counts of the queries from `first` on.
    pub(super) fn take(&self, first: usize, counts: &mut [f64], work: &mut Workspace) {
        let Workspace { active, unsatisfied, large, large_queries, .. } = work;
        let queries = self.active_among(first, counts.len());
        let answers = active.answers_mut();
        for &(query, place) in queries {
            // A count of 0 adds nothing to the series.
            let count = std::mem::take(&mut counts[query as usize - first]);
            answers[place as usize] = count * self.per_record;
        }
        unsatisfied.discount(queries.len());
        unsatisfied.take(counts, |place, count| {
            large.push(count * self.per_record);
            large_queries.push((first + place) as u32);
        });
    }

    /// The active ones of `count` queries from `first` on.
    fn active_among(&self, first: usize, count: usize) -> &[(u32, u32)] {
        let place = |end: usize| self.active.partition_point(|&(query, _)| (query as usize) < end);
        &self.active[place(first)..place(first + count)]
    }

    /// The sum over the rounds of ln Z_t, where Z_t is the sum of the weights of all queries and
    /// negations.
    pub(super) fn log_normalisers(&self, work: &mut Workspace) -> f64 {
        let powers = self.prepare(work);
        self.segments.iter().map(|segment| log_sum(&self.normalise(segment, &powers, work))).sum()
    }

    /// The same. Finds the slopes for [`replace_by_slopes`](Self::replace_by_slopes): `factor`
    /// times the derivative by each count, which is the sum over the rounds of
    /// eta m (Q^t(q) - Q^t(not q)) / N.
    pub(super) fn log_normalisers_and_slopes(&self, factor: f64, work: &mut Workspace) -> f64 {
        let powers = self.prepare(work);
        let factor = factor * self.eta * self.per_record;
        let mut sum = 0.0;
        let mut series_rounds = Vec::with_capacity(self.rounds);
        for segment in &self.segments {
            let normalisers = self.normalise(segment, &powers, work);
            sum += log_sum(&normalisers);
            let coefficients: Vec<f64> = (segment.first..)
                .zip(&normalisers)
                .map(|(updates, z)| factor * updates as f64 / z.scaled)
                .collect();
            work.active.add_slopes(self.satisfied(segment), &coefficients);
            work.large.add_slopes(Satisfied::NONE, &coefficients);
            let unscaled = coefficients.iter().zip(&normalisers).map(|(c, z)| c * (-z.shift).exp());
            series_rounds.extend((segment.first..).map(|m| self.share(m)).zip(unscaled));
        }
        work.series = work.unsatisfied.slopes(series_rounds.into_iter());
        sum
    }

    /// Replaces the counts of the queries from `first` on by slopes.
    pub(super) fn replace_by_slopes(&self, first: usize, counts: &mut [f64], work: &Workspace) {
        work.series.replace(counts);
        let slopes = work.active.slopes();
        for &(query, place) in self.active_among(first, counts.len()) {
            counts[query as usize - first] = slopes[place as usize];
        }
        let (large, end) = (&work.large_queries, first + counts.len());
        let from = large.partition_point(|&query| (query as usize) < first);
        for (&query, slope) in large.iter().zip(work.large.slopes()).skip(from) {
            if query as usize >= end {
                break;
            }
            counts[query as usize - first] = *slope;
        }
    }

    fn satisfied<'a>(&'a self, segment: &'a Segment) -> Satisfied<'a> {
        let runs = Runs { blocks: &self.runs, satisfies: &segment.runs };
        Satisfied { runs, bits: &segment.satisfies }
    }

    /// m / M, with M the last m.
    fn share(&self, updates: usize) -> f64 {
        updates as f64 / self.last_updates()
    }

    fn last_updates(&self) -> f64 {
        self.rounds.saturating_sub(1).max(1) as f64
    }

    /// The sums of powers of the unsatisfied queries.
    fn prepare(&self, work: &mut Workspace) -> Powers {
        work.active.prepare(self.eta);
        work.large.prepare(self.eta);
        work.unsatisfied.powers()
    }

    /// The normalisers of a segment. Leaves the weights of its first round in the workspace.
    fn normalise(
        &self,
        segment: &Segment,
        powers: &Powers,
        work: &mut Workspace,
    ) -> Vec<Normaliser> {
        let Workspace { active, large, sums, .. } = work;
        let largest = active.begin(segment.first, &segment.satisfied, self.eta);
        // Unsatisfied queries with small answers have weights near 1.
        let shift = largest.max(large.begin(segment.first, &[], self.eta)).max(0.0);
        active.exponentiate(shift);
        large.exponentiate(shift);
        let sums = &mut sums[..segment.rounds];
        sums.fill([0.0; LANES]);
        active.add_sums(self.satisfied(segment), sums);
        large.add_sums(Satisfied::NONE, sums);
        let small = (-shift).exp();
        (segment.first..)
            .zip(&*sums)
            .map(|(updates, lanes)| {
                let scaled =
                    lanes.iter().sum::<f64>() + small * even_series(powers, self.share(updates));
                Normaliser { shift, scaled }
            })
            .collect()
    }
}

impl Segment {
    /// `order` has the query of each place. The first places are those of the runs.
    fn new(
        first: usize,
        answers: &[Vec<bool>],
        order: &[u32],
        runs: &[usize],
        satisfied: &[f64],
    ) -> Self {
        let steps = answers.len() - 1;
        let (uniform, mixed) = order.split_at(LANES * runs.iter().sum::<usize>());
        let starts = runs.iter().scan(0, |place, blocks| {
            let query = uniform[*place];
            *place += LANES * blocks;
            Some(query)
        });
        let of_query = |query: u32| answers[..steps].iter().map(move |a| a[query as usize]);
        let runs = starts.flat_map(of_query).collect();
        let bits = |(block, step): (&[u32], usize)| {
            let answers = &answers[step];
            block.iter().rev().fold(0, |bits, &q| bits << 1 | u8::from(answers[q as usize]))
        };
        let blocks =
            mixed.chunks(LANES).flat_map(|block| (0..steps).map(move |step| (block, step)));
        let satisfies = blocks.map(bits).collect();
        Self { first, rounds: answers.len(), satisfied: satisfied.to_vec(), runs, satisfies }
    }
}

/// The queries that some record satisfies, and the number of blocks of each run. Queries that the
/// same records satisfy form a run if they fill a block; those that are left come after all runs.
fn in_blocks(queries: usize, satisfies: &[Vec<bool>]) -> (Vec<u32>, Vec<usize>) {
    let mut alike: BTreeMap<Vec<bool>, Vec<u32>> = BTreeMap::new();
    for query in 0..queries {
        let records: Vec<bool> = satisfies.iter().map(|satisfies| satisfies[query]).collect();
        if records.contains(&true) {
            alike.entry(records).or_default().push(query as u32);
        }
    }
    let (mut order, mut left, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for queries in alike.values() {
        let (blocks, rest) = queries.as_chunks::<LANES>();
        order.extend_from_slice(blocks.as_flattened());
        left.extend_from_slice(rest);
        if !blocks.is_empty() {
            runs.push(blocks.len());
        }
    }
    order.extend(left);
    (order, runs)
}

fn log_sum(normalisers: &[Normaliser]) -> f64 {
    normalisers.iter().map(|z| z.shift + z.scaled.ln()).sum()
}
