//! Factored queries (Algorithm 3 of the supplement of McKenna, Sheldon, Miklau, ICML 2019) and the
//! same answers from the materialised marginal. `cargo bench --bench queries`

use divan::{Bencher, black_box};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::factor::{CliqueLayout, Potentials};
use private_pgm::model::{Calibrated, Model};
use private_pgm::query::{QueryFactor, QueryMatrix};

fn main() {
    for attributes in ATTRIBUTES {
        let (model, query) = (model(), query(attributes));
        let (factored, materialised) = (factored(&model, &query), materialised(&model, &query));
        let scale = materialised.iter().fold(0.0, |scale, answer| f64::max(scale, *answer));
        for (a, b) in factored.iter().zip(&materialised) {
            assert!((a - b).abs() <= 1e-9 * scale, "{attributes} attributes: {a} and {b}");
        }
    }
    divan::main();
}

const ATTRIBUTES: [usize; 4] = [1, 2, 3, 4];

/// Sizes of attributes of Adult, and cliques that make a tree of them.
fn domain() -> (Domain, Vec<Clique>) {
    let sizes = [("age", 85), ("hours", 99), ("fnlwgt", 100), ("country", 42), ("income", 2)];
    let domain = Domain::new(sizes).unwrap();
    let income = domain.id("income").unwrap();
    let with_income = |name| [domain.id(name).unwrap(), income].into_iter().collect();
    let cliques = ["age", "hours", "fnlwgt", "country"].map(with_income).to_vec();
    (domain, cliques)
}

fn model() -> Calibrated {
    let (domain, cliques) = domain();
    let mut potentials = Potentials::zeros(&CliqueLayout::new(domain, cliques));
    for (i, potential) in potentials.values_mut().iter_mut().enumerate() {
        *potential = ((i * 7919) % 1013) as f64 / 300.0;
    }
    Model::new(48_842.0, potentials).calibrate().unwrap()
}

/// Each of the first attributes in two halves: two answers per attribute, in all combinations.
fn query(attributes: usize) -> Vec<(AttributeId, QueryFactor)> {
    let (domain, _) = domain();
    let halves = |name| {
        let id = domain.id(name).unwrap();
        let size = domain.size(id);
        (id, QueryFactor::Compress((0..size).map(|value| 2 * value / size).collect()))
    };
    let names = &["age", "hours", "fnlwgt", "country"][..attributes];
    let mut query: Vec<_> = names.iter().map(|name| halves(name)).collect();
    // In the order of the cells of a marginal.
    query.sort_by_key(|&(id, _)| id);
    query
}

fn factored(model: &Calibrated, query: &[(AttributeId, QueryFactor)]) -> Vec<f64> {
    model.answer(query).unwrap()
}

fn materialised(model: &Calibrated, query: &[(AttributeId, QueryFactor)]) -> Vec<f64> {
    let clique: Clique = query.iter().map(|(id, _)| *id).collect();
    let marginal = model.marginal(&clique).unwrap();
    let factors = query.iter().map(|(_, factor)| factor.clone()).collect();
    let matrix = QueryMatrix::identity(model.domain(), &clique).unwrap();
    let matrix = matrix.with_factors(factors).unwrap();
    let mut answers = vec![0.0; matrix.rows()];
    matrix.apply(marginal.values(), &mut answers, &mut vec![0.0; matrix.scratch_len()]);
    answers
}

#[divan::bench(args = ATTRIBUTES)]
fn factored_query(bencher: Bencher, attributes: usize) {
    let (model, query) = (model(), query(attributes));
    bencher.bench_local(|| factored(&model, black_box(&query)));
}

#[divan::bench(args = ATTRIBUTES)]
fn materialised_marginal(bencher: Bencher, attributes: usize) {
    let (model, query) = (model(), query(attributes));
    bencher.bench_local(|| materialised(&model, black_box(&query)));
}
