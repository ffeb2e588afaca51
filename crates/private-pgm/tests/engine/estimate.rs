//! Estimation: optima, certificates, deadlines, warm starts, and large or degenerate problems.

use private_pgm::domain::Clique;
use private_pgm::{
    Algorithm, Constant, Estimate, EstimateError, Fit, Norm, OracleKind, Problem, Reason, Settings,
    StepSize,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

fn golden(name: &str) -> (Problem, serde_json::Value) {
    problem_in("golden", name)
}

fn problem_in(folder: &str, name: &str) -> (Problem, serde_json::Value) {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let text = std::fs::read_to_string(format!("{tests}/{folder}/{name}.json")).unwrap();
    (Problem::from_json(&text).unwrap(), serde_json::from_str(&text).unwrap())
}

fn fit(problem: &Problem, settings: &Settings) -> Estimate {
    Fit::new(problem).settings(settings.clone()).run().unwrap()
}

/// A chain of measured pairs with inconsistent answers from a deterministic formula.
fn noisy_chain(attributes: usize, size: usize) -> Problem {
    let names: Vec<String> = (0..attributes).map(|i| format!("x{i}")).collect();
    let domain = names.iter().map(|name| format!("\"{name}\": {size}")).collect::<Vec<_>>();
    let measurements = (1..attributes).map(|i| {
        let cells = (0..size * size).map(|cell| ((cell * 37 + i * 101) % 83) as f64 - 9.0);
        let y = cells.map(|y| y.to_string()).collect::<Vec<_>>().join(",");
        format!(
            "{{\"attrs\": [\"x{}\", \"x{i}\"], \"query\": [\"identity\", \"identity\"], \
             \"y\": [{y}], \"stddev\": 10}}",
            i - 1
        )
    });
    let measurements = measurements.collect::<Vec<_>>().join(",");
    let text = format!(
        "{{\"domain\": {{{}}}, \"total\": 1000, \"measurements\": [{measurements}]}}",
        domain.join(",")
    );
    Problem::from_json(&text).unwrap()
}

/// A Markov chain of order 2 over attributes with ten values. Every three consecutive attributes
/// are measured with Laplace noise.
fn skewed_chain(attributes: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut exponential = move || -(1.0 - rng.random::<f64>()).ln();
    let (total, scale) = (100_000.0, 30.0);
    let mut pair: Vec<f64> = (0..100).map(|_| exponential()).collect();
    let sum: f64 = pair.iter().sum();
    pair.iter_mut().for_each(|p| *p /= sum);
    let mut measurements = Vec::new();
    for first in 0..attributes - 2 {
        let mut triple = Vec::with_capacity(1000);
        for &p in &pair {
            // Squares make a few values likely and most values rare.
            let row: Vec<f64> = (0..10).map(|_| exponential().powi(2)).collect();
            let sum: f64 = row.iter().sum();
            triple.extend(row.iter().map(|r| p * r / sum));
        }
        let noise = |u: f64, v: f64| scale * (u - v);
        let y: Vec<f64> =
            triple.iter().map(|p| total * p + noise(exponential(), exponential())).collect();
        let attrs: Vec<String> = (first..first + 3).map(|i| format!("x{i}")).collect();
        let stddev = scale * 2f64.sqrt();
        let query = ["identity", "identity", "identity"];
        measurements.push(json!({"attrs": attrs, "query": query, "y": y, "stddev": stddev}));
        pair = (0..100).map(|jk| (0..10).map(|i| triple[100 * i + jk]).sum()).collect();
    }
    let domain: serde_json::Map<String, serde_json::Value> =
        (0..attributes).map(|i| (format!("x{i}"), 10.into())).collect();
    let text = json!({"domain": domain, "total": total, "measurements": measurements}).to_string();
    Problem::from_json(&text).unwrap()
}

#[test]
fn the_l1_optimum_agrees_with_linear_programming() {
    for name in ["single_marginal", "chain", "negative_answers", "total_queries"] {
        let (problem, file) = golden(name);
        let optimum = file["optimum"]["l1_loss"].as_f64().unwrap();
        let found = fit(&problem, &Settings { loss: Norm::L1, ..Settings::default() });
        assert!((found.loss - optimum).abs() <= 1e-6 * optimum, "{name}: {}", found.loss);
        let gap = found.gap.unwrap();
        assert!(found.loss - gap <= optimum * (1.0 + 1e-9), "{name}: the gap {gap} is too small");
    }
}

/// The optimum has cells at zero, which potentials reach only in the limit.
#[test]
fn mirror_descent_reaches_the_gap_on_the_boundary_or_says_why_not() {
    let (problem, file) = golden("g10_prefix");
    let optimum = file["optimum"]["l2_loss"].as_f64().unwrap();
    let algorithm = Algorithm::Mirror(StepSize::LineSearch);
    let settings = Settings { algorithm, gap: Some(1e-5), ..Settings::default() };
    let found = fit(&problem, &settings);
    assert_eq!(found.reason, Reason::Gap);
    assert!(found.gap.unwrap() <= 1e-5 && found.loss - optimum <= 1e-5 + 1e-8 * optimum);
    let few = fit(&problem, &Settings { iterations: Some(1000), ..settings });
    assert_eq!(few.reason, Reason::Iterations);
    assert!(few.gap.unwrap() > 1e-5, "{:?}", few.gap);
}

#[test]
fn the_certificate_is_valid_after_any_number_of_iterations() {
    let (problem, file) = golden("negative_answers");
    let optimum = file["optimum"]["l2_loss"].as_f64().unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::Mirror(StepSize::LineSearch), Algorithm::Lbfgs] {
        for iterations in [1, 10, 100] {
            let settings =
                Settings { algorithm, iterations: Some(iterations), ..Settings::default() };
            let found = fit(&problem, &settings);
            assert!(found.loss >= optimum * (1.0 - 1e-8));
            assert!(found.loss - found.gap.unwrap() <= optimum * (1.0 + 1e-8), "{algorithm:?}");
        }
    }
}

