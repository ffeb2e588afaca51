//! The budget, and the shares of it that pay for noise.
//!
//! # Spending needs a token
//!
//! A [`Budget`] is made once, from the guarantee that the release shall have. It hands out
//! [`Share`]s and never more than it holds. Every function of this crate that adds noise or selects
//! privately takes a share *by value*: who has no share cannot draw, and a share cannot be used
//! twice, as it is neither `Clone` nor `Copy`. Each draw lists itself in the ledger of the budget
//! that paid. A share that is dropped, or whose draw is refused, is lost; the ledger then shows
//! less than was granted, which errs on the safe side.
//!
//! # Rounding
//!
//! What is spent is added without rounding and never exceeds the total, not even in the last place.
//! So that T spends of `total / T` succeed although that quotient may be rounded up, a request that
//! misses the remainder by at most 2^-30 of itself is granted what is left: the last share is
//! smaller by a billionth, and the sum is exact. Sums of up to 2^23 such requests are safe, as
//! their excess is at most 2^-53 of the total. [`Share::split`] and [`Share::split_weights`] need
//! no such grace: their parts add up to at most the whole.

use thiserror::Error;

use super::exact_sum::ExactSum;
use super::share::Origin;
use super::{Guarantee, Ledger, Neighbours, ParameterError, Rho, Share};

/// The part of a request by which its share may be trimmed to fit the remainder.
const TRIM: f64 = 1.0 / (1u64 << 30) as f64;

/// Why a share was not granted.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum BudgetError {
    /// More was asked for than is left.
    #[error(
        "overspent: {requested} was asked for, but of {total} only \
         {remaining_leading} (delta {remaining_delta}) is left"
    )]
    Overspent {
        /// What was asked for.
        requested: Guarantee,
        /// The whole budget.
        total: Guarantee,
        /// What is left of epsilon or rho.
        remaining_leading: f64,
        /// What is left of delta.
        remaining_delta: f64,
    },
    /// Everything is spent.
    #[error("nothing is left of {total}")]
    Exhausted {
        /// The whole budget.
        total: Guarantee,
    },
    /// A guarantee of a kind that the budget cannot count.
    #[error("{requested} cannot be paid from a budget of {total}")]
    WrongCurrency {
        /// What was asked for.
        requested: Guarantee,
        /// The whole budget.
        total: Guarantee,
    },
    /// A division into no parts.
    #[error("a share cannot be split into no parts")]
    NoParts,
    /// A weight that is not positive and finite.
    #[error("weights of a split must be positive and finite, not {0}")]
    Weight(f64),
    /// Advanced composition of a guarantee that leaves no room for failing.
    #[error("advanced composition needs a share with a delta, and {granted} has none")]
    NoSlack {
        /// The share's guarantee.
        granted: Guarantee,
    },
    /// A part of an advanced composition that shall be divided among parts of the records.
    #[error("a part of an advanced composition cannot be divided among parts of the records")]
    Composed,
    /// A part too small to be a parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Privacy that may still be spent, under one relation between neighbouring tables.
#[derive(Debug)]
pub struct Budget {
    total: Guarantee,
    remaining: ExactSum,
    remaining_delta: ExactSum,
    origin: Origin,
}

impl Budget {
    /// A budget of this much, with an empty ledger. Whoever calls this decides what the release
    /// promises; everything that takes a `Share` or `&mut Budget` works within it.
    pub fn new(total: impl Into<Guarantee>, neighbours: Neighbours) -> Self {
        let total = total.into();
        Self::paid_by(total, Origin::new(total, neighbours))
    }

    pub(super) fn paid_by(total: Guarantee, origin: Origin) -> Self {
        Self {
            total,
            remaining: ExactSum::of([total.leading()]),
            remaining_delta: ExactSum::of([total.delta()]),
            origin,
        }
    }

    /// Takes out a share. A pure one can be had from any budget, and costs epsilon^2/2 where rho is
    /// counted; (epsilon, delta) and rho only from a budget of their own kind.
    pub fn spend(&mut self, request: impl Into<Guarantee>) -> Result<Share, BudgetError> {
        let requested = request.into();
        let total = self.total;
        let cost =
            requested.cost_in(total).ok_or(BudgetError::WrongCurrency { requested, total })?;
        let (left, left_delta) = (self.remaining.round_down(), self.remaining_delta.round_down());
        let trim = |cost: f64, left: f64| {
            if cost <= left { Some(cost) } else { (cost * (1.0 - TRIM) <= left).then_some(left) }
        };
        let (Some(leading), Some(delta)) =
            (trim(cost.leading(), left), trim(cost.delta(), left_delta))
        else {
            return Err(BudgetError::Overspent {
                requested,
                total,
                remaining_leading: left,
                remaining_delta: left_delta,
            });
        };
        let grant = match (requested, cost) {
            _ if leading == cost.leading() && delta == cost.delta() => requested,
            (Guarantee::Pure { .. }, Guarantee::Concentrated { .. }) => {
                Guarantee::Pure { epsilon: Rho::new(leading)?.pure_epsilon()? }
            }
            _ => requested.with(leading, delta)?,
        };
        self.remaining.add(-leading);
        self.remaining_delta.add(-delta);
        Ok(Share::new(grant, self.origin.clone()))
    }

