use std::time::Instant;

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::domain::Clique;
use crate::domain::Domain;
use crate::factor::Factor;
use crate::fit::{
    Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed, Progress,
};
use crate::loss::{Measurement, MeasurementError};
use crate::model::{MarginalError, Projectable};
use crate::numeric::cholesky::Cholesky;
use crate::numeric::matrix::Matrix;
use crate::query::{PIdentity, QueryFactor, QueryMatrix};

fn run(
    estimator: &dyn Estimator,
    domain: &Domain,
    measurements: &[Measurement],
    memory_limit: u64,
    deadline: Option<Instant>,
) -> Result<Estimated, EstimatorError> {
    let observed = Observed::Answers(measurements);
    let evidence = Evidence { domain, total: 10.0, observed, zeros: &[] };
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut context = EstimatorContext {
        memory_limit,
        deadline,
        warm_start: None,
        rng: &mut rng,
        observer: &mut |_: &Progress<'_>| {},
    };
    estimator.estimate(&evidence, &mut context)
}

fn solve(
    estimator: &dyn Estimator,
    domain: &Domain,
    measurements: &[Measurement],
) -> Box<dyn Projectable> {
    run(estimator, domain, measurements, 1 << 30, None).unwrap().answers
}

fn domain() -> Domain {
    Domain::new([("a", 2), ("b", 3), ("c", 2)]).unwrap()
}

fn clique(domain: &Domain, names: &str) -> Clique {
    names.split(' ').map(|name| domain.id(name).unwrap()).collect()
}

fn factor(n: usize) -> impl Strategy<Value = QueryFactor> {
    let b = prop::collection::vec(0.0..2.0f64, n);
    prop_oneof![
        Just(QueryFactor::Identity),
        Just(QueryFactor::Prefix),
        Just(QueryFactor::Ranges),
        Just(QueryFactor::Total),
        b.prop_map(move |b| QueryFactor::PIdentity(PIdentity::normalised(Matrix::new(1, n, b)))),
    ]
}

/// Queries on the marginal of these attributes with arbitrary answers.
fn measurement(names: &'static str) -> impl Strategy<Value = Measurement> {
    let (domain, clique) = (domain(), clique(&domain(), names));
    let factors: Vec<_> = clique.iter().map(|id| factor(domain.size(id)).boxed()).collect();
    (factors, 0.5..3.0f64).prop_map(move |(factors, stddev)| {
        let (query, _) = QueryMatrix::kronecker(&domain, clique.as_slice(), factors).unwrap();
        let y = (0..query.rows()).map(|i| ((7 * i + 3) % 11) as f64).collect();
        Measurement { clique: clique.clone(), query, y, stddev }
    })
}

/// The dense system over the table of `clique`: its rows and right-hand side.
fn dense_system(
    domain: &Domain,
    clique: &Clique,
    measurements: &[Measurement],
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let cells = domain.cells(clique).unwrap();
    let (mut rows, mut b) = (Vec::new(), Vec::new());
    for measurement in measurements {
        let columns: Vec<Vec<f64>> = (0..cells)
            .map(|cell| {
                let mut unit = vec![0.0; cells];
                unit[cell] = 1.0;
                let marginal =
                    Factor::new(domain, clique.clone(), unit).sum_onto(&measurement.clique);
                let matrix = measurement.query.to_dense();
                let answer = |row| {
                    std::iter::zip(matrix.row(row), marginal.values()).map(|(q, x)| q * x).sum()
                };
                (0..matrix.rows()).map(answer).collect()
            })
            .collect();
        for (row, y) in measurement.y.iter().enumerate() {
            rows.push(columns.iter().map(|column| column[row] / measurement.stddev).collect());
            b.push(y / measurement.stddev);
        }
    }
    (rows, b)
}

/// The minimum-norm solution by Tikhonov regularisation: (A^T A + t I)^-1 A^T b for a small t.
fn dense_solution(rows: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = rows[0].len();
    let (mut gram, mut x) = (Matrix::zeros(n, n), vec![0.0; n]);
    for (row, &b) in rows.iter().zip(b) {
        for i in 0..n {
            x[i] += row[i] * b;
            (0..n).for_each(|j| gram[(i, j)] += row[i] * row[j]);
        }
    }
    (0..n).for_each(|i| gram[(i, i)] += 1e-8);
    Cholesky::new(gram).unwrap().solve(&mut x);
    x
}

