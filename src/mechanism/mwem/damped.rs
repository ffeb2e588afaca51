//! The updates of the original MWEM: one table over all cells, moved by one answer after another.

use crate::mechanism::MechanismError;
use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::baselines::Tables;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::numeric::bytes::Bytes;
use private_pgm::numeric::memory;

/// The largest exponent of an update. An answer between 0 and 2N needs at most 1; noise beyond that
/// would say no more, and its exponentials could overflow.
const LARGEST_STEP: f64 = 1.0;
/// The sum of the weights is kept between this number and its inverse.
const LARGEST_SUM: f64 = 1e100;
/// Tables that are held at a time: weights, their sum over the rounds, and a copy.
const TABLES: f64 = 3.0;

/// The estimate of MWEM and the average of those of all rounds.
///
/// After each measurement all answers so far are visited in their order, `passes` times, and each
/// multiplies the cells that its query counts:
///
/// p <- p exp(q (y - q p) / (2 N)),
///
/// normalised to N (Hardt, Ligett, McSherry, figure 1 and section 2.3). One pass moves at most half
/// of the way to an answer; with many passes the estimate approaches the answers and their noise.
#[derive(Clone)]
pub(super) struct DampedWeights {
    domain: Domain,
    /// N.
    total: f64,
    passes: usize,
    /// Proportional to p.
    weights: Vec<f64>,
    weight: f64,
    answers: Vec<Answer>,
    /// Of p over the rounds.
    sum: Vec<f64>,
}

#[derive(Clone)]
struct Answer {
    /// The cells of the whole table that are counted.
    cells: Vec<usize>,
    y: f64,
}

impl DampedWeights {
    /// The uniform table. Fails if the tables need more than `memory_limit` bytes.
    pub(super) fn uniform(
        domain: &Domain,
        total: f64,
        passes: usize,
        memory_limit: u64,
    ) -> Result<Self, MechanismError> {
        let bytes = TABLES * size_of::<f64>() as f64 * domain.cells_f64(&domain.everything());
        let fits = (bytes <= memory_limit as f64).then(|| domain.cells(&domain.everything()));
        let Some(cells) = fits.flatten() else {
            let message = format!(
                "damped updates need tables over all cells, {}, more than the limit of {}",
                Bytes(bytes),
                Bytes(memory_limit as f64),
            );
            return Err(MechanismError::Infeasible { bytes, message });
        };
        let (domain, answers) = (domain.clone(), Vec::new());
        let (weights, sum) = (memory::filled(cells, 1.0), memory::zeros(cells));
        Ok(Self { domain, total, passes, weights, weight: cells as f64, answers, sum })
    }

    /// A round: a noisy answer, and the passes over all answers so far.
    pub(super) fn learn(&mut self, query: &CountingQuery, y: f64) {
        let cells = counted_cells(&self.domain, query);
        self.answers.push(Answer { cells, y });
        for _ in 0..self.passes {
            for answer in 0..self.answers.len() {
                self.update(answer);
            }
            self.normalise();
        }
        let scale = self.total / self.weight;
        self.sum.iter_mut().zip(&self.weights).for_each(|(sum, weight)| *sum += scale * weight);
    }

    fn update(&mut self, answer: usize) {
        let Answer { cells, y } = &self.answers[answer];
        let counted: f64 = cells.iter().map(|&cell| self.weights[cell]).sum();
        let estimate = self.total * counted / self.weight;
        let step = ((y - estimate) / (2.0 * self.total)).clamp(-LARGEST_STEP, LARGEST_STEP);
        let factor = step.exp();
        cells.iter().for_each(|&cell| self.weights[cell] *= factor);
        self.weight += (factor - 1.0) * counted;
        if !(LARGEST_SUM.recip()..LARGEST_SUM).contains(&self.weight) {
            self.normalise();
        }
    }

    /// Makes the weights add up to 1.
    fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        self.weight = 1.0;
    }

    /// The marginals of the last p.
    pub(super) fn marginals(&self, cliques: &[Clique]) -> Vec<Factor> {
        let scale = self.total / self.weight;
        let cells = self.weights.iter().map(|weight| scale * weight).collect();
        let table = Factor::new(&self.domain, self.domain.everything(), cells);
        cliques.iter().map(|clique| table.sum_onto(clique)).collect()
    }

    /// The average of p over the rounds; p itself before the first.
    pub(super) fn average(&self) -> Factor {
        let (table, sum) = match self.answers.len() {
            0 => (&self.weights, self.weight / self.total),
            rounds => (&self.sum, rounds as f64),
        };
        let cells = table.iter().map(|cell| cell / sum).collect();
        Factor::new(&self.domain, self.domain.everything(), cells)
    }
}

/// The cells of the whole table, in axis order, that a query counts.
fn counted_cells(domain: &Domain, query: &CountingQuery) -> Vec<usize> {
    let everything = domain.everything();
    if query.clique == everything {
        return query.cells.clone();
    }
    let mut counts = Factor::filled(domain, everything, 0.0);
    let projection = counts.projection(&query.clique);
    let mut counted = vec![0.0; projection.small_len()];
    query.cells.iter().for_each(|&cell| counted[cell] = 1.0);
    projection.broadcast(&counted, counts.values_mut(), |cell, counts| *cell = counts);
    let counted = counts.values().iter().enumerate().filter(|(_, counts)| **counts > 0.0);
    counted.map(|(cell, _)| cell).collect()
}

/// MWEM's own estimator with damped updates: the average over the rounds, computed again from the
/// published answers.
pub(super) struct AverageOfRounds {
    /// Of the last measurements, one per round, in their order.
    pub(super) queries: Vec<CountingQuery>,
    /// N of the updates.
    pub(super) total: f64,
    pub(super) passes: usize,
}

