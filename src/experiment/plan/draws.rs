//! Random sets of attributes with about as many queries as a published workload.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::PlanError;
use crate::config::{RandomMarginals, Source};
use dp::SeedPath;
use private_pgm::domain::{Clique, Domain};

/// The largest number of sets that are enumerated (our choice: 110 attributes have 215,820 of
/// three).
const MAX_SETS: f64 = 2e6;
/// Draws before the search ends (our choice: seconds).
const ATTEMPTS: usize = 2_000_000;

/// Sets of attributes of one size with their numbers of queries. A set has as many queries as its
/// marginal has cells, because an attribute of n values has n prefixes.
///
/// [`Sets::draw`] chooses uniformly among all choices of k different sets whose number of queries
/// is between `low` and `high`. Few uniform choices are (of 15 triples of 48 attributes, almost
/// none have 362,201 queries), so sets are drawn independently with probability proportional to
/// exp(-lambda q), q their number of queries, with the lambda for which k of them have the wanted
/// number on average. A choice with Q queries in all has probability proportional to exp(-lambda
/// Q), and is accepted with probability proportional to exp(lambda Q): those that are accepted are
/// uniform.
pub(super) struct Sets {
    sets: Vec<Clique>,
    queries: Vec<f64>,
    /// Sums of the weights up to each set.
    sums: Vec<f64>,
    lambda: f64,
    count: usize,
    low: f64,
    high: f64,
}

impl Sets {
    /// For draws with at least `wanted` divided by the factor and at most `wanted` times the factor
    /// queries.
    pub(super) fn new(
        source: &Source,
        random: &Spanned<RandomMarginals>,
        factor: f64,
        wanted: f64,
        domain: &Domain,
    ) -> Result<Self, PlanError> {
        let refuse = |message: String| PlanError::from(source.error(random.span(), message, None));
        let count = *random.as_ref().marginals.as_ref() as usize;
        let size = *random.as_ref().size.as_ref() as usize;
        let sets = (0..size)
            .fold(1.0, |sets, i| sets * (domain.len() as f64 - i as f64) / (i as f64 + 1.0));
        if !(count as f64..=MAX_SETS).contains(&sets) {
            let sets = sets.max(0.0);
            return Err(refuse(format!(
                "there are {sets} sets of {size} attributes; a draw of {count} by their number of \
                 queries needs from {count} to {MAX_SETS}"
            )));
        }
        let sets = domain.everything().subsets(size);
        let queries: Vec<f64> = sets.iter().map(|set| domain.cells_f64(set)).collect();
        let lambda = tilt(&queries, wanted / count as f64)
            .ok_or_else(|| refuse(format!("no draw of {count} sets has about {wanted} queries")))?;
        let mut sum = 0.0;
        let sums = weights(&queries, lambda).map(|weight| {
            sum += weight;
            sum
        });
        let sums = sums.collect();
        Ok(Self { sums, sets, queries, lambda, count, low: wanted / factor, high: wanted * factor })
    }

    /// The draw of this number; `None` if the search finds none.
    pub(super) fn draw(&self, seed: u64, number: u64) -> Option<Vec<Clique>> {
        let path = SeedPath::new("workload", seed).with("draw", number);
        let mut rng = ChaCha20Rng::from_seed(path.seed());
        for _ in 0..ATTEMPTS {
            let total_weight = self.sums.last().copied().unwrap_or_default();
            let place = |_| {
                let at = rng.random::<f64>() * total_weight;
                self.sums.partition_point(|&sum| sum <= at).min(self.sets.len() - 1)
            };
            let mut places: Vec<usize> = (0..self.count).map(place).collect();
            let queries: f64 = places.iter().map(|&place| self.queries[place]).sum();
            let best = if self.lambda > 0.0 { self.high } else { self.low };
            let accepted = (self.lambda * (queries - best)).exp();
            if !(self.low..=self.high).contains(&queries) || rng.random::<f64>() >= accepted {
                continue;
            }
            places.sort_unstable();
            places.dedup();
            if places.len() == self.count {
                return Some(places.into_iter().map(|place| self.sets[place].clone()).collect());
            }
        }
        None
    }
}

/// Proportional to exp(-lambda q), at most 1.
fn weights(queries: &[f64], lambda: f64) -> impl Iterator<Item = f64> {
    let smallest = queries.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = queries.iter().copied().fold(0.0, f64::max);
    let from = if lambda > 0.0 { smallest } else { largest };
    queries.iter().map(move |q| (-lambda * (q - from)).exp())
}

/// The lambda for which the mean number of queries is `wanted`, by bisection; `None` if no mean is.
fn tilt(queries: &[f64], wanted: f64) -> Option<f64> {
    let mean = |lambda: f64| {
        let sum: f64 = weights(queries, lambda).sum();
        let weighted = weights(queries, lambda).zip(queries).map(|(weight, q)| weight * q);
        weighted.sum::<f64>() / sum
    };
    let extremes = [f64::INFINITY, 0.0];
    let [smallest, largest] =
        queries.iter().fold(extremes, |[low, high], &q| [low.min(q), high.max(q)]);
    if !(smallest < wanted && wanted < largest) {
        return None;
    }
    let (mut low, mut high) = (-1.0 / wanted, 1.0 / wanted);
    while mean(low) < wanted {
        low *= 2.0;
    }
    while mean(high) > wanted {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        match mean(middle) > wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn random(count: u64) -> Spanned<RandomMarginals> {
        let number = |value| Spanned::new(0..1, value);
        let (marginals, size) = (number(count), number(1));
        let (draws, queries_within) = (None, None);
        let seed = 1;
        Spanned::new(
            0..1,
            RandomMarginals { marginals, size, seed, skewed: false, draws, queries_within },
        )
    }

    fn source() -> Source {
        Source { path: "mine.toml".into(), text: "random".into() }
    }

    /// Pairs of seven attributes with 7 queries within 9.5 %: 2 + 5, 3 + 4 and nothing else, each
    /// of which may use either of the two attributes of size 2.
    #[test]
    fn all_draws_with_the_wanted_number_of_queries_are_equally_likely() {
        let sizes = [2, 2, 3, 4, 5, 50, 90];
        let named = sizes.into_iter().enumerate().map(|(i, size)| (format!("x{i}"), size));
        let domain = Domain::new(named).unwrap();
        let sets = Sets::new(&source(), &random(2), 1.095, 7.0, &domain).unwrap();
        let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for number in 0..3000 {
            let drawn = sets.draw(1, number).unwrap();
            assert_eq!(drawn, sets.draw(1, number).unwrap());
            let names = drawn.iter().map(|set| domain.names(set)[0].to_string());
            *counts.entry(names.collect()).or_default() += 1;
        }
        assert_eq!(counts.len(), 3, "{counts:?}");
        // A thousand are expected; five standard deviations are 130.
        assert!(counts.values().all(|count| (870..1130).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_number_of_queries_that_no_draw_has_is_refused() {
        let domain = Domain::new((0..4).map(|i| (format!("x{i}"), 2 + i))).unwrap();
        let refused = |count, wanted| {
            Sets::new(&source(), &random(count), 1.05, wanted, &domain).err().unwrap().to_string()
        };
        assert!(refused(2, 100.0).contains("no draw of 2 sets has about 100 queries"));
        assert!(refused(5, 10.0).contains("there are 4 sets of 1 attributes"));
    }
}
