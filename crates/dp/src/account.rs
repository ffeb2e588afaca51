//! Adding up what draws cost, one after the other or side by side.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::advanced::Composed;
use super::exact_sum::ExactSum;
use super::{Entry, Guarantee, Neighbours};

/// One of several draws that look at disjoint parts of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Which division of the records, numbered through the ledger.
    pub division: u32,
    /// Which of its parts.
    pub part: u32,
}

/// A sum of costs in one currency: exact among draws in sequence, the worst part of a division, the
/// theorem's price of an advanced composition.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    leading: ExactSum,
    delta: ExactSum,
    divisions: BTreeMap<u32, BTreeMap<u32, Account>>,
    /// By group and slack; what claims another slack is another composition.
    compositions: BTreeMap<(u32, u64), Composed>,
}

impl Account {
    /// Adds a draw.
    pub(super) fn add(&mut self, entry: &Entry) {
        let mut account = self;
        for branch in &entry.path {
            let parts = account.divisions.entry(branch.division).or_default();
            account = parts.entry(branch.part).or_default();
        }
        if let Some(composition) = entry.composition {
            let key = (composition.group, composition.slack.get().to_bits());
            let composed = || Composed::new(composition.slack);
            let composed = account.compositions.entry(key).or_insert_with(composed);
            composed.add(entry.cost.leading(), entry.draw.draws());
        } else {
            account.leading.add(entry.cost.leading());
            account.delta.add(entry.cost.delta());
        }
    }

    /// (epsilon or rho, delta) of everything together, rounded up. Theorem and proof of what a
    /// division costs: [`Share::parallel`](super::Share::parallel); of what a composition does:
    /// [`Share::advanced`](super::Share::advanced).
    pub(super) fn total(&self, neighbours: Neighbours, currency: Guarantee) -> (f64, f64) {
        let (mut leading, mut delta) = (self.leading.clone(), self.delta.clone());
        for parts in self.divisions.values() {
            let (mut worst, mut worst_delta) = (0f64, 0f64);
            for part in parts.values() {
                let (part, part_delta) = part.total(Neighbours::AddRemove, currency);
                worst = worst.max(part);
                worst_delta = worst_delta.max(part_delta);
            }
            if neighbours == Neighbours::Replace {
                // Nothing stays nothing, even where the factor is too large for a float.
                if worst_delta > 0.0 {
                    worst_delta *= replaced_delta(worst);
                }
                worst *= replaced_leading(currency);
            }
            leading.add(worst);
            delta.add(worst_delta);
        }
        for composed in self.compositions.values() {
            leading.add(composed.epsilon());
            delta.add(composed.slack());
        }
        (leading.round_up(), delta.round_up())
    }
}

/// By how much a replaced record multiplies the epsilon or rho of an added or removed one.
pub(super) fn replaced_leading(currency: Guarantee) -> f64 {
    match currency {
        Guarantee::Pure { .. } | Guarantee::Approximate { .. } => 2.0,
        Guarantee::Concentrated { .. } => 4.0,
    }
}

/// By how much a replaced record multiplies the delta of an added or removed one at `epsilon`.
pub(super) fn replaced_delta(epsilon: f64) -> f64 {
    1.0 + epsilon.exp()
}
