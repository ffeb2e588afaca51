//! The cheapest binary tree over a few tables, by dynamic programming over their subsets.

use super::pairing::{AttributeBits, Bits};

/// The most tables: 3^n splits, most of which are pruned.
pub(super) const MAX_TABLES: usize = 15;

/// The best splits of the subsets of some tables. A subset is a bit set of positions.
///
/// The cost of a set S of tables is the least over all splits S = A + B of
///
/// cost(A) + cost(B) + the pass over the tables of A and of B,
///
/// where the table of a set has the attributes that the output or tables outside the set have.
///
/// *Pruning.* A set is dropped if its cost, plus a lower bound of all passes outside it, reaches an
/// upper bound of the cost of all tables. A pass costs at least as much as a pass over the larger
/// of its two operands, and so at least half of both. Each table outside the set, the table of the
/// set and each result but the last is an operand once, and results have at least one cell. No set
/// of a cheapest tree is dropped, and neither is one of an equally cheap tree, so that the tree is
/// the one that would be found without pruning.
pub(super) struct OptimalSplits<'a> {
    attributes: &'a AttributeBits<'a>,
    unions: HalfTables<Bits>,
    /// Sums of the costs of passes over single tables.
    passes: HalfTables<f64>,
    output: Bits,
    full: usize,
    /// The position of each set in `kept`; 0 if it was dropped.
    positions: Vec<u16>,
    sets: Vec<KeptSet>,
    /// By the lowest member: positions in `sets`, ascending by set.
    by_lowest: Vec<Vec<u16>>,
}

#[derive(Clone, Copy)]
struct KeptSet {
    set: usize,
    attributes: Bits,
    cost: f64,
    /// One side of the best split.
    side: usize,
}

impl<'a> OptimalSplits<'a> {
    /// The tables have the attributes `tables`, at least two and at most [`MAX_TABLES`];
    /// `upper_bound` is above the least cost.
    pub(super) fn new(
        attributes: &'a AttributeBits<'a>,
        tables: &[Bits],
        output: Bits,
        upper_bound: f64,
    ) -> Self {
        let full = (1usize << tables.len()) - 1;
        let mut splits = Self {
            attributes,
            unions: HalfTables::new(tables, |a, b| a | b),
            passes: HalfTables::new(&[], |a, b| a + b),
            output,
            full,
            positions: vec![0; full + 1],
            sets: vec![KeptSet { set: 0, attributes: 0, cost: f64::INFINITY, side: 0 }],
            by_lowest: vec![Vec::new(); tables.len()],
        };
        let single: Vec<f64> = (0..tables.len())
            .map(|table| attributes.cost(splits.attributes_of(1 << table)))
            .collect();
        splits.passes = HalfTables::new(&single, |a, b| a + b);
        for set in 1..=full {
            splits.visit(set, upper_bound);
        }
        splits
    }

    /// The attributes of the table of a set.
    pub(super) fn attributes_of(&self, set: usize) -> Bits {
        self.unions.of(set) & (self.output | self.unions.of(self.full & !set))
    }

    /// The least cost of all tables.
    pub(super) fn cost(&self) -> f64 {
        self.kept(self.full).cost
    }

    /// The two sides of the best split of a set in the best tree.
    pub(super) fn sides(&self, set: usize) -> [usize; 2] {
        let side = self.kept(set).side;
        [side, set & !side]
    }

    fn kept(&self, set: usize) -> KeptSet {
        self.sets[usize::from(self.positions[set])]
    }

    /// Finds the best split of a set; all of its subsets have been visited.
    fn visit(&mut self, set: usize, upper_bound: f64) {
        let attributes = self.attributes_of(set);
        if set.is_power_of_two() {
            return self.keep(KeptSet { set, attributes, cost: 0.0, side: 0 });
        }
        let pass = self.attributes.cost(attributes);
        let limit = upper_bound - self.least_outside(set, pass);
        let results = f64::from(set.count_ones() - 2) * self.attributes.cost(0);
        if pass.max(0.5 * (self.passes.of(set) + results)) >= limit {
            return;
        }
        let (cost, side) = self.best_split(set, pass, limit);
        if cost < limit {
            self.keep(KeptSet { set, attributes, cost, side });
        }
    }

    fn keep(&mut self, kept: KeptSet) {
        let position = self.sets.len() as u16;
        self.positions[kept.set] = position;
        self.by_lowest[kept.set.trailing_zeros() as usize].push(position);
        self.sets.push(kept);
    }

    /// A lower bound of the passes outside a set, whose table takes a pass that costs `pass`.
    fn least_outside(&self, set: usize, pass: f64) -> f64 {
        let outside = self.full & !set;
        if outside == 0 {
            return 0.0;
        }
        let results = f64::from(outside.count_ones() - 1) * self.attributes.cost(0);
        0.5 * (pass + self.passes.of(outside) + results)
    }

