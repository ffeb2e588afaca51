//! The exponential mechanism: selection by private scores.

use rand::Rng;

use super::draw::{Draw, Mechanism};
use super::exact_sum::{divide_up, equal_part};
use super::noise::bernoulli::{below, exp_minus_fraction};
use super::noise::scale::Scale;
use super::noise::{DrawError, Spacing};
use super::sensitivity::{LInfinity, Norm, Sensitivity, SensitivityError};
use super::transcript::Event;
use super::{Guarantee, Neighbours, NoiseSource, Share};

/// How one record can change the scores of the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Some scores may rise while others fall.
    General,
    /// Adding a record never lowers any score, or never raises any, as for counts. The caller must
    /// have proved it. Only under [`Neighbours::AddRemove`].
    Monotone,
}

impl Share {
    /// Selects one of the candidates `0..scores.len()`: i with probability proportional to
    /// exp(score_i / t), where t = 2D/epsilon and D is the sensitivity of every score (McSherry and
    /// Talwar 2007); t = D/epsilon for monotone scores.
    ///
    /// # Privacy
    ///
    /// Between neighbours each score changes by c_i in [-D, D], so the log-probability of i changes
    /// by c_i/t - ln(Z'/Z), where Z'/Z is an average of the exp(c_j/t). All changes therefore lie
    /// in an interval of length 2D/t = epsilon that contains 0: the selection is epsilon-private.
    /// Monotone scores have all c_i in [0, D] or all in [-D, 0], an interval of length D, which
    /// allows half the temperature. When a record is *replaced*, one score may rise and another
    /// fall, so monotone scores are rejected under that relation. Since the changes lie in an
    /// interval of length epsilon ("bounded range", Durfee and Rogers 2019), the selection is also
    /// (epsilon^2/8)-zCDP (Cesar and Rogers 2021): a share in rho pays for epsilon = sqrt(8 rho).
    ///
    /// # Exactness
    ///
    /// Scores are rounded down to a grid of spacing g = 2^e, about D/2^20, and clamped to +-2^62 g;
    /// D is rounded up to a multiple of g. Rounding down commutes with shifts by multiples of g and
    /// is monotone, so scores that differ by at most D still do, and monotone ones stay so. The
    /// rest is integer arithmetic: a candidate is proposed uniformly and accepted with probability
    /// exp(-(best - score_i)/t), by an exact Bernoulli sampler. No weight overflows or underflows,
    /// and the probabilities are exactly those of the rounded scores. Scores up to 10^300 are
    /// allowed; beyond about 10^12 D they count as equal.
    ///
    /// D must bound the change of the scores as they are computed in floating point.
    ///
    /// # Cost
    ///
    /// On average n / (sum of exp((score_i - best)/t)) proposals for n scores, at most n, of some
    /// tens of nanoseconds each. The running time depends on the scores.
    pub fn select(
        self,
        label: impl Into<String>,
        scores: &[f64],
        sensitivity: Sensitivity<LInfinity>,
        kind: Scores,
        source: &mut NoiseSource,
    ) -> Result<usize, DrawError> {
        Ok(self.select_many(label, scores, sensitivity, kind, 1, source)?[0])
    }

    /// `count` independent selections, with replacement, from the same scores, each with an equal
    /// part of the share: see [`Share::select`].
    pub fn select_many(
        self,
        label: impl Into<String>,
        scores: &[f64],
        sensitivity: Sensitivity<LInfinity>,
        kind: Scores,
        count: usize,
        source: &mut NoiseSource,
    ) -> Result<Vec<usize>, DrawError> {
        self.check(scores, sensitivity)?;
        if count == 0 {
            return Err(DrawError::Nothing);
        }
        if kind == Scores::Monotone && self.neighbours() == Neighbours::Replace {
            return Err(DrawError::MonotoneUnderReplace);
        }
        let epsilon = epsilon_of_each(self.guarantee(), count);
        self.check_size(epsilon)?;
        let epsilon = sabotage!(epsilon, "selection-for-twice-the-epsilon", 2.0 * epsilon);
        let (factor, mechanism) = match kind {
            Scores::General => (2.0, Mechanism::Exponential),
            Scores::Monotone => (1.0, Mechanism::MonotoneExponential),
        };
        let g = Spacing::fine(sensitivity, 1)
            .ok_or(SensitivityError::Value { norm: LInfinity::NAME, value: sensitivity.get() })?
            .get();
        // At most 2^21 steps: exact.
        let steps = (sensitivity.get() / g).ceil();
        let temperature = Scale::at_least(divide_up(factor * steps, epsilon))?;
        let replayed = source.replayed(|transcript| transcript.chosen(scores.len(), count));
        let chosen = replayed
            .unwrap_or_else(|| Selection::new(scores, g, temperature).sample_many(count, source));
        let draw = Draw {
            label: label.into(),
            mechanism,
            sensitivity: steps * g,
            scale: temperature.get() * g,
            spacing: Some(g),
            values: count,
            randomness: source.provenance(),
        };
        source.note(|| Event::Selection {
            handed: self.hands(&draw, scores),
            chosen: chosen.clone(),
        });
        sabotage!(self.record(draw), "selections-not-in-the-ledger", drop(draw));
        Ok(chosen)
    }
}

