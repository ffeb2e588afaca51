//! A thousand estimates over ten attributes, as AIM and MWEM make them: how long one takes before
//! and between its iterations. `cargo bench --bench small_problems`.
//!
//! Every problem has a structure of its own: 15 marginals of one to three attributes, drawn at
//! random. The set-up of an estimate is its time with a single iteration; the time per iteration
//! comes from the difference to 101 iterations. Medians over the thousand problems.

use std::time::Instant;

use private_pgm::Problem;
use private_pgm::domain::Domain;
use private_pgm::fit::{Fit, Settings};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::loss::Measurement;
use private_pgm::oracle::Exact;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PROBLEMS: usize = 1000;
const ATTRIBUTES: usize = 10;
const MARGINALS: usize = 15;
const TOTAL: f64 = 10_000.0;
/// The iterations beyond the first one.
const MORE: u32 = 100;

fn main() {
    let problems: Vec<Problem> = (0..PROBLEMS as u64).map(problem).collect();
    let plans: Vec<f64> = problems.iter().map(plan).collect();
    let milliseconds = |name: &str, seconds: Vec<f64>| {
        let total: f64 = seconds.iter().sum();
        println!("{name:<34} {:>8.3} ms {:>8.3} s in all", 1e3 * median(seconds), total);
    };
    println!("{PROBLEMS} problems, {ATTRIBUTES} attributes, {MARGINALS} marginals: medians");
    milliseconds("elimination order and plan", plans);
    for (threads, parallel) in [("one thread", false), ("all threads", true)] {
        let first: Vec<f64> = problems.iter().map(|p| estimate(p, 1, parallel)).collect();
        let more: Vec<f64> = problems.iter().map(|p| estimate(p, 1 + MORE, parallel)).collect();
        let iterations = first.iter().zip(&more).map(|(a, b)| (b - a) / f64::from(MORE)).collect();
        milliseconds(&format!("{threads}: set-up"), first);
        milliseconds(&format!("{threads}: an iteration"), iterations);
    }
}

fn problem(seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sizes = (0..ATTRIBUTES).map(|i| (format!("x{i}"), rng.random_range(2..8)));
    let domain = Domain::new(sizes.collect::<Vec<_>>()).expect("ten names");
    let mut builder = Problem::builder(domain.clone()).total(TOTAL);
    for _ in 0..MARGINALS {
        let count = rng.random_range(1..=3);
        let mut names: Vec<String> = (0..ATTRIBUTES).map(|i| format!("x{i}")).collect();
        names.sort_by_cached_key(|_| rng.random::<u32>());
        let names: Vec<&str> = names[..count].iter().map(String::as_str).collect();
        let cells: usize = names.iter().map(|name| domain.size(domain.id(name).unwrap())).product();
        let noisy: Vec<f64> =
            (0..cells).map(|_| TOTAL / cells as f64 + 20.0 * (rng.random::<f64>() - 0.5)).collect();
        builder = builder.measure(Measurement::marginal(&domain, &names, &noisy, 10.0).unwrap());
    }
    builder.build().expect("a valid problem")
}

/// Seconds for the elimination order and the plan of contractions.
fn plan(problem: &Problem) -> f64 {
    let cliques: Vec<_> = problem.measurements.iter().map(|m| m.clique.clone()).collect();
    let began = Instant::now();
    let tree = JunctionTree::new(&problem.domain, &cliques);
    std::hint::black_box(Exact::new(&problem.domain, &cliques, &tree));
    began.elapsed().as_secs_f64()
}

fn estimate(problem: &Problem, iterations: u32, parallel: bool) -> f64 {
    let iterations = Some(iterations as usize);
    let settings = Settings { iterations, ..Settings::default() };
    let began = Instant::now();
    let fit = Fit::new(problem).settings(settings).parallel(parallel).run();
    std::hint::black_box(fit.expect("a small problem"));
    began.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