    /// The least cost below `limit`, and one side, if there is any. `pass` is the least cost of the
    /// last pass. Sides have the lowest member of the set, so that every split occurs once, and are
    /// tried in descending order; the first of equally cheap ones is taken.
    fn best_split(&self, set: usize, pass: f64, limit: f64) -> (f64, usize) {
        let low = set & set.wrapping_neg();
        let rest = set & !low;
        let mut best = (f64::INFINITY, 0);
        let mut consider = |one: &KeptSet| {
            let other = self.kept(set & !one.set);
            let sides = one.cost + other.cost;
            if sides + pass < best.0.min(limit) {
                let total = sides + self.attributes.cost(one.attributes | other.attributes);
                if total < best.0 {
                    best = (total, one.set);
                }
            }
        };
        let known = &self.by_lowest[low.trailing_zeros() as usize];
        if known.len() < 1 << rest.count_ones() {
            let known = known.iter().rev().map(|&position| &self.sets[usize::from(position)]);
            known.filter(|one| one.set & !set == 0 && one.set != set).for_each(&mut consider);
            return best;
        }
        let mut half = rest;
        while half != 0 {
            half = (half - 1) & rest;
            let position = self.positions[low | half];
            if position != 0 {
                consider(&self.sets[usize::from(position)]);
            }
        }
        best
    }
}

/// A value of each set: that of its members in the lower half combined with that of its members in
/// the upper half.
struct HalfTables<T> {
    lower_bits: usize,
    lower: Vec<T>,
    upper: Vec<T>,
    combine: fn(T, T) -> T,
}

impl<T: Copy + Default> HalfTables<T> {
    fn new(members: &[T], combine: fn(T, T) -> T) -> Self {
        let (lower, upper) = members.split_at(members.len() / 2);
        let of = |members: &[T]| {
            let mut values = vec![T::default(); 1 << members.len()];
            for set in 1..values.len() {
                let lowest = members[set.trailing_zeros() as usize];
                values[set] = combine(values[set & (set - 1)], lowest);
            }
            values
        };
        Self { lower_bits: lower.len(), lower: of(lower), upper: of(upper), combine }
    }

    fn of(&self, set: usize) -> T {
        let lower = self.lower[set & (self.lower.len() - 1)];
        (self.combine)(lower, self.upper[set >> self.lower_bits])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{Clique, Domain};

    /// Costs and sides of all sets, without pruning.
    fn all_splits(
        attributes: &AttributeBits,
        tables: &[Bits],
        output: Bits,
    ) -> (Vec<f64>, Vec<usize>) {
        let full = (1usize << tables.len()) - 1;
        let union = |set: usize| {
            let members = (0..tables.len()).filter(|table| set >> table & 1 == 1);
            members.fold(0, |union, table| union | tables[table])
        };
        let of = |set: usize| union(set) & (output | union(full & !set));
        let (mut cost, mut side) = (vec![f64::INFINITY; full + 1], vec![0; full + 1]);
        for set in 1..=full {
            if set.is_power_of_two() {
                cost[set] = 0.0;
                continue;
            }
            for one in (1..set).rev().filter(|one| one & !set == 0) {
                let other = set & !one;
                if one.trailing_zeros() < other.trailing_zeros() {
                    let total = cost[one] + cost[other] + attributes.cost(of(one) | of(other));
                    if total < cost[set] {
                        (cost[set], side[set]) = (total, one);
                    }
                }
            }
        }
        (cost, side)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn pruning_changes_neither_the_cost_nor_the_tree(
            sizes in prop::collection::vec(2..120usize, 2..9),
            tables in prop::collection::vec(1..256u32, 2..9),
            output in 0..256u32,
            slack in prop::sample::select(vec![1e-9, 0.3, 100.0]),
        ) {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let domain = Domain::new(names.into_iter().zip(sizes.iter().copied())).unwrap();
            let everything: Vec<Clique> = vec![domain.everything()];
            let attributes = AttributeBits::new(&domain, &everything).unwrap();
            let bits = |set: u32| Bits::from(set) & ((1 << sizes.len()) - 1);
            let tables: Vec<Bits> = tables.into_iter().map(bits).collect();
            let (cost, side) = all_splits(&attributes, &tables, bits(output));
            let full = cost.len() - 1;
            let upper_bound = cost[full] * (1.0 + slack);
            let found = OptimalSplits::new(&attributes, &tables, bits(output), upper_bound);
            prop_assert_eq!(found.cost(), cost[full]);
            let mut sets = vec![full];
            while let Some(set) = sets.pop().filter(|set: &usize| !set.is_power_of_two()) {
                prop_assert_eq!(found.sides(set), [side[set], set & !side[set]]);
                sets.extend(found.sides(set).into_iter().filter(|set| !set.is_power_of_two()));
            }
        }
    }
}