/// Inconsistent measurements make potentials diverge until the oracle underflows. Its results must
/// not pass for a loss below the minimum, nor for a certificate. The optima are from rational
/// arithmetic.
#[test]
fn diverging_potentials_do_not_invalidate_loss_or_certificate() {
    for name in ["contradicts_total", "pushed_apart"] {
        let (problem, file) = problem_in("underflow", name);
        let optimum = file["optimum"]["l2_loss"].as_f64().unwrap();
        for algorithm in [Algorithm::Auto, Algorithm::Accelerated(Constant::Smoothness)] {
            let found = fit(&problem, &Settings { algorithm, ..Settings::default() });
            let (loss, gap) = (found.loss, found.gap.unwrap());
            assert!((loss / optimum - 1.0).abs() <= 1e-12, "{name}, {algorithm:?}: {loss}");
            assert!(gap > 0.0 && loss - gap <= optimum, "{name}, {algorithm:?}: {gap}");
            assert!((found.l1_l2.unwrap().1 / loss - 1.0).abs() <= 1e-14);
        }
    }
}

#[test]
fn numbers_whose_squares_overflow_are_refused() {
    for (total, y) in [(1e300, 20.0), (50.0, 1e300)] {
        let problem = json!({
            "domain": {"a": 2},
            "total": total,
            "measurements": [
                {"attrs": ["a"], "query": ["identity"], "y": [y, 30.0], "stddev": 1.0},
            ],
        });
        let problem = Problem::from_json(&problem.to_string()).unwrap();
        let found = private_pgm::estimate(&problem);
        assert!(matches!(found, Err(EstimateError::Overflow)), "{total} {y}");
    }
}

/// Mirror descent is slow here: its gap does not change for thousands of iterations.
#[test]
fn a_decreasing_loss_is_not_a_stall() {
    let (problem, _) = problem_in("underflow", "slow");
    let algorithm = Algorithm::Mirror(StepSize::LineSearch);
    let settings = Settings { algorithm, iterations: Some(30_000), ..Settings::default() };
    assert_eq!(fit(&problem, &settings).reason, Reason::Iterations);
}

#[test]
fn dual_averaging_comes_close_with_either_constant() {
    for (name, constant, iterations, share) in [
        ("chain", Constant::Spectral, 4000, 1e-3),
        ("chain", Constant::Smoothness, 1000, 1e-3),
        ("negative_answers", Constant::Smoothness, 4000, 1e-3),
    ] {
        let (problem, file) = golden(name);
        let optimum = file["optimum"]["l2_loss"].as_f64().unwrap();
        let settings = Settings {
            algorithm: Algorithm::DualAveraging(constant),
            iterations: Some(iterations),
            ..Settings::default()
        };
        let found = fit(&problem, &settings);
        let excess = found.loss / optimum - 1.0;
        assert!((-1e-8..share).contains(&excess), "{name}, {constant:?}: {excess}");
        assert!(found.loss - found.gap.unwrap() <= optimum * (1.0 + 1e-8));
    }
}

/// On such chains, steps without an acceptance test increase the loss for hundreds of iterations.
#[test]
fn auto_converges_within_200_iterations_on_skewed_chains() {
    for seed in 0..12 {
        let problem = skewed_chain(30, seed);
        let quick = fit(&problem, &Settings { iterations: Some(200), ..Settings::default() });
        let settings = Settings { iterations: Some(20_000), gap: Some(0.5), ..Settings::default() };
        let best = fit(&problem, &settings);
        assert!(best.gap.is_some_and(|gap| gap <= 0.5), "seed {seed}: {:?}", best.gap);
        assert!(quick.loss < 1.005 * best.loss, "seed {seed}: {} and {}", quick.loss, best.loss);
    }
}