fn assert_close(found: &[f64], expected: &[f64]) {
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-4, "{found:?} {expected:?}");
    }
}

proptest! {
    #[test]
    fn full_least_squares_agree_with_the_dense_system(
        measurements in (measurement("a b"), measurement("b c"), measurement("a")),
    ) {
        let (domain, measurements) = (domain(), [measurements.0, measurements.1, measurements.2]);
        let everything = domain.everything();
        let (rows, b) = dense_system(&domain, &everything, &measurements);
        let answers = solve(&FullLeastSquares::default(), &domain, &measurements);
        let table = answers.marginals(&[everything]).unwrap();
        assert_close(table[0].values(), &dense_solution(&rows, &b));
    }

    #[test]
    fn local_least_squares_use_all_measurements_inside_a_clique(
        measurements in (measurement("a b"), measurement("b c"), measurement("b")),
    ) {
        let domain = domain();
        let (ab, bc, b) = measurements;
        let measurements = [ab.clone(), bc.clone(), b.clone()];
        let answers = solve(&LocalLeastSquares::default(), &domain, &measurements);
        for own in [ab, bc] {
            let (rows, y) = dense_system(&domain, &own.clique, &[own.clone(), b.clone()]);
            let table = answers.marginals(std::slice::from_ref(&own.clique)).unwrap();
            assert_close(table[0].values(), &dense_solution(&rows, &y));
        }
    }

    #[test]
    fn the_pseudo_inverse_of_one_measurement_agrees_with_the_dense_system(
        one in measurement("a b c"),
    ) {
        let domain = domain();
        let (rows, y) = dense_system(&domain, &one.clique, std::slice::from_ref(&one));
        let answers = solve(&LocalLeastSquares::default(), &domain, std::slice::from_ref(&one));
        let table = answers.marginals(std::slice::from_ref(&one.clique)).unwrap();
        assert_close(table[0].values(), &dense_solution(&rows, &y));
    }
}

/// Noise-free measurements of a table over three attributes by p-identity strategies.
fn exact(domain: &Domain) -> (Factor, Vec<Measurement>) {
    let truth: Vec<f64> = (0..12).map(|i| ((5 * i) % 7) as f64).collect();
    let truth = Factor::new(domain, domain.everything(), truth);
    let measure = |names: &str| {
        let clique = clique(domain, names);
        let strategy = |n: usize| {
            let b = Matrix::new(1, n, (0..n).map(|a| 0.3 + a as f64).collect());
            QueryFactor::PIdentity(PIdentity::normalised(b))
        };
        let factors = clique.iter().map(|id| strategy(domain.size(id))).collect();
        let (query, _) = QueryMatrix::kronecker(domain, clique.as_slice(), factors).unwrap();
        let mut y = vec![0.0; query.rows()];
        query.apply(truth.sum_onto(&clique).values(), &mut y, &mut vec![0.0; query.scratch_len()]);
        Measurement { clique, query, y, stddev: 1.0 }
    };
    (truth.clone(), ["a b", "b c"].map(measure).to_vec())
}

/// Least squares are linear in the answers: exact without noise means unbiased with noise.
#[test]
fn without_noise_least_squares_are_exact() {
    let domain = domain();
    let (truth, measurements) = exact(&domain);
    let asked = ["a b", "b c", "a", "b", "c"].map(|names| clique(&domain, names));
    for estimator in [
        &LocalLeastSquares::default() as &dyn Estimator,
        &FullLeastSquares { stopping: LocalLeastSquares::default().stopping },
    ] {
        let answers = solve(estimator, &domain, &measurements);
        for (clique, table) in asked.iter().zip(answers.marginals(&asked).unwrap()) {
            for (found, true_count) in table.values().iter().zip(truth.sum_onto(clique).values()) {
                assert!((found - true_count).abs() < 1e-7, "{clique:?}");
            }
        }
    }
}

