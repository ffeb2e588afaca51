//! Accounting: the cost of draws under sequential, parallel and advanced composition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::advanced::Composed;
use super::exact_sum::ExactSum;
use super::{Entry, Guarantee, Neighbours};

/// The part of the records that a draw of a parallel composition saw, see
/// [`Share::parallel`](super::Share::parallel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The division of the records, numbered from 1 within the ledger.
    pub division: u32,
    /// The part of the division, from 0.
    pub part: u32,
}

/// A sum of costs in one currency: the exact sum of sequential draws, the largest part of each
/// division, and the cost of each advanced composition.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    leading: ExactSum,
    delta: ExactSum,
    divisions: BTreeMap<u32, BTreeMap<u32, Account>>,
    /// By group and slack: an entry with another slack belongs to another composition.
    compositions: BTreeMap<(u32, u64), Composed>,
}

impl Account {
    /// Adds the cost of a draw.
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

    /// (epsilon or rho, delta) of all draws together, rounded up. The theorems for divisions and
    /// compositions are at [`Share::parallel`](super::Share::parallel) and
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
                // 0 stays 0, even where the factor overflows.
                if worst_delta > 0.0 {
                    worst_delta *= replaced_delta(worst);
                }
                worst *= sabotage!(replaced_leading(currency), "parallel-replacement-free", 1.0);
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

/// The factor from the epsilon or rho of an added or removed record to that of a replaced one
/// (group privacy for two records).
pub(super) fn replaced_leading(currency: Guarantee) -> f64 {
    match currency {
        Guarantee::Pure { .. } | Guarantee::Approximate { .. } => 2.0,
        Guarantee::Concentrated { .. } => 4.0,
    }
}

/// The factor from the delta of an added or removed record, at `epsilon`, to that of a replaced
/// one.
pub(super) fn replaced_delta(epsilon: f64) -> f64 {
    1.0 + epsilon.exp()
}
