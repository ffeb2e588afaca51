//! Advanced composition: the cost of many small pure draws grows with their squares, given a delta.

use serde::{Deserialize, Serialize};

use super::composition::ROUNDING;
use super::exact_sum::{ExactSum, equal_part};
use super::noise::DrawError;
use super::{BudgetError, Delta, Epsilon, Guarantee, ParameterError, Share};

/// Several pure draws with the same epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PureDraws {
    /// The epsilon of each draw.
    pub epsilon: Epsilon,
    /// The number of draws.
    pub count: usize,
}

impl PureDraws {
    /// What all parts cost together at this slack, by the theorem of [`Share::advanced`].
    pub fn composed(parts: &[PureDraws], slack: Delta) -> Result<Epsilon, ParameterError> {
        let mut composed = Composed::new(slack);
        parts.iter().for_each(|part| composed.add(part.total(), part.count));
        Epsilon::new(composed.epsilon())
    }

    /// The sum of the epsilons.
    fn total(&self) -> f64 {
        self.epsilon.get() * self.count as f64
    }
}

/// The advanced composition that a draw belongs to, see [`Share::advanced`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Composition {
    /// The number of the composition within the ledger.
    pub group: u32,
    /// The delta that is paid once for the whole group.
    pub slack: Delta,
}

impl Share {
    /// A share for each of the `parts`, which are fixed before the first draw. It pays for `count`
    /// draws of `epsilon` each, for instance in one call of [`Share::select_many`].
    ///
    /// *Theorem* (Dwork, Rothblum, Vadhan 2010, theorem III.3; Dwork and Roth 2014, theorem 3.20,
    /// which prints it for equal epsilons). Draws that are epsilon_i-private given the earlier
    /// outputs, with epsilon_i fixed beforehand, are together (epsilon', slack)-private with
    ///
    /// epsilon' = sqrt(2 ln(1/slack) sum of epsilon_i^2) + sum of epsilon_i (e^epsilon_i - 1).
    ///
    /// *Proof.* Given the earlier outputs, the privacy loss of draw i lies in
    /// [-epsilon_i, epsilon_i] and has a mean of at most epsilon_i (e^epsilon_i - 1) (the
    /// divergence of two epsilon_i-private outputs). Less their means the losses are martingale
    /// differences, each in an interval of length 2 epsilon_i, so by Azuma and Hoeffding their sum
    /// is above z with a probability of at most exp(-z^2 / (2 sum of epsilon_i^2)). That is the
    /// slack at the first term of epsilon'. Where the loss stays below epsilon', probabilities
    /// differ by a factor of at most e^epsilon'.
    ///
    /// The sum of the epsilons bounds the same draws without any slack (sequential composition,
    /// theorem 3.16). It is the smaller one for fewer than about 2 ln(1/slack) draws, and for large
    /// ones. Both hold, so the smaller one is charged.
    ///
    /// The share must be in (epsilon, delta), and all of its delta is the slack. A draw that is
    /// larger than planned is rejected. Fewer or smaller draws leave a remainder, which the ledger
    /// shows and which cannot be spent.
    pub fn advanced(self, parts: &[PureDraws]) -> Result<Vec<Share>, BudgetError> {
        let granted = self.guarantee();
        let Guarantee::Approximate { epsilon: total, delta: slack } = granted else {
            return Err(BudgetError::NoSlack { granted });
        };
        if parts.is_empty() || parts.iter().any(|part| part.count == 0) {
            return Err(BudgetError::NoParts);
        }
        let composed = PureDraws::composed(parts, slack)?;
        if composed > total {
            return Err(BudgetError::Overspent {
                requested: (composed, slack).into(),
                total: granted,
                remaining_leading: total.get(),
                remaining_delta: slack.get(),
            });
        }
        let plan = |part: &PureDraws| {
            let largest = Epsilon::new(equal_part(part.total(), part.count))?;
            Ok((Epsilon::new(part.total())?, largest))
        };
        let planned: Vec<_> = parts.iter().map(plan).collect::<Result<_, ParameterError>>()?;
        Ok(self.composed(slack, planned))
    }

    /// Rejects a draw that is larger than planned.
    pub(super) fn check_size(&self, epsilon: f64) -> Result<(), DrawError> {
        match self.largest_draw() {
            Some(largest) if epsilon > largest.get() => {
                Err(DrawError::LargerThanPlanned { epsilon, largest })
            }
            _ => Ok(()),
        }
    }
}

/// The sums over the draws of one composition.
#[derive(Clone, Debug)]
pub(super) struct Composed {
    slack: Delta,
    /// The sum of epsilon_i^2.
    squares: ExactSum,
    /// The sum of epsilon_i (e^epsilon_i - 1).
    means: ExactSum,
    /// The sum of epsilon_i.
    sum: ExactSum,
}

/// Larger than any budget, and small enough to be added without overflow.
const HUGE: f64 = 1e300;

impl Composed {
    pub(super) fn new(slack: Delta) -> Self {
        let [squares, means, sum] = [(); 3].map(|()| ExactSum::default());
        Self { slack, squares, means, sum }
    }

