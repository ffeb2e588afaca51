//! Multiplicative weights against the graphical model.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::domain::{AttributeId, Domain};
use crate::factor::Factor;
use crate::fit::{Pgm, StructuralZeros};
use crate::query::{QueryFactor, QueryMatrix};

const TOTAL: f64 = 1000.0;

fn run(
    estimator: &dyn Estimator,
    evidence: &Evidence<'_>,
    memory_limit: u64,
    deadline: Option<Instant>,
) -> Result<Estimated, EstimatorError> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let observer = &mut |_: &Progress<'_>| {};
    let context =
        &mut EstimatorContext { memory_limit, deadline, warm_start: None, rng: &mut rng, observer };
    estimator.estimate(evidence, context)
}

fn converged(full: bool) -> MultiplicativeWeights {
    MultiplicativeWeights { full, iterations: 200_000, gap: 1e-11, ..Default::default() }
}

fn domain(sizes: &[usize]) -> Domain {
    Domain::new(sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n))).unwrap()
}

/// Slightly inconsistent answers to queries on a table that is far from uniform.
fn measurement(
    domain: &Domain,
    listed: &[AttributeId],
    factors: Vec<QueryFactor>,
    salt: usize,
) -> Measurement {
    let everything = domain.everything();
    let cells = domain.cells(&everything).unwrap();
    let mut table: Vec<f64> = (0..cells).map(|cell| 1.0 + ((cell * 7 + 3) % 11) as f64).collect();
    let sum: f64 = table.iter().sum();
    table.iter_mut().for_each(|cell| *cell *= TOTAL / sum);
    let clique = Clique::new(listed.iter().copied());
    let marginal = Factor::new(domain, everything, table).sum_onto(&clique);
    let (query, _) = QueryMatrix::kronecker(domain, listed, factors).unwrap();
    let mut y = vec![0.0; query.rows()];
    query.apply(marginal.values(), &mut y, &mut vec![0.0; query.scratch_len()]);
    for (row, y) in y.iter_mut().enumerate() {
        *y += ((row * 5 + salt * 3) % 9) as f64 - 4.0;
    }
    Measurement { clique, query, y, stddev: 3.0 + salt as f64 }
}

fn identities(domain: &Domain, cliques: &[&[usize]]) -> Vec<Measurement> {
    let measure = |(salt, ids): (usize, &&[usize])| {
        let listed: Vec<AttributeId> = ids.iter().map(|&i| domain.declared()[i]).collect();
        measurement(domain, &listed, vec![QueryFactor::Identity; ids.len()], salt)
    };
    cliques.iter().enumerate().map(measure).collect()
}

fn pairs(domain: &Domain) -> Vec<Clique> {
    let ids: Vec<AttributeId> = domain.ids().collect();
    let others = |&a: &AttributeId| domain.ids().map(move |b| Clique::new([a, b]));
    ids.iter().flat_map(others).collect()
}

