//! The number of rounds that a budget allows.

use serde::Deserialize;

use dp::{Delta, Epsilon, ParameterError, PureDraws};

#[derive(Clone, Copy, Debug)]
pub(super) struct Game {
    pub(super) eta: f64,
    /// S.
    pub(super) samples: usize,
    /// N.
    pub(super) records: usize,
}

/// The privacy cost of the draws when the number of rounds is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Counting {
    /// As in the paper: k = S (T - 1) draws, each at the cost of the largest, epsilon_T, so that
    /// epsilon_T (sqrt(2 k ln(1/delta)) + k (e^epsilon_T - 1)) <= epsilon. Not as in the paper, few
    /// draws cost k epsilon_T, if that is smaller.
    Largest,
    /// Each draw at its own cost. epsilon_t grows with t, and the sum of squares is a third of that
    /// bound. This allows about 1.4 times as many rounds.
    Each,
}

impl Game {
    /// The cost of one draw of round t: epsilon_t = 2 eta (t - 1) / N, with `updates` = t - 1.
    fn draw(&self, updates: usize) -> f64 {
        2.0 * self.eta * updates as f64 / self.records as f64
    }

    /// The draws of rounds 2 to T.
    pub(super) fn draws(&self, rounds: usize) -> Result<Vec<PureDraws>, ParameterError> {
        let round = |updates| {
            Ok(PureDraws { epsilon: Epsilon::new(self.draw(updates))?, count: self.samples })
        };
        (1..rounds).map(round).collect()
    }

    /// The epsilon of `rounds` rounds at this delta. Infinite beyond the range of floats.
    pub(super) fn epsilon(&self, counting: Counting, rounds: usize, delta: Delta) -> f64 {
        let last = rounds.saturating_sub(1);
        if last == 0 {
            return 0.0;
        }
        match counting {
            Counting::Largest => Epsilon::new(self.draw(last))
                .and_then(|epsilon| {
                    let all = [PureDraws { epsilon, count: self.samples * last }];
                    PureDraws::composed(&all, delta)
                })
                .map_or(f64::INFINITY, Epsilon::get),
            Counting::Each => self
                .draws(rounds)
                .and_then(|draws| PureDraws::composed(&draws, delta))
                .map_or(f64::INFINITY, Epsilon::get),
        }
    }

    /// T, the largest number of rounds within the budget. At least 1, because the first round is
    /// free.
    pub(super) fn rounds(&self, counting: Counting, epsilon: Epsilon, delta: Delta) -> usize {
        let fits = |rounds| self.epsilon(counting, rounds, delta) <= epsilon.get();
        let mut above = 2;
        while fits(above) {
            above *= 2;
        }
        let mut largest = above / 2;
        while above - largest > 1 {
            let middle = largest + (above - largest) / 2;
            if fits(middle) { largest = middle } else { above = middle }
        }
        largest
    }

    /// The scores after `updates` = t - 1 rounds: (t - 1) c_q - N A_q, then those of the negations.
    pub(super) fn scores(
        &self,
        updates: usize,
        counts: &[f64],
        satisfied: &[f64],
        scores: &mut [f64],
    ) {
        let (updates, records) = (updates as f64, self.records as f64);
        let (queries, negations) = scores.split_at_mut(counts.len());
        for (index, (count, satisfied)) in counts.iter().zip(satisfied).enumerate() {
            let score = updates * count - records * satisfied;
            let score = dp::sabotage!(score, "dualquery-half-the-temperature", 2.0 * score);
            queries[index] = score;
            negations[index] = -score;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADULT: Game = Game { eta: 2.0, samples: 50, records: 48_842 };
    const EPSILONS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];

    fn delta() -> Delta {
        Delta::new(1e-3).unwrap()
    }

    fn adult(counting: Counting) -> [usize; 5] {
        EPSILONS.map(|e| ADULT.rounds(counting, Epsilon::new(e).unwrap(), delta()))
    }

    #[test]
    fn adult_gets_the_rounds_of_the_printed_formula() {
        assert_eq!(adult(Counting::Largest), [13, 27, 58, 112, 214]);
        assert_eq!(adult(Counting::Each), [19, 38, 83, 161, 308]);
    }

    #[test]
    fn rounds_are_the_largest_that_fit() {
        for counting in [Counting::Largest, Counting::Each] {
            for (e, rounds) in EPSILONS.into_iter().zip(adult(counting)) {
                assert!(ADULT.epsilon(counting, rounds, delta()) <= e);
                assert!(ADULT.epsilon(counting, rounds + 1, delta()) > e);
            }
        }
    }

    #[test]
    fn with_the_second_term_under_the_root_the_budget_would_be_overspent() {
        // A published script computes e1 sqrt(2 k ln(1/delta) + k (exp(e1) - 1)).
        let misplaced = |rounds: usize| {
            let (e1, k) = (ADULT.draw(rounds - 1), (ADULT.samples * (rounds - 1)) as f64);
            e1 * (2.0 * k * 1e3f64.ln() + k * e1.exp_m1()).sqrt()
        };
        let spent = EPSILONS.map(|e| {
            let rounds = (2..).take_while(|&rounds| misplaced(rounds) <= e).last().unwrap();
            (rounds, ADULT.epsilon(Counting::Largest, rounds, delta()))
        });
        assert_eq!(spent.map(|(rounds, _)| rounds), [13, 27, 60, 125, 279]);
        assert!(spent[2].1 > 1.04 && spent[3].1 > 3.6 && spent[4].1 > 17.2);
    }

    #[test]
    fn a_budget_too_small_for_a_second_round_allows_one_round() {
        let few = Game { records: 10, ..ADULT };
        assert_eq!(few.rounds(Counting::Largest, Epsilon::new(1.0).unwrap(), delta()), 1);
    }
}