    /// Adds `draws` equal draws whose epsilons sum to `total`.
    pub(super) fn add(&mut self, total: f64, draws: usize) {
        let each = total / draws as f64;
        self.squares.add((total * each).min(HUGE));
        let mean = (total * each.exp_m1()).min(HUGE);
        self.means.add(sabotage!(mean, "advanced-without-means", 0.0));
        let sum = sabotage!(total, "composed-sum-halved", total / 2.0);
        self.sum.add(sum.min(HUGE));
    }

    pub(super) fn slack(&self) -> f64 {
        self.slack.get()
    }

    /// The smaller of epsilon' and the sum, rounded up.
    pub(super) fn epsilon(&self) -> f64 {
        let two = sabotage!(2.0, "advanced-with-half-the-squares", 1.0);
        let spread = (two * -self.slack.get().ln() * self.squares.round_up()).sqrt();
        let advanced = (spread + self.means.round_up()) * (1.0 + ROUNDING);
        advanced.min(self.sum.round_up())
    }
}

#[cfg(test)]
mod tests {
    use super::super::composition::advanced;
    use super::super::*;
    use super::*;
    use proptest::prelude::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    fn share(total: f64, delta: f64) -> (Budget, Share) {
        let total = (epsilon(total), Delta::new(delta).unwrap());
        let mut budget = Budget::new(total, Neighbours::Replace);
        let share = budget.rest().unwrap();
        (budget, share)
    }

    fn source() -> NoiseSource {
        NoiseSource::seeded(&SeedPath::new("test", "advanced"))
    }

    fn select(share: Share, count: usize, source: &mut NoiseSource) -> Result<(), DrawError> {
        let sensitivity = Sensitivity::new(1.0, Neighbours::Replace).unwrap();
        share
            .select_many("choice", &[0.0, 1.0, 2.0], sensitivity, Scores::General, count, source)
            .map(drop)
    }

    fn draw_all(parts: &[PureDraws], total: f64, delta: f64) -> Ledger {
        let (budget, share) = share(total, delta);
        let mut source = source();
        for (part, share) in parts.iter().zip(share.advanced(parts).unwrap()) {
            select(share, part.count, &mut source).unwrap();
        }
        budget.ledger()
    }

    fn theorem(parts: &[PureDraws], delta: f64) -> f64 {
        let sum = |term: fn(f64) -> f64| -> f64 {
            parts.iter().map(|p| p.count as f64 * term(p.epsilon.get())).sum()
        };
        let advanced =
            (2.0 * (1.0 / delta).ln() * sum(|e| e * e)).sqrt() + sum(|e| e * (e.exp() - 1.0));
        advanced.min(sum(|e| e))
    }

