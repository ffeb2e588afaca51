//! The distributions Q^1, ..., Q^T as functions of the answers.

use super::weights::{LANES, Lanes, Start, add_slopes, add_sums};
use crate::numeric::exp::{exp_all, maximum};

/// How far weights may move within a stretch, as a power of e: our choice. Weights start between
/// e^-500 and 1 and so stay between e^-650 and e^150.
const REACH: f64 = 150.0;
/// Smaller weights count as 0. At the end of a stretch they are e^-350 at most, and the largest one
/// is e^-150 at least: together they are below 1e-80 of the sum.
const LOWEST: f64 = -500.0;

/// What the records of a game say to each query, arranged for the sums over all queries that the
/// likelihood needs.
///
/// Before round t = m + 1 a query with the answer a has the weight e^s, and its negation e^-s, with
/// s = eta (m a - A), A of the first m records saying yes. From one round to the next s changes by
/// eta a or by eta (a - 1). So instead of an exponential for each round and query there is a
/// multiplication: two exponentials a query and stretch of [`REACH`] / eta rounds, each of which
/// begins with s computed anew and with the largest weight scaled to 1.
pub(super) struct History {
    eta: f64,
    queries: usize,
    stretches: Vec<Stretch>,
}

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

/// Buffers, one number for each query and room for the last block to be full.
pub(super) struct Workspace {
    /// s, then e^s.
    weights: Vec<f64>,
    /// e^-s.
    inverses: Vec<f64>,
    /// e^(eta a).
    growth: Vec<f64>,
    /// For each round of a stretch, the sum of the weights of each lane.
    sums: Vec<Lanes>,
    /// The answers that everything here belongs to, with the normalisers, when there is a single
    /// stretch: line searches ask for the value of a point and then for its slopes.
    last: Option<(Vec<f64>, Vec<Normaliser>)>,
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
        let longest = ((REACH / eta) as usize).max(1);
        let blocks = queries.div_ceil(LANES);
        let mut satisfied = vec![0.0; queries];
        let mut stretches = Vec::new();
        for first in (0..rounds).step_by(longest) {
            let rounds_here = longest.min(rounds - first);
            let steps = rounds_here - 1;
            let mut stretch = Stretch {
                first,
                rounds: rounds_here,
                satisfied: satisfied.clone(),
                says_yes: vec![0; blocks * steps],
            };
            for step in 0..rounds_here {
                let says = answers(first + step);
                satisfied.iter_mut().zip(&says).for_each(|(a, x)| *a += x);
                if step < steps {
                    for (block, says) in says.chunks(LANES).enumerate() {
                        let bits =
                            says.iter().rev().fold(0, |bits, &x| bits << 1 | u8::from(x != 0.0));
                        stretch.says_yes[block * steps + step] = bits;
                    }
                }
            }
            stretches.push(stretch);
        }
        Self { eta, queries, stretches }
    }

    pub(super) fn workspace(&self) -> Workspace {
        let len = self.queries.next_multiple_of(LANES);
        let longest = self.stretches.iter().map(|stretch| stretch.rounds).max().unwrap_or(0);
        Workspace {
            weights: vec![0.0; len],
            inverses: vec![0.0; len],
            growth: vec![0.0; len],
            sums: vec![[0.0; LANES]; longest],
            last: None,
        }
    }

    /// The sum over the rounds of ln Z_t, Z_t the sum of the weights of all queries and negations.
    pub(super) fn log_normalisers(&self, answers: &[f64], work: &mut Workspace) -> f64 {
        self.prepare(answers, work);
        let mut sum = 0.0;
        for stretch in &self.stretches {
            let normalisers = self.normalise(stretch, answers, work);
            sum += log_sum(&normalisers);
            if self.stretches.len() == 1 {
                work.last = Some((answers.to_vec(), normalisers));
            }
        }
        sum
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
        // Whatever is there belongs to one point only.
        let known = work.last.take().filter(|(point, _)| point == answers);
        if known.is_none() {
            self.prepare(answers, work);
        }
        let mut sum = 0.0;
        for stretch in &self.stretches {
            let normalisers = match &known {
                Some((_, normalisers)) => normalisers.clone(),
                None => self.normalise(stretch, answers, work),
            };
            sum += log_sum(&normalisers);
            let coefficients: Vec<f64> = (stretch.first..)
                .zip(&normalisers)
                .map(|(updates, z)| factor * self.eta * updates as f64 / z.scaled)
                .collect();
            add_slopes(work.start(self.eta).0, &stretch.says_yes, &coefficients, slopes);
        }
        sum
    }

    fn prepare(&self, answers: &[f64], work: &mut Workspace) {
        let growth = &mut work.growth[..self.queries];
        growth.iter_mut().zip(answers).for_each(|(growth, answer)| *growth = self.eta * answer);
        exp_all(growth);
        work.growth[self.queries..].fill(1.0);
    }

    /// The normalisers of a stretch. Leaves the weights of its first round in the workspace.
    fn normalise(
        &self,
        stretch: &Stretch,
        answers: &[f64],
        work: &mut Workspace,
    ) -> Vec<Normaliser> {
        let updates = stretch.first as f64;
        let (weights, inverses) =
            (&mut work.weights[..self.queries], &mut work.inverses[..self.queries]);
        for ((s, minus), (a, satisfied)) in
            weights.iter_mut().zip(&mut *inverses).zip(answers.iter().zip(&stretch.satisfied))
        {
            *s = self.eta * (updates * a - satisfied);
            *minus = -*s;
        }
        let shift = maximum(weights).max(maximum(inverses));
        for weights in [weights, inverses] {
            weights.iter_mut().for_each(|s| {
                *s = if *s - shift > LOWEST { *s - shift } else { f64::NEG_INFINITY }
            });
            exp_all(weights);
        }
        let (start, sums) = work.start(self.eta);
        let sums = &mut sums[..stretch.rounds];
        sums.fill([0.0; LANES]);
        add_sums(start, &stretch.says_yes, sums);
        sums.iter().map(|lanes| Normaliser { shift, scaled: lanes.iter().sum() }).collect()
    }
}

/// The sum of ln Z.
fn log_sum(normalisers: &[Normaliser]) -> f64 {
    normalisers.iter().map(|z| z.shift + z.scaled.ln()).sum()
}

impl Workspace {
    /// The weights as they are, and room for the sums.
    fn start(&mut self, eta: f64) -> (Start<'_>, &mut [Lanes]) {
        let start = Start {
            weights: self.weights.as_chunks().0,
            inverses: self.inverses.as_chunks().0,
            growth: self.growth.as_chunks().0,
            decay: (-eta).exp(),
        };
        (start, &mut self.sums)
    }
}
