//! Shares of a budget, and how they are divided among draws.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::account::{Branch, replaced_delta, replaced_leading};
use super::exact_sum::{equal_part, weighted_parts};
use super::transcript::Handed;
use super::{
    Budget, BudgetError, Composition, Delta, Draw, Entry, Epsilon, Guarantee, Ledger, Mechanism,
    Neighbours, NoiseSource,
};

/// A part of a budget that pays for one draw.
///
/// It is consumed by the draw, so that using it twice does not compile:
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

/// The ledger of a share, and what the ledger needs to know about its draws.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    neighbours: Neighbours,
    /// The total of the first budget, in whose currency the ledger counts.
    currency: Guarantee,
    path: Vec<Branch>,
    composition: Option<Planned>,
    ledger: Arc<Mutex<Ledger>>,
}

/// The advanced composition that a share belongs to.
#[derive(Clone, Copy, Debug)]
struct Planned {
    composition: Composition,
    /// The largest epsilon of a draw.
    largest: Epsilon,
}

impl Share {
    pub(super) fn new(grant: Guarantee, origin: Origin) -> Self {
        Self { grant, origin }
    }

    /// The guarantee that the draw must satisfy.
    pub fn guarantee(&self) -> Guarantee {
        self.grant
    }

    /// The neighbouring relation of the guarantee.
    pub fn neighbours(&self) -> Neighbours {
        self.origin.neighbours
    }

    /// Turns the share into a budget, for a mechanism with several draws. They are recorded in the
    /// same ledger.
    pub fn into_budget(self) -> Budget {
        Budget::paid_by(self.grant, self.origin)
    }

    /// `count` equal shares for sequential composition. They add up to at most this share
    /// ([`composition`](super::composition)).
    pub fn split(self, count: usize) -> Result<Vec<Share>, BudgetError> {
        if count == 0 {
            return Err(BudgetError::NoParts);
        }
        let whole = count;
        let count = sabotage!(count, "split-into-one-too-few", (count - 1).max(1));
        let part = self
            .grant
            .with(equal_part(self.grant.leading(), count), equal_part(self.grant.delta(), count))?;
        Ok(self.shares(std::iter::repeat_n(part, whole)))
    }

    /// Shares in proportion to positive weights, for sequential composition. They add up to at most
    /// this share ([`composition`](super::composition)).
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

    /// Shares for draws on disjoint parts of the records (parallel composition).
    ///
    /// *Requires*, and cannot check: a division of the possible records into `parts` classes that
    /// is independent of the data given the outputs so far, such that the draws of share i see the
    /// records of class i only.
    ///
    /// *Theorem.* The shares carry the relation [`Neighbours::AddRemove`], since a class has no
    /// public number of records. If every part satisfies its guarantee, all together satisfy that
    /// of this share, where each part is granted
    ///
    /// | this share's relation | epsilon | (epsilon, delta) | rho |
    /// | --- | --- | --- | --- |
    /// | add or remove | epsilon | (epsilon, delta) | rho |
    /// | replace | epsilon/2 | (epsilon/2, delta/(1 + e^(epsilon/2))) | rho/4 |
    ///
    /// *Proof.* An added or removed record changes one class; the other parts' outputs have the
    /// same distribution given the same earlier outputs (McSherry 2009, theorem 4). A replaced
    /// record either moves from one class to another, and both parts pay (sequential composition:
    /// twice the share), or stays in its class, which then changes by a removal and an addition.
    /// Two such changes cost 2 epsilon and (1 + e^epsilon) delta (Dwork and Roth 2014, theorem 2.2,
    /// and the same argument with delta), or 4 rho (Bun and Steinke 2016, proposition 1.9). The
    /// second case costs at least as much in each currency.
    pub fn parallel(self, parts: usize) -> Result<Vec<Share>, BudgetError> {
        if parts == 0 {
            return Err(BudgetError::NoParts);
        }
        if self.origin.composition.is_some() {
            return Err(BudgetError::Composed);
        }
        let grant = match self.origin.neighbours {
            Neighbours::AddRemove => self.grant,
            // Halving the epsilon of a pure grant quarters its rho, so both columns hold.
            Neighbours::Replace => {
                let parts = replaced_leading(self.grant);
                let parts = sabotage!(parts, "parallel-parts-get-all", 1.0);
                let leading = self.grant.leading() / parts;
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

    /// Pays for noise that other code has drawn, and records its claim: nothing verifies that the
    /// `values` satisfy [`Share::guarantee`]. [`NoiseSource::foreign_seed`] seeds such code.
    pub fn claim(self, label: impl Into<String>, values: usize, source: &NoiseSource) {
        let (label, randomness) = (label.into(), source.provenance());
        let (mechanism, sensitivity, scale, spacing) = (Mechanism::Claimed, 0.0, 0.0, None);
        self.record(Draw { label, mechanism, sensitivity, scale, spacing, values, randomness });
    }

    fn shares(self, parts: impl IntoIterator<Item = Guarantee>) -> Vec<Share> {
        parts.into_iter().map(|grant| Share { grant, origin: self.origin.clone() }).collect()
    }

    /// Pure shares of a new advanced composition: (total epsilon, largest epsilon of a draw) each.
    pub(super) fn composed(self, slack: Delta, parts: Vec<(Epsilon, Epsilon)>) -> Vec<Share> {
        let composition = Composition { group: self.origin.ledger().next_division(), slack };
        let part = |(total, largest): (Epsilon, Epsilon)| {
            let composition = Some(Planned { composition, largest });
            Share { grant: total.into(), origin: Origin { composition, ..self.origin.clone() } }
        };
        parts.into_iter().map(part).collect()
    }

    /// The largest epsilon of a draw, for a share of an advanced composition.
    pub(super) fn largest_draw(&self) -> Option<Epsilon> {
        self.origin.composition.map(|planned| planned.largest)
    }

    /// What a transcript says about a draw.
    pub(super) fn hands(&self, draw: &Draw, values: &[f64]) -> Handed {
        Handed { draw: draw.clone(), granted: self.grant, values: values.to_vec() }
    }

    /// Consumes the share and records the draw that it paid for.
    pub(super) fn record(self, draw: Draw) {
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
        // A ledger is append-only, so a panic elsewhere leaves it consistent.
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
                    prop_assert!(!leading.exceeds(total.leading()));
                    prop_assert!(!delta.exceeds(total.delta()));
                    prop_assert!(leading.exceeds(total.leading() * (1.0 - 1e-12)));
                }
            }
        }
    }

    #[test]
    fn invalid_splits_are_rejected() {
        let [total, ..] = guarantees(1.0);
        let share = || share(total, Neighbours::Replace);
        assert_eq!(share().split(0).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().parallel(0).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().split_weights(&[]).unwrap_err(), BudgetError::NoParts);
        assert_eq!(share().split_weights(&[1.0, 0.0]).unwrap_err(), BudgetError::Weight(0.0));
    }

    #[test]
    fn parallel_parts_get_the_whole_share_only_under_add_or_remove() {
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
    fn a_budget_made_from_a_share_holds_no_more_than_the_share() {
        let [total, ..] = guarantees(1.0);
        let mut shares = share(total, Neighbours::Replace).split(4).unwrap();
        let mut budget = shares.pop().unwrap().into_budget();
        assert_eq!(budget.total(), Epsilon::new(0.25).unwrap().into());
        assert!(budget.spend(Epsilon::new(0.26).unwrap()).is_err());
        assert!(budget.spend(Epsilon::new(0.25).unwrap()).is_ok());
    }
}
