//! Rare values become one.

use crate::data::{Dataset, Provenance};
use crate::mechanism::{MechanismError, Private};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};

/// The values of an attribute that are kept, and those that are merged into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Ascending.
    kept: Vec<usize>,
    /// Ascending. Empty, or at least two values.
    merged: Vec<usize>,
}

impl Groups {
    /// Merges the values whose noisy count is below `threshold` standard deviations of the noise.
    /// Depends on published numbers.
    pub(super) fn new(one_way: &Measurement, threshold: f64) -> Self {
        let rare = |&value: &usize| one_way.y[value] < threshold * one_way.stddev;
        let (merged, kept): (Vec<usize>, Vec<usize>) = (0..one_way.y.len()).partition(rare);
        match merged.len() {
            0 | 1 => Self { kept: (0..one_way.y.len()).collect(), merged: Vec::new() },
            _ => Self { kept, merged },
        }
    }

    /// The number of values after merging.
    fn size(&self) -> usize {
        self.kept.len() + usize::from(!self.merged.is_empty())
    }

    /// The value after merging for each value before: the kept ones in order, then the merged one.
    fn codes(&self) -> Vec<usize> {
        let mut codes = vec![self.kept.len(); self.kept.len() + self.merged.len()];
        self.kept.iter().enumerate().for_each(|(code, &value)| codes[value] = code);
        codes
    }

    /// The query on an attribute that counts its values after merging.
    pub(super) fn factor(&self) -> QueryFactor {
        match self.merged.is_empty() {
            true => QueryFactor::Identity,
            false => QueryFactor::Compress(self.codes()),
        }
    }

    /// The one-way marginal after merging, as measurements over the values before. The noise of the
    /// merged count is that of as many counts, so it is a measurement of its own.
    pub(super) fn measurements(
        &self,
        domain: &Domain,
        one_way: &Measurement,
    ) -> Result<Vec<Measurement>, QueryError> {
        self.split(domain, &one_way.clique, one_way, &self.kept, &self.merged)
    }

    /// Measurements of the counts of `kept` and of the sum over `merged`, on the attribute of
    /// `clique` in `domain`.
    fn split(
        &self,
        domain: &Domain,
        clique: &Clique,
        one_way: &Measurement,
        kept: &[usize],
        merged: &[usize],
    ) -> Result<Vec<Measurement>, QueryError> {
        if self.merged.is_empty() {
            let query = QueryMatrix::identity(domain, clique)?;
            return Ok(vec![Measurement { clique: clique.clone(), query, ..one_way.clone() }]);
        }
        let query = |factor| QueryMatrix::kronecker(domain, clique.as_slice(), vec![factor]);
        let mut measurements = Vec::new();
        if !kept.is_empty() {
            let mut rows = CsrMatrix::new(domain.cells(clique).unwrap_or_default());
            kept.iter().for_each(|&value| rows.push_row([(value, 1.0)]));
            measurements.push(Measurement {
                clique: clique.clone(),
                query: query(QueryFactor::Sparse(rows))?.0,
                y: self.kept.iter().map(|&value| one_way.y[value]).collect(),
                stddev: one_way.stddev,
            });
        }
        measurements.push(Measurement {
            clique: clique.clone(),
            query: query(QueryFactor::Evidence(merged.to_vec()))?.0,
            y: vec![self.merged.iter().map(|&value| one_way.y[value]).sum()],
            stddev: one_way.stddev * (self.merged.len() as f64).sqrt(),
        });
        Ok(measurements)
    }
}

/// The data over the domain after merging.
pub(super) struct Compressed {
    data: Dataset,
    pub(super) one_way: Vec<Measurement>,
}

impl Compressed {
    /// `groups` and `one_way` are by attribute id.
    pub(super) fn new(
        data: &Dataset,
        groups: &[Groups],
        one_way: &[Measurement],
    ) -> Result<Self, MechanismError> {
        let domain = data.domain();
        let attributes = domain.declared().iter();
        let sizes = attributes.clone().map(|&id| (domain.name(id), groups[id.index()].size()));
        let smaller =
            Domain::new(sizes).map_err(|error| MechanismError::Unsuitable(error.to_string()))?;
        let column = |&id: &AttributeId| {
            let codes = groups[id.index()].codes();
            let code = |record| codes[data.code(record, id) as usize] as u32;
            (0..data.len()).map(code).collect::<Vec<u32>>()
        };
        let columns: Vec<Vec<u32>> = attributes.map(column).collect();
        let compressed =
            Dataset::from_codes(data.name(), &smaller, &columns, Provenance::default())?;
        let mut measurements = Vec::new();
        for (id, (groups, one_way)) in domain.ids().zip(groups.iter().zip(one_way)) {
            let there = smaller.id(domain.name(id)).into_iter().collect::<Clique>();
            let kept: Vec<usize> = (0..groups.kept.len()).collect();
            measurements.extend(groups.split(
                &smaller,
                &there,
                one_way,
                &kept,
                &[groups.kept.len()],
            )?);
        }
        Ok(Self { data: compressed, one_way: measurements })
    }