#[test]
fn a_past_deadline_is_an_error() {
    let problem = noisy_chain(5, 4);
    let at_once = Fit::new(&problem).deadline(std::time::Instant::now()).run();
    assert!(matches!(at_once, Err(EstimateError::Deadline { iterations: 1 })));
    let no_time = Fit::new(&problem).time_limit(std::time::Duration::ZERO).run();
    assert!(matches!(no_time, Err(EstimateError::Deadline { iterations: 1 })));
    assert!(Fit::new(&problem).time_limit(std::time::Duration::MAX).run().is_ok());
}

#[test]
fn the_result_is_bit_identical_for_any_number_of_threads() {
    let problem = noisy_chain(40, 30);
    let settings = Settings { iterations: Some(60), ..Settings::default() };
    let run =
        |parallel| Fit::new(&problem).settings(settings.clone()).parallel(parallel).run().unwrap();
    let (one, many) = (run(false), run(true));
    assert_eq!(one.loss.to_bits(), many.loss.to_bits());
    assert_eq!(one.model.potentials(), many.model.potentials());
}

/// Measuring everything twice, with noise larger by the root of 2, gives the same loss, but it is
/// not recognised as a distance and takes the general code path.
#[test]
fn the_fast_path_for_distances_agrees_with_the_general_path() {
    let problem = noisy_chain(6, 5);
    let mut twice = problem.clone();
    twice.measurements.extend(problem.measurements.iter().cloned());
    for measurement in &mut twice.measurements {
        measurement.stddev *= 2f64.sqrt();
    }
    for algorithm in [Algorithm::Auto, Algorithm::Mirror(StepSize::LineSearch)] {
        let settings = Settings { algorithm, iterations: Some(40), ..Settings::default() };
        let (fast, general) = (fit(&problem, &settings), fit(&twice, &settings));
        assert!((fast.loss - general.loss).abs() <= 1e-9 * fast.loss, "{algorithm:?}");
    }
}

#[test]
fn a_warm_start_reaches_the_same_optimum_in_fewer_iterations() {
    let problem = noisy_chain(8, 4);
    let cold = fit(&problem, &Settings::default());
    let settings = Settings { gap: Some(1e-6), ..Settings::default() };
    let again = fit(&problem, &settings);
    let warm = Fit::new(&problem).settings(settings).warm_start(&cold.model).run().unwrap();
    assert!((warm.loss - cold.loss).abs() <= 2e-6);
    assert!(warm.iterations < again.iterations, "{} {}", warm.iterations, again.iterations);
}

#[test]
fn without_measurements_the_model_is_uniform() {
    let text = r#"{"domain": {"a": 2, "b": 5}, "total": 100, "measurements": []}"#;
    let found = fit(&Problem::from_json(text).unwrap(), &Settings::default());
    assert_eq!((found.loss, found.gap), (0.0, Some(0.0)));
    let model = found.model.calibrate().unwrap();
    let all = model.marginal(&model.domain().everything()).unwrap();
    assert!(all.values().iter().all(|&count| (count - 10.0).abs() < 1e-12));
}

#[test]
fn approximate_oracles_are_recorded_and_agree_on_a_chain() {
    let problem = noisy_chain(5, 3);
    let exact = fit(&problem, &Settings::default());
    for oracle in [OracleKind::Loopy, OracleKind::Convex] {
        let settings = Settings { oracle, iterations: Some(3000), ..Settings::default() };
        let found = fit(&problem, &settings);
        assert!(!found.model.origin().unwrap().oracle_is_exact);
        assert!((found.loss - exact.loss).abs() <= 1e-3 * exact.loss, "{oracle:?} {}", found.loss);
    }
}

#[test]
fn a_model_above_the_memory_limit_is_refused_with_its_largest_cliques() {
    let problem = noisy_chain(10, 20);
    match Fit::new(&problem).memory_limit(1000).run() {
        Err(EstimateError::TooLarge(error)) => {
            assert!(error.needed_bytes > 1000.0);
            assert_eq!(error.worst[0].names.len(), 2);
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn ten_thousand_attributes_are_feasible() {
    let problem = noisy_chain(10_000, 3);
    let found = fit(&problem, &Settings { iterations: Some(20), ..Settings::default() });
    assert!(found.loss.is_finite() && found.gap.unwrap() >= 0.0);
    let model = found.model.calibrate().unwrap();
    let ends: Clique =
        ["x0", "x9999"].iter().map(|name| problem.domain.id(name).unwrap()).collect();
    let total = model.marginal(&ends).unwrap().total();
    assert!((total - 1000.0).abs() < 1e-6, "{total}");
}
