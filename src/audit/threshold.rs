//! The event that a number which an attacker computes from a release is at least, or at most, a
//! threshold.

use super::clopper_pearson::{lower, upper};

/// Numbers that are equal in exact arithmetic count as equal.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    at: f64,
    /// Whether the event is more likely under the other data set. It is then "at most".
    flipped: bool,
}

/// Frequencies of an event in equally many runs on either data set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

impl Threshold {
    /// The threshold with the largest bound on these runs, and that bound. It is valid on fresh
    /// runs only, because these runs chose the threshold.
    pub(super) fn choose(ones: &[f64], others: &[f64], delta: f64, confidence: f64) -> (Self, f64) {
        let sorted = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        let (ones, others) = (sorted(ones), sorted(others));
        let (mut best, mut largest) = (Self { at: 0.0, flipped: false }, -1.0);
        for at in candidates(&ones, &others) {
            for flipped in [false, true] {
                let threshold = Self { at, flipped };
                let found = threshold.count_sorted(&ones, &others);
                let epsilon = found.epsilon(delta, confidence);
                if epsilon > largest {
                    (best, largest) = (threshold, epsilon);
                }
            }
        }
        (best, largest)
    }

    pub(super) fn count(self, ones: &[f64], others: &[f64]) -> Counts {
        let happened =
            |values: &[f64]| values.iter().filter(|&&value| self.contains(value)).count();
        let (likelier, rarer) = match self.flipped {
            false => (happened(ones), happened(others)),
            true => (happened(others), happened(ones)),
        };
        Counts { likelier, rarer, runs: ones.len() }
    }

    fn contains(self, value: f64) -> bool {
        if self.flipped { value <= self.at + ROUNDING } else { value >= self.at - ROUNDING }
    }

    /// [`Threshold::count`] of sorted values.
    fn count_sorted(self, ones: &[f64], others: &[f64]) -> Counts {
        let runs = ones.len();
        let (likelier, rarer) = match self.flipped {
            false => {
                let above = |values: &[f64]| runs - values.partition_point(|&v| !self.contains(v));
                (above(ones), above(others))
            }
            true => {
                let below = |values: &[f64]| values.partition_point(|&v| self.contains(v));
                (below(others), below(ones))
            }
        };
        Counts { likelier, rarer, runs }
    }
}

/// "at least 0.5"
impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.flipped { "at most" } else { "at least" };
        write!(f, "{side} {:.3}", self.at)
    }
}

/// Quantiles of either sample: multiples of 1/32, and smaller ones at both ends.
fn candidates(ones: &[f64], others: &[f64]) -> Vec<f64> {
    let parts = (1..32).map(|part| part as f64 / 32.0);
    let tails = (6..20).flat_map(|halvings| {
        let part = 0.5f64.powi(halvings);
        [part, 1.5 * part, 1.0 - part, 1.0 - 1.5 * part]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opposite_direction_is_found() {
        // Negative values occur under the other data set only.
        let one: Vec<f64> = (0..1000).map(|i| (i % 5) as f64).collect();
        let other: Vec<f64> = (0..1000).map(|i| (i % 5) as f64 - 2.0).collect();
        let (event, promised) = Threshold::choose(&one, &other, 0.0, 0.95);
        let found = event.count(&one, &other).epsilon(0.0, 0.95);
        assert!(found > 3.0 && found == promised, "{event}: {found} {promised}");
    }

    #[test]
    fn impossible_outputs_are_on_the_far_side_of_every_threshold() {
        let infinite = |sign: f64| -> Vec<f64> {
            (0..1000).map(|i| if i % 2 == 0 { 0.0 } else { sign * f64::INFINITY }).collect()
        };
        let (one, other) = (infinite(1.0), infinite(-1.0));
        let (event, _) = Threshold::choose(&one, &other, 0.0, 0.95);
        assert!(event.count(&one, &other).epsilon(0.0, 0.95) > 4.0, "{event}");
    }

    #[test]
    fn counting_by_sorting_and_one_by_one_agree() {
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let one = sorted((0..50).map(|i| f64::from(i * i % 17)).collect());
        let other = sorted((0..50).map(|i| f64::from(i * 3 % 11)).collect());
        for at in candidates(&one, &other) {
            for flipped in [false, true] {
                let event = Threshold { at, flipped };
                assert_eq!(event.count(&one, &other), event.count_sorted(&one, &other));
            }
        }
    }
}
