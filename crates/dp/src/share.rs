//! Shares of a budget: splitting them, in sequence or side by side, and using them up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::account::{Branch, replaced_delta, replaced_leading};
use super::exact_sum::{equal_part, weighted_parts};
use super::{
    Budget, BudgetError, Composition, Delta, Draw, Entry, Epsilon, Guarantee, Ledger, Neighbours,
};

/// A part of a budget that has been taken out of it and pays for one draw.
///
/// It cannot be used twice:
///
/// ```compile_fail,E0382
/// # use dp::*;
/// # let mut source = NoiseSource::seeded(&SeedPath::new("a", 0));
/// # let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::Replace).unwrap();
/// let share = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace).rest().unwrap();
/// let first = share.laplace("a", &[1.0], sensitivity, NumberLine::Integers, &mut source);
/// let again = share.laplace("b", &[1.0], sensitivity, NumberLine::Integers, &mut source);
/// ```
#[derive(Debug)]
#[must_use = "a share that is dropped is lost"]
pub struct Share {
    grant: Guarantee,
    origin: Origin,
}

/// Where draws are listed, and under which conditions.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    neighbours: Neighbours,
    /// The total of the first budget: what the ledger counts in.
    currency: Guarantee,
    path: Vec<Branch>,
    composition: Option<Planned>,
    ledger: Arc<Mutex<Ledger>>,
}

/// A part of an advanced composition.
#[derive(Clone, Copy, Debug)]
struct Planned {
    composition: Composition,
    /// No draw may be larger than this.
    largest: Epsilon,
}

impl Share {
    pub(super) fn new(grant: Guarantee, origin: Origin) -> Self {
        Self { grant, origin }
    }

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
        Budget::paid_by(self.grant, self.origin)
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
        if self.origin.composition.is_some() {
            return Err(BudgetError::Composed);
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

    /// Pure shares of a new advanced composition, each with the largest draw that it may pay for.
    pub(super) fn composed(self, slack: Delta, parts: Vec<(Epsilon, Epsilon)>) -> Vec<Share> {
        let composition = Composition { group: self.origin.ledger().next_division(), slack };
        let part = |(together, largest): (Epsilon, Epsilon)| {
            let composition = Some(Planned { composition, largest });
            Share { grant: together.into(), origin: Origin { composition, ..self.origin.clone() } }
        };
        parts.into_iter().map(part).collect()
    }

    /// The largest draw that this share may pay for, where a composition was computed for it.
    pub(super) fn largest_draw(&self) -> Option<Epsilon> {
        self.origin.composition.map(|planned| planned.largest)
    }

    /// Uses the share up: lists the draw that it paid for.
    pub(super) fn settle(self, draw: Draw) {
        // A share's kind was accepted when it was spent, and splitting keeps the kind.
        let cost = self.grant.cost_in(self.origin.currency).unwrap_or(self.grant);
        self.origin.ledger().push(Entry {
            draw,
            neighbours: self.origin.neighbours,
            granted: self.grant,
            cost,
            path: self.origin.path.clone(),
            composition: self.origin.composition.map(|planned| planned.composition),
        });
    }
}

impl Origin {
    pub(super) fn new(total: Guarantee, neighbours: Neighbours) -> Self {
        let ledger = Arc::new(Mutex::new(Ledger::new(total, neighbours)));
        Self { neighbours, currency: total, path: Vec::new(), composition: None, ledger }
    }

    pub(super) fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A ledger is only ever appended to; a panic elsewhere leaves it whole.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact_sum::ExactSum;
    use super::super::{Delta, Epsilon, Rho};
    use super::*;
    use proptest::prelude::*;

    fn guarantees(epsilon: f64) -> [Guarantee; 3] {
        let (epsilon, rho) = (Epsilon::new(epsilon).unwrap(), Rho::new(epsilon).unwrap());
        [epsilon.into(), (epsilon, Delta::new(1e-7).unwrap()).into(), rho.into()]
    }

    fn share(total: Guarantee, neighbours: Neighbours) -> Share {
        Budget::new(total, neighbours).rest().unwrap()
    }

    proptest! {
        #[test]
        fn splits_add_up_to_at_most_the_whole(
            epsilon in 1e-6..1e3f64,
            weights in prop::collection::vec(1e-3..1e3f64, 1..50),
        ) {
            for total in guarantees(epsilon) {
                for shares in [
                    share(total, Neighbours::Replace).split(weights.len()).unwrap(),
                    share(total, Neighbours::Replace).split_weights(&weights).unwrap(),
                ] {
                    let leading = ExactSum::of(shares.iter().map(|s| s.guarantee().leading()));
                    let delta = ExactSum::of(shares.iter().map(|s| s.guarantee().delta()));
                    prop_assert!(!leading.exceeds(total.leading()) && !delta.exceeds(total.delta()));
                    prop_assert!(leading.exceeds(total.leading() * (1.0 - 1e-12)));
                }
            }
        }
    }

    #[test]
    fn senseless_splits_are_refused() {
        let [total, ..] = guarantees(1.0);
        let share = || share(total, Neighbours::Replace);
        assert_eq!(share().split(0).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().parallel(0).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().split_weights(&[]).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().split_weights(&[1.0, 0.0]).unwrap_err(), BudgetError::Weight(0.0));
    }

    #[test]
    fn parts_of_the_records_share_a_budget_only_when_records_are_added_or_removed() {
        for total in guarantees(1.0) {
            for share in share(total, Neighbours::AddRemove).parallel(3).unwrap() {
                assert_eq!((share.guarantee(), share.neighbours()), (total, Neighbours::AddRemove));
            }
        }
        let granted = guarantees(1.0).map(|total| {
            let mut shares = share(total, Neighbours::Replace).parallel(3).unwrap();
            let share = shares.pop().unwrap();
            assert_eq!(share.neighbours(), Neighbours::AddRemove);
            (share.guarantee().leading(), share.guarantee().delta())
        });
        assert_eq!((granted[0].0, granted[1].0, granted[2].0), (0.5, 0.5, 0.25));
        let delta = 1e-7 / (1.0 + 0.5f64.exp());
        assert!(granted[1].1 <= delta && granted[1].1 > delta * (1.0 - 1e-14));
    }

    #[test]
    fn a_budget_made_of_a_share_holds_no_more_than_the_share() {
        let [total, ..] = guarantees(1.0);
        let mut shares = share(total, Neighbours::Replace).split(4).unwrap();
        let mut budget = shares.pop().unwrap().into_budget();
        assert_eq!(budget.total(), Epsilon::new(0.25).unwrap().into());
        assert!(budget.spend(Epsilon::new(0.26).unwrap()).is_err());
        assert!(budget.spend(Epsilon::new(0.25).unwrap()).is_ok());
    }
}
