use std::sync::Arc;

use proptest::prelude::*;

use super::{Loopy, LoopyError, LoopyOptions};
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::oracle::{BruteForce, MarginalOracle};

type Constructor = fn(&Arc<CliqueLayout>, LoopyOptions) -> Result<Loopy, LoopyError>;

/// Both oracles, for properties that both must have.
const VARIANTS: [Constructor; 2] = [Loopy::bethe, Loopy::convex];

fn domain(sizes: &[usize]) -> Domain {
    Domain::new(sizes.iter().enumerate().map(|(i, &size)| (format!("x{i}"), size))).unwrap()
}

fn clique(ids: &[u32]) -> Clique {
    ids.iter().map(|&id| AttributeId(id)).collect()
}

fn potentials(layout: &Arc<CliqueLayout>, theta: &[f64]) -> Potentials {
    let mut potentials = Potentials::zeros(layout);
    potentials.values_mut().copy_from_slice(theta);
    potentials
}

fn run(oracle: &mut dyn MarginalOracle, potentials: &Potentials, total: f64) -> (f64, Marginals) {
    let mut marginals = Marginals::zeros(oracle.layout());
    let log_z = oracle.marginals(potentials, total, &mut marginals);
    (log_z, marginals)
}

fn brute_force(potentials: &Potentials, total: f64) -> (f64, Marginals) {
    run(&mut BruteForce::new(potentials.layout(), 1 << 12).unwrap(), potentials, total)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The largest difference between two cliques' marginals on their shared attributes.
fn inconsistency(marginals: &Marginals) -> f64 {
    let cliques = marginals.layout().cliques();
    let mut largest = 0.0f64;
    for i in 0..cliques.len() {
        for j in 0..i {
            let shared = cliques[i].intersection(&cliques[j]);
            let onto = |index| marginals.factor(index).sum_onto(&shared).into_values();
            largest = largest.max(largest_difference(&onto(i), &onto(j)));
        }
    }
    largest
}

/// Potentials over up to 10 cliques, any subsets of up to 6 attributes of sizes 1 to 4.
fn any_model(theta: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = Potentials> {
    // Mostly enough pairs and triples among enough attributes to close cycles.
    let size = prop_oneof![1 => Just(1usize), 6 => 2usize..=4];
    let sizes = prop_oneof![
        1 => prop::collection::vec(size.clone(), 1..=3),
        4 => prop::collection::vec(size, 4..=6),
    ];
    let count = prop_oneof![1 => 0usize..=1, 4 => Just(2), 3 => Just(3), 1 => Just(4)];
    let ids = count.prop_flat_map(|count| prop::collection::vec(0usize..6, count));
    let cliques = prop::collection::vec(ids, 1..=10);
    (sizes, cliques)
        .prop_map(|(sizes, cliques)| {
            let within = |id: usize| AttributeId((id % sizes.len()) as u32);
            let cliques = cliques.into_iter().map(|ids| ids.into_iter().map(within).collect());
            CliqueLayout::new(domain(&sizes), cliques.collect())
        })
        .prop_flat_map(move |layout| with_potentials(layout, theta.clone()))
}

/// Potentials over cliques that grow as a tree: each takes some attributes of an earlier one and
/// adds up to two new ones.
fn tree_model(theta: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = Potentials> {
    let branch = (any::<prop::sample::Index>(), any::<u8>(), 0usize..=2);
    (prop::collection::vec(1usize..=4, 6), prop::collection::vec(branch, 0..=5))
        .prop_map(|(sizes, branches)| {
            let mut cliques = vec![clique(&[0, 1])];
            let mut fresh = 2u32..6;
            for (from, mask, added) in branches {
                let from = cliques[from.index(cliques.len())].clone();
                let kept = from.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
                let new = fresh.by_ref().take(added).map(AttributeId);
                cliques.push(kept.map(|(_, id)| id).chain(new).collect());
            }
            CliqueLayout::new(domain(&sizes), cliques)
        })
        .prop_flat_map(move |layout| with_potentials(layout, theta.clone()))
}

fn with_potentials(
    layout: Arc<CliqueLayout>,
    theta: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Potentials> {
    prop::collection::vec(theta, layout.len()).prop_map(move |theta| potentials(&layout, &theta))
}

/// Moderate potentials, extreme ones, and structural zeros.
fn extreme() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        3 => -3.0..3.0,
        1 => -400.0..400.0,
        1 => Just(700.0),
        1 => Just(-700.0),
        1 => Just(f64::NEG_INFINITY),
    ]
}

/// Moderate potentials and structural zeros.
fn with_zeros() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![5 => -3.0..3.0, 1 => Just(f64::NEG_INFINITY)]
}

proptest! {
    #[test]
    fn marginals_of_any_potentials_are_finite_and_sum_to_the_total(
        potentials in any_model(extreme())
    ) {
        for variant in VARIANTS {
            let options = LoopyOptions { max_sweeps: 20, ..LoopyOptions::default() };
            let mut oracle = variant(potentials.layout(), options).unwrap();
            let (log_z, marginals) = run(&mut oracle, &potentials, 50.0);
            prop_assert!(marginals.values().iter().all(|mu| mu.is_finite() && *mu >= 0.0));
            prop_assert!(log_z.is_finite() || log_z == f64::NEG_INFINITY);
            let total = if log_z.is_finite() { 50.0 } else { 0.0 };
            for index in 0..potentials.layout().cliques().len() {
                let sum = marginals.factor(index).total();
                prop_assert!((sum - total).abs() < 1e-11, "clique {} sums to {}", index, sum);
            }
            let (exact, _) = brute_force(&potentials, 50.0);
            prop_assert!(exact.is_finite() <= log_z.is_finite(), "a possible record is excluded");
            let bound = oracle.maximum(&potentials).unwrap();
            prop_assert!(!bound.is_nan() && bound < f64::INFINITY);
        }
    }

    #[test]
    fn bethe_is_exact_when_the_cliques_form_a_tree(potentials in tree_model(extreme())) {
        let (exact_log_z, exact) = brute_force(&potentials, 1.0);
        for warm_start in [false, true] {
            let options = LoopyOptions { warm_start, damping: 0.5, ..LoopyOptions::default() };
            let mut oracle = Loopy::bethe(potentials.layout(), options).unwrap();
            run(&mut oracle, &Potentials::zeros(potentials.layout()), 1.0);
            let (log_z, marginals) = run(&mut oracle, &potentials, 1.0);
            prop_assert!(log_z == exact_log_z || (log_z - exact_log_z).abs() < 1e-9);
            prop_assert!(largest_difference(marginals.values(), exact.values()) < 1e-10);
            prop_assert!(oracle.convergence().converged && oracle.convergence().sweeps <= 1);
        }
    }

    #[test]
    fn results_do_not_depend_on_earlier_calls(potentials in any_model(extreme())) {
        for variant in VARIANTS {
            let options = LoopyOptions { max_sweeps: 20, damping: 0.3, ..LoopyOptions::default() };
            let fresh = || variant(potentials.layout(), options).unwrap();
            let mut used = fresh();
            run(&mut used, &Potentials::zeros(potentials.layout()), 3.0);
            used.maximum(&potentials);
            let (log_z, marginals) = run(&mut used, &potentials, 7.0);
            let (expected_log_z, expected) = run(&mut fresh(), &potentials, 7.0);
            prop_assert_eq!(log_z.to_bits(), expected_log_z.to_bits());
            prop_assert_eq!(marginals, expected);
            prop_assert_eq!(used.maximum(&potentials), fresh().maximum(&potentials));
        }
    }

    #[test]
    fn convex_marginals_converge_and_agree_on_all_shared_attributes(
        potentials in any_model(-3.0..3.0)
    ) {
        let options = LoopyOptions { max_sweeps: 2000, ..LoopyOptions::default() };
        let mut oracle = Loopy::convex(potentials.layout(), options).unwrap();
        let (_, marginals) = run(&mut oracle, &potentials, 1.0);
        prop_assert!(oracle.convergence().converged);
        // A region is within the tolerance of its parents. Two cliques may be connected through a
        // few regions, and on cells that are sums of a region's cells.
        prop_assert!(inconsistency(&marginals) < 100.0 * options.tolerance);
    }

    #[test]
    fn convex_ln_z_is_an_upper_bound_that_sweeps_never_increase(
        potentials in any_model(-3.0..3.0)
    ) {
        let (exact, _) = brute_force(&potentials, 1.0);
        let mut before = f64::INFINITY;
        for max_sweeps in 1..6 {
            let options = LoopyOptions { max_sweeps, tolerance: 0.0, ..LoopyOptions::default() };
            let mut oracle = Loopy::convex(potentials.layout(), options).unwrap();
            let (log_z, _) = run(&mut oracle, &potentials, 1.0);
            prop_assert!(log_z >= exact - 1e-10 && log_z <= before + 1e-10);
            before = log_z;
        }
    }

    #[test]
    fn convex_marginals_are_the_gradient_of_convex_ln_z(
        potentials in any_model(-1.0..1.0), cell in any::<prop::sample::Index>()
    ) {
        let cell = cell.index(potentials.layout().len());
        let default = LoopyOptions::default();
        let options = LoopyOptions { max_sweeps: 5000, tolerance: 1e-12, ..default };
        let mut oracle = Loopy::convex(potentials.layout(), options).unwrap();
        let (_, marginals) = run(&mut oracle, &potentials, 1.0);
        let mut log_z_at = |step: f64| {
            let mut moved = potentials.clone();
            moved.values_mut()[cell] += step;
            run(&mut oracle, &moved, 1.0).0
        };
        // Central differences: an error of order step^2, and rounding over step.
        let slope = (log_z_at(1e-4) - log_z_at(-1e-4)) / 2e-4;
        prop_assert!((slope - marginals.values()[cell]).abs() < 1e-7);
    }

    #[test]
    fn the_bound_on_the_maximum_is_valid_and_at_most_the_sum_of_clique_maxima(
        potentials in any_model(with_zeros())
    ) {
        let exact = BruteForce::new(potentials.layout(), 1 << 12).unwrap().maximum(&potentials);
        let cliques = 0..potentials.layout().cliques().len();
        let sum: f64 = cliques
            .map(|c| potentials.table(c).iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .sum();
        for variant in VARIANTS {
            let mut oracle = variant(potentials.layout(), LoopyOptions::default()).unwrap();
            let bound = oracle.maximum(&potentials).unwrap();
            prop_assert!(bound >= exact.unwrap() - 1e-10 && bound <= sum);
        }
    }

    #[test]
    fn bethe_is_accurate_for_weak_pairwise_potentials(
        sizes in prop::collection::vec(2usize..=4, 3..=6),
        theta in prop::collection::vec(-0.2..0.2, 15 * 16)
    ) {
        // Every pair of attributes is a clique, which gives the largest number of cycles.
        let d = sizes.len() as u32;
        let cliques = (0..d).flat_map(|i| (0..i).map(move |j| clique(&[i, j]))).collect();
        let layout = CliqueLayout::new(domain(&sizes), cliques);
        let potentials = potentials(&layout, &theta[..layout.len()]);
        let mut oracle = Loopy::bethe(&layout, LoopyOptions::default()).unwrap();
        let (log_z, marginals) = run(&mut oracle, &potentials, 1.0);
        let (exact_log_z, exact) = brute_force(&potentials, 1.0);
        prop_assert!(oracle.convergence().converged);
        prop_assert!(largest_difference(marginals.values(), exact.values()) < 0.02);
        prop_assert!((log_z - exact_log_z).abs() < 0.02);
    }

    #[test]
    fn bethe_is_accurate_for_weak_potentials(potentials in any_model(-0.2..0.2)) {
        let mut oracle = Loopy::bethe(potentials.layout(), LoopyOptions::default()).unwrap();
        let (_, marginals) = run(&mut oracle, &potentials, 1.0);
        let (_, exact) = brute_force(&potentials, 1.0);
        prop_assert!(largest_difference(marginals.values(), exact.values()) < 0.05);
    }

    #[test]
    fn a_ring_of_equal_cliques_has_equal_marginals(
        d in 3usize..=6, theta in prop::collection::vec(-0.5..0.5, 6)
    ) {
        // A symmetric 3 x 3 potential on every edge of a ring.
        let edges = (0..d as u32).map(|i| clique(&[i, (i + 1) % d as u32])).collect();
        let layout = CliqueLayout::new(domain(&vec![3; d]), edges);
        let symmetric = [0, 1, 2, 1, 3, 4, 2, 4, 5].map(|i| theta[i]);
        let potentials = potentials(&layout, &symmetric.repeat(d));
        for variant in VARIANTS {
            let mut oracle = variant(&layout, LoopyOptions::default()).unwrap();
            let (_, marginals) = run(&mut oracle, &potentials, 1.0);
            prop_assert!(oracle.convergence().converged);
            let first = marginals.table(0);
            let transposed = [0, 3, 6, 1, 4, 7, 2, 5, 8].map(|i| first[i]);
            prop_assert!(largest_difference(first, &transposed) < 1e-7);
            for edge in 1..d {
                prop_assert!(largest_difference(first, marginals.table(edge)) < 1e-7);
            }
        }
    }

    #[test]
    fn a_warm_convex_call_agrees_with_a_cold_one(
        (before, after) in any_model(with_zeros()).prop_flat_map(|before| {
            let after = with_potentials(Arc::clone(before.layout()), with_zeros());
            (Just(before), after)
        })
    ) {
        let cold = LoopyOptions { max_sweeps: 5000, tolerance: 1e-10, ..LoopyOptions::default() };
        let warm = LoopyOptions { warm_start: true, ..cold };
        let mut used = Loopy::convex(before.layout(), warm).unwrap();
        run(&mut used, &before, 1.0);
        used.maximum(&before);
        let (log_z, marginals) = run(&mut used, &after, 1.0);
        let mut fresh = Loopy::convex(before.layout(), cold).unwrap();
        let (expected_log_z, expected) = run(&mut fresh, &after, 1.0);
        prop_assume!(used.convergence().converged && fresh.convergence().converged);
        prop_assert!(log_z == expected_log_z || (log_z - expected_log_z).abs() < 1e-7);
        prop_assert!(largest_difference(marginals.values(), expected.values()) < 1e-6);
    }

    #[test]
    fn a_warm_call_with_the_same_potentials_needs_at_most_half_the_sweeps(
        potentials in any_model(-3.0..3.0)
    ) {
        for variant in VARIANTS {
            let options = LoopyOptions { warm_start: true, ..LoopyOptions::default() };
            let mut oracle = variant(potentials.layout(), options).unwrap();
            let (log_z, marginals) = run(&mut oracle, &potentials, 1.0);
            let cold = oracle.convergence();
            prop_assume!(cold.converged);
            let (again, same) = run(&mut oracle, &potentials, 1.0);
            // Not always one sweep: an oscillating residual can rise again.
            prop_assert!(oracle.convergence().sweeps <= (cold.sweeps / 2).max(1));
            prop_assert!((log_z - again).abs() < 1e-6);
            prop_assert!(largest_difference(marginals.values(), same.values()) < 1e-6);
        }
    }
}

#[test]
fn convex_marginals_of_equal_cliques_are_the_geometric_mean() {
    // max <theta_1 + theta_2, b> + 2 H(b): b is proportional to exp of the mean potential.
    let layout = CliqueLayout::new(domain(&[3]), vec![clique(&[0]), clique(&[0])]);
    let potentials = potentials(&layout, &[1.0, -2.0, 0.5, 3.0, 0.0, f64::NEG_INFINITY]);
    let mut oracle = Loopy::convex(&layout, LoopyOptions::default()).unwrap();
    let (log_z, marginals) = run(&mut oracle, &potentials, 10.0);
    let (a, b) = (2.0f64.exp(), (-1.0f64).exp());
    let expected = [10.0 * a / (a + b), 10.0 * b / (a + b), 0.0];
    assert!(largest_difference(marginals.table(0), &expected) < 1e-12);
    assert!(largest_difference(marginals.table(1), &expected) < 1e-12);
    assert!((log_z - 2.0 * (a + b).ln()).abs() < 1e-12);
}

#[test]
fn zeros_that_contradict_each_other_along_a_chain_exclude_every_record() {
    // x0 = x1, x1 = x2, but x0 = 0 and x2 = 1: detected only by passing messages.
    let cliques = vec![clique(&[0, 1]), clique(&[1, 2]), clique(&[0]), clique(&[2])];
    let layout = CliqueLayout::new(domain(&[2, 2, 2]), cliques);
    let no = f64::NEG_INFINITY;
    let equal = [0.0, no, no, 0.0];
    let potentials = potentials(&layout, &[&equal[..], &equal, &[0.0, no], &[no, 0.0]].concat());
    for variant in VARIANTS {
        let mut oracle = variant(&layout, LoopyOptions::default()).unwrap();
        let (log_z, marginals) = run(&mut oracle, &potentials, 1.0);
        assert_eq!(log_z, no);
        assert!(marginals.values().iter().all(|&mu| mu == 0.0));
        assert_eq!(oracle.maximum(&potentials), Some(no));
    }
}

#[test]
fn invalid_options_are_rejected() {
    let layout = CliqueLayout::new(domain(&[2]), vec![clique(&[0])]);
    let good = LoopyOptions::default();
    let refusal = |options| Loopy::bethe(&layout, options).unwrap_err();
    assert_eq!(refusal(LoopyOptions { max_sweeps: 0, ..good }), LoopyError::NoSweeps);
    assert_eq!(refusal(LoopyOptions { tolerance: -1.0, ..good }), LoopyError::Tolerance(-1.0));
    assert_eq!(refusal(LoopyOptions { damping: 1.0, ..good }), LoopyError::Damping(1.0));
}

#[test]
fn errors_do_not_accumulate_over_thousands_of_warm_calls() {
    let triangle = vec![clique(&[0, 1]), clique(&[1, 2]), clique(&[0, 2])];
    let layout = CliqueLayout::new(domain(&[2, 3, 4]), triangle);
    let theta = |call: usize| {
        let cells: Vec<f64> = (0..26).map(|cell| ((cell * (call + 2)) as f64).sin()).collect();
        potentials(&layout, &cells)
    };
    for variant in VARIANTS {
        let warm = LoopyOptions { warm_start: true, tolerance: 1e-12, ..LoopyOptions::default() };
        let mut oracle = variant(&layout, warm).unwrap();
        (0..3000).for_each(|call| drop(run(&mut oracle, &theta(call), 1.0)));
        let (log_z, marginals) = run(&mut oracle, &theta(3000), 1.0);
        let (expected_log_z, expected) =
            run(&mut variant(&layout, warm).unwrap(), &theta(3000), 1.0);
        assert!((log_z - expected_log_z).abs() < 1e-11);
        assert!(largest_difference(marginals.values(), expected.values()) < 1e-11);
    }
}
