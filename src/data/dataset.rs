use std::collections::BTreeMap;

use thiserror::Error;

use super::SourceFile;
use super::column::Column;
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};
use private_pgm::numeric::memory;

/// The most cells of a marginal. Our choice: 1 GiB of counts.
const MAX_MARGINAL_CELLS: usize = 1 << 27;

/// Records over a domain, stored by column.
#[derive(Clone, Debug)]
pub struct Dataset {
    name: String,
    domain: Domain,
    /// In axis order.
    columns: Vec<Column>,
    len: usize,
    provenance: Provenance,
}

/// Where records come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    pub sources: Vec<SourceFile>,
    /// Whether the records are a *stand-in*: synthetic records with the shape of real data that may
    /// not be distributed. They come from a private release of the real data, or from a seed alone
    /// (`[generator]` of the schema). Results on a stand-in are marked as such everywhere.
    pub stand_in: bool,
    pub rows: usize,
    /// Rows without a value that the schema requires.
    pub dropped: usize,
    /// By attribute, the number of values outside its bounds or its list.
    pub outside: BTreeMap<String, usize>,
}

/// Columns that are not a dataset over this domain.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CodesError {
    #[error("{found} columns for {expected} attributes")]
    Columns { expected: usize, found: usize },
    #[error("attribute '{attribute}' has {found} codes, the first one {expected}")]
    Length {
        attribute: String,
        /// Of the first column.
        expected: usize,
        found: usize,
    },
    #[error("attribute '{attribute}', record {record}: code {code}, but the codes are 0..{size}")]
    Code {
        attribute: String,
        /// From 0.
        record: usize,
        code: u32,
        size: usize,
    },
}

impl Dataset {
    /// A column of codes per attribute, in declared order.
    pub fn from_codes(
        name: &str,
        domain: &Domain,
        codes: &[Vec<u32>],
        provenance: Provenance,
    ) -> Result<Self, CodesError> {
        if codes.len() != domain.len() {
            return Err(CodesError::Columns { expected: domain.len(), found: codes.len() });
        }
        let records = codes.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(codes.len());
        for (&id, codes) in domain.declared().iter().zip(codes) {
            let (attribute, size) = (domain.name(id).to_string(), domain.size(id));
            if codes.len() != records {
                let (expected, found) = (records, codes.len());
                return Err(CodesError::Length { attribute, expected, found });
            }
            if let Some(record) = codes.iter().position(|&code| code as usize >= size) {
                return Err(CodesError::Code { attribute, record, code: codes[record], size });
            }
            let mut column = Column::new(size);
            codes.iter().for_each(|&code| column.push(code));
            columns.push(column);
        }
        Ok(Self::from_declared(name, domain, columns, provenance))
    }

