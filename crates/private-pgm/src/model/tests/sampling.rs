use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::model::{Calibrated, Sampling};

/// The counts of the records on a clique.
fn counts(model: &Model, columns: &[Vec<u32>], clique: &Clique) -> Vec<f64> {
    let domain = model.domain();
    let mut counts = vec![0.0; domain.cells(clique).unwrap()];
    let declared = |id: AttributeId| domain.declared().iter().position(|&other| other == id);
    let mut cells = vec![0; columns[0].len()];
    for id in clique.iter() {
        for (cell, &value) in cells.iter_mut().zip(&columns[declared(id).unwrap()]) {
            *cell = *cell * domain.size(id) + value as usize;
        }
    }
    cells.into_iter().for_each(|cell| counts[cell] += 1.0);
    counts
}

fn synthesize(
    calibrated: &Calibrated,
    records: usize,
    method: Sampling,
    seed: u64,
) -> Vec<Vec<u32>> {
    calibrated.synthesize(records, method, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap()
}

/// A triangle abc with a tail d, a separate clique e, and f in no clique: 216 cells.
fn small_model() -> Model {
    let sizes = [("a", 2), ("b", 3), ("c", 3), ("d", 2), ("e", 3), ("f", 2)];
    let domain = Domain::new(sizes).unwrap();
    let named = |names: &str| -> Clique {
        names.chars().map(|name| domain.id(&name.to_string()).unwrap()).collect()
    };
    let cliques = vec![named("ab"), named("bc"), named("ac"), named("cd"), named("e")];
    random_model(domain, cliques, 3.0, false, 5)
}

#[test]
fn independent_records_follow_the_joint_distribution() {
    let model = small_model();
    let joint = joint(&model).unwrap();
    let records = 200_000;
    let columns = synthesize(&model.calibrate().unwrap(), records, Sampling::Independent, 1);
    let found = counts(&model, &columns, &model.domain().everything());
    let chi_squared: f64 = found
        .iter()
        .zip(joint.values())
        .map(|(found, p)| (found - p * records as f64).powi(2) / (p * records as f64))
        .sum();
    // 215 degrees of freedom: mean 215, standard deviation 20.7, tolerance five of them.
    assert!((chi_squared - 215.0).abs() < 5.0 * 430f64.sqrt(), "{chi_squared}");
}

#[test]
fn rounded_records_follow_the_joint_distribution_over_many_draws() {
    let model = small_model();
    let calibrated = model.calibrate().unwrap();
    let joint = joint(&model).unwrap();
    let (draws, records) = (4000, 10);
    let mut found = vec![0.0; joint.values().len()];
    for seed in 0..draws {
        let columns = synthesize(&calibrated, records, Sampling::Rounded, seed);
        let counts = counts(&model, &columns, &model.domain().everything());
        found.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let expected = draws as f64 * records as f64;
    for (found, p) in found.iter().zip(joint.values()) {
        // The variance of a count in one draw is below that of independent records plus 1/4.
        let deviation = (expected * p + draws as f64 / 4.0).sqrt();
        assert!((found - expected * p).abs() < 5.0 * deviation, "{found} {}", expected * p);
    }
}

proptest! {
    #[test]
    fn impossible_records_are_never_drawn(
        model in models(),
        records in 0usize..60,
        rounded: bool,
        seed: u64,
    ) {
        let Some(joint) = joint(&model) else { return Ok(()) };
        let method = if rounded { Sampling::Rounded } else { Sampling::Independent };
        let columns = synthesize(&model.calibrate().unwrap(), records, method, seed);
        prop_assert_eq!(columns.len(), model.domain().len());
        prop_assert!(columns.iter().all(|column| column.len() == records));
        let counts = counts(&model, &columns, &model.domain().everything());
        prop_assert_eq!(counts.iter().sum::<f64>(), records as f64);
        for (count, p) in counts.iter().zip(joint.values()) {
            prop_assert!(*count == 0.0 || *p > 0.0);
        }
    }

    #[test]
    fn rounded_counts_on_the_root_clique_are_within_one(
        model in models(),
        records in 0usize..500,
        seed: u64,
    ) {
        let Some(joint) = joint(&model) else { return Ok(()) };
        let calibrated = model.calibrate().unwrap();
        let columns = synthesize(&calibrated, records, Sampling::Rounded, seed);
        let tree = calibrated.tree();
        let roots = (0..tree.components().len()).map(|c| tree.cliques()[tree.root(c)].clone());
        let outside = model.domain().ids().filter(|&id| tree.containing(id).is_empty());
        for root in roots.chain(outside.map(|id| Clique::new([id]))) {
            let expected = joint.sum_onto(&root);
            for (count, p) in counts(&model, &columns, &root).iter().zip(expected.values()) {
                prop_assert!((count - records as f64 * p).abs() < 1.0 + 1e-6, "{count} {p}");
            }
        }
    }
}

/// The L1 distance between the records' counts and the model's, summed over the cliques.
fn distance(model: &Model, calibrated: &Calibrated, columns: &[Vec<u32>]) -> f64 {
    let records = columns[0].len() as f64;
    let cliques = model.layout().cliques().iter();
    cliques
        .map(|clique| {
            let expected = calibrated.marginal(clique).unwrap();
            let found = counts(model, columns, clique);
            let cells = found.iter().zip(expected.values());
            cells.map(|(f, e)| (f - e * records / calibrated.total()).abs()).sum::<f64>()
        })
        .sum()
}

#[test]
fn rounding_keeps_every_clique_much_closer_than_independent_draws() {
    for model in [small_model(), chain(30, 4, 3.0)] {
        let calibrated = model.calibrate().unwrap();
        let by =
            |method| distance(&model, &calibrated, &synthesize(&calibrated, 20_000, method, 3));
        let (rounded, independent) = (by(Sampling::Rounded), by(Sampling::Independent));
        assert!(5.0 * rounded < independent, "{rounded} {independent}");
    }
}

#[test]
fn the_same_seed_gives_the_same_records_for_any_number_of_threads() {
    let model = chain(20, 5, 2.0);
    let calibrated = model.calibrate().unwrap();
    for method in [Sampling::Independent, Sampling::Rounded] {
        let here = synthesize(&calibrated, 500, method, 9);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let there = alone.install(|| synthesize(&model.calibrate().unwrap(), 500, method, 9));
        assert_eq!(here, there);
        assert_ne!(here, synthesize(&calibrated, 500, method, 10));
    }
}