    pub(super) fn data(&self) -> Private<'_> {
        Private::new(&self.data)
    }

    /// The clique of the same attributes in `domain`.
    pub(super) fn original(&self, domain: &Domain, clique: &Clique) -> Clique {
        self.data.domain().names(clique).into_iter().filter_map(|name| domain.id(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_way(domain: &Domain, y: &[f64]) -> Measurement {
        let clique = domain.everything();
        let query = QueryMatrix::identity(domain, &clique).unwrap();
        Measurement { clique, query, y: y.to_vec(), stddev: 2.0 }
    }

    #[test]
    fn counts_below_three_standard_deviations_are_merged() {
        let domain = Domain::new([("a", 5)]).unwrap();
        let measured = one_way(&domain, &[5.9, 30.0, -4.0, 6.0, 1.0]);
        let groups = Groups::new(&measured, 3.0);
        assert_eq!(groups, Groups { kept: vec![1, 3], merged: vec![0, 2, 4] });
        assert_eq!((groups.size(), groups.codes()), (3, vec![2, 0, 2, 1, 2]));
        let [kept, merged] = &groups.measurements(&domain, &measured).unwrap()[..] else {
            panic!("two measurements")
        };
        assert_eq!((&kept.y[..], kept.stddev), (&[30.0, 6.0][..], 2.0));
        assert!((merged.y[0] - 2.9).abs() < 1e-12 && merged.stddev == 2.0 * 3f64.sqrt());
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0];
        for (measurement, expected) in [(kept, vec![2.0, 8.0]), (merged, vec![21.0])] {
            let mut found = vec![0.0; expected.len()];
            let mut scratch = vec![0.0; measurement.query.scratch_len()];
            measurement.query.apply(&counts, &mut found, &mut scratch);
            assert_eq!(found, expected);
            measurement.check(&domain).unwrap();
        }
    }

    #[test]
    fn one_rare_value_stays_as_it_is_and_all_rare_values_become_one() {
        let domain = Domain::new([("a", 3)]).unwrap();
        let one = one_way(&domain, &[50.0, 1.0, 50.0]);
        assert_eq!(Groups::new(&one, 3.0).measurements(&domain, &one).unwrap(), [one]);
        let none = one_way(&domain, &[1.0, -1.0, 2.0]);
        let groups = Groups::new(&none, 3.0);
        assert_eq!(groups.size(), 1);
        let [merged] = &groups.measurements(&domain, &none).unwrap()[..] else { panic!() };
        assert_eq!(merged.y, [2.0]);
        // Without noise nothing is rare.
        let exact = Measurement { stddev: 1e-9, ..one_way(&domain, &[0.0, 1.0, 0.0]) };
        assert_eq!(Groups::new(&exact, 0.0).size(), 3);
    }

    #[test]
    fn compressed_data_has_the_merged_counts() {
        let domain = Domain::new([("a", 2), ("b", 4)]).unwrap();
        let codes = [vec![0, 1, 0, 1, 1], vec![0, 1, 2, 3, 1]];
        let data = Dataset::from_codes("toy", &domain, &codes, Provenance::default()).unwrap();
        let measured: Vec<Measurement> = domain
            .ids()
            .map(|id| {
                let clique = Clique::new([id]);
                let query = QueryMatrix::identity(&domain, &clique).unwrap();
                let y =
                    if domain.name(id) == "a" { vec![9.0, 9.0] } else { vec![0.0, 9.0, 0.0, 0.0] };
                Measurement { clique, query, y, stddev: 1.0 }
            })
            .collect();
        let groups: Vec<Groups> = measured.iter().map(|m| Groups::new(m, 3.0)).collect();
        let compressed = Compressed::new(&data, &groups, &measured).unwrap();
        let b = compressed.data.domain().id("b").unwrap();
        let counts = compressed.data.project(&Clique::new([b])).unwrap();
        assert_eq!(counts.values(), [2.0, 3.0]);
        for measurement in &compressed.one_way {
            measurement.check(compressed.data.domain()).unwrap();
        }
        let pair = compressed.data.domain().everything();
        assert_eq!(compressed.original(&domain, &pair), domain.everything());
    }
}
