//! The cheapest way to multiply a handful of tables pairwise and sum out what nobody needs.

use std::collections::HashMap;

use crate::domain::{AttributeId, Clique, Domain};

/// Up to this many tables, all ways to pair them are compared (3^n of them, most cut short).
pub(super) const EXHAUSTIVE: usize = 15;

/// How to combine the tables of a group: a binary tree over their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// One of the tables.
    Table(usize),
    /// The product of two, summed onto what is still needed.
    Product(Box<Pairing>, Box<Pairing>),
}

/// A set of attributes of the group, one bit each.
type Bits = u128;

/// Attribute sets of one group as bit sets. Attributes with a single value are left out: they
/// change neither the layout of a table nor its cost.
pub(super) struct Alphabet<'a> {
    domain: &'a Domain,
    attributes: Vec<AttributeId>,
}

impl<'a> Alphabet<'a> {
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

    /// The cost of visiting every cell of a table: its cells, the loop around each row (the last
    /// axis, the highest bit, is the row), and a call.
    fn cost(&self, mut bits: Bits) -> f64 {
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

/// Finds a cheap pairing of tables over `inputs` with `output` as the attributes to keep, and its
/// cost in units of about one multiply-add.
pub(super) fn pair_up(alphabet: &Alphabet, inputs: &[Clique], output: &Clique) -> (Pairing, f64) {
    assert!(!inputs.is_empty(), "a group has at least one table");
    let bits: Vec<Bits> = inputs.iter().map(|clique| alphabet.bits(clique)).collect();
    let output = alphabet.bits(output);
    let mut group = Group::new(alphabet, bits, output);
    group.merge_equals();
    while group.tables.len() > EXHAUSTIVE {
        group.merge_cheapest();
    }
    group.merge_exhaustively();
    let (pairing, _) = group.tables.pop().expect("one table is left");
    (pairing, group.spent)
}

struct Group<'a> {
    alphabet: &'a Alphabet<'a>,
    output: Bits,
    tables: Vec<(Pairing, Bits)>,
    spent: f64,
}

impl<'a> Group<'a> {
    fn new(alphabet: &'a Alphabet<'a>, bits: Vec<Bits>, output: Bits) -> Self {
        let mut group = Self { alphabet, output, tables: Vec::new(), spent: 0.0 };
        for (position, &own) in bits.iter().enumerate() {
            let others = bits
                .iter()
                .enumerate()
                .filter(|&(other, _)| other != position)
                .fold(output, |needed, (_, &bits)| needed | bits);
            if own & !others != 0 {
                // What no other table has is summed out before anything else.
                group.spent += alphabet.cost(own);
            }
            group.tables.push((Pairing::Table(position), own & others));
        }
        group
    }

    /// What a product of the tables at `members` must keep.
    fn needed_outside(&self, members: [usize; 2]) -> Bits {
        (self.tables.iter().enumerate())
            .filter(|(position, _)| !members.contains(position))
            .fold(self.output, |needed, (_, table)| needed | table.1)
    }

    fn merge(&mut self, first: usize, second: usize) {
        let union = self.tables[first].1 | self.tables[second].1;
        let kept = union & self.needed_outside([first, second]);
        self.spent += self.alphabet.cost(union);
        let (low, high) = (first.min(second), first.max(second));
        let right = self.tables.remove(high).0;
        let left = self.tables.remove(low).0;
        self.tables.push((Pairing::Product(left.into(), right.into()), kept));
    }

    /// Tables over the same attributes are multiplied first: nothing is cheaper. In rounds, so
    /// that many equal tables make a shallow tree. Attributes that nobody else has stay until the
    /// next product, which sums them out.
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
            self.spent += (round.len() - 1) as f64 * self.alphabet.cost(bits);
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

    fn merge_cheapest(&mut self) {
        let mut best = (f64::INFINITY, 0, 1);
        for first in 0..self.tables.len() {
            for second in first + 1..self.tables.len() {
                let (a, b) = (self.tables[first].1, self.tables[second].1);
                let growth =
                    self.alphabet.cost(a | b) - self.alphabet.cost(a) - self.alphabet.cost(b);
                if growth < best.0 {
                    best = (growth, first, second);
                }
            }
        }
        self.merge(best.1, best.2);
    }

    /// Dynamic programming over subsets: the best way to form each is the best split into two.
    fn merge_exhaustively(&mut self) {
        let n = self.tables.len();
        if n < 2 {
            return;
        }
        let full = (1usize << n) - 1;
        let mut union = vec![0 as Bits; full + 1];
        for set in 1..=full {
            let low = set.trailing_zeros() as usize;
            union[set] = union[set & (set - 1)] | self.tables[low].1;
        }
        let kept = |set: usize| union[set] & (self.output | union[full & !set]);
        let ceiling = self.greedy_cost();
        let mut cost = vec![f64::INFINITY; full + 1];
        let mut split = vec![0usize; full + 1];
        for set in 1..=full {
            if set.is_power_of_two() {
                cost[set] = 0.0;
                continue;
            }
            // What is kept is visited however the set is split. Most splits need no closer look.
            let least = self.alphabet.cost(kept(set));
            // The half with the lowest member, so that every split is seen once.
            let low = set & set.wrapping_neg();
            let rest = set & !low;
            let mut half = rest;
            while half != 0 {
                half = (half - 1) & rest;
                let (one, other) = (low | half, rest & !half);
                let so_far = cost[one] + cost[other];
                if so_far + least < cost[set].min(ceiling) {
                    let total = so_far + self.alphabet.cost(kept(one) | kept(other));
                    if total < cost[set] {
                        cost[set] = total;
                        split[set] = one;
                    }
                }
            }
        }
        self.spent += cost[full];
        let bits = kept(full);
        let pairing = self.assemble(full, &split);
        self.tables = vec![(pairing, bits)];
    }

    fn assemble(&self, set: usize, split: &[usize]) -> Pairing {
        if set.is_power_of_two() {
            return self.tables[set.trailing_zeros() as usize].0.clone();
        }
        let one = split[set];
        Pairing::Product(self.assemble(one, split).into(), self.assemble(set & !one, split).into())
    }

    /// What always taking the cheapest pair would cost: a bound that cuts the search short.
    fn greedy_cost(&self) -> f64 {
        let mut trial = Group {
            alphabet: self.alphabet,
            output: self.output,
            tables: self.tables.clone(),
            spent: 0.0,
        };
        while trial.tables.len() > 1 {
            trial.merge_cheapest();
        }
        // Leaves room for the order of additions.
        trial.spent * (1.0 + 1e-9)
    }
}
