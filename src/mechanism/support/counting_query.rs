//! Single queries that count records.

use crate::mechanism::MechanismError;
use crate::workload::SubWorkload;
use private_pgm::domain::{Clique, Domain};
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};

/// Refuses a workload with queries that are no counts of records. One record changes the answer to
/// a count by at most 1. `mechanism` is for the message.
pub(crate) fn check(
    mechanism: &str,
    domain: &Domain,
    parts: &[SubWorkload],
) -> Result<(), MechanismError> {
    let counts = |part: &SubWorkload| {
        part.query.factors().iter().zip(part.query.shape()).all(|(factor, &n)| factor.counts(n))
    };
    match parts.iter().find(|part| !counts(part)) {
        None => Ok(()),
        Some(part) => Err(MechanismError::Unsuitable(format!(
            "{mechanism} chooses among queries that count records; those on {} do not",
            domain.names(&part.clique).join(", "),
        ))),
    }
}

/// A query that counts the records in some cells of a marginal. The list of cells is usually short,
/// and estimators evaluate the query thousands of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountingQuery {
    pub(crate) clique: Clique,
    /// Distinct cells of the table over the clique.
    pub(crate) cells: Vec<usize>,
}

impl CountingQuery {
    /// One row of a sub-workload that [`check`] has accepted.
    ///
    /// A row of a Kronecker product is the product of one row of each factor, which is here a set
    /// of counted values. An attribute of which all values are counted is left out. The query is
    /// then the same query on a smaller marginal, and its model is smaller.
    pub(crate) fn of_row(domain: &Domain, part: &SubWorkload, row: usize) -> Self {
        let factors = part.query.factors();
        if factors.len() != part.clique.len() {
            // One matrix over all cells.
            let cells = values(&factors[0], part.query.shape()[0], row);
            return Self { clique: part.clique.clone(), cells };
        }
        let mut rest = row;
        let mut axes = Vec::with_capacity(part.clique.len());
        for (id, factor) in part.clique.iter().zip(factors).rev() {
            let size = domain.size(id);
            let rows = factor.rows(size);
            let values = values(factor, size, rest % rows);
            rest /= rows;
            if values.len() < size {
                axes.push((id, values));
            }
        }
        axes.reverse();
        let mut cells = vec![0];
        for (id, values) in &axes {
            let size = domain.size(*id);
            cells = cells
                .iter()
                .flat_map(|cell| values.iter().map(move |value| cell * size + value))
                .collect();
        }
        Self { clique: axes.into_iter().map(|(id, _)| id).collect(), cells }
    }

    /// The query that counts the other records.
    pub(crate) fn negated(&self, domain: &Domain) -> Self {
        let mut counted = vec![false; domain.shape(&self.clique).iter().product()];
        self.cells.iter().for_each(|&cell| counted[cell] = true);
        let others = counted.iter().enumerate().filter(|&(_, &counted)| !counted);
        Self { clique: self.clique.clone(), cells: others.map(|(cell, _)| cell).collect() }
    }

    pub(crate) fn matrix(&self, domain: &Domain) -> Result<QueryMatrix, QueryError> {
        let mut matrix = CsrMatrix::new(domain.shape(&self.clique).iter().product());
        matrix.push_row(self.cells.iter().map(|&cell| (cell, 1.0)));
        QueryMatrix::sparse(domain, self.clique.as_slice(), matrix)
    }
}

/// The values that the row `wanted` of a factor counts.
fn values(factor: &QueryFactor, size: usize, wanted: usize) -> Vec<usize> {
    let mut values = Vec::new();
    factor.for_each_entry(size, |row, value, entry| {
        if row == wanted && entry != 0.0 {
            values.push(value);
        }
    });
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use private_pgm::factor::Factor;
    use private_pgm::numeric::matrix::Matrix;

    fn counting(n: usize) -> impl Strategy<Value = QueryFactor> {
        prop_oneof![
            Just(QueryFactor::Identity),
            Just(QueryFactor::Prefix),
            Just(QueryFactor::Total),
            Just(QueryFactor::Ranges),
            prop::sample::subsequence((0..n).collect::<Vec<_>>(), 0..=n)
                .prop_map(QueryFactor::Evidence),
            prop::collection::vec(0usize..3, n).prop_map(QueryFactor::Compress),
        ]
    }

    proptest! {
        #[test]
        fn every_row_alone_has_the_answer_that_it_has_among_the_others(
            (sizes, factors) in prop::collection::vec(1usize..5, 1..4)
                .prop_flat_map(|sizes| {
                    let factors: Vec<_> = sizes.iter().map(|&n| counting(n)).collect();
                    (Just(sizes), factors)
                })
        ) {
            let named = sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n));
            let domain = Domain::new(named).unwrap();
            let (query, _) = QueryMatrix::kronecker(&domain, domain.declared(), factors).unwrap();
            let part = SubWorkload { clique: domain.everything(), query };
            let cells = domain.cells(&part.clique).unwrap();
            let counts = (0..cells).map(|cell| ((cell * 7) % 11) as f64).collect();
            let table = Factor::new(&domain, part.clique.clone(), counts);
            for (index, &expected) in part.answers(table.values()).iter().enumerate() {
                let query = CountingQuery::of_row(&domain, &part, index);
                prop_assert_eq!(alone(&domain, &query, &table), expected);
                let others = alone(&domain, &query.negated(&domain), &table);
                prop_assert_eq!(others, table.total() - expected);
            }
        }
    }

    fn alone(domain: &Domain, query: &CountingQuery, table: &Factor) -> f64 {
        let part =
            SubWorkload { clique: query.clique.clone(), query: query.matrix(domain).unwrap() };
        part.answers(table.sum_onto(&query.clique).values())[0]
    }

    #[test]
    fn a_row_of_a_matrix_over_all_cells_is_a_query() {
        let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
        let rows = vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let clique = domain.everything();
        let query =
            QueryMatrix::dense(&domain, clique.as_slice(), Matrix::new(2, 6, rows)).unwrap();
        let part = SubWorkload { clique, query };
        let table = Factor::new(&domain, domain.everything(), (1..7).map(f64::from).collect());
        assert_eq!(part.answers(table.values()), [10.0, 8.0]);
        for (row, expected) in [10.0, 8.0].into_iter().enumerate() {
            let query = CountingQuery::of_row(&domain, &part, row);
            assert_eq!(alone(&domain, &query, &table), expected);
        }
    }

    #[test]
    fn queries_that_do_more_than_count_are_refused() {
        let domain = Domain::new([("age", 9)]).unwrap();
        let part = |factor| {
            let (query, _) =
                QueryMatrix::kronecker(&domain, domain.declared(), vec![factor]).unwrap();
            SubWorkload { clique: domain.everything(), query }
        };
        assert!(check("MWEM", &domain, &[part(QueryFactor::Ranges)]).is_ok());
        let parts = [part(QueryFactor::Prefix), part(QueryFactor::Moments(1))];
        assert!(matches!(check("MWEM", &domain, &parts), Err(MechanismError::Unsuitable(_))));
    }
}
