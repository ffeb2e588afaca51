//! The distributions Q^1, ..., Q^T as functions of the answers.

use super::query_block::{LANES, Lanes, QueryBlock};
use super::unsatisfied_queries::UnsatisfiedQueries;

/// How far weights may move within a stretch, as a power of e: our choice. Weights start between
/// e^-500 and 1 and so stay between e^-650 and e^150. Smaller ones count as 0: at the end of a
/// stretch they are e^-350 at most, and the largest one is e^-150 at least, so that together they
/// are below 1e-80 of the sum.
const REACH: f64 = 150.0;

/// What the records of a game say to each query, arranged for the sums over all queries that the
/// likelihood needs.
///
/// Before round t = m + 1 a query with the answer a has the weight e^s, and its negation e^-s, with
/// s = eta (m a - A), A of the first m records saying yes. From one round to the next s changes by
/// eta a or by eta (a - 1). So instead of an exponential for each round and query there is a
/// multiplication: two exponentials a query and stretch of [`REACH`] / eta rounds, each of which
/// begins with s computed anew and with the largest weight scaled to 1. Queries that no record says
/// yes to, with small answers, take a shorter way: see [`UnsatisfiedQueries`].
pub(super) struct History {
    eta: f64,
    rounds: usize,
    /// The queries that some record says yes to,
    loud: Vec<u32>,
    /// and the others.
    silent: Vec<u32>,
    stretches: Vec<Stretch>,
}

/// Some rounds, and what their records say to the loud queries.
struct Stretch {
    /// m of its first round.
    first: usize,
    /// Its rounds.
    rounds: usize,
    /// A before the first round.
    satisfied: Vec<f64>,
    /// For each block of queries and each round but the last, whether the record says yes: a bit
    /// for each query of the block.
    says_yes: Vec<u8>,
}

/// Buffers.
pub(super) struct Workspace {
    loud: QueryBlock,
    silent: UnsatisfiedQueries,
    /// The silent queries whose answers are large, and their weights.
    large: Vec<u32>,
    aloud: QueryBlock,
    /// For each round of a stretch, the sum of the weights of each lane.
    sums: Vec<Lanes>,
}

/// The normaliser of a round: ln Z = shift + ln scaled.
#[derive(Clone, Copy, Debug)]
struct Normaliser {
    shift: f64,
    scaled: f64,
}

impl History {
    /// The history of a game; `answers` are those of each record, round by round.
    pub(super) fn new(
        eta: f64,
        queries: usize,
        rounds: usize,
        mut answers: impl FnMut(usize) -> Vec<f64>,
    ) -> Self {
        let says: Vec<Vec<bool>> =
            (0..rounds).map(|round| answers(round).iter().map(|&x| x != 0.0).collect()).collect();
        // The last record has no later round whose weights it could change.
        let heard = says.split_last().map_or(&[][..], |(_, heard)| heard);
        let (loud, silent) =
            (0..queries as u32).partition(|&query| heard.iter().any(|says| says[query as usize]));
        let mut history = Self { eta, rounds, loud, silent, stretches: Vec::new() };
        let longest = ((REACH / eta) as usize).max(1);
        let mut satisfied = vec![0.0; history.loud.len()];
        for first in (0..rounds).step_by(longest) {
            let says = &says[first..rounds.min(first + longest)];
            history.stretches.push(Stretch::new(first, says, &history.loud, &satisfied));
            for says in says {
                let yes = history.loud.iter().map(|&query| f64::from(says[query as usize]));
                satisfied.iter_mut().zip(yes).for_each(|(a, yes)| *a += yes);
            }
        }
        history
    }

    pub(super) fn workspace(&self) -> Workspace {
        let longest = self.stretches.iter().map(|stretch| stretch.rounds).max().unwrap_or(0);
        Workspace {
            loud: QueryBlock::default(),
            silent: UnsatisfiedQueries::new(self.silent.len()),
            large: Vec::new(),
            aloud: QueryBlock::default(),
            sums: vec![[0.0; LANES]; longest],
        }
    }