    #[test]
    fn equal_draws_cost_what_the_theorem_states() {
        for (e, count, delta) in [(0.01, 1000, 1e-3), (0.3, 7, 1e-9), (1.5, 2, 0.2)] {
            let mut composed = Composed::new(Delta::new(delta).unwrap());
            composed.add(e * count as f64, count);
            let printed = advanced(epsilon(e), count, Delta::new(delta).unwrap()).unwrap().get();
            let printed = printed.min(e * count as f64);
            assert!((composed.epsilon() / printed - 1.0).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn the_ledger_verifies_exactly_when_the_theorem_holds(
            sizes in prop::collection::vec((1e-4..0.2f64, 1usize..60), 1..8),
            delta in 1e-9..0.5f64,
        ) {
            let parts: Vec<PureDraws> =
                sizes.iter().map(|&(e, count)| PureDraws { epsilon: epsilon(e), count }).collect();
            let exact = theorem(&parts, delta);
            let ledger = draw_all(&parts, exact * (1.0 + 1e-12), delta);
            prop_assert_eq!(ledger.lines().len(), parts.len());
            let counts: usize = ledger.lines().iter().map(|line| line.entry.draw.values).sum();
            prop_assert_eq!(counts, parts.iter().map(|part| part.count).sum::<usize>());
            let kept: Guarantee =
                (epsilon(exact * (1.0 + 1e-12)), Delta::new(delta).unwrap()).into();
            let spent = ledger.verify(kept).unwrap().unwrap();
            prop_assert!((spent.leading() / exact - 1.0).abs() < 1e-12);
            prop_assert_eq!(spent.delta(), delta);
            for (e, d) in [(exact * (1.0 - 1e-12), delta), (exact * 2.0, delta * 0.999_999)] {
                let less: Guarantee = (epsilon(e), Delta::new(d).unwrap()).into();
                prop_assert!(ledger.verify(less).is_err());
            }
            let (_, refused) = share(exact * (1.0 - 1e-12), delta);
            let refused = refused.advanced(&parts).unwrap_err();
            let overspent = matches!(refused, BudgetError::Overspent { .. });
            prop_assert!(overspent);
        }
    }

    #[test]
    fn draws_outside_the_composition_are_added_to_it() {
        let total: Guarantee = (epsilon(1.0), Delta::new(1e-3).unwrap()).into();
        let mut budget = Budget::new(total, Neighbours::Replace);
        let mut source = source();
        let part = PureDraws { epsilon: epsilon(0.01), count: 20 };
        let cost = theorem(&[part], 1e-3);
        assert!(cost < 0.2, "less than the sum");
        let composed = budget.spend((epsilon(0.5), Delta::new(1e-3).unwrap())).unwrap();
        for share in composed.advanced(&[part]).unwrap() {
            select(share, 20, &mut source).unwrap();
        }
        select(budget.rest().unwrap(), 1, &mut source).unwrap();
        let spent = budget.ledger().verify(total).unwrap().unwrap();
        assert!((spent.leading() - (0.5 + cost)).abs() < 1e-12);
    }

    #[test]
    fn few_draws_cost_their_sum_and_many_less() {
        let cost = |count| {
            let parts = [PureDraws { epsilon: epsilon(0.125), count }];
            PureDraws::composed(&parts, Delta::new(1e-6).unwrap()).unwrap().get()
        };
        // 2 ln(1e6) is 27.6, and the second term of epsilon' adds a third of it.
        assert_eq!([1, 8, 30].map(cost), [0.125, 1.0, 3.75]);
        assert!(cost(60) < 0.95 * 60.0 * 0.125);
        // A plan of one draw may spend all of a share in (epsilon, delta).
        let parts = [PureDraws { epsilon: epsilon(1.0), count: 1 }];
        assert!(share(1.0, 1e-6).1.advanced(&parts).is_ok());
        assert!(share(1.0 - 1e-9, 1e-6).1.advanced(&parts).is_err());
    }

    #[test]
    fn a_draw_larger_than_planned_is_rejected() {
        let parts = [PureDraws { epsilon: epsilon(0.01), count: 20 }];
        let one_share = || share(1.0, 1e-3).1.advanced(&parts).unwrap().pop().unwrap();
        // Fewer and larger draws have a larger sum of squares.
        let refused = select(one_share(), 19, &mut source()).unwrap_err();
        assert!(matches!(refused, DrawError::LargerThanPlanned { .. }));
        let sensitivity = Sensitivity::new(1.0, Neighbours::Replace).unwrap();
        let laplace = one_share()
            .laplace("noise", &[1.0], sensitivity, NumberLine::Integers, &mut source())
            .unwrap_err();
        assert!(matches!(laplace, DrawError::LargerThanPlanned { .. }));
        assert!(select(one_share(), 40, &mut source()).is_ok(), "smaller draws are allowed");
    }

    #[test]
    fn draws_outside_the_theorem_are_rejected() {
        let part = PureDraws { epsilon: epsilon(0.01), count: 2 };
        let pure = Budget::new(epsilon(1.0), Neighbours::Replace).rest().unwrap();
        assert!(matches!(pure.advanced(&[part]), Err(BudgetError::NoSlack { .. })));
        let advanced = |parts: &[PureDraws]| share(1.0, 1e-3).1.advanced(parts);
        assert_eq!(advanced(&[]).unwrap_err(), BudgetError::NoParts);
        assert_eq!(advanced(&[PureDraws { count: 0, ..part }]).unwrap_err(), BudgetError::NoParts);
        let composed = advanced(&[part]).unwrap().pop().unwrap();
        assert_eq!(composed.parallel(2).unwrap_err(), BudgetError::Composed);
    }

    /// Verifies a ledger whose JSON was edited.
    fn falsified(from: &str, to: &str) -> Result<Option<Guarantee>, LedgerError> {
        let parts = [
            PureDraws { epsilon: epsilon(0.01), count: 20 },
            PureDraws { epsilon: epsilon(0.02), count: 20 },
        ];
        let total: Guarantee = (epsilon(0.5), Delta::new(1e-3).unwrap()).into();
        let mut file = Vec::new();
        draw_all(&parts, 0.5, 1e-3).write_json_lines(&mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        assert!(text.contains(from), "{text}");
        let text = text.replace(from, to);
        Ledger::read_json_lines(text.as_bytes(), total, Neighbours::Replace).unwrap().verify(total)
    }

    #[test]
    fn falsified_compositions_are_detected() {
        let slack = r#""composition":{"group":1,"slack":0.001}"#;
        assert!(falsified(slack, slack).is_ok());
        // Without a composition, or with more slack.
        for other in [r#""path":[]"#, r#""composition":{"group":1,"slack":0.002}"#] {
            assert!(falsified(slack, other).is_err(), "{other}");
        }
        assert!(falsified(r#""values":20"#, r#""values":10"#).is_err());
        assert!(falsified(r#""values":20"#, r#""values":21"#).is_err());
        let granted = r#""granted":{"kind":"pure","epsilon":0.2}"#;
        let approximate = r#""granted":{"kind":"approximate","epsilon":0.2,"delta":0.0001}"#;
        assert!(falsified(granted, approximate).is_err());
    }
}
