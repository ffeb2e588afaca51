//! What several releases of the same records cost together.

use super::exact_sum::ExactSum;
use super::{BudgetError, Guarantee};

/// Adds up whole releases by sequential composition ([`composition`](super::composition)), never
/// past a total. Sums are exact: a charge that reaches the total is accepted, and one that is a
/// unit in the last place larger is refused.
///
/// A [`Budget`](super::Budget) pays for the draws of one release, and may trim the last share by a
/// billionth. A release has been announced with its parameters, so nothing is trimmed here.
#[derive(Clone, Debug)]
pub struct Accountant {
    total: Guarantee,
    leading: ExactSum,
    delta: ExactSum,
}

impl Accountant {
    /// Nothing is spent yet.
    pub fn new(total: impl Into<Guarantee>) -> Self {
        let (leading, delta) = Default::default();
        Self { total: total.into(), leading, delta }
    }

    /// Whether guarantees of this kind can be added up here. A pure one always can, and costs
    /// epsilon^2/2 where rho is counted; (epsilon, delta) and rho only where the total is one.
    pub fn counts(&self, guarantee: Guarantee) -> bool {
        guarantee.cost_in(self.total).is_some()
    }

    /// Adds a release, or refuses it and stays as it is. Returns the cost, in the currency of the
    /// total.
    pub fn charge(&mut self, requested: Guarantee) -> Result<Guarantee, BudgetError> {
        let total = self.total;
        let cost =
            requested.cost_in(total).ok_or(BudgetError::WrongCurrency { requested, total })?;
        let (mut leading, mut delta) = (self.leading.clone(), self.delta.clone());
        leading.add(cost.leading());
        delta.add(cost.delta());
        if leading.exceeds(total.leading()) || delta.exceeds(total.delta()) {
            let (remaining_leading, remaining_delta) = self.left();
            return Err(BudgetError::Overspent {
                requested,
                total,
                remaining_leading,
                remaining_delta,
            });
        }
        (self.leading, self.delta) = (leading, delta);
        Ok(cost)
    }

    /// What may be spent in all.
    pub fn total(&self) -> Guarantee {
        self.total
    }

    /// What all releases cost together, rounded up; `None` before the first.
    pub fn spent(&self) -> Option<Guarantee> {
        self.total.of_sums(self.leading.round_up(), self.delta.round_up())
    }

    /// The largest charge that would be accepted, if any would: rounded down, and pure where delta
    /// is used up.
    pub fn remaining(&self) -> Option<Guarantee> {
        let (leading, delta) = self.left();
        self.total.of_sums(leading, delta)
    }

    fn left(&self) -> (f64, f64) {
        let left = |total: f64, spent: &ExactSum| {
            let mut left = spent.negated();
            left.add(total);
            left.round_down()
        };
        (left(self.total.leading(), &self.leading), left(self.total.delta(), &self.delta))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Delta, Epsilon, Rho};
    use super::*;
    use proptest::prelude::*;

    fn pure(epsilon: f64) -> Guarantee {
        Epsilon::new(epsilon).unwrap().into()
    }

    fn approximate(epsilon: f64, delta: f64) -> Guarantee {
        (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).into()
    }

    fn rho(rho: f64) -> Guarantee {
        Rho::new(rho).unwrap().into()
    }

    #[test]
    fn the_total_is_accepted_and_a_unit_in_the_last_place_more_is_refused() {
        for value in [1.0, 0.1, 0.3, 3.0, 1e-9, 20.0, 5e-324, 1e300] {
            let of_kind: [fn(f64) -> Guarantee; 2] = [pure, rho];
            for kind in of_kind {
                let total = kind(value);
                assert_eq!(Accountant::new(total).charge(total), Ok(total));
                assert!(Accountant::new(total).charge(kind(value.next_up())).is_err());
                let mut accountant = Accountant::new(kind(value.next_up()));
                accountant.charge(total).unwrap();
                assert!(accountant.charge(total).is_err() || value == 5e-324);
            }
        }
        let total = approximate(1.0, 1e-6);
        for (epsilon, delta, fits) in [
            (1.0, 1e-6, true),
            (1.0f64.next_up(), 1e-6, false),
            (1.0, 1e-6f64.next_up(), false),
            (1.0f64.next_down(), 1e-6f64.next_up(), false),
        ] {
            let mut accountant = Accountant::new(total);
            assert_eq!(accountant.charge(approximate(epsilon, delta)).is_ok(), fits);
            assert_eq!(accountant.spent().is_some(), fits, "a refusal costs nothing");
        }
    }

