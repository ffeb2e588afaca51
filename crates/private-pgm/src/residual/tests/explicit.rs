use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::matrices::{marginal, solve_normal_equations, system, times};
use super::*;
use crate::factor::Factor;
use crate::residual::{ResidualError, Residuals};

/// Relative to the answers; the normal equations square the condition.
const TOLERANCE: f64 = 1e-8;

/// Whether the measurements determine the number of records.
fn has_total(measurements: &[Measurement]) -> bool {
    crate::loss::estimate_total(measurements).is_some()
}

proptest! {
    #[test]
    fn the_estimate_is_generalised_least_squares_over_the_full_table(
        (domain, measurements) in measured()
    ) {
        prop_assume!(has_total(&measurements));
        let (a, y) = system(&domain, &measurements);
        let table = solve_normal_equations(&a, &times(&a.transposed(), &y));
        let residuals = Residuals::estimate(&domain, &measurements, None).unwrap();
        for clique in all_cliques(&domain) {
            let expected = times(&marginal(&domain, &clique), &table);
            assert_close(residuals.marginal(&clique).values(), &expected, TOLERANCE);
        }
    }

    #[test]
    fn a_known_total_is_a_measurement_without_noise((domain, mut measurements) in measured()) {
        let known = Residuals::estimate(&domain, &measurements, Some(20.0)).unwrap();
        measurements.push(Measurement {
            clique: Clique::empty(),
            query: QueryMatrix::identity(&domain, &Clique::empty()).unwrap(),
            y: vec![20.0],
            stddev: 1e-9,
        });
        let measured = Residuals::estimate(&domain, &measurements, None).unwrap();
        for clique in all_cliques(&domain) {
            let known_marginal = known.marginal(&clique);
            assert_close(known_marginal.values(), measured.marginal(&clique).values(), 1e-12);
            prop_assert_eq!(
                known.cell_variance(&clique).is_some(), measured.cell_variance(&clique).is_some()
            );
        }
        prop_assert_eq!(known.total(), 20.0);
    }

    #[test]
    fn variances_are_those_of_generalised_least_squares((domain, measurements) in measured()) {
        prop_assume!(has_total(&measurements));
        let (a, _) = system(&domain, &measurements);
        let residuals = Residuals::estimate(&domain, &measurements, None).unwrap();
        for clique in all_cliques(&domain) {
            let queries = marginal(&domain, &clique);
            let Some(variance) = residuals.cell_variance(&clique) else { continue };
            for row in 0..queries.rows() {
                let q = queries.row(row);
                let covariance = solve_normal_equations(&a, q);
                let expected: f64 = covariance.iter().zip(q).map(|(c, q)| c * q).sum();
                assert_close(&[variance], &[expected], TOLERANCE);
            }
            let weight = |cell: usize| (cell % 3) as f64 - 0.5;
            let weights: Vec<f64> = (0..queries.rows()).map(weight).collect();
            let q = times(&queries.transposed(), &weights);
            let covariance = solve_normal_equations(&a, &q);
            let expected: f64 = covariance.iter().zip(&q).map(|(c, q)| c * q).sum();
            let variance = residuals.query_variance(&clique, &weights).unwrap();
            assert_close(&[variance], &[expected], TOLERANCE);
        }
    }

    /// The row space of the measurements contains the queries on the clique, or the answer is no.
    #[test]
    fn a_variance_is_known_exactly_when_the_marginal_is_determined(
        (domain, measurements) in measured()
    ) {
        prop_assume!(has_total(&measurements));
        let (a, _) = system(&domain, &measurements);
        let residuals = Residuals::estimate(&domain, &measurements, None).unwrap();
        for clique in all_cliques(&domain) {
            let queries = marginal(&domain, &clique);
            let is_determined = |q: &[f64]| {
                let u = crate::numeric::solve::minimum_norm_transposed(&a, q);
                let image = times(&a.transposed(), &u);
                image.iter().zip(q).all(|(x, q)| (x - q).abs() < 1e-9)
            };
            let determined = (0..queries.rows()).all(|row| is_determined(queries.row(row)));
            prop_assert_eq!(residuals.cell_variance(&clique).is_some(), determined);
        }
    }
}

