//! The event by which an attacker distinguishes two data sets.

use std::collections::BTreeMap;

use super::clopper_pearson::{lower, upper};
use super::observation::Observation;

/// A set of outputs: those whose statistic is at least, or at most, a threshold.
pub(super) struct Event {
    statistic: Statistic,
    threshold: f64,
    /// Whether the event is more likely under the other data set. It is then "at most".
    flipped: bool,
    /// For each choice in the learning runs, the logarithm of the ratio of its frequencies under
    /// one and under the other.
    learned: BTreeMap<u64, f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    Choices,
    Evidence(usize),
    Both(usize),
    Total,
}

use Statistic::{Both, Choices, Evidence, Total};

const STATISTICS: [Statistic; 6] = [Choices, Evidence(0), Evidence(1), Both(0), Both(1), Total];

/// Frequencies of an event in equally many runs on either data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counts {
    /// On the data set for which the event is likelier.
    pub(super) likelier: usize,
    /// On the other.
    pub(super) rarer: usize,
    /// On each.
    pub(super) runs: usize,
}

impl Counts {
    /// A lower bound on epsilon: e^epsilon >= (p - delta) / q for the probabilities p and q of any
    /// event. p is bounded from below and q from above, each with half of the failure probability.
    pub(super) fn epsilon(self, delta: f64, confidence: f64) -> f64 {
        let alpha = (1.0 - confidence) / 2.0;
        let p = lower(self.likelier, self.runs, alpha);
        let q = upper(self.rarer, self.runs, alpha);
        if p > delta { ((p - delta) / q).ln().max(0.0) } else { 0.0 }
    }
}