    #[test]
    fn what_is_left_is_accepted_and_more_is_not() {
        // Ten times the float 0.1 is more than 1: the last of ten has to be a little smaller.
        let mut accountant = Accountant::new(approximate(1.0, 1e-6));
        for _ in 0..9 {
            accountant.charge(approximate(0.1, 1e-8)).unwrap();
        }
        assert!(accountant.charge(approximate(0.1, 1e-8)).is_err());
        let left = accountant.remaining().unwrap();
        let mut slightly_more = accountant.clone();
        let more = approximate(left.leading().next_up(), left.delta());
        assert!(slightly_more.charge(more).is_err());
        accountant.charge(left).unwrap();
        assert_eq!(accountant.remaining(), None);
        assert!(accountant.charge(pure(5e-324)).is_err());
    }

    #[test]
    fn kinds_that_no_theorem_adds_up_are_refused() {
        let kinds = [pure(0.5), approximate(0.5, 1e-9), rho(0.125)];
        let accepted = |total: Guarantee| {
            kinds.map(|kind| {
                let mut accountant = Accountant::new(total);
                let counted = accountant.counts(kind);
                assert_eq!(accountant.charge(kind).is_ok(), counted);
                counted
            })
        };
        assert_eq!(accepted(pure(1.0)), [true, false, false]);
        assert_eq!(accepted(approximate(1.0, 1e-6)), [true, true, false]);
        assert_eq!(accepted(rho(1.0)), [true, false, true]);
    }

    #[test]
    fn a_pure_release_costs_half_its_square_in_rho() {
        let mut accountant = Accountant::new(rho(0.125f64.next_up()));
        assert_eq!(accountant.charge(pure(0.5)), Ok(rho(0.125f64.next_up())));
        assert!(accountant.charge(pure(1e-150)).is_err());
    }

    /// Multiples of 2^-60: their sums fit an integer, which is the obvious exact version.
    fn dyadic() -> impl Strategy<Value = i128> {
        (1i128..1 << 50, 0..10i32).prop_map(|(mantissa, shift)| mantissa << shift)
    }

    fn float(dyadic: i128) -> f64 {
        dyadic as f64 * 2f64.powi(-60)
    }

    proptest! {
        #[test]
        fn charges_are_accepted_as_integers_add_up(
            total in dyadic(),
            total_delta in dyadic(),
            charges in prop::collection::vec((dyadic(), dyadic()), 1..40),
        ) {
            let mut accountant = Accountant::new(approximate(float(total), float(total_delta)));
            let (mut left, mut left_delta) = (total, total_delta);
            for (epsilon, delta) in charges {
                // Charges of the size of what is left try both sides of the boundary.
                let near = (epsilon % (left + 2), delta % (left_delta + 2));
                for (epsilon, delta) in [near, (left, 1), (left + 1, 1)] {
                    if epsilon == 0 || delta == 0 {
                        continue;
                    }
                    let fits = epsilon <= left && delta <= left_delta;
                    let charge = approximate(float(epsilon), float(delta));
                    // What is left can have more digits than a float.
                    if [epsilon, delta].iter().any(|&number| number as f64 as i128 != number) {
                        continue;
                    }
                    prop_assert_eq!(accountant.charge(charge).is_ok(), fits);
                    if fits {
                        left -= epsilon;
                        left_delta -= delta;
                    }
                }
            }
        }
    }
}