    /// The sum over the rounds of ln Z_t, Z_t the sum of the weights of all queries and negations.
    pub(super) fn log_normalisers(&self, answers: &[f64], work: &mut Workspace) -> f64 {
        self.prepare(answers, work);
        self.stretches.iter().map(|stretch| log_sum(&self.normalise(stretch, work))).sum()
    }

    /// The same, and added to `slopes` its derivative by each answer times `factor`: the sum over
    /// the rounds of eta m (Q^t(q) - Q^t(not q)).
    pub(super) fn log_normalisers_and_slopes(
        &self,
        answers: &[f64],
        factor: f64,
        slopes: &mut [f64],
        work: &mut Workspace,
    ) -> f64 {
        self.prepare(answers, work);
        let mut sum = 0.0;
        let mut silent_rounds = Vec::with_capacity(self.rounds);
        for stretch in &self.stretches {
            let normalisers = self.normalise(stretch, work);
            sum += log_sum(&normalisers);
            let coefficients: Vec<f64> = (stretch.first..)
                .zip(&normalisers)
                .map(|(updates, z)| factor * self.eta * updates as f64 / z.scaled)
                .collect();
            work.loud.add_slopes(&self.loud, &stretch.says_yes, &coefficients, slopes);
            work.aloud.add_slopes(&work.large, &[], &coefficients, slopes);
            let unscaled = coefficients.iter().zip(&normalisers).map(|(c, z)| c * (-z.shift).exp());
            silent_rounds.extend((stretch.first..).map(|m| self.share(m)).zip(unscaled));
        }
        work.silent.add_slopes(&self.silent, silent_rounds.into_iter(), slopes);
        sum
    }

    /// m as a share of the last one.
    fn share(&self, updates: usize) -> f64 {
        updates as f64 / self.last_updates()
    }

    fn last_updates(&self) -> f64 {
        self.rounds.saturating_sub(1).max(1) as f64
    }

    fn prepare(&self, answers: &[f64], work: &mut Workspace) {
        let scale = self.eta * self.last_updates();
        work.silent.take(&self.silent, answers, scale, &mut work.large);
        work.loud.take(&self.loud, answers, self.eta);
        work.aloud.take(&work.large, answers, self.eta);
    }

    /// The normalisers of a stretch. Leaves the weights of its first round in the workspace.
    fn normalise(&self, stretch: &Stretch, work: &mut Workspace) -> Vec<Normaliser> {
        let Workspace { loud, silent, aloud, sums, .. } = work;
        let largest = loud.begin(stretch.first, &stretch.satisfied, self.eta);
        // UnsatisfiedQueries queries with small answers have weights near 1.
        let shift = largest.max(aloud.begin(stretch.first, &[], self.eta)).max(0.0);
        loud.exponentiate(shift);
        aloud.exponentiate(shift);
        let sums = &mut sums[..stretch.rounds];
        sums.fill([0.0; LANES]);
        loud.add_sums(&stretch.says_yes, sums);
        aloud.add_sums(&[], sums);
        let small = (-shift).exp();
        (stretch.first..)
            .zip(&*sums)
            .map(|(updates, lanes)| {
                let scaled = lanes.iter().sum::<f64>() + small * silent.sum(self.share(updates));
                Normaliser { shift, scaled }
            })
            .collect()
    }
}

impl Stretch {
    fn new(first: usize, says: &[Vec<bool>], loud: &[u32], satisfied: &[f64]) -> Self {
        let steps = says.len() - 1;
        let bits = |(block, step): (&[u32], usize)| {
            let says = &says[step];
            block.iter().rev().fold(0, |bits, &q| bits << 1 | u8::from(says[q as usize]))
        };
        let blocks = loud.chunks(LANES).flat_map(|block| (0..steps).map(move |step| (block, step)));
        let says_yes = blocks.map(bits).collect();
        Self { first, rounds: says.len(), satisfied: satisfied.to_vec(), says_yes }
    }
}

/// The sum of ln Z.
fn log_sum(normalisers: &[Normaliser]) -> f64 {
    normalisers.iter().map(|z| z.shift + z.scaled.ln()).sum()
}
