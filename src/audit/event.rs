//! The event by which an attacker who knows nothing of a mechanism distinguishes two data sets.

use std::collections::BTreeMap;

use super::observation::Observation;
use super::threshold::{Counts, Threshold};

/// A set of outputs: those whose statistic is on one side of a threshold.
pub(super) struct Event {
    statistic: Statistic,
    threshold: Threshold,
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

const STATISTICS: [Statistic; 6] = [Total, Choices, Evidence(0), Evidence(1), Both(0), Both(1)];

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
        let choose = |statistic: Statistic| {
            let (ones, others) =
                (statistic.values(one, &learned), statistic.values(other, &learned));
            let (threshold, bound) = Threshold::choose(&ones, &others, delta, confidence);
            (statistic, threshold, bound)
        };
        let [first, rest @ ..] = STATISTICS.map(choose);
        let larger =
            |best: (_, _, f64), next: (_, _, f64)| if next.2 > best.2 { next } else { best };
        let (statistic, threshold, _) = rest.into_iter().fold(first, larger);
        Self { statistic, threshold, learned }
    }

    pub(super) fn count(&self, one: &[Observation], other: &[Observation]) -> Counts {
        let values = |runs| self.statistic.values(runs, &self.learned);
        self.threshold.count(&values(one), &values(other))
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
        format!("a log-likelihood ratio of {what} of {}", self.threshold)
    }
}

impl Statistic {
    fn values(self, runs: &[Observation], learned: &BTreeMap<u64, f64>) -> Vec<f64> {
        runs.iter().map(|run| self.of(run, learned)).collect()
    }

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
}
