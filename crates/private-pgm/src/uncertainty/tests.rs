//! How often intervals cover the truth, over many tables of noise.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::{Bootstrap, BootstrapError, z_score};
use crate::domain::{Clique, Domain};
use crate::factor::Factor;
use crate::fit::{Fit, OracleKind, Settings};
use crate::loss::Measurement;
use crate::problem::Problem;
use crate::residual::Residuals;

fn gaussian(rng: &mut ChaCha20Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.random::<f64>()).cos()
}

/// A table over three attributes that is not a chain: counts from 0 to some hundreds.
fn truth() -> (Domain, Factor) {
    let domain = Domain::new([("a", 4), ("b", 3), ("c", 5)]).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let count =
        |_| (-40.0 * (1.0 - rng.random::<f64>()).ln() * rng.random::<f64>().powi(2)).round();
    let cells: Vec<f64> = (0..60).map(count).collect();
    let table = Factor::new(&domain, domain.everything(), cells);
    (domain, table)
}

/// Both pairs that contain b, and c, with Gaussian noise. Names are in ascending size, as the
/// values of factors are.
fn noisy(domain: &Domain, truth: &Factor, stddev: f64, rng: &mut ChaCha20Rng) -> Problem {
    let total: f64 = truth.values().iter().sum();
    let measured = [(vec!["b", "a"], 1.0), (vec!["b", "c"], 1.0), (vec!["c"], 0.5)];
    let measurements = measured.map(|(names, scale)| {
        let clique: Clique = names.iter().map(|name| domain.id(name).unwrap()).collect();
        let exact = truth.sum_onto(&clique);
        let y: Vec<f64> =
            exact.values().iter().map(|x| x + scale * stddev * gaussian(rng)).collect();
        Measurement::marginal(domain, &names, &y[..], scale * stddev).unwrap()
    });
    let builder = Problem::builder(domain.clone()).total(total);
    measurements.into_iter().fold(builder, |builder, m| builder.measure(m)).build().unwrap()
}

fn cliques(domain: &Domain) -> Vec<Clique> {
    let names: [&[&str]; 4] = [&["a", "b"], &["b", "c"], &["a"], &["c"]];
    let clique = |names: &&[&str]| names.iter().map(|name| domain.id(name).unwrap()).collect();
    names.iter().map(clique).collect()
}

#[test]
fn exact_intervals_of_residuals_cover_the_truth_as_often_as_they_claim() {
    let (domain, truth) = truth();
    let z = z_score(0.95).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut covered, mut all) = (0, 0);
    for _ in 0..2000 {
        let problem = noisy(&domain, &truth, 30.0, &mut rng);
        let total = Some(problem.total);
        let residuals = Residuals::estimate(&domain, &problem.measurements, total).unwrap();
        for clique in cliques(&domain) {
            let half = z * residuals.cell_variance(&clique).unwrap().sqrt();
            let (found, exact) = (residuals.marginal(&clique), truth.sum_onto(&clique));
            let pairs = found.values().iter().zip(exact.values());
            covered += pairs.filter(|(found, exact)| (*found - *exact).abs() <= half).count();
            all += exact.values().len();
        }
    }
    // Of 72,000 correlated intervals in 2000 independent trials: the standard deviation is at most
    // that of 2000, which is 0.5 %.
    let coverage = f64::from(covered as u32) / f64::from(all as u32);
    assert!((0.94..0.96).contains(&coverage), "{coverage}");
}

#[test]
fn intervals_of_a_model_cover_the_truth() {
    let (domain, truth) = truth();
    let z = z_score(0.95).unwrap();
    let bootstrap = Bootstrap { replicates: 60, ..Bootstrap::default() };
    for stddev in [3.0, 15.0, 60.0] {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        // Cells of at least three standard deviations, and all.
        let (mut covered, mut all) = ([0.0, 0.0], [0.0, 0.0]);
        for _ in 0..60 {
            let problem = noisy(&domain, &truth, stddev, &mut rng);
            let model = Fit::new(&problem).run().unwrap().model;
            let cliques = cliques(&domain);
            let cells = |model: &crate::model::Calibrated| {
                let mut cells = Vec::new();
                for clique in &cliques {
                    cells.extend_from_slice(model.marginal(clique)?.values());
                }
                Ok(cells)
            };
            let found = cells(&model.calibrate().unwrap()).unwrap();
            let errors = bootstrap.errors(&problem, &model, cells, &mut rng).unwrap();
            let exact = cliques.iter().flat_map(|clique| truth.sum_onto(clique).into_values());
            for ((found, error), exact) in found.iter().zip(errors).zip(exact) {
                let covers = f64::from(u8::from((found - exact).abs() <= z * error));
                let is_large = f64::from(u8::from(exact > 3.0 * stddev));
                covered[0] += covers * is_large;
                all[0] += is_large;
                covered[1] += covers;
                all[1] += 1.0;
            }
        }
        let coverage = [covered[0] / all[0].max(1.0), covered[1] / all[1]];
        eprintln!("{stddev}: {coverage:?} of {all:?}");
        // With noise above most counts, the truth is far from the model in units of the error, and
        // fewer intervals than claimed cover it, as the documents say.
        let expected = if stddev < 60.0 { 0.93..0.97 } else { 0.85..0.93 };
        assert!(expected.contains(&coverage[0]), "{stddev}: {coverage:?}");
        assert!(expected.contains(&coverage[1]), "{stddev}: {coverage:?}");
    }
}

