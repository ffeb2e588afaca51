//! Residuals against explicit matrices over the full table.

mod estimators;
mod explicit;
mod matrices;
mod nonnegative;
mod transform;

use proptest::prelude::*;

use crate::domain::{Clique, Domain};
use crate::loss::Measurement;
use crate::query::{QueryFactor, QueryMatrix};

/// Three attributes of one to four values.
fn domain() -> impl Strategy<Value = Domain> {
    prop::collection::vec(1usize..5, 3).prop_map(|sizes| {
        Domain::new(sizes.into_iter().enumerate().map(|(i, n)| (format!("x{i}"), n))).unwrap()
    })
}

fn clique(domain: &Domain, mask: usize) -> Clique {
    domain.ids().filter(|id| mask >> id.index() & 1 == 1).collect()
}

/// All subsets of the attributes.
fn all_cliques(domain: &Domain) -> Vec<Clique> {
    (0..1 << domain.len()).map(|mask| clique(domain, mask)).collect()
}

/// Answers between -8 and 8, with standard deviations of 1/2 to 4.
fn measurement(
    domain: &Domain,
    clique: &Clique,
    factors: Vec<QueryFactor>,
) -> impl Strategy<Value = Measurement> + use<> {
    let (query, _) = QueryMatrix::kronecker(domain, clique.as_slice(), factors).unwrap();
    let answers = prop::collection::vec(-8.0..8.0f64, query.rows());
    let clique = clique.clone();
    (answers, 0.5..4.0f64).prop_map(move |(y, stddev)| Measurement {
        clique: clique.clone(),
        query: query.clone(),
        y,
        stddev,
    })
}

/// A domain and one to five measurements of its marginals.
fn measured() -> impl Strategy<Value = (Domain, Vec<Measurement>)> {
    let picks = prop::collection::vec((0usize..8, prop::collection::vec(0u8..6, 3)), 1..6);
    (domain(), picks).prop_flat_map(|(domain, picks)| {
        let kind = |kind: u8, n: usize| match kind {
            0 => QueryFactor::Total,
            1 if n > 1 => QueryFactor::Contrasts,
            _ => QueryFactor::Identity,
        };
        let one = |(mask, kinds): (usize, Vec<u8>)| {
            let clique = clique(&domain, mask);
            let factors = clique.iter().map(|id| kind(kinds[id.index()], domain.size(id)));
            let factors = factors.collect();
            measurement(&domain, &clique, factors).boxed()
        };
        let measurements: Vec<BoxedStrategy<Measurement>> = picks.into_iter().map(one).collect();
        (Just(domain.clone()), measurements)
    })
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{a} {b}");
    }
}