#[test]
fn only_the_full_table_answers_cliques_that_were_not_measured() {
    let domain = domain();
    let (_, measurements) = exact(&domain);
    let asked = [clique(&domain, "a c")];
    let unknown = solve(&LocalLeastSquares::default(), &domain, &measurements).marginals(&asked);
    assert_eq!(unknown, Err(MarginalError::Unknown { attributes: vec!["a".into(), "c".into()] }));
    assert!(solve(&FullLeastSquares::default(), &domain, &measurements).marginals(&asked).is_ok());
}

#[test]
fn marginals_as_measured_are_the_published_ones() {
    let domain = domain();
    let measure = |names: &str, y: &[f64]| {
        let clique = clique(&domain, names);
        let query = QueryMatrix::identity(&domain, &clique).unwrap();
        Measurement { clique, query, y: y.to_vec(), stddev: 1.0 }
    };
    let measurements =
        [measure("a b", &[1.0, -2.0, 3.0, 4.0, 5.0, 6.0]), measure("a", &[9.0, 8.0])];
    let answers = solve(&AsMeasured, &domain, &measurements);
    let asked = ["a", "a b", "b"].map(|names| clique(&domain, names));
    let tables = answers.marginals(&asked).unwrap();
    assert_eq!(tables[0].values(), [9.0, 8.0]);
    assert_eq!(tables[1].values(), measurements[0].y);
    assert_eq!(tables[2].values(), [5.0, 3.0, 9.0]);
    let (_, others) = exact(&domain);
    let refused = run(&AsMeasured, &domain, &others, 1 << 30, None);
    assert!(matches!(refused, Err(EstimatorError::Unsupported(_))));
}

#[test]
fn estimates_above_the_memory_limit_are_refused_before_allocation() {
    let huge = Domain::new((0..12).map(|i| (format!("x{i}"), 100))).unwrap();
    let one = Clique::new([huge.declared()[0]]);
    let query = QueryMatrix::identity(&huge, &one).unwrap();
    let measurements = [Measurement { clique: one, query, y: vec![1.0; 100], stddev: 1.0 }];
    let bytes = |estimator: &dyn Estimator, limit| match run(
        estimator,
        &huge,
        &measurements,
        limit,
        None,
    ) {
        Err(EstimatorError::Infeasible { bytes, .. }) => bytes,
        _ => panic!("expected the estimate to be infeasible"),
    };
    assert!(bytes(&FullLeastSquares::default(), u64::MAX) > 3.2e25);
    let small = bytes(&LocalLeastSquares::default(), 1000);
    assert!((1000.0..10_000.0).contains(&small), "{small}");
}

#[test]
fn deadlines_and_invalid_measurements_are_errors() {
    let domain = domain();
    let (_, mut measurements) = exact(&domain);
    let now = Some(Instant::now());
    for estimator in [&LocalLeastSquares::default() as &dyn Estimator, &FullLeastSquares::default()]
    {
        let late = run(estimator, &domain, &measurements, 1 << 30, now);
        assert!(matches!(late, Err(EstimatorError::Timeout { iterations: 0 })));
    }
    measurements[1].stddev = 0.0;
    for estimator in [&LocalLeastSquares::default() as &dyn Estimator, &FullLeastSquares::default()]
    {
        let wrong = run(estimator, &domain, &measurements, 1 << 30, None).err().unwrap();
        let reason = MeasurementError::Stddev(0.0);
        assert_eq!(wrong.to_string(), format!("measurement 1: {reason}"));
    }
}

#[test]
fn diagnostics_describe_the_solution() {
    let domain = domain();
    let (_, measurements) = exact(&domain);
    let diagnostics = run(&FullLeastSquares::default(), &domain, &measurements, 1 << 30, None)
        .unwrap()
        .diagnostics;
    assert!(diagnostics.iterations.unwrap() > 1);
    assert!(diagnostics.seconds_per_iteration.unwrap() > 0.0);
    assert!(diagnostics.bytes.unwrap() >= 8.0 * 12.0 && diagnostics.message == "converged");
    let (l1, l2) = diagnostics.l1_l2.unwrap();
    assert!(l1 < 1e-4 && l2 < 1e-8);
}
