//! The engine's hot paths. `cargo bench`; `scripts/compare_mbi.py` sets them beside a peer.

use divan::{Bencher, black_box};
use dp::{Budget, Epsilon, Neighbours, NoiseSource, NumberLine, Rho, SeedPath, Sensitivity, Share};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::{Marginals, Potentials};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::model::{Model, Sampling};
use private_pgm::numeric::step::DistanceStep;
use private_pgm::oracle::{Exact, MarginalOracle, StepRequest};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn main() {
    divan::main();
}

/// The chain of the paper's Figure 2b: attributes of size 10, all adjacent triples.
fn chain(attributes: usize) -> (Domain, Vec<Clique>) {
    let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), 10))).unwrap();
    let id = |i: usize| domain.id(&format!("x{i}")).unwrap();
    let cliques = (2..attributes).map(|i| [i - 2, i - 1, i].map(id).into_iter().collect());
    let cliques = cliques.collect();
    (domain, cliques)
}

/// The paper's workload on Adult: 15 triples, 62,876 cells.
fn adult() -> (Domain, Vec<Clique>) {
    let sizes = "age 85,workclass 9,fnlwgt 100,education-num 16,marital-status 7,occupation 15,\
        relationship 6,race 5,sex 2,capital-gain 100,capital-loss 100,hours-per-week 99,\
        native-country 42,income 2";
    let attributes = sizes.split(',').map(|attribute| {
        let (name, size) = attribute.trim().split_once(' ').unwrap();
        (name, size.parse().unwrap())
    });
    let domain = Domain::new(attributes).unwrap();
    let triples = "occupation race capital-loss,occupation sex native-country,\
        marital-status relationship income,age education-num sex,\
        workclass education-num occupation,marital-status occupation income,\
        race native-country income,occupation capital-gain income,\
        marital-status hours-per-week income,workclass race capital-gain,\
        marital-status relationship capital-gain,workclass education-num capital-gain,\
        education-num relationship race,fnlwgt hours-per-week income,workclass sex native-country";
    let clique = |triple: &str| triple.split(' ').map(|name| domain.id(name).unwrap()).collect();
    let cliques = triples.split(',').map(|triple| clique(triple.trim())).collect();
    (domain, cliques)
}

fn oracle((domain, cliques): &(Domain, Vec<Clique>)) -> (Exact, Potentials) {
    let oracle = Exact::new(domain, cliques, &JunctionTree::new(domain, cliques));
    let mut potentials = Potentials::zeros(oracle.layout());
    for (i, potential) in potentials.values_mut().iter_mut().enumerate() {
        *potential = ((i * 7919) % 1013) as f64 / 300.0;
    }
    (oracle, potentials)
}

fn marginals(bencher: Bencher, model: &(Domain, Vec<Clique>), threads: bool) {
    let (oracle, potentials) = oracle(model);
    let mut oracle = oracle.with_threads(threads);
    let mut out = Marginals::zeros(oracle.layout());
    bencher.bench_local(|| {
        // On a thread of the pool, as an estimate runs.
        rayon::scope(|_| oracle.marginals(black_box(&potentials), 1000.0, &mut out))
    });
}

#[divan::bench(args = [10, 100, 1000, 10_000])]
fn chain_oracle_one_thread(bencher: Bencher, attributes: usize) {
    marginals(bencher, &chain(attributes), false);
}

#[divan::bench(args = [100, 1000, 10_000])]
fn chain_oracle(bencher: Bencher, attributes: usize) {
    marginals(bencher, &chain(attributes), true);
}

/// A whole iteration of an accelerated method: a step within the oracle's passes.
fn iteration(bencher: Bencher, model: &(Domain, Vec<Clique>), threads: bool) {
    let (oracle, mut potentials) = oracle(model);
    let mut oracle = oracle.with_threads(threads);
    let mut marginals = Marginals::zeros(oracle.layout());
    let mut mean = marginals.clone();
    let y = vec![1.0; mean.values().len()];
    let step = DistanceStep { blend: [0.99, 0.01], weights: [0.99, 0.01], length: 1e-9 };
    bencher.bench_local(|| {
        let descent = StepRequest::Distance { step, mean: mean.values_mut(), y: &y, nu: None };
        rayon::scope(|_| oracle.descend(descent, &mut potentials, 1000.0, &mut marginals))
    });
}

#[divan::bench(args = [10, 100, 1000, 10_000])]
fn chain_iteration_one_thread(bencher: Bencher, attributes: usize) {
    iteration(bencher, &chain(attributes), false);
}

#[divan::bench(args = [100, 1000, 10_000])]
fn chain_iteration(bencher: Bencher, attributes: usize) {
    iteration(bencher, &chain(attributes), true);
}

#[divan::bench(args = [false, true])]
fn adult_iteration(bencher: Bencher, threads: bool) {
    iteration(bencher, &adult(), threads);
}

#[divan::bench(args = [false, true])]
fn adult_oracle(bencher: Bencher, threads: bool) {
    marginals(bencher, &adult(), threads);
}

#[divan::bench]
fn adult_maximum(bencher: Bencher) {
    let (mut oracle, potentials) = oracle(&adult());
    bencher.bench_local(|| oracle.maximum(black_box(&potentials)));
}

#[divan::bench]
fn adult_plan(bencher: Bencher) {
    let (domain, cliques) = adult();
    bencher.bench_local(|| {
        let tree = JunctionTree::new(&domain, black_box(&cliques));
        Exact::new(&domain, &cliques, &tree)
    });
}

#[divan::bench]
fn adult_calibrate(bencher: Bencher) {
    let (_, potentials) = oracle(&adult());
    let model = Model::new(48_842.0, potentials);
    bencher.bench_local(|| model.calibrate().unwrap());
}

#[divan::bench(args = [Sampling::Independent, Sampling::Rounded])]
fn adult_48842_records(bencher: Bencher, method: Sampling) {
    let (_, potentials) = oracle(&adult());
    let model = Model::new(48_842.0, potentials).calibrate().unwrap();
    bencher.bench_local(|| {
        model.synthesize(48_842, method, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    });
}

/// A million counts, to which noise is added exactly. The aim is half a second.
const COUNTS: usize = 1_000_000;

fn noise_source() -> NoiseSource {
    NoiseSource::seeded(&SeedPath::new("bench", "noise"))
}

fn share(total: impl Into<dp::Guarantee>) -> Share {
    Budget::new(total, Neighbours::AddRemove).rest().unwrap()
}

#[divan::bench(args = [0.5, 10.0, 1e4], sample_count = 5)]
fn a_million_discrete_laplace_draws(bencher: Bencher, scale: f64) {
    let (counts, mut source) = (vec![0.0; COUNTS], noise_source());
    let one = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
    bencher.bench_local(|| {
        let share = share(Epsilon::new(1.0 / scale).unwrap());
        share.laplace("noise", &counts, one, NumberLine::Integers, &mut source).unwrap()
    });
}

#[divan::bench(args = [0.5, 10.0, 1e4], sample_count = 5)]
fn a_million_discrete_gaussian_draws(bencher: Bencher, sigma: f64) {
    let (counts, mut source) = (vec![0.0; COUNTS], noise_source());
    let one = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
    bencher.bench_local(|| {
        let share = share(Rho::new(0.5 / (sigma * sigma)).unwrap());
        share.gaussian("noise", &counts, one, NumberLine::Integers, &mut source).unwrap()
    });
}