/// The epsilon of each of `count` selections that together satisfy the guarantee, rounded down.
fn epsilon_of_each(granted: Guarantee, count: usize) -> f64 {
    match granted {
        Guarantee::Pure { epsilon } | Guarantee::Approximate { epsilon, .. } => {
            equal_part(epsilon.get(), count)
        }
        Guarantee::Concentrated { rho } => {
            let eighths = sabotage!(8.0, "selection-costs-a-sixteenth", 16.0);
            let root = (eighths * equal_part(rho.get(), count)).sqrt();
            // The square of the root may be above its argument by a rounding or two.
            root * (1.0 - 2.0 * f64::EPSILON)
        }
    }
}

/// The distribution with probabilities proportional to exp(-gap_i / temperature).
struct Selection {
    /// How far each score is below the best, in grid steps.
    gaps: Vec<u64>,
    temperature: Scale,
}

impl Selection {
    fn new(scores: &[f64], g: f64, temperature: Scale) -> Self {
        let limit = (1u64 << 62) as f64;
        // The floor of a float, without a call of the mathematics library. A float beyond 2^53 is a
        // whole number and stays what it is.
        let floor = |steps: f64| steps as i64 - i64::from(steps as i64 as f64 > steps);
        let rounded: Vec<i64> =
            scores.iter().map(|score| floor((score / g).clamp(-limit, limit))).collect();
        let best = rounded.iter().copied().max().unwrap_or(0);
        Self { gaps: rounded.iter().map(|&score| best.abs_diff(score)).collect(), temperature }
    }

    fn sample_many(&self, count: usize, source: &mut NoiseSource) -> Vec<usize> {
        let chosen = (0..count).map(|_| self.sample(source.generator())).collect();
        #[cfg(feature = "sabotage")]
        let chosen = self.sabotaged(chosen, source.generator());
        chosen
    }

    fn sample(&self, rng: &mut impl Rng) -> usize {
        loop {
            let candidate = below(rng, self.gaps.len() as u64) as usize;
            // A gap is at most 2^63 and the shift at most 63.
            let numerator = u128::from(self.gaps[candidate]) << self.temperature.shift();
            if exp_minus_fraction(rng, numerator, self.temperature.numerator()) {
                return candidate;
            }
        }
    }
}