fn small() -> Domain {
    Domain::new([("a", 2), ("b", 3)]).unwrap()
}

fn whole(domain: &Domain, names: &[&str], y: Vec<f64>, stddev: f64) -> Measurement {
    let clique: Clique = names.iter().map(|name| domain.id(name).unwrap()).collect();
    let query = QueryMatrix::identity(domain, &clique).unwrap();
    Measurement { clique, query, y, stddev }
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[test]
fn variances_are_the_empirical_ones() {
    let domain = small();
    let truth = Factor::new(&domain, domain.everything(), vec![5.0, 1.0, 4.0, 0.0, 2.0, 8.0]);
    let [a, b] = [0, 1].map(|axis| clique(&domain, 1 << axis));
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let draws = 20_000;
    let cliques = all_cliques(&domain);
    let mut squares = vec![0.0; cliques.len()];
    let mut expected = Vec::new();
    for _ in 0..draws {
        let mut noisy = |clique: &Clique, stddev: f64| {
            let cells = truth.sum_onto(clique).into_values();
            let y = cells.into_iter().map(|cell| cell + stddev * normal(&mut rng)).collect();
            let query = QueryMatrix::identity(&domain, clique).unwrap();
            Measurement { clique: clique.clone(), query, y, stddev }
        };
        let measurements = [noisy(&domain.everything(), 2.0), noisy(&a, 1.0), noisy(&b, 3.0)];
        let residuals = Residuals::estimate(&domain, &measurements, None).unwrap();
        for (clique, sum) in cliques.iter().zip(&mut squares) {
            let error = residuals.marginal(clique).values()[0] - truth.sum_onto(clique).values()[0];
            *sum += error * error;
        }
        expected = cliques.iter().map(|clique| residuals.cell_variance(clique).unwrap()).collect();
    }
    for (sum, expected) in squares.iter().zip(expected) {
        // The relative standard deviation of the average of squares is sqrt(2 / draws) = 0.01.
        let ratio = sum / f64::from(draws) / expected;
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }
}

#[test]
fn what_was_not_measured_is_uniform() {
    let domain = small();
    let measurements = [whole(&domain, &["a"], vec![4.0, 8.0], 1.0)];
    let residuals = Residuals::estimate(&domain, &measurements, None).unwrap();
    let table = residuals.marginal(&domain.everything());
    assert_close(
        table.values(),
        &[4.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0, 8.0 / 3.0, 8.0 / 3.0, 8.0 / 3.0],
        1e-15,
    );
    assert_eq!(residuals.cell_variance(&clique(&domain, 0b10)), None);
    assert_eq!(residuals.cell_variance(&clique(&domain, 0b01)), Some(1.0));
    assert_eq!(residuals.cell_variance(&Clique::empty()), Some(2.0));
}

#[test]
fn queries_without_residuals_are_refused() {
    let domain = small();
    let b = clique(&domain, 0b10);
    let (query, _) =
        QueryMatrix::kronecker(&domain, b.as_slice(), vec![QueryFactor::Prefix]).unwrap();
    let prefix = Measurement { clique: b, query, y: vec![1.0, 2.0, 3.0], stddev: 1.0 };
    let good = whole(&domain, &["a"], vec![4.0, 8.0], 1.0);
    let error = Residuals::estimate(&domain, &[good.clone(), prefix], None).unwrap_err();
    assert_eq!(error, ResidualError::Queries { index: 1, found: "prefix" });
    assert!(error.to_string().starts_with("measurement 1 has prefix queries"));

    let cells = QueryMatrix::intervals(&domain, &domain.everything(), vec![(0, 6)]).unwrap();
    let sum = Measurement { clique: domain.everything(), query: cells, y: vec![9.0], stddev: 1.0 };
    let error = Residuals::estimate(&domain, &[sum], None).unwrap_err();
    assert_eq!(error, ResidualError::Queries { index: 0, found: "intervals" });

    let wrong = Measurement { stddev: 0.0, ..good };
    let error = Residuals::estimate(&domain, &[wrong], None).unwrap_err();
    assert!(matches!(error, ResidualError::Measurement { index: 0, .. }));
    assert_eq!(Residuals::estimate(&domain, &[], None), Err(ResidualError::NoTotal));
}
