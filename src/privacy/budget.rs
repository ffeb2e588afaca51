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

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use super::account::{Branch, replaced_delta, replaced_leading};
use super::exact_sum::{ExactSum, equal_part, weighted_parts};
use super::ledger::{Entry, Ledger};
use super::{Guarantee, Neighbours, ParameterError, Rho};

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

/// A part of a budget that has been taken out of it and pays for one draw.
#[derive(Debug)]
#[must_use = "a share that is dropped is lost"]
pub struct Share {
    grant: Guarantee,
    origin: Origin,
}

/// Where draws are listed, and under which conditions.
#[derive(Clone, Debug)]
struct Origin {
    neighbours: Neighbours,
    /// The total of the first budget: what the ledger counts in.
    currency: Guarantee,
    path: Vec<Branch>,
    ledger: Arc<Mutex<Ledger>>,
}

impl Budget {
    /// A budget of this much, with an empty ledger. Whoever calls this decides what the release
    /// promises; everything that takes a `Share` or `&mut Budget` works within it.
    pub fn new(total: impl Into<Guarantee>, neighbours: Neighbours) -> Self {
        let total = total.into();
        let ledger = Arc::new(Mutex::new(Ledger::new(total, neighbours)));
        Self::from_parts(total, Origin { neighbours, currency: total, path: Vec::new(), ledger })
    }

    fn from_parts(total: Guarantee, origin: Origin) -> Self {
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
        Ok(Share { grant, origin: self.origin.clone() })
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
        self.origin.neighbours
    }

    /// A copy of what has been drawn so far with shares of this budget (and, for a budget made from
    /// a share, with those of the one that it came from), in the order of the draws.
    pub fn ledger(&self) -> Ledger {
        self.origin.ledger().clone()
    }
}

impl Share {
    /// The guarantee that the draw must keep.
    pub fn guarantee(&self) -> Guarantee {
        self.grant
    }

    /// Which tables count as neighbours.
    pub fn neighbours(&self) -> Neighbours {
        self.origin.neighbours
    }

    /// A budget of this share, for a mechanism that spends in several steps. Its draws are listed
    /// in the same ledger.
    pub fn into_budget(self) -> Budget {
        Budget::from_parts(self.grant, self.origin)
    }

    /// `count` equal shares for draws in sequence.
    pub fn split(self, count: usize) -> Result<Vec<Share>, BudgetError> {
        if count == 0 {
            return Err(BudgetError::NoParts);
        }
        let part = self
            .grant
            .with(equal_part(self.grant.leading(), count), equal_part(self.grant.delta(), count))?;
        Ok(self.shares(std::iter::repeat_n(part, count)))
    }

    /// Shares in proportion to the weights, for draws in sequence.
    pub fn split_weights(self, weights: &[f64]) -> Result<Vec<Share>, BudgetError> {
        if weights.is_empty() {
            return Err(BudgetError::NoParts);
        }
        if let Some(&bad) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            return Err(BudgetError::Weight(bad));
        }
        let leading = weighted_parts(self.grant.leading(), weights);
        let delta = weighted_parts(self.grant.delta(), weights);
        let parts: Vec<Guarantee> = leading
            .into_iter()
            .zip(delta)
            .map(|(leading, delta)| self.grant.with(leading, delta))
            .collect::<Result<_, _>>()?;
        Ok(self.shares(parts))
    }

    /// Shares for draws that look at disjoint parts of the records (parallel composition).
    ///
    /// *Requires*, and cannot check: there is a division of the possible records into `parts`
    /// classes, chosen without looking at the data (or from outputs that were paid for), and the
    /// draws of share i see the records of class i only.
    ///
    /// *Theorem.* The shares carry the relation [`Neighbours::AddRemove`], since a class has no
    /// public number of records. If every part keeps its share's guarantee, all together keep
    /// this one's, where each part is granted
    ///
    /// | this share's relation | epsilon | (epsilon, delta) | rho |
    /// | --- | --- | --- | --- |
    /// | add or remove | epsilon | (epsilon, delta) | rho |
    /// | replace | epsilon/2 | (epsilon/2, delta/(1 + e^(epsilon/2))) | rho/4 |
    ///
    /// *Proof.* An added or removed record changes one class; the other parts' outputs have the
    /// same distribution given the same earlier outputs (McSherry 2009, theorem 4). A replaced
    /// record either moves from one class to another, and both parts pay (sequential composition:
    /// twice the share), or stays in its class, which then changes by two steps of add or remove.
    /// Two steps cost 2 epsilon and (1 + e^epsilon) delta (Dwork and Roth 2014, theorem 2.2 and
    /// the same argument with delta), or 4 rho (Bun and Steinke 2016, proposition 1.9). The second
    /// case is the dearer one in each currency. QED.
    pub fn parallel(self, parts: usize) -> Result<Vec<Share>, BudgetError> {
        if parts == 0 {
            return Err(BudgetError::NoParts);
        }
        let grant = match self.origin.neighbours {
            Neighbours::AddRemove => self.grant,
            // A pure grant costs a quarter of the rho when epsilon is halved: both columns hold.
            Neighbours::Replace => {
                let leading = self.grant.leading() / replaced_leading(self.grant);
                let delta = self.grant.delta() / replaced_delta(leading).next_up();
                self.grant.with(leading, delta.next_down().max(0.0))?
            }
        };
        let division = self.origin.ledger().next_division();
        Ok((0..parts as u32)
            .map(|part| {
                let mut origin = self.origin.clone();
                origin.neighbours = Neighbours::AddRemove;
                origin.path.push(Branch { division, part });
                Share { grant, origin }
            })
            .collect())
    }

    fn shares(self, parts: impl IntoIterator<Item = Guarantee>) -> Vec<Share> {
        parts.into_iter().map(|grant| Share { grant, origin: self.origin.clone() }).collect()
    }

    /// Uses the share up: lists the draw that it paid for.
    pub(super) fn settle(self, draw: super::ledger::Draw) {
        // A share's kind was accepted when it was spent, and splitting keeps the kind.
        let cost = self.grant.cost_in(self.origin.currency).unwrap_or(self.grant);
        self.origin.ledger().push(Entry {
            draw,
            neighbours: self.origin.neighbours,
            granted: self.grant,
            cost,
            path: self.origin.path.clone(),
        });
    }
}

impl Origin {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A ledger is only ever appended to; a panic elsewhere leaves it whole.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