impl Estimator for AverageOfRounds {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            let needs = "damped updates need noisy answers to queries";
            return Err(EstimatorError::Unsupported(needs.into()));
        };
        let Self { queries, total, passes } = self;
        let uniform =
            DampedWeights::uniform(evidence.domain, *total, *passes, context.memory_limit);
        let mut weights = uniform.map_err(|error| match error {
            MechanismError::Infeasible { bytes, message } => {
                EstimatorError::Infeasible { bytes, message }
            }
            other => EstimatorError::Unsupported(other.to_string()),
        })?;
        // A measurement of the number of records comes first.
        let rounds = &answers[answers.len() - queries.len()..];
        for (query, measured) in queries.iter().zip(rounds) {
            weights.learn(query, measured.y[0]);
        }
        let diagnostics = Diagnostics {
            iterations: Some(queries.len()),
            bytes: Some(TABLES * 8.0 * weights.weights.len() as f64),
            message: format!("average of {} rounds of {passes} passes", queries.len()),
            ..Diagnostics::default()
        };
        let answers = Box::new(Tables::new(evidence.domain, vec![weights.average()]));
        Ok(Estimated { answers, model: None, diagnostics })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The update as printed, on whole tables: p(x) is multiplied by exp(q(x) (y - q p) / (2 N)).
    fn obvious(
        counted: &[Vec<bool>],
        answers: &[f64],
        (total, passes): (f64, usize),
    ) -> (Vec<f64>, Vec<f64>) {
        let cells = counted[0].len();
        let mut p = vec![total / cells as f64; cells];
        let mut average = vec![0.0; cells];
        for round in 1..=answers.len() {
            for _ in 0..passes {
                for (query, y) in counted.iter().zip(answers).take(round) {
                    let estimate: f64 = (0..cells).filter(|&x| query[x]).map(|x| p[x]).sum();
                    let step = (y - estimate) / (2.0 * total);
                    (0..cells).filter(|&x| query[x]).for_each(|x| p[x] *= step.exp());
                    let sum: f64 = p.iter().sum();
                    p.iter_mut().for_each(|p| *p *= total / sum);
                }
            }
            average.iter_mut().zip(&p).for_each(|(a, p)| *a += p / answers.len() as f64);
        }
        (p, average)
    }

    proptest! {
        #[test]
        fn estimates_are_those_of_the_printed_update(
            (cells, asked) in (2usize..9).prop_flat_map(|cells| {
                let query = prop::sample::subsequence((0..cells).collect::<Vec<_>>(), 1..=cells);
                (Just(cells), prop::collection::vec((query, -5.0..35.0f64), 1..5))
            }),
            passes in 1usize..4,
        ) {
            let total = 20.0;
            let domain = Domain::new([("x", cells)]).unwrap();
            let mut weights = DampedWeights::uniform(&domain, total, passes, 1 << 20).unwrap();
            for (cells, y) in &asked {
                let query = CountingQuery { clique: domain.everything(), cells: cells.clone() };
                weights.learn(&query, *y);
            }
            let counts = |(counted, _): &(Vec<usize>, f64)| {
                (0..cells).map(|cell| counted.contains(&cell)).collect()
            };
            let counted: Vec<Vec<bool>> = asked.iter().map(counts).collect();
            let answers: Vec<f64> = asked.iter().map(|(_, y)| *y).collect();
            let (last, average) = obvious(&counted, &answers, (total, passes));
            let found = [weights.marginals(&[domain.everything()]).remove(0), weights.average()];
            for (found, expected) in found.iter().zip([last, average]) {
                for (a, b) in found.values().iter().zip(expected) {
                    prop_assert!((a - b).abs() < 1e-9 * total, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn queries_on_a_marginal_count_the_same_cells_as_on_the_whole_table() {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 2)]).unwrap();
        let clique = Clique::new([domain.id("b").unwrap()]);
        let query = CountingQuery { clique: clique.clone(), cells: vec![1] };
        let cells = counted_cells(&domain, &query);
        let mut table = Factor::filled(&domain, domain.everything(), 0.0);
        cells.iter().for_each(|&cell| table.values_mut()[cell] = 1.0);
        assert_eq!(table.sum_onto(&clique).values(), [0.0, 4.0, 0.0]);
    }

    #[test]
    fn noise_far_beyond_the_number_of_records_leaves_numbers_finite() {
        let domain = Domain::new([("x", 4)]).unwrap();
        let mut weights = DampedWeights::uniform(&domain, 10.0, 500, 1 << 20).unwrap();
        for (cell, y) in [(0, 1e9), (1, -1e9), (2, 1e9), (0, -1e12)] {
            let query = CountingQuery { clique: domain.everything(), cells: vec![cell] };
            weights.learn(&query, y);
        }
        let average = weights.average();
        assert!(average.values().iter().all(|cell| (0.0..=10.0 + 1e-9).contains(cell)));
        assert!((average.values().iter().sum::<f64>() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn tables_above_the_memory_limit_are_refused_with_their_size() {
        let domain = Domain::new((0..200).map(|i| (format!("x{i}"), 10))).unwrap();
        for (domain, bytes) in [(&Domain::new([("x", 100)]).unwrap(), 2400.0), (&domain, 2.4e201)] {
            let refused = DampedWeights::uniform(domain, 1.0, 1, 2399).err().unwrap();
            let MechanismError::Infeasible { bytes: found, .. } = refused else { panic!() };
            assert!((found / bytes - 1.0).abs() < 1e-9, "{found}");
        }
    }
}
