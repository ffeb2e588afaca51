//! The privacy budget.
//!
//! # Spending needs a token
//!
//! A [`Budget`] is created once, from the guarantee of the whole release. It hands out [`Share`]s
//! and never more than it holds. Every function of this crate that adds noise or selects privately
//! takes a share *by value*. Code without a share cannot draw, and a share cannot be used twice, as
//! it is neither `Clone` nor `Copy`. Each draw is recorded in the ledger of the budget that paid
//! for it. A share that is dropped, or whose draw fails, is lost; the ledger then shows less than
//! was granted, which is safe.
//!
//! # Adaptive spending
//!
//! A mechanism may choose the cost of each draw, and when to stop, from the outputs so far.
//! [`Budget::spend`] is then a *privacy filter*: it refuses a request that is not covered before
//! anything is drawn, so that the costs of every course of events add up to at most the total. That
//! suffices in all three currencies: in epsilon and (epsilon, delta) by sequential composition for
//! adaptively chosen parameters (Rogers, Roth, Ullman, Vadhan, NeurIPS 2016, theorem 3.4), in rho
//! because zCDP bounds the Renyi divergence of every order (Feldman, Zrnic, NeurIPS 2021, theorem
//! 4.3; Whitehouse, Ramdas, Rogers, Wu, ICML 2023). It does not hold for [`Share::advanced`], whose
//! number of draws is fixed before the first.
//!
//! # Rounding
//!
//! What is spent is added without rounding and never exceeds the total, not even in the last place.
//! T requests of `total / T` must succeed although that quotient may be rounded up. A request that
//! exceeds the remainder by at most 2^-30 of itself is therefore granted the remainder: the last
//! share is smaller by up to a billionth, and the sum is exact. This covers up to 2^23 requests, as
//! their excess together is at most 2^-53 of the total. [`Share::split`] and
//! [`Share::split_weights`] need no such tolerance: their parts add up to at most the whole.

use std::fmt;

use thiserror::Error;

use super::exact_sum::ExactSum;
use super::share::Origin;
use super::{Guarantee, Ledger, Neighbours, ParameterError, Rho, Share};

/// The largest relative reduction of a request to the remainder.
const TRIM: f64 = 1.0 / (1u64 << 30) as f64;

/// What is left of a budget: epsilon or rho, and delta if the budget has one.
struct Left(Guarantee, f64, f64);

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(total, leading, delta) = self;
        match total.delta() > 0.0 {
            true => write!(f, "{leading} (delta {delta})"),
            false => write!(f, "{leading}"),
        }
    }
}

/// Why a share was not granted or not divided.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum BudgetError {
    /// More was requested than is left.
    #[error(
        "overspent: {requested} was requested, but of {total} only {} is left",
        Left(*total, *remaining_leading, *remaining_delta)
    )]
    Overspent {
        /// The requested guarantee.
        requested: Guarantee,
        /// The whole budget.
        total: Guarantee,
        /// What is left of epsilon or rho.
        remaining_leading: f64,
        /// What is left of delta.
        remaining_delta: f64,
    },
    /// Nothing is left.
    #[error("nothing is left of {total}")]
    Exhausted {
        /// The whole budget.
        total: Guarantee,
    },
    /// The requested guarantee does not convert to the currency of the budget.
    #[error("{requested} cannot be paid from a budget of {total}")]
    WrongCurrency {
        /// The requested guarantee.
        requested: Guarantee,
        /// The whole budget.
        total: Guarantee,
    },
    /// A division into zero parts.
    #[error("a share cannot be split into zero parts")]
    NoParts,
    /// A weight that is not positive and finite.
    #[error("weights of a split must be positive and finite, not {0}")]
    Weight(f64),
    /// Advanced composition of a guarantee without delta.
    #[error("advanced composition needs a share with a delta, and {granted} has none")]
    NoSlack {
        /// The share's guarantee.
        granted: Guarantee,
    },
    /// Parallel composition within an advanced composition.
    #[error("a part of an advanced composition cannot be divided among parts of the records")]
    Composed,
    /// A part that is too small to be a parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// What may still be spent of a total guarantee, under one neighbouring relation.
#[derive(Debug)]
pub struct Budget {
    total: Guarantee,
    remaining: ExactSum,
    remaining_delta: ExactSum,
    origin: Origin,
}

impl Budget {
    /// A budget of this total, with an empty ledger. The caller decides on the guarantee of the
    /// release; code that takes a `Share` or `&mut Budget` stays within it.
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