/// Planted bugs of the sampler. The ledger states the distribution without them.
#[cfg(feature = "sabotage")]
impl Selection {
    fn sabotaged(&self, chosen: Vec<usize>, rng: &mut impl Rng) -> Vec<usize> {
        let mut colder = |factor: f64| {
            let temperature = Scale::at_least(self.temperature.get() / factor);
            let temperature = temperature.unwrap_or(self.temperature);
            let colder = Selection { gaps: self.gaps.clone(), temperature };
            chosen.iter().map(|_| colder.sample(rng)).collect()
        };
        let chosen = sabotage!(chosen.clone(), "selection-at-half-the-temperature", colder(2.0));
        let chosen = sabotage!(chosen, "selection-by-5-percent", colder(1.05));
        let best = self.gaps.iter().position(|&gap| gap == 0).unwrap_or(0);
        let chosen = sabotage!(chosen, "selection-of-the-best", vec![best; chosen.len()]);
        let chosen = sabotage!(chosen, "selections-alike", vec![chosen[0]; chosen.len()]);
        // Each candidate in turn, without a uniform proposal.
        let mut in_turn = || loop {
            for (candidate, &gap) in self.gaps.iter().enumerate() {
                let numerator = u128::from(gap) << self.temperature.shift();
                if exp_minus_fraction(rng, numerator, self.temperature.numerator()) {
                    return candidate;
                }
            }
        };
        let in_turn = |_: &usize| in_turn();
        sabotage!(chosen, "selection-in-turn", chosen.iter().map(in_turn).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::frequencies::assert_frequencies;
    use super::super::sensitivity::brute_force::{Records, worst_case};
    use super::super::*;
    use super::*;

    fn choices(
        total: impl Into<Guarantee>,
        scores: &[f64],
        sensitivity: f64,
        kind: Scores,
        count: usize,
    ) -> Vec<usize> {
        let mut budget = Budget::new(total, Neighbours::AddRemove);
        let sensitivity = Sensitivity::new(sensitivity, Neighbours::AddRemove).unwrap();
        let mut source = NoiseSource::seeded(&SeedPath::new("test", scores.len()));
        let chosen = budget
            .rest()
            .unwrap()
            .select_many("choice", scores, sensitivity, kind, count, &mut source)
            .unwrap();
        let ledger = budget.ledger();
        ledger.verify(budget.total()).unwrap();
        let listed = ledger.lines()[0].entry.draw.sensitivity;
        assert!(listed >= sensitivity.get() && listed < sensitivity.get() * (1.0 + 1e-5));
        chosen
    }

    fn frequencies(chosen: &[usize], candidates: usize) -> Vec<u64> {
        let mut counts = vec![0; candidates];
        chosen.iter().for_each(|&i| counts[i] += 1);
        counts
    }

    fn softmax(scores: &[f64], temperature: f64) -> Vec<f64> {
        let weights: Vec<f64> = scores.iter().map(|s| (s / temperature).exp()).collect();
        weights.iter().map(|w| w / weights.iter().sum::<f64>()).collect()
    }

    #[test]
    fn selections_follow_the_softmax_of_the_scores() {
        let scores = [3.0, 1.0, -2.5, 3.25, 0.0];
        let count = 100_000;
        let epsilon = Epsilon::new(0.8 * count as f64).unwrap();
        let chosen = choices(epsilon, &scores, 1.0, Scores::General, count);
        assert_frequencies(&frequencies(&chosen, 5), &softmax(&scores, 2.0 / 0.8));
        let chosen = choices(epsilon, &scores, 1.0, Scores::Monotone, count);
        assert_frequencies(&frequencies(&chosen, 5), &softmax(&scores, 1.0 / 0.8));
        // rho = epsilon^2 / 8 for each choice.
        let rho = Rho::new(0.8 * 0.8 / 8.0 * count as f64).unwrap();
        let chosen = choices(rho, &scores, 1.0, Scores::General, count);
        assert_frequencies(&frequencies(&chosen, 5), &softmax(&scores, 2.0 / 0.8));
    }

    #[test]
    fn extreme_scores_are_handled() {
        let one = Epsilon::new(1.0).unwrap();
        for scores in [[1e300, -1e300, 0.0], [f64::MAX, f64::MIN, 1.0], [1e9, 1e8, -1e9]] {
            assert_eq!(choices(one, &scores, 1.0, Scores::General, 1), [0]);
        }
        // Equal scores of any size: a third of the selections each.
        for scores in [[-1e308; 3], [1e-320; 3], [1e17; 3]] {
            let chosen = choices(one, &scores, 1.0, Scores::General, 3000);
            assert_frequencies(&frequencies(&chosen, 3), &[1.0 / 3.0; 3]);
        }
        let tiny = choices(one, &[0.0, 1e-200, 0.0], 1e-200, Scores::General, 1);
        assert!(tiny[0] < 3);
    }

    #[test]
    fn rounded_scores_of_neighbours_differ_by_at_most_the_rounded_sensitivity() {
        // sqrt(2) per record: scores lie between grid points.
        let score = |table: &[u64]| -> Vec<f64> {
            table.iter().map(|&c| std::f64::consts::SQRT_2 * c as f64 / 3.0).collect()
        };
        let worst = worst_case::<LInfinity>(3, Records::UpTo(4), score).distance;
        let sensitivity = Sensitivity::<LInfinity>::new(worst, Neighbours::AddRemove).unwrap();
        let g = Spacing::fine(sensitivity, 1).unwrap().get();
        let steps = (worst / g).ceil();
        let rounded = worst_case::<LInfinity>(3, Records::UpTo(4), |table| {
            score(table).iter().map(|s| (s / g).floor()).collect()
        });
        assert!(rounded.distance <= steps && rounded.distance > steps - 1.5);
        let one = Epsilon::new(1.0).unwrap();
        assert_eq!(choices(one, &score(&[0, 400, 0]), worst, Scores::General, 1), [1]);
    }

    #[test]
    fn invalid_selections_are_rejected() {
        let mut source = NoiseSource::seeded(&SeedPath::new("test", 0));
        let mut select = |scores: &[f64], kind, relation, count| {
            let sensitivity = Sensitivity::new(1.0, relation).unwrap();
            Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace)
                .rest()
                .unwrap()
                .select_many("choice", scores, sensitivity, kind, count, &mut source)
                .unwrap_err()
        };
        use Neighbours::{AddRemove, Replace};
        assert_eq!(select(&[1.0], Scores::Monotone, Replace, 1), DrawError::MonotoneUnderReplace);
        assert_eq!(
            select(&[1.0], Scores::General, AddRemove, 1),
            DrawError::WrongNeighbours { share: Replace, sensitivity: AddRemove }
        );
        assert_eq!(select(&[], Scores::General, Replace, 1), DrawError::Nothing);
        assert_eq!(select(&[1.0], Scores::General, Replace, 0), DrawError::Nothing);
        assert_eq!(
            select(&[1.0, f64::NAN], Scores::General, Replace, 1),
            DrawError::NotFinite { index: 1 }
        );
    }
}