impl Event {
    /// The event with the largest bound on these runs. The bound is valid on fresh runs only,
    /// because these runs chose the event.
    pub(super) fn choose(
        one: &[Observation],
        other: &[Observation],
        delta: f64,
        confidence: f64,
    ) -> Self {
        let learned = learn(one, other);
        let mut best = Event { statistic: Total, threshold: 0.0, flipped: false, learned };
        let mut largest = -1.0;
        for statistic in STATISTICS {
            let sorted = |runs: &[Observation]| {
                let mut values: Vec<f64> =
                    runs.iter().map(|run| statistic.of(run, &best.learned)).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let (ones, others) = (sorted(one), sorted(other));
            for threshold in thresholds(&ones, &others) {
                for flipped in [false, true] {
                    let found = count_sorted(&ones, &others, threshold, flipped);
                    let epsilon = found.epsilon(delta, confidence);
                    if epsilon > largest {
                        largest = epsilon;
                        (best.statistic, best.threshold, best.flipped) =
                            (statistic, threshold, flipped);
                    }
                }
            }
        }
        best
    }

    pub(super) fn count(&self, one: &[Observation], other: &[Observation]) -> Counts {
        let happened = |runs: &[Observation]| {
            let values = runs.iter().map(|run| self.statistic.of(run, &self.learned));
            values.filter(|&value| self.contains(value)).count()
        };
        let (likelier, rarer) = match self.flipped {
            false => (happened(one), happened(other)),
            true => (happened(other), happened(one)),
        };
        Counts { likelier, rarer, runs: one.len() }
    }

    fn contains(&self, value: f64) -> bool {
        if self.flipped { value <= self.threshold } else { value >= self.threshold }
    }

    pub(super) fn describe(&self) -> String {
        let what = match self.statistic {
            Choices => "the choices",
            Evidence(0) => "the noisy answers (Laplace)",
            Evidence(_) => "the noisy answers (Gaussian), or the likelihood",
            Both(0) => "choices and noisy answers (Laplace)",
            Both(_) => "choices and noisy answers (Gaussian), or the likelihood",
            Total => "the number of records",
        };
        let side = if self.flipped { "at most" } else { "at least" };
        format!("log-likelihood ratio of {what} {side} {:.3}", self.threshold)
    }
}

impl Statistic {
    fn of(self, run: &Observation, learned: &BTreeMap<u64, f64>) -> f64 {
        // An unknown choice is no evidence.
        let choices = || learned.get(&run.choices).copied().unwrap_or(0.0);
        match self {
            Choices => choices(),
            Evidence(shape) => run.evidence[shape],
            Both(shape) => choices() + run.evidence[shape],
            Total => run.total,
        }
    }
}

/// ln of (frequency under one + 1) / (frequency under the other + 1).
fn learn(one: &[Observation], other: &[Observation]) -> BTreeMap<u64, f64> {
    let mut seen: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    one.iter().for_each(|run| seen.entry(run.choices).or_insert((1.0, 1.0)).0 += 1.0);
    other.iter().for_each(|run| seen.entry(run.choices).or_insert((1.0, 1.0)).1 += 1.0);
    seen.into_iter().map(|(choices, (one, other))| (choices, (one / other).ln())).collect()
}

/// Quantiles of either sample: multiples of 1/32, and smaller ones at both ends.
fn thresholds(ones: &[f64], others: &[f64]) -> Vec<f64> {
    let parts = (1..32).map(|part| part as f64 / 32.0);
    let tails = (6..20).flat_map(|halvings| {
        let part = 0.5f64.powi(halvings);
        [part, 1.0 - part]
    });
    let ranks: Vec<f64> = parts.chain(tails).chain([0.0, 1.0]).collect();
    let mut values: Vec<f64> = [ones, others]
        .iter()
        .flat_map(|sorted| {
            let last = sorted.len() - 1;
            ranks.iter().map(move |rank| sorted[(rank * last as f64).round() as usize])
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn count_sorted(ones: &[f64], others: &[f64], threshold: f64, flipped: bool) -> Counts {
    let runs = ones.len();
    let (likelier, rarer) = match flipped {
        false => {
            let above = |values: &[f64]| runs - values.partition_point(|&v| v < threshold);
            (above(ones), above(others))
        }
        true => {
            let below = |values: &[f64]| values.partition_point(|&v| v <= threshold);
            (below(others), below(ones))
        }
    };
    Counts { likelier, rarer, runs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(choices: u64, evidence: f64) -> Observation {
        Observation { choices, evidence: [evidence; 2], total: 0.0 }
    }

    #[test]
    fn the_distinguishing_statistic_is_found() {
        // The choice 7 is twice as likely under one; the evidence is uninformative.
        let runs = |sevens: usize| -> Vec<Observation> {
            (0..4000)
                .map(|i| run(if i % 4 < sevens { 7 } else { 8 }, (i / 4 % 10) as f64))
                .collect()
        };
        let (one, other) = (runs(2), runs(1));
        let event = Event::choose(&one, &other, 0.0, 0.95);
        assert_eq!(event.statistic, Choices);
        let counts = event.count(&one, &other);
        assert_eq!((counts.likelier, counts.rarer, counts.runs), (2000, 1000, 4000));
        let epsilon = counts.epsilon(0.0, 0.95);
        assert!(epsilon > 0.6 && epsilon < 2f64.ln(), "{epsilon}");
        // delta is subtracted from the larger probability.
        let less = counts.epsilon(0.1, 0.95);
        assert!(less > 0.35 && less < (0.4f64 / 0.25).ln(), "{less}");
        assert_eq!(counts.epsilon(0.6, 0.95), 0.0);
    }

    #[test]
    fn the_opposite_direction_is_found() {
        // Negative evidence occurs under the other data set only.
        let one: Vec<Observation> = (0..1000).map(|i| run(0, (i % 5) as f64)).collect();
        let other: Vec<Observation> = (0..1000).map(|i| run(0, (i % 5) as f64 - 2.0)).collect();
        let event = Event::choose(&one, &other, 0.0, 0.95);
        assert!(event.count(&one, &other).epsilon(0.0, 0.95) > 3.0, "{}", event.describe());
    }

    #[test]
    fn counting_by_sorting_and_one_by_one_agree() {
        let one: Vec<Observation> = (0..50).map(|i| run(0, f64::from(i * i % 17))).collect();
        let other: Vec<Observation> = (0..50).map(|i| run(0, f64::from(i * 3 % 11))).collect();
        let sorted = |runs: &[Observation]| {
            let mut values: Vec<f64> = runs.iter().map(|run| run.evidence[0]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        for threshold in thresholds(&sorted(&one), &sorted(&other)) {
            for flipped in [false, true] {
                let learned = BTreeMap::new();
                let event = Event { statistic: Evidence(0), threshold, flipped, learned };
                let quick = count_sorted(&sorted(&one), &sorted(&other), threshold, flipped);
                assert_eq!(event.count(&one, &other), quick);
            }
        }
    }
}
