//! Records and the one in which a neighbour differs.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};

use crate::data::{CodesError, Dataset, Provenance};
use dp::Neighbours;
use private_pgm::domain::Domain;

/// Codes by attribute.
type Record = Vec<u32>;

/// A table. Its neighbour has another first record, or none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Records {
    /// Not empty.
    pub(super) all: Vec<Record>,
    pub(super) replacement: Record,
}

/// Numbers of records of tables at random. Few where fractions matter, and many where scores have
/// to be further apart than the noise.
const SIZES: [usize; 13] = [1, 2, 3, 4, 6, 9, 14, 22, 40, 80, 160, 320, 640];

impl Records {
    pub(super) fn datasets(
        &self,
        domain: &Domain,
        neighbours: Neighbours,
    ) -> Result<(Dataset, Dataset), CodesError> {
        let others: Vec<Record> = match neighbours {
            Neighbours::Replace => {
                let replaced = std::iter::once(self.replacement.clone());
                replaced.chain(self.all[1..].iter().cloned()).collect()
            }
            Neighbours::AddRemove => self.all[1..].to_vec(),
        };
        let dataset = |records: &[Record]| {
            let column = |index| records.iter().map(|record: &Record| record[index]).collect();
            let codes: Vec<Vec<u32>> = (0..domain.len()).map(column).collect();
            Dataset::from_codes("audit", domain, &codes, Provenance::default())
        };
        Ok((dataset(&self.all)?, dataset(&others)?))
    }

    /// A table at random over the same attributes: up to four kinds of records, one of them
    /// frequent.
    pub(super) fn random(domain: &Domain, rng: &mut impl Rng) -> Self {
        let sizes: Vec<u32> = domain.declared().iter().map(|&id| domain.size(id) as u32).collect();
        let any = |rng: &mut _| -> Record { sizes.iter().map(|&size| below(rng, size)).collect() };
        let total = SIZES[below(rng, SIZES.len() as u32) as usize];
        let kinds: Vec<Record> = (0..1 + below(rng, 4)).map(|_| any(rng)).collect();
        // The square makes the first kinds more frequent than the last.
        let pick = |rng: &mut _| {
            let place: f64 = RngExt::random(rng);
            kinds[(place * place * kinds.len() as f64) as usize].clone()
        };
        let first = any(rng);
        let rest: Vec<Record> = (1..total).map(|_| pick(rng)).collect();
        let mut replacement = any(rng);
        // A record of one attribute of two values has one other value.
        while replacement == first {
            replacement = any(rng);
        }
        Self { all: std::iter::once(first).chain(rest).collect(), replacement }
    }

    /// A table that differs in a few records, in the number of times that all occur, or in the
    /// record that is replaced.
    pub(super) fn mutated(&self, domain: &Domain, rng: &mut impl Rng) -> Self {
        let other = Self::random(domain, rng);
        let mut next = self.clone();
        match below(rng, 5) {
            0 => next.all[0] = other.all[0].clone(),
            1 => next.replacement = other.replacement,
            2 => next.all.extend(other.all.into_iter().take(8)),
            3 => next.all.truncate((self.all.len() * 2).div_ceil(3)),
            _ if self.all.len() <= 200 => {
                next.all.extend_from_slice(&self.all[1..]);
            }
            _ => next.all.truncate(self.all.len() / 2),
        }
        match next.all[0] == next.replacement {
            true => self.clone(),
            false => next,
        }
    }

    /// "3 x (0, 1), 5 x (1, 1); one (0, 1) becomes (1, 0)"
    pub(super) fn describe(&self, neighbours: Neighbours) -> String {
        let show = |record: &Record| {
            let codes: Vec<String> = record.iter().map(u32::to_string).collect();
            format!("({})", codes.join(", "))
        };
        let first = show(&self.all[0]);
        let change = match neighbours {
            Neighbours::Replace => format!("one {first} becomes {}", show(&self.replacement)),
            Neighbours::AddRemove => format!("one {first} is removed"),
        };
        let mut counts: BTreeMap<&Record, usize> = BTreeMap::new();
        self.all.iter().for_each(|record| *counts.entry(record).or_default() += 1);
        // Of many kinds, the numbers say nothing that a reader could check.
        if counts.len() > 8 {
            let (records, kinds) = (self.all.len(), counts.len());
            return format!("{records} records of {kinds} kinds; {change}");
        }
        let counts: Vec<String> = counts
            .into_iter()
            .map(|(record, count)| format!("{count} x {}", show(record)))
            .collect();
        format!("{}; {change}", counts.join(", "))
    }
}

/// Uniform enough for a search.
fn below(rng: &mut impl Rng, bound: u32) -> u32 {
    rng.next_u32() % bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::model::Projectable;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn random_tables_and_their_mutations_are_neighbours() {
        let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let table = Records::random(&domain, &mut rng);
            for table in [table.mutated(&domain, &mut rng), table] {
                for (neighbours, changed) in
                    [(Neighbours::Replace, 2.0), (Neighbours::AddRemove, 1.0)]
                {
                    let (one, other) = table.datasets(&domain, neighbours).unwrap();
                    let cells = |data: &Dataset| {
                        data.project(&domain.everything()).unwrap().values().to_vec()
                    };
                    let pairs = cells(&one).into_iter().zip(cells(&other));
                    assert_eq!(pairs.map(|(a, b)| (a - b).abs()).sum::<f64>(), changed);
                }
            }
        }
    }

    #[test]
    fn a_pair_is_described_by_its_counts() {
        let all = vec![vec![0, 1], vec![1, 1], vec![0, 1]];
        let table = Records { all, replacement: vec![1, 0] };
        let said = table.describe(Neighbours::Replace);
        assert_eq!(said, "2 x (0, 1), 1 x (1, 1); one (0, 1) becomes (1, 0)");
        assert!(table.describe(Neighbours::AddRemove).ends_with("one (0, 1) is removed"));
    }
}