    /// Takes out a share. Every budget grants pure shares, which cost epsilon^2/2 of a budget in
    /// rho; shares of (epsilon, delta) and of rho need a budget of their own kind.
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
        self.remaining.add(sabotage!(-leading, "budget-charges-half", -leading / 2.0));
        self.remaining_delta.add(-delta);
        Ok(Share::new(grant, self.origin.clone()))
    }

    /// Takes out everything that is left, in the currency of the budget. If delta is used up, the
    /// share is pure.
    pub fn rest(&mut self) -> Result<Share, BudgetError> {
        let remaining = self.remaining().ok_or(BudgetError::Exhausted { total: self.total })?;
        self.spend(remaining)
    }

    /// What is left; `None` if nothing is.
    pub fn remaining(&self) -> Option<Guarantee> {
        self.total.of_sums(self.remaining.round_down(), self.remaining_delta.round_down())
    }

    /// The guarantee that the budget started with.
    pub fn total(&self) -> Guarantee {
        self.total
    }

    /// The neighbouring relation of the guarantee.
    pub fn neighbours(&self) -> Neighbours {
        self.origin.neighbours()
    }

    /// A copy of the ledger so far, in the order of the draws. A budget made from a share has the
    /// ledger of the budget that the share came from.
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
    fn an_nth_part_can_be_spent_exactly_n_times() {
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
    fn a_share_is_reduced_by_at_most_a_billionth() {
        let mut budget = Budget::new(epsilon(1.0), Neighbours::Replace);
        let first = budget.spend(epsilon(0.5)).unwrap();
        let trimmed = budget.spend(epsilon(0.5 + 2e-10)).unwrap();
        assert_eq!(trimmed.guarantee(), epsilon(0.5).into());
        assert!(!granted(&[first, trimmed]).exceeds(1.0));
        let mut budget = Budget::new(epsilon(1.0), Neighbours::Replace);
        let refused = budget.spend(epsilon(1.0 + 1e-8)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "overspent: epsilon = 1.00000001 was requested, but of epsilon = 1 only 1 is left"
        );
        assert_eq!(
            refused,
            BudgetError::Overspent {
                requested: epsilon(1.0 + 1e-8).into(),
                total: epsilon(1.0).into(),
                remaining_leading: 1.0,
                remaining_delta: 0.0,
            }
        );
        assert_eq!(
            budget.remaining(),
            Some(epsilon(1.0).into()),
            "a rejected request costs nothing"
        );
    }

    #[test]
    fn adaptive_requests_are_granted_while_they_are_covered_and_never_beyond() {
        let rho = |value| Rho::new(value).unwrap();
        let total = rho(1.0);
        let mut budget = Budget::new(total, Neighbours::AddRemove);
        // Each request is four times the last one, as if every output had asked for it.
        let mut request = 0.001;
        let mut shares = Vec::new();
        while let Ok(share) = budget.spend(rho(request)) {
            shares.push(share);
            request *= 4.0;
        }
        assert_eq!(shares.len(), 5);
        // The refusal has drawn and spent nothing, and a smaller request is still covered.
        assert!(budget.ledger().lines().is_empty());
        shares.push(budget.spend(rho(0.5)).unwrap());
        shares.push(budget.rest().unwrap());
        assert!(!granted(&shares).exceeds(total.get()));
        assert!(granted(&shares).exceeds(total.get() * (1.0 - 1e-12)));
    }

    #[test]
    fn epsilon_and_delta_are_limited_separately() {
        let delta = |value| Delta::new(value).unwrap();
        let mut budget = Budget::new((epsilon(1.0), delta(1e-6)), Neighbours::Replace);
        let _ = budget.spend((epsilon(0.25), delta(1e-6))).unwrap();
        assert!(budget.spend((epsilon(0.25), delta(1e-9))).is_err(), "no delta is left");
        let _ = budget.spend(epsilon(0.25)).unwrap();
        assert_eq!(budget.rest().unwrap().guarantee(), epsilon(0.5).into());
        assert_eq!(budget.rest().unwrap_err(), BudgetError::Exhausted { total: budget.total() });
    }

    #[test]
    fn pure_draws_cost_half_their_square_of_a_budget_in_rho() {
        let rho = Rho::new(0.5).unwrap();
        let mut budget = Budget::new(rho, Neighbours::Replace);
        for _ in 0..100 {
            let share = budget.spend(epsilon(0.1)).unwrap();
            assert!((share.guarantee().leading() - 0.1).abs() < 1e-12);
        }
        assert!(budget.spend(epsilon(0.001)).is_err());
    }

    #[test]
    fn a_guarantee_that_does_not_convert_is_rejected() {
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
