//! The cheapest order in which to multiply a few tables pairwise and sum out attributes on the way.

use std::collections::HashMap;

use super::optimal::{MAX_TABLES, OptimalSplits};
use crate::domain::{AttributeId, Clique, Domain};

/// A binary tree over the positions of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    Table(usize),
    /// The product of two tables, summed onto the attributes that the output or other tables have.
    Product(Box<Pairing>, Box<Pairing>),
}

/// A set of attributes, one bit each.
pub(super) type Bits = u128;

/// The attributes of a few cliques, numbered so that a set of them is a bit set. Attributes with a
/// single value have no bit: they change neither the layout of a table nor its cost.
pub(super) struct AttributeBits<'a> {
    domain: &'a Domain,
    attributes: Vec<AttributeId>,
}

impl<'a> AttributeBits<'a> {
    /// `None` when there are more attributes than bits.
    pub(super) fn new<'c>(
        domain: &'a Domain,
        cliques: impl IntoIterator<Item = &'c Clique>,
    ) -> Option<Self> {
        let all = Clique::new(cliques.into_iter().flat_map(Clique::iter));
        let attributes: Vec<_> = all.iter().filter(|&id| domain.size(id) > 1).collect();
        (attributes.len() <= Bits::BITS as usize).then_some(Self { domain, attributes })
    }

    fn bits(&self, clique: &Clique) -> Bits {
        clique
            .iter()
            .filter_map(|id| self.attributes.binary_search(&id).ok())
            .fold(0, |bits, position| bits | 1 << position)
    }

    /// The cost of a pass over a table, in units of about one multiply-add: 1 per cell, 6 per row
    /// (the last axis, the highest bit) for the loop, and 60 for the call. Our choice.
    pub(super) fn cost(&self, mut bits: Bits) -> f64 {
        let mut cells = 1.0;
        let mut row = 1.0;
        while bits != 0 {
            row = self.domain.size(self.attributes[bits.trailing_zeros() as usize]) as f64;
            cells *= row;
            bits &= bits - 1;
        }
        cells + 6.0 * cells / row + 60.0
    }
}

/// A cheap pairing of tables over `inputs` that keeps the attributes of `output`, and its cost in
/// units of about one multiply-add. Optimal for at most [`MAX_TABLES`] distinct tables; above
/// that, the pair that grows least is merged first.
pub(super) fn cheapest_pairing(
    attributes: &AttributeBits,
    inputs: &[Clique],
    output: &Clique,
) -> (Pairing, f64) {
    assert!(!inputs.is_empty(), "a product has at least one table");
    let bits: Vec<Bits> = inputs.iter().map(|clique| attributes.bits(clique)).collect();
    let output = attributes.bits(output);
    let mut search = PairingSearch::new(attributes, bits, output);
    search.merge_equals();
    while search.tables.len() > MAX_TABLES {
        search.merge_cheapest();
    }
    search.merge_optimally();
    let (pairing, _) = search.tables.pop().expect("one table is left");
    (pairing, search.cost)
}

struct PairingSearch<'a> {
    attributes: &'a AttributeBits<'a>,
    output: Bits,
    tables: Vec<(Pairing, Bits)>,
    cost: f64,
}

impl<'a> PairingSearch<'a> {
    fn new(attributes: &'a AttributeBits<'a>, bits: Vec<Bits>, output: Bits) -> Self {
        let mut search = Self { attributes, output, tables: Vec::new(), cost: 0.0 };
        for (position, &own) in bits.iter().enumerate() {
            let others = bits
                .iter()
                .enumerate()
                .filter(|&(other, _)| other != position)
                .fold(output, |needed, (_, &bits)| needed | bits);
            if own & !others != 0 {
                // Attributes of this table alone are summed out before the first product.
                search.cost += attributes.cost(own);
            }
            search.tables.push((Pairing::Table(position), own & others));
        }
        search
    }

