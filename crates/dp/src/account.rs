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
    divisions: BTreeMap<u32, Division>,
    /// By group and slack: an entry with another slack belongs to another composition.
    compositions: BTreeMap<(u32, u64), Composed>,
}

/// Draws on disjoint parts of the records.
#[derive(Clone, Debug, Default)]
struct Division {
    parts: BTreeMap<u32, Account>,
    /// The largest (epsilon or rho, delta) of a part, when a record is added or removed. A cost is
    /// not negative, so the total of a part never falls and the maxima of before stay valid: a
    /// draw costs the same work however many parts there are.
    worst: (f64, f64),
}

impl Account {
    /// Adds the cost of a draw.
    pub(super) fn add(&mut self, entry: &Entry) {
        self.add_below(&entry.path, entry);
    }

    /// Adds the cost of a draw on the part of the records that this path leads to.
    fn add_below(&mut self, path: &[Branch], entry: &Entry) {
        if let [branch, rest @ ..] = path {
            let division = self.divisions.entry(branch.division).or_default();
            let part = division.parts.entry(branch.part).or_default();
            part.add_below(rest, entry);
            let (leading, delta) = part.total_of_parts(|worst| worst);
            division.worst = (division.worst.0.max(leading), division.worst.1.max(delta));
        } else if let Some(composition) = entry.composition {
            let key = (composition.group, composition.slack.get().to_bits());
            let composed = || Composed::new(composition.slack);
            let composed = self.compositions.entry(key).or_insert_with(composed);
            composed.add(entry.cost.leading(), entry.draw.draws());
        } else {
            self.leading.add(entry.cost.leading());
            self.delta.add(entry.cost.delta());
        }
    }

    /// (epsilon or rho, delta) of all draws together, rounded up. The theorems for divisions and
    /// compositions are at [`Share::parallel`](super::Share::parallel) and
    /// [`Share::advanced`](super::Share::advanced).
    pub(super) fn total(&self, neighbours: Neighbours, currency: Guarantee) -> (f64, f64) {
        self.total_of_parts(|(mut worst, mut worst_delta)| {
            if neighbours == Neighbours::Replace {
                // 0 stays 0, even where the factor overflows.
                if worst_delta > 0.0 {
                    worst_delta *= replaced_delta(worst);
                }
                worst *= sabotage!(replaced_leading(currency), "parallel-replacement-free", 1.0);
            }
            (worst, worst_delta)
        })
    }

    /// The total, where a division costs a function of its largest part.
    fn total_of_parts(&self, of_division: impl Fn((f64, f64)) -> (f64, f64)) -> (f64, f64) {
        let (mut leading, mut delta) = (self.leading.clone(), self.delta.clone());
        for division in self.divisions.values() {
            let (worst, worst_delta) = of_division(division.worst);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Budget, Epsilon, L1, NoiseSource, NumberLine, Rho, SeedPath, Sensitivity};
    use super::super::{Line, Share};
    use super::*;

    /// Draws, splits or divides the records, as the plan says.
    fn follow(share: Share, plan: &mut impl Iterator<Item = u8>, source: &mut NoiseSource) {
        match plan.next().map(|step| step % 5) {
            Some(1 | 2) => {
                share.split(2).unwrap().into_iter().for_each(|part| follow(part, plan, source));
            }
            Some(3 | 4) => {
                share.parallel(3).unwrap().into_iter().for_each(|part| follow(part, plan, source));
            }
            _ => {
                let sensitivity = Sensitivity::<L1>::linear(1.0, share.neighbours()).unwrap();
                let line = NumberLine::Integers;
                share.laplace("a", &[1.0], sensitivity, line, source).unwrap();
            }
        }
    }

    /// The total of entries that have seen the same part of the records, computed from nothing.
    fn obvious(entries: &[&Entry], depth: usize, neighbours: Neighbours, of: Guarantee) -> f64 {
        let mut sum = ExactSum::default();
        let mut divisions: BTreeMap<u32, BTreeMap<u32, Vec<&Entry>>> = BTreeMap::new();
        for entry in entries {
            match entry.path.get(depth) {
                None => sum.add(entry.cost.leading()),
                Some(Branch { division, part }) => {
                    let parts = divisions.entry(*division).or_default();
                    parts.entry(*part).or_default().push(entry);
                }
            }
        }
        for parts in divisions.values() {
            let costs =
                parts.values().map(|part| obvious(part, depth + 1, Neighbours::AddRemove, of));
            let factor = if neighbours == Neighbours::Replace { replaced_leading(of) } else { 1.0 };
            sum.add(factor * costs.fold(0.0, f64::max));
        }
        sum.round_up()
    }

    proptest! {
        #[test]
        fn running_totals_are_those_computed_from_nothing(
            plan in prop::collection::vec(any::<u8>(), 0..60),
            replace in any::<bool>(),
            in_rho in any::<bool>(),
            epsilon in 0.5..3.0f64,
        ) {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let total: Guarantee =
                if in_rho { Rho::new(epsilon.get()).unwrap().into() } else { epsilon.into() };
            let neighbours = if replace { Neighbours::Replace } else { Neighbours::AddRemove };
            let mut source = NoiseSource::seeded(&SeedPath::new("account", 1));
            let mut budget = Budget::new(total, neighbours);
            let share = if in_rho {
                // Pure, because Laplace noise is.
                budget.spend(Rho::new(epsilon.get()).unwrap().pure_epsilon().unwrap()).unwrap()
            } else {
                budget.rest().unwrap()
            };
            follow(share, &mut plan.into_iter(), &mut source);
            let ledger = budget.ledger();
            let lines: &[Line] = ledger.lines();
            for end in 1..=lines.len() {
                let entries: Vec<&Entry> = lines[..end].iter().map(|line| &line.entry).collect();
                let expected = obvious(&entries, 0, neighbours, total);
                prop_assert_eq!(lines[end - 1].running_total.leading(), expected);
            }
        }
    }
}