    /// `columns` are in declared order and fit the domain.
    pub(super) fn from_declared(
        name: &str,
        domain: &Domain,
        columns: Vec<Column>,
        provenance: Provenance,
    ) -> Self {
        let len = columns.first().map_or(0, Column::len);
        let mut by_axis: Vec<(AttributeId, Column)> =
            domain.declared().iter().copied().zip(columns).collect();
        by_axis.sort_by_key(|&(id, _)| id);
        let columns = by_axis.into_iter().map(|(_, column)| column).collect();
        Self { name: name.into(), domain: domain.clone(), columns, len, provenance }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// m.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// # Panics
    /// If there is no such record.
    pub fn code(&self, record: usize, id: AttributeId) -> u32 {
        self.columns[id.index()].get(record)
    }

    pub(super) fn column(&self, id: AttributeId) -> &Column {
        &self.columns[id.index()]
    }

    /// A checksum of the records as a multiset. Up to collisions of BLAKE3, two datasets have the
    /// same checksum if and only if they have the same attributes and the same records with the
    /// same multiplicities, in any order.
    ///
    /// BLAKE3 over the attributes in declared order, each as its name, a zero byte and its size
    /// (u32, little-endian), then over the records in lexicographic order, each as its codes in
    /// declared order (u32, little-endian). Sorts the records: O(m d log m).
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for &id in self.domain.declared() {
            hasher.update(self.domain.name(id).as_bytes());
            hasher.update(&[0]);
            hasher.update(&(self.domain.size(id) as u32).to_le_bytes());
        }
        let declared: Vec<&Column> =
            self.domain.declared().iter().map(|&id| self.column(id)).collect();
        let mut codes = Vec::with_capacity(self.len * declared.len());
        for record in 0..self.len {
            codes.extend(declared.iter().map(|column| column.get(record)));
        }
        let mut records: Vec<&[u32]> = codes.chunks_exact(declared.len().max(1)).collect();
        records.sort_unstable();
        for code in records.into_iter().flatten() {
            hasher.update(&code.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl Projectable for Dataset {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Counts the records in one pass over the columns of `clique`, in blocks that stay in cache.
    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        let cells = MarginalError::check_cells(&self.domain, clique, MAX_MARGINAL_CELLS)?;
        let mut counts = memory::zeros(cells);
        let mut block = [0u32; 2048];
        for start in (0..self.len).step_by(block.len()) {
            let end = self.len.min(start + block.len());
            let addressed = &mut block[..end - start];
            addressed.fill(0);
            for id in clique.iter() {
                let size = self.domain.size(id) as u32;
                self.column(id).extend_cells(start..end, size, addressed);
            }
            for &cell in addressed.iter() {
                counts[cell as usize] += 1.0;
            }
        }
        Ok(Factor::new(&self.domain, clique.clone(), counts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sizes of up to 4 attributes, and columns of codes.
    fn records() -> impl Strategy<Value = (Vec<usize>, Vec<Vec<u32>>)> {
        let sizes = prop::collection::vec(prop_oneof![1..6usize, 250..400usize], 1..=4);
        (sizes, 0..5000usize).prop_flat_map(|(sizes, len)| {
            let columns: Vec<_> =
                sizes.iter().map(|&n| prop::collection::vec(0..n as u32, len)).collect();
            (Just(sizes), columns)
        })
    }

    fn dataset(sizes: &[usize], codes: &[Vec<u32>]) -> Dataset {
        let named = sizes.iter().enumerate().map(|(i, &size)| (format!("x{i}"), size));
        let domain = Domain::new(named).unwrap();
        Dataset::from_codes("random", &domain, codes, Provenance::default()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn marginals_count_records_one_by_one((sizes, codes) in records(), chosen: [bool; 4]) {
            let dataset = dataset(&sizes, &codes);
            let domain = dataset.domain();
            let listed: Vec<usize> = (0..sizes.len()).filter(|&i| chosen[i]).collect();
            let ids: Vec<AttributeId> = listed.iter().map(|&i| domain.declared()[i]).collect();
            let clique = Clique::new(ids.iter().copied());
            prop_assume!(domain.cells(&clique).unwrap() < 1 << 20);
            let marginal = dataset.project(&clique).unwrap();
            let mut obvious = vec![0.0; domain.cells(&clique).unwrap()];
            (0..dataset.len()).for_each(|record| {
                let cell = listed.iter().fold(0, |c, &i| c * sizes[i] + codes[i][record] as usize);
                obvious[cell] += 1.0;
            });
            prop_assert_eq!(marginal.values_as_listed(&ids), obvious);
        }

        #[test]
        fn the_fingerprint_is_that_of_the_multiset((sizes, codes) in records(), turn: usize) {
            let original = dataset(&sizes, &codes);
            let mut turned = codes.clone();
            if !original.is_empty() {
                turned.iter_mut().for_each(|c| c.rotate_left(turn % original.len()));
            }
            prop_assert_eq!(original.fingerprint(), dataset(&sizes, &turned).fingerprint());
            if !original.is_empty() {
                let place = turn % original.len();
                turned[0][place] = (turned[0][place] + 1) % sizes[0] as u32;
                let same = sizes[0] == 1;
                let turned = dataset(&sizes, &turned);
                prop_assert_eq!(original.fingerprint() == turned.fingerprint(), same);
            }
        }
    }

    #[test]
    fn marginals_beyond_the_limit_are_refused() {
        let dataset = dataset(&[1000; 4], &vec![vec![0, 999]; 4]);
        let refused = dataset.project(&dataset.domain().everything()).unwrap_err();
        assert!(matches!(refused, MarginalError::TooLarge { cells: 1e12, .. }));
        assert_eq!(dataset.project(&Clique::empty()).unwrap().values(), [2.0]);
    }

    #[test]
    fn codes_that_do_not_fit_the_domain_are_refused() {
        let domain = Domain::new([("a", 3), ("b", 2)]).unwrap();
        let from = |codes: &[Vec<u32>]| {
            Dataset::from_codes("d", &domain, codes, Provenance::default()).unwrap_err()
        };
        assert_eq!(from(&[vec![]]), CodesError::Columns { expected: 2, found: 1 });
        assert!(matches!(from(&[vec![0], vec![]]), CodesError::Length { found: 0, .. }));
        assert!(matches!(from(&[vec![0], vec![2]]), CodesError::Code { code: 2, size: 2, .. }));
    }
}
