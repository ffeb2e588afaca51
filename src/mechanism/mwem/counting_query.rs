use crate::domain::{Clique, Domain};
use crate::mechanism::MechanismError;
use crate::numeric::sparse::CsrMatrix;
use crate::workload::{QueryError, QueryMatrix, SubWorkload};

/// Refuses a workload with queries that do more than count records: their answers move by other
/// amounts than 1.
pub(super) fn check(domain: &Domain, parts: &[SubWorkload]) -> Result<(), MechanismError> {
    let counts = |part: &SubWorkload| {
        part.query.factors().iter().zip(part.query.shape()).all(|(factor, &n)| factor.counts(n))
    };
    match parts.iter().find(|part| !counts(part)) {
        None => Ok(()),
        Some(part) => Err(MechanismError::Unsuitable(format!(
            "MWEM chooses among queries that count records; those on {} do not",
            domain.names(&part.clique).join(", "),
        ))),
    }
}

/// One row of a sub-workload as a query of its own.
///
/// A row of a Kronecker product is the product of one row of each factor, here the values that it
/// counts. An attribute of which it counts all values does not matter, and is left out: what is
/// measured is then the same query on a smaller marginal, for which any model is smaller too. The
/// query is a list of cells, usually few: estimates evaluate it thousands of times.
pub(super) fn row(
    domain: &Domain,
    part: &SubWorkload,
    row: usize,
) -> Result<(Clique, QueryMatrix), QueryError> {
    let mut rest = row;
    let mut axes = Vec::with_capacity(part.clique.len());
    for (id, factor) in part.clique.iter().zip(part.query.factors()).rev() {
        let size = domain.size(id);
        let rows = factor.rows(size);
        let mut values = Vec::new();
        factor.for_each_entry(size, |row, value, entry| {
            if row == rest % rows && entry != 0.0 {
                values.push(value);
            }
        });
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
    let listed: Vec<_> = axes.iter().map(|(id, _)| *id).collect();
    let mut matrix = CsrMatrix::new(listed.iter().map(|&id| domain.size(id)).product());
    matrix.push_row(cells.into_iter().map(|cell| (cell, 1.0)));
    let query = QueryMatrix::sparse(domain, &listed, matrix)?;
    Ok((Clique::new(listed), query))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::factor::Factor;
    use crate::workload::QueryFactor;

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
                let (clique, query) = row(&domain, &part, index).unwrap();
                let alone = SubWorkload { clique: clique.clone(), query };
                prop_assert_eq!(alone.answers(table.sum_onto(&clique).values()), [expected]);
            }
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
        assert!(check(&domain, &[part(QueryFactor::Ranges)]).is_ok());
        let parts = [part(QueryFactor::Prefix), part(QueryFactor::Moments(1))];
        assert!(matches!(check(&domain, &parts), Err(MechanismError::Unsuitable(_))));
    }
}