/// The largest difference between cells of the two-way marginals of multiplicative weights and of
/// the graphical model, as a fraction of the total.
fn difference(mw: &MultiplicativeWeights, evidence: &Evidence<'_>) -> f64 {
    let asked = pairs(evidence.domain);
    let pgm = run(&Pgm::default(), evidence, u64::MAX, None).unwrap();
    let mw = run(mw, evidence, u64::MAX, None).unwrap();
    let [pgm, mw] = [pgm, mw].map(|estimated| estimated.answers.marginals(&asked).unwrap());
    let cells = |factors: Vec<Factor>| factors.into_iter().flat_map(Factor::into_values);
    cells(pgm).zip(cells(mw)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / evidence.total
}

fn evidence<'a>(domain: &'a Domain, answers: &'a [Measurement]) -> Evidence<'a> {
    Evidence { domain, total: TOTAL, observed: Observed::Answers(answers), zeros: &[] }
}

#[test]
fn disjoint_triples_have_the_answers_of_the_graphical_model() {
    let domain = domain(&[2, 3, 4, 2, 5, 3, 4]);
    let answers = identities(&domain, &[&[0, 1, 2], &[3, 4, 5]]);
    assert!(difference(&converged(false), &evidence(&domain, &answers)) < 1e-6);
}

#[test]
fn overlapping_cliques_have_the_answers_of_the_graphical_model() {
    let domain = domain(&[2, 3, 4, 3, 2]);
    let answers = identities(&domain, &[&[0, 1], &[1, 2], &[2, 0], &[3]]);
    for full in [false, true] {
        assert!(difference(&converged(full), &evidence(&domain, &answers)) < 1e-5);
    }
}

#[test]
fn impossible_combinations_stay_impossible() {
    let domain = domain(&[2, 3, 4]);
    let answers = identities(&domain, &[&[0, 1], &[1, 2]]);
    let zeros = [StructuralZeros { clique: answers[0].clique.clone(), cells: vec![1, 4] }];
    let evidence = Evidence { zeros: &zeros, ..evidence(&domain, &answers) };
    assert!(difference(&converged(false), &evidence) < 1e-5);
    let estimated = run(&converged(false), &evidence, u64::MAX, None).unwrap();
    let marginal = &estimated.answers.marginals(&[zeros[0].clique.clone()]).unwrap()[0];
    assert_eq!((marginal.values()[1], marginal.values()[4]), (0.0, 0.0));
}

#[test]
fn without_measurements_the_estimate_is_uniform() {
    let domain = domain(&[2, 3]);
    let estimated = run(&converged(false), &evidence(&domain, &[]), u64::MAX, None).unwrap();
    let marginal = &estimated.answers.marginals(&[domain.everything()]).unwrap()[0];
    assert!(marginal.values().iter().all(|cell| (cell - TOTAL / 6.0).abs() < 1e-9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Single counting queries, as in MWEM.
    #[test]
    fn counting_queries_have_the_answers_of_the_graphical_model(
        sizes in prop::collection::vec(2usize..5, 2..5),
        queries in prop::collection::vec((0usize..100, 0usize..100, 0usize..100), 1..6),
    ) {
        let domain = domain(&sizes);
        let ids: Vec<AttributeId> = domain.ids().collect();
        let one = |(salt, &(a, b, value)): (usize, &(usize, usize, usize))| {
            let a = a % (ids.len() - 1);
            let listed = [ids[a], ids[a + 1 + b % (ids.len() - 1 - a)]];
            let sizes = listed.map(|id| domain.size(id));
            let factors = vec![
                QueryFactor::Evidence(vec![value % sizes[0]]),
                QueryFactor::Evidence((0..=value % (sizes[1] - 1)).collect()),
            ];
            measurement(&domain, &listed, factors, salt)
        };
        let answers: Vec<Measurement> = queries.iter().enumerate().map(one).collect();
        prop_assert!(difference(&converged(false), &evidence(&domain, &answers)) < 1e-4);
    }
}

#[test]
fn an_error_names_the_first_measurement_above_the_memory_limit() {
    let domain = domain(&[10; 6]);
    let answers = identities(&domain, &[&[0, 1], &[2, 3], &[1, 2], &[4, 5], &[3, 4]]);
    let mw = MultiplicativeWeights { step_name: "round", ..Default::default() };
    match run(&mw, &evidence(&domain, &answers), 1_000_000, None) {
        Err(EstimatorError::Infeasible { bytes, message }) => {
            assert_eq!(bytes, 8e6);
            assert_eq!(
                message,
                "round 5 of 5 needs 8.0 MB for the attributes x0, x1, x2, x3, x4, x5, more than \
                 the limit of 1.0 MB"
            );
        }
        other => panic!("{:?}", other.err()),
    }
    match run(&mw, &evidence(&domain, &answers), 10_000, None) {
        Err(EstimatorError::Infeasible { message, .. }) => {
            assert!(
                message.starts_with("round 3 of 5 needs 80 kB for the attributes x0, x1, x2, x3,")
            );
        }
        other => panic!("{:?}", other.err()),
    }
    let full = MultiplicativeWeights { full: true, ..Default::default() };
    match run(&full, &evidence(&domain, &answers[..1]), 10_000, None) {
        Err(EstimatorError::Infeasible { bytes, .. }) => assert_eq!(bytes, 8e6),
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn a_past_deadline_is_a_timeout() {
    let domain = domain(&[4, 5]);
    let answers = identities(&domain, &[&[0, 1]]);
    let past = Instant::now().checked_sub(Duration::from_secs(1));
    let once = MultiplicativeWeights { iterations: 1, ..converged(false) };
    for weights in [converged(false), once] {
        let ended = run(&weights, &evidence(&domain, &answers), u64::MAX, past);
        assert!(matches!(ended, Err(EstimatorError::Timeout { .. })));
    }
}

#[test]
fn a_call_of_the_oracle_stops_at_the_deadline() {
    let domain = domain(&[4, 5]);
    let layout = CliqueLayout::new(domain.clone(), vec![domain.everything()]);
    let past = Instant::now().checked_sub(Duration::from_secs(1));
    for (deadline, late) in [(None, false), (past, true)] {
        let mut oracle = JointTables::new(layout.clone(), vec![domain.everything()], deadline);
        let mut marginals = Marginals::zeros(&layout);
        let log_z = oracle.marginals(&Potentials::zeros(&layout), 20.0, &mut marginals);
        assert_eq!(log_z.is_nan(), late);
        let expected = if late { 0.0 } else { 1.0 };
        assert!(marginals.values().iter().all(|&cell: &f64| (cell - expected).abs() < 1e-14));
        assert_eq!(oracle.maximum(&Potentials::zeros(&layout)).is_none(), late);
    }
}
