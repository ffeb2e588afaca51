//! Rounds and passes of the damped updates, chosen without the data.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::damped::DampedWeights;
use super::scores::{row_of, scores};
use crate::mechanism::MechanismError;
use crate::workload::Workload;
use dp::SeedPath;
use private_pgm::baselines::Tables;
use private_pgm::factor::Factor;

/// Numbers of rounds that are tried. Our choice.
const ROUNDS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Numbers of passes that are tried: the update as printed, a few, and close to convergence. Our
/// choice.
const PASSES: [usize; 3] = [1, 10, 100];
/// Simulated runs per candidate. Our choice.
const REPEATS: usize = 10;

/// Rounds and passes of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) rounds: usize,
    pub(super) passes: usize,
}

/// The candidates with these values, where they are given.
fn candidates(rounds: Option<usize>, passes: Option<usize>) -> Vec<Schedule> {
    let rounds = rounds.map_or(ROUNDS.to_vec(), |rounds| vec![rounds]);
    let passes = passes.map_or(PASSES.to_vec(), |passes| vec![passes]);
    let with = |&rounds: &usize| {
        passes.iter().map(move |&passes| Schedule { rounds, passes }).collect::<Vec<_>>()
    };
    rounds.iter().flat_map(with).collect()
}

/// The schedule with the least expected squared error of the queries on a public table.
///
/// The public table has as many records and cells as the data, and counts that follow Zipf's law in
/// the order of the cells: skewed, and with empty cells where there are few records. Noise is drawn
/// from a fixed seed. So the choice depends on the queries, the number of records, which has to be
/// public, and epsilon, and costs nothing.
pub(super) fn schedule(
    workload: &Workload,
    records: usize,
    epsilon: f64,
    (rounds, passes): (Option<usize>, Option<usize>),
    memory_limit: u64,
) -> Result<Schedule, MechanismError> {
    let candidates = candidates(rounds, passes);
    if let [only] = candidates[..] {
        return Ok(only);
    }
    let domain = workload.domain();
    let start =
        |passes| DampedWeights::uniform(domain, records.max(1) as f64, passes, memory_limit);
    let cells = start(1)?.average().values().len();
    let table = Factor::new(domain, domain.everything(), zipf(cells, records));
    let truth = workload.answers(&Tables::new(domain, vec![table]))?;
    let mut best = (f64::INFINITY, candidates[0]);
    for schedule in candidates {
        let mut error = 0.0;
        for repeat in 0..REPEATS {
            let mut rng = ChaCha20Rng::from_seed(SeedPath::new("mwem proxy", repeat).seed());
            let mut weights = start(schedule.passes)?;
            for _ in 0..schedule.rounds {
                let per_draw = epsilon / (2.0 * schedule.rounds as f64);
                simulate_round(workload, &truth, per_draw, &mut weights, &mut rng);
            }
            let answers = workload.answers(&Tables::new(domain, vec![weights.average()]))?;
            let pairs = truth.iter().flatten().zip(answers.iter().flatten());
            error += pairs.map(|(truth, answer)| (truth - answer).powi(2)).sum::<f64>();
        }
        if error < best.0 {
            best = (error, schedule);
        }
    }
    Ok(best.1)
}

/// A round of MWEM on public data. Its noise protects nothing.
fn simulate_round(
    workload: &Workload,
    truth: &[Vec<f64>],
    epsilon: f64,
    weights: &mut DampedWeights,
    rng: &mut impl Rng,
) {
    let mut uniform = || rng.random_range(f64::EPSILON..1.0);
    let scores = scores(workload.parts(), truth, &weights.marginals(&workload.cliques()));
    // The exponential mechanism: the largest score after Gumbel noise.
    let noisy = scores.iter().map(|score| score * epsilon / 2.0 - (-uniform().ln()).ln());
    let largest = noisy.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let (query, answer) = row_of(workload, truth, largest.map_or(0, |(index, _)| index));
    let sign = if uniform() < 0.5 { -1.0 } else { 1.0 };
    weights.learn(&query, answer - sign * uniform().ln() / epsilon);
}

/// Whole counts of `cells` cells that add up to `records`; the i-th is close to a multiple of 1/i.
fn zipf(cells: usize, records: usize) -> Vec<f64> {
    let all: f64 = (1..=cells).map(|i| 1.0 / i as f64).sum();
    let (mut sum, mut before) = (0.0, 0.0);
    let count = |i: usize| {
        sum += 1.0 / i as f64;
        let up_to = (records as f64 * sum / all).round();
        up_to - std::mem::replace(&mut before, up_to)
    };
    (1..=cells).map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::SubWorkload;
    use private_pgm::domain::Domain;
    use private_pgm::query::QueryMatrix;

    fn cells(count: usize) -> Workload {
        let domain = Domain::new([("x", count)]).unwrap();
        let clique = domain.everything();
        let query = QueryMatrix::identity(&domain, &clique).unwrap();
        Workload::whole(&domain, SubWorkload { clique, query })
    }

    #[test]
    fn the_public_table_has_all_records_and_falling_counts() {
        for (cells, records) in [(64, 70), (64, 1841), (256, 665), (1, 5), (3, 0)] {
            let table = zipf(cells, records);
            assert_eq!(table.iter().sum::<f64>(), records as f64);
            assert!(table.iter().all(|&count| count >= 0.0 && count.fract() == 0.0));
            assert!(table.iter().all(|&count| count <= table[0]));
        }
    }

    #[test]
    fn larger_budgets_never_get_fewer_updates() {
        let workload = cells(64);
        let at = |epsilon| {
            let Schedule { rounds, passes } =
                schedule(&workload, 1841, epsilon, (None, None), 1 << 20).unwrap();
            rounds * passes
        };
        let updates = [0.01, 1.0, 100.0].map(at);
        assert!(updates[0] <= updates[1] && updates[1] < updates[2], "{updates:?}");
    }

    #[test]
    fn given_values_are_kept() {
        let workload = cells(8);
        let given = (Some(3), Some(7));
        let found = schedule(&workload, 10, 1.0, given, 1 << 20).unwrap();
        assert_eq!(found, Schedule { rounds: 3, passes: 7 });
        let found = schedule(&workload, 10, 1.0, (None, Some(7)), 1 << 20).unwrap();
        assert!(found.passes == 7 && ROUNDS.contains(&found.rounds));
    }
}