    /// The attributes of the output and of all tables except those at `members`.
    fn needed_outside(&self, members: [usize; 2]) -> Bits {
        (self.tables.iter().enumerate())
            .filter(|(position, _)| !members.contains(position))
            .fold(self.output, |needed, (_, table)| needed | table.1)
    }

    fn merge(&mut self, first: usize, second: usize) {
        let union = self.tables[first].1 | self.tables[second].1;
        let kept = union & self.needed_outside([first, second]);
        self.cost += self.attributes.cost(union);
        let (low, high) = (first.min(second), first.max(second));
        let right = self.tables.remove(high).0;
        let left = self.tables.remove(low).0;
        self.tables.push((Pairing::Product(left.into(), right.into()), kept));
    }

    /// Multiplies tables over the same attributes first: no other product is cheaper. Pairs are
    /// merged in rounds, so that n equal tables make a tree of depth log2 n. Attributes of these
    /// tables alone stay until the next product, which sums them out.
    fn merge_equals(&mut self) {
        let mut position: HashMap<Bits, usize> = HashMap::new();
        let mut equals: Vec<(Vec<Pairing>, Bits)> = Vec::new();
        for (pairing, bits) in std::mem::take(&mut self.tables) {
            let next = equals.len();
            match *position.entry(bits).or_insert(next) {
                known if known < next => equals[known].0.push(pairing),
                _ => equals.push((vec![pairing], bits)),
            }
        }
        for (mut round, bits) in equals {
            self.cost += (round.len() - 1) as f64 * self.attributes.cost(bits);
            while round.len() > 1 {
                let mut members = round.into_iter();
                round = Vec::new();
                while let Some(left) = members.next() {
                    round.push(match members.next() {
                        Some(right) => Pairing::Product(left.into(), right.into()),
                        None => left,
                    });
                }
            }
            self.tables.extend(round.pop().map(|pairing| (pairing, bits)));
        }
    }

    /// Merges the two tables whose product costs least beyond a pass over each of them.
    fn merge_cheapest(&mut self) {
        let mut best = (f64::INFINITY, 0, 1);
        for first in 0..self.tables.len() {
            for second in first + 1..self.tables.len() {
                let (a, b) = (self.tables[first].1, self.tables[second].1);
                let growth =
                    self.attributes.cost(a | b) - self.attributes.cost(a) - self.attributes.cost(b);
                if growth < best.0 {
                    best = (growth, first, second);
                }
            }
        }
        self.merge(best.1, best.2);
    }

    /// Merges all tables at least cost.
    fn merge_optimally(&mut self) {
        if self.tables.len() < 2 {
            return;
        }
        let bits: Vec<Bits> = self.tables.iter().map(|table| table.1).collect();
        let upper_bound = self.greedy_cost();
        let splits = OptimalSplits::new(self.attributes, &bits, self.output, upper_bound);
        let full = (1 << bits.len()) - 1;
        self.cost += splits.cost();
        self.tables = vec![(self.assemble(full, &splits), splits.attributes_of(full))];
    }

    /// The binary tree that the best splits define.
    fn assemble(&self, set: usize, splits: &OptimalSplits) -> Pairing {
        if set.is_power_of_two() {
            return self.tables[set.trailing_zeros() as usize].0.clone();
        }
        let [left, right] = splits.sides(set).map(|side| self.assemble(side, splits));
        Pairing::Product(left.into(), right.into())
    }

    /// The cost of always merging the cheapest pair: an upper bound of the least cost.
    fn greedy_cost(&self) -> f64 {
        let mut trial = PairingSearch {
            attributes: self.attributes,
            output: self.output,
            tables: self.tables.clone(),
            cost: 0.0,
        };
        while trial.tables.len() > 1 {
            trial.merge_cheapest();
        }
        // Sums of the same costs in another order differ by rounding.
        trial.cost * (1.0 + 1e-9)
    }
}