    /// Takes out everything that is left, in the budget's own currency. Where delta is used up, the
    /// rest is pure.
    pub fn rest(&mut self) -> Result<Share, BudgetError> {
        let remaining = self.remaining().ok_or(BudgetError::Exhausted { total: self.total })?;
        self.spend(remaining)
    }

    /// What is left, if anything is.
    pub fn remaining(&self) -> Option<Guarantee> {
        self.total.of_sums(self.remaining.round_down(), self.remaining_delta.round_down())
    }

    /// What there was at first.
    pub fn total(&self) -> Guarantee {
        self.total
    }

    /// Which tables count as neighbours.
    pub fn neighbours(&self) -> Neighbours {
        self.origin.neighbours()
    }

    /// A copy of what has been drawn so far with shares of this budget (and, for a budget made from
    /// a share, with those of the one that it came from), in the order of the draws.
    pub fn ledger(&self) -> Ledger {
        self.origin.ledger().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Delta, Epsilon};
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    fn granted(shares: &[Share]) -> ExactSum {
        ExactSum::of(shares.iter().map(|share| share.guarantee().leading()))
    }

    #[test]
    fn the_nth_part_can_be_spent_n_times_and_no_more() {
        for total in [1.0, 0.1, 0.3, 7.0, 1e-9, 1e5] {
            for n in (1..200).chain([1000, 4099, 30_000]) {
                let mut budget = Budget::new(epsilon(total), Neighbours::Replace);
                let shares: Vec<Share> =
                    (0..n).map(|_| budget.spend(epsilon(total / n as f64)).unwrap()).collect();
                assert!(!granted(&shares).exceeds(total), "{total} in {n} parts");
                assert!(granted(&shares).exceeds(total * (1.0 - 1e-12)));
                assert!(budget.spend(epsilon(total * 1e-9)).is_err());
            }
        }
    }

    #[test]
    fn a_share_is_trimmed_by_a_billionth_at_most() {
        let mut budget = Budget::new(epsilon(1.0), Neighbours::Replace);
        let first = budget.spend(epsilon(0.5)).unwrap();
        let trimmed = budget.spend(epsilon(0.5 + 2e-10)).unwrap();
        assert_eq!(trimmed.guarantee(), epsilon(0.5).into());
        assert!(!granted(&[first, trimmed]).exceeds(1.0));
        let mut budget = Budget::new(epsilon(1.0), Neighbours::Replace);
        let refused = budget.spend(epsilon(1.0 + 1e-8)).unwrap_err();
        assert_eq!(
            refused,
            BudgetError::Overspent {
                requested: epsilon(1.0 + 1e-8).into(),
                total: epsilon(1.0).into(),
                remaining_leading: 1.0,
                remaining_delta: 0.0,
            }
        );
        assert_eq!(budget.remaining(), Some(epsilon(1.0).into()), "a refusal costs nothing");
    }

    #[test]
    fn epsilon_and_delta_are_kept_apart() {
        let delta = |value| Delta::new(value).unwrap();
        let mut budget = Budget::new((epsilon(1.0), delta(1e-6)), Neighbours::Replace);
        let _ = budget.spend((epsilon(0.25), delta(1e-6))).unwrap();
        assert!(budget.spend((epsilon(0.25), delta(1e-9))).is_err(), "no delta is left");
        let _ = budget.spend(epsilon(0.25)).unwrap();
        assert_eq!(budget.rest().unwrap().guarantee(), epsilon(0.5).into());
        assert_eq!(budget.rest().unwrap_err(), BudgetError::Exhausted { total: budget.total() });
    }

    #[test]
    fn pure_draws_cost_half_their_square_where_rho_is_counted() {
        let rho = Rho::new(0.5).unwrap();
        let mut budget = Budget::new(rho, Neighbours::Replace);
        for _ in 0..100 {
            let share = budget.spend(epsilon(0.1)).unwrap();
            assert!((share.guarantee().leading() - 0.1).abs() < 1e-12);
        }
        assert!(budget.spend(epsilon(0.001)).is_err());
    }

    #[test]
    fn a_currency_that_no_theorem_converts_is_refused() {
        let (one, delta, rho) = (epsilon(1.0), Delta::new(1e-6).unwrap(), Rho::new(0.1).unwrap());
        let kinds: [Guarantee; 3] = [one.into(), (one, delta).into(), rho.into()];
        let accepted = |total: Guarantee| {
            kinds
                .map(|kind| Budget::new(total, Neighbours::Replace).spend(kind))
                .map(|result| !matches!(result, Err(BudgetError::WrongCurrency { .. })))
        };
        assert_eq!(accepted(kinds[0]), [true, false, false]);
        assert_eq!(accepted(kinds[1]), [true, true, false]);
        assert_eq!(accepted(kinds[2]), [true, false, true]);
    }
}