#[test]
fn errors_are_reproduced_and_of_the_size_of_the_noise() {
    let (domain, truth) = truth();
    let problem = noisy(&domain, &truth, 0.5, &mut ChaCha20Rng::seed_from_u64(3));
    let model = Fit::new(&problem).run().unwrap().model;
    let total = |model: &crate::model::Calibrated| Ok(vec![model.total()]);
    let cell = |model: &crate::model::Calibrated| {
        Ok(model.marginal(&Clique::new([domain.id("b").unwrap()]))?.into_values())
    };
    let bootstrap = Bootstrap::default();
    let errors = |seed| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        bootstrap.errors(&problem, &model, cell, &mut rng).unwrap()
    };
    assert_eq!(errors(1), errors(1));
    // Counts are far from 0, so the exact variance of least squares applies: 100 replicates know it
    // to 7 %, five of these are 35 %.
    let residuals = Residuals::estimate(&domain, &problem.measurements, Some(problem.total));
    let clique = Clique::new([domain.id("b").unwrap()]);
    let exact = residuals.unwrap().cell_variance(&clique).unwrap().sqrt();
    for error in errors(1) {
        assert!((error / exact - 1.0).abs() < 0.35, "{error} {exact}");
    }
    // The total is known.
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert!(bootstrap.errors(&problem, &model, total, &mut rng).unwrap()[0] < 1e-9);
}

#[test]
fn a_stop_flag_ends_the_simulations() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    let (domain, truth) = truth();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let problem = noisy(&domain, &truth, 5.0, &mut rng);
    let model = Fit::new(&problem).run().unwrap().model;
    let stop = Arc::new(AtomicBool::new(false));
    let answered = AtomicUsize::new(0);
    let bootstrap =
        Bootstrap { replicates: 10_000, stop_flag: Some(stop.clone()), ..Bootstrap::default() };
    let total = |model: &crate::model::Calibrated| {
        if answered.fetch_add(1, Ordering::Relaxed) >= 3 {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(vec![model.total()])
    };
    let found = bootstrap.errors(&problem, &model, total, &mut rng).unwrap_err();
    assert!(matches!(found, BootstrapError::Stopped { replicates: 10_000 }), "{found}");
    // Those that other threads had begun may still answer.
    assert!(answered.load(Ordering::Relaxed) < 100);
}

#[test]
fn a_model_of_another_problem_is_refused() {
    let (domain, truth) = truth();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let problem = noisy(&domain, &truth, 5.0, &mut rng);
    let model = Fit::new(&problem).run().unwrap().model;
    let total = |model: &crate::model::Calibrated| Ok(vec![model.total()]);
    let mut refused = |bootstrap: Bootstrap, problem: &Problem, model: &crate::model::Model| {
        bootstrap.errors(problem, model, total, &mut rng).unwrap_err()
    };
    let none = Bootstrap { replicates: 0, ..Bootstrap::default() };
    assert!(matches!(refused(none, &problem, &model), BootstrapError::NoReplicates));
    let larger = Problem { total: problem.total + 1.0, ..problem.clone() };
    let found = refused(Bootstrap::default(), &larger, &model);
    assert!(matches!(found, BootstrapError::OtherProblem { what: "the numbers of records" }));
    let settings = Settings { oracle: OracleKind::Convex, ..Settings::default() };
    let loopy = Fit::new(&problem).settings(settings).run().unwrap().model;
    let found = refused(Bootstrap::default(), &problem, &loopy);
    assert!(matches!(found, BootstrapError::Approximate { .. }), "{found}");
}
