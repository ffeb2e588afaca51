//! Post-processing: how its cost grows with the length of a histogram, and how it compares with
//! solvers of linear programs (KDD 2015, section 5, where these fail past 2^12 bins).
//!
//!     cargo bench --bench postprocess

use divan::{Bencher, black_box};
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use pgmbench::postprocess::admm::Settings;
use pgmbench::postprocess::contingency::{self, PublicMarginals};
use pgmbench::postprocess::histogram;
use pgmbench::postprocess::htree::HTree;
use pgmbench::postprocess::proximal::Objective;
use pgmbench::postprocess::tree::Tree;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

fn main() {
    divan::main();
}

/// A sparse histogram at epsilon 0.1: its tree with noise, and the standard deviation of that
/// noise.
fn noisy_tree(leaves: usize) -> (HTree, Vec<f64>, f64) {
    let mut rng = ChaCha20Rng::seed_from_u64(leaves as u64);
    let tree = Tree::new(2, leaves).expect("a tree");
    let filled = |rng: &mut ChaCha20Rng| rng.random_range(0..30u8) == 0;
    let counts: Vec<f64> = (0..leaves)
        .map(|_| if filled(&mut rng) { f64::from(rng.random_range(1..40u8)) } else { 0.0 })
        .collect();
    let scale = tree.levels() as f64 / 0.1;
    let noise = |rng: &mut ChaCha20Rng| {
        let u: f64 = rng.random_range(-0.5..0.5);
        -scale * u.signum() * (1.0 - 2.0 * u.abs()).ln()
    };
    let noisy = tree.sums(&counts).into_iter().map(|count| (count + noise(&mut rng)).round());
    (HTree::new(tree), noisy.collect(), scale * 2f64.sqrt())
}

const LENGTHS: [usize; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];

#[divan::bench(args = LENGTHS, max_time = 5)]
fn admm_l1(bencher: Bencher, leaves: usize) {
    let (htree, noisy, stddev) = noisy_tree(leaves);
    let (objective, settings) =
        (Objective::new(0.9).expect("alpha"), Settings::suited(0.9, stddev));
    bencher.bench(|| histogram::estimate(&htree, black_box(&noisy), objective, &settings));
}

/// With the paper's penalty parameter.
#[divan::bench(args = LENGTHS, max_time = 5)]
fn admm_l1_rho_2(bencher: Bencher, leaves: usize) {
    let (htree, noisy, stddev) = noisy_tree(leaves);
    let objective = Objective::new(0.9).expect("alpha");
    let settings = Settings { rho: 2.0, ..Settings::suited(0.9, stddev) };
    bencher.bench(|| histogram::estimate(&htree, black_box(&noisy), objective, &settings));
}

#[divan::bench(args = [1 << 6, 1 << 8].into_iter().chain(LENGTHS), max_time = 5)]
fn maximum_likelihood(bencher: Bencher, leaves: usize) {
    let (htree, noisy, stddev) = noisy_tree(leaves);
    let objective = Objective::new(1.0).expect("alpha").in_units_of(stddev);
    bencher
        .bench(|| histogram::estimate(&htree, black_box(&noisy), objective, &Settings::default()));
}

#[divan::bench(args = LENGTHS, max_time = 2)]
fn htree(bencher: Bencher, leaves: usize) {
    let (htree, noisy, _) = noisy_tree(leaves);
    bencher.bench(|| htree.project(black_box(&noisy)));
}

/// Maximum likelihood as a linear program over the bins, by the simplex method.
#[divan::bench(args = [1 << 6, 1 << 8, 1 << 10, 1 << 12], sample_count = 1, sample_size = 1)]
fn linear_program(bencher: Bencher, leaves: usize) {
    let (htree, noisy, _) = noisy_tree(leaves);
    bencher.bench(|| {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let positive = (0.0, f64::INFINITY);
        let bins: Vec<Variable> = (0..leaves).map(|_| problem.add_var(0.0, positive)).collect();
        for (span, &y) in htree.tree().spans().zip(&noisy) {
            let distance = problem.add_var(1.0, positive);
            for (sign, order) in [(-1.0, ComparisonOp::Le), (1.0, ComparisonOp::Ge)] {
                let row = span.clone().map(|bin| (bins[bin], 1.0)).chain([(distance, sign)]);
                problem.add_constraint(row.collect::<Vec<_>>(), order, y);
            }
        }
        problem.solve().is_ok()
    });
}

/// A table of eight binary attributes with all marginals of order 2 public, as Rochdale.
#[divan::bench]
fn contingency_table(bencher: Bencher) {
    let domain = Domain::new((0..8).map(|i| (format!("x{i}"), 2))).expect("a domain");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let counts = (0..256).map(|_| f64::from(rng.random_range(0..12u8).saturating_sub(6))).collect();
    let table = Factor::new(&domain, domain.everything(), counts);
    let ids = domain.declared();
    let pairs = (0..8).flat_map(|a| (0..a).map(move |b| (a, b)));
    let marginals: Vec<Factor> =
        pairs.map(|(a, b)| table.sum_onto(&Clique::new([ids[a], ids[b]]))).collect();
    let public =
        PublicMarginals::new(&domain, &domain.everything(), &marginals).expect("they agree");
    let noisy: Vec<f64> =
        table.values().iter().map(|count| count + rng.random_range(-10.0..10.0)).collect();
    let objective = Objective::new(0.9).expect("alpha");
    bencher.bench(|| {
        contingency::estimate(&public, black_box(&noisy), objective, &Settings::default())
    });
}
