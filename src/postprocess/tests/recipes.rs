use rand::RngExt;

use super::programs::Program;
use super::trees::dense;
use super::{generator, noise};
use crate::postprocess::admm::{Settings, SettingsError, Tolerance};
use crate::postprocess::contingency::{self, ContingencyError, PublicError, PublicMarginals};
use crate::postprocess::histogram::{self, HistogramError};
use crate::postprocess::htree::HTree;
use crate::postprocess::proximal::Objective;
use crate::postprocess::strategy::{Strategy, StrategyError};
use crate::postprocess::tree::Tree;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::numeric::matrix::Matrix;

const TIGHT: Settings = Settings {
    rho: 2.0,
    tolerance: Tolerance { primal: 1e-8, dual: 1e-8 },
    iterations: 200_000,
    deadline: None,
};

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance)
}

/// Mixtures have a unique minimum, which is compared. Maximum likelihood may have many minima of
/// the same value.
fn check(program: &Program, found: &[f64], case: &str) {
    let optimum = program.optimum();
    let (value, best) = (program.value(found), program.value(&optimum));
    assert!((value - best).abs() <= 1e-4 * best.max(1.0), "{case}: {value} and not {best}");
    if program.alpha < 1.0 {
        assert!(close(found, &optimum, 1e-3), "{case}: {found:?} and not {optimum:?}");
    } else {
        let simplex = program.simplex();
        assert!((value - simplex).abs() <= 1e-4 * simplex.max(1.0), "{case}: not {simplex}");
    }
}

#[test]
fn histograms_are_optimal() {
    for (seed, (branching, leaves)) in [(2, 8), (2, 11), (3, 9), (4, 7)].into_iter().enumerate() {
        let htree = HTree::new(Tree::new(branching, leaves).unwrap());
        let mut rng = generator(seed as u64);
        let counts: Vec<f64> =
            (0..leaves).map(|_| f64::from(rng.random_range(0..4u8)) * 5.0).collect();
        let noisy: Vec<f64> =
            htree.tree().sums(&counts).iter().map(|c| c + noise(&mut rng, 8.0)).collect();
        for alpha in [0.0, 0.5, 0.9, 1.0] {
            let objective = Objective::new(alpha).unwrap();
            let found = histogram::estimate(&htree, &noisy, objective, &TIGHT).unwrap();
            assert!(found.residuals.converged(), "{}", found.residuals);
            let a = dense(htree.tree());
            let program = Program { alpha, a: &a, r: &noisy, e: &[] };
            check(
                &program,
                &found.counts,
                &format!("k {branching}, {leaves} leaves, alpha {alpha}"),
            );
        }
    }
}

/// All marginals of an order of a table over binary attributes.
fn marginals(domain: &Domain, table: &Factor, order: usize) -> Vec<Factor> {
    let sets = (0u32..1 << domain.len()).filter(|set| set.count_ones() as usize == order);
    let clique = |set: u32| Clique::new(domain.ids().filter(|id| set >> id.index() & 1 == 1));
    sets.map(|set| table.sum_onto(&clique(set))).collect()
}

fn binary(attributes: usize) -> Domain {
    Domain::new((0..attributes).map(|i| (format!("x{i}"), 2))).unwrap()
}

#[test]
fn contingency_tables_are_optimal_and_have_the_public_marginals() {
    let domain = binary(4);
    for order in 0..=2 {
        let mut rng = generator(order as u64);
        let counts = (0..16).map(|_| f64::from(rng.random_range(0..3u8)) * 4.0).collect();
        let table = Factor::new(&domain, domain.everything(), counts);
        let known = marginals(&domain, &table, order);
        let public = PublicMarginals::new(&domain, &domain.everything(), &known).unwrap();
        let noisy: Vec<f64> = table.values().iter().map(|c| c + noise(&mut rng, 5.0)).collect();
        let mut e = Vec::new();
        for marginal in &known {
            for cell in 0..marginal.values().len() {
                let inside = |full: &usize| {
                    let mut one = vec![0.0; 16];
                    one[*full] = 1.0;
                    let one = Factor::new(&domain, domain.everything(), one);
                    one.sum_onto(marginal.clique()).values()[cell] == 1.0
                };
                let entries = (0..16).filter(inside).map(|full| (full, 1.0)).collect();
                e.push((entries, marginal.values()[cell]));
            }
        }
        let mut identity = Matrix::zeros(16, 16);
        (0..16).for_each(|i| identity[(i, i)] = 1.0);
        for alpha in [0.0, 0.9, 1.0] {
            let objective = Objective::new(alpha).unwrap();
            let found = contingency::estimate(&public, &noisy, objective, &TIGHT).unwrap();
            assert!(found.residuals.converged(), "{}", found.residuals);
            let program = Program { alpha, a: &identity, r: &noisy, e: &e };
            check(&program, &found.counts, &format!("order {order}, alpha {alpha}"));
            let estimate = Factor::new(&domain, domain.everything(), found.counts);
            for marginal in &known {
                let ours = estimate.sum_onto(marginal.clique());
                assert!(close(ours.values(), marginal.values(), 1e-5));
            }
        }
    }
}

#[test]
fn answers_to_strategies_are_optimal() {
    // Dense, and one entry in six, which is stored as a sparse matrix.
    for one_in in [1, 6] {
        strategies_are_optimal(one_in);
    }
}

fn strategies_are_optimal(one_in: usize) {
    let mut rng = generator(5);
    let (rows, cols) = (9, 6);
    let mut a = Matrix::zeros(rows, cols);
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        if (row + col) % one_in == 0 {
            a[(row, col)] = rng.random_range(-1.0..1.0);
        }
    }
    let counts = [0.0, 12.0, 0.0, 3.0, 40.0, 0.0];
    let answer = |row: usize| a.row(row).iter().zip(counts).map(|(a, x)| a * x).sum::<f64>();
    let noisy: Vec<f64> = (0..rows).map(|row| answer(row) + noise(&mut rng, 4.0)).collect();
    let strategy = Strategy::new(a.clone()).unwrap();
    for alpha in [0.0, 0.9, 1.0] {
        let found = strategy.estimate(&noisy, Objective::new(alpha).unwrap(), &TIGHT).unwrap();
        assert!(found.residuals.converged(), "{}", found.residuals);
        let program = Program { alpha, a: &a, r: &noisy, e: &[] };
        check(&program, &found.counts, &format!("one entry in {one_in}, alpha {alpha}"));
    }
}

#[test]
fn the_unit_of_pure_objectives_does_not_change_the_least_value() {
    let htree = HTree::new(Tree::new(2, 16).unwrap());
    let mut rng = generator(9);
    let noisy: Vec<f64> = (0..31).map(|_| 20.0 + noise(&mut rng, 100.0)).collect();
    let a = dense(htree.tree());
    for alpha in [0.0, 1.0] {
        let program = Program { alpha, a: &a, r: &noisy, e: &[] };
        let best = program.value(&program.optimum());
        let objective = Objective::new(alpha).unwrap().in_units_of(100.0);
        let found = histogram::estimate(&htree, &noisy, objective, &TIGHT).unwrap();
        let value = program.value(&found.counts);
        assert!((value - best).abs() < 1e-4 * best, "alpha {alpha}: {value} and not {best}");
    }
}

#[test]
fn the_default_tolerance_is_sufficient_for_long_ranges() {
    let htree = HTree::new(Tree::new(2, 4096).unwrap());
    let mut rng = generator(3);
    let scale = 100.0;
    let noisy: Vec<f64> =
        htree.tree().sums(&[0.5; 4096]).iter().map(|c| c + noise(&mut rng, scale)).collect();
    let objective = Objective::new(0.0).unwrap().in_units_of(scale);
    let of = |settings| histogram::estimate(&htree, &noisy, objective, &settings).unwrap().counts;
    let tolerance = Tolerance { primal: 1e-7, dual: 1e-7 };
    let (quick, long) = (of(Settings::default()), of(Settings { tolerance, ..TIGHT }));
    for half in 0..2 {
        let sum = |bins: &[f64]| bins[half * 2048..][..2048].iter().sum::<f64>();
        let difference = (sum(&quick) - sum(&long)).abs();
        assert!(difference < 0.1 * scale, "{difference}");
    }
}

#[test]
fn invalid_settings_and_sizes_are_refused() {
    assert_eq!(Objective::new(1.5), Err(SettingsError::Alpha(1.5)));
    assert!(Objective::new(f64::NAN).is_err());
    let (l1, htree) = (Objective::new(1.0).unwrap(), HTree::new(Tree::new(2, 4).unwrap()));
    let settings = Settings { rho: 0.0, ..TIGHT };
    let refused = histogram::estimate(&htree, &[0.0; 7], l1, &settings);
    assert_eq!(refused, Err(HistogramError::Settings(SettingsError::Rho(0.0))));
    assert!(matches!(
        histogram::estimate(&htree, &[0.0; 8], l1, &TIGHT),
        Err(HistogramError::Tree(_))
    ));
    let strategy = Strategy::new(Matrix::zeros(3, 2)).unwrap();
    assert_eq!(
        strategy.estimate(&[0.0; 2], l1, &TIGHT),
        Err(StrategyError::Answers { expected: 3, found: 2 })
    );
    let domain = binary(2);
    let public = PublicMarginals::new(&domain, &domain.everything(), &[]).unwrap();
    assert_eq!(
        contingency::estimate(&public, &[0.0; 3], l1, &TIGHT),
        Err(ContingencyError::Cells { expected: 4, found: 3 })
    );
}

#[test]
fn contradicting_marginals_are_refused() {
    let domain = binary(3);
    let [a, b, c] = [0, 1, 2].map(|i| domain.declared()[i]);
    let ab = Factor::new(&domain, Clique::new([a, b]), vec![1.0, 2.0, 3.0, 4.0]);
    let bc = Factor::new(&domain, Clique::new([b, c]), vec![4.0, 0.0, 5.0, 1.0]);
    assert!(PublicMarginals::new(&domain, &domain.everything(), &[ab.clone(), bc]).is_ok());
    let other = Factor::new(&domain, Clique::new([b, c]), vec![3.0, 0.0, 6.0, 1.0]);
    let refused =
        PublicMarginals::new(&domain, &domain.everything(), &[ab.clone(), other]).unwrap_err();
    assert!(
        matches!(refused, PublicError::Contradiction { found: 4.0, other: 3.0, .. }),
        "{refused}"
    );
    let total = Factor::new(&domain, Clique::empty(), vec![11.0]);
    assert!(PublicMarginals::new(&domain, &domain.everything(), &[ab, total]).is_err());
    let half = Factor::new(&domain, Clique::empty(), vec![0.5]);
    assert!(matches!(
        PublicMarginals::new(&domain, &domain.everything(), &[half]),
        Err(PublicError::Count { .. })
    ));
}

#[test]
fn a_lack_of_convergence_is_reported_with_the_residuals() {
    let htree = HTree::new(Tree::new(2, 64).unwrap());
    let mut rng = generator(1);
    let noisy: Vec<f64> = (0..127).map(|_| noise(&mut rng, 50.0)).collect();
    let settings = Settings { iterations: 3, ..Settings::default() };
    let found =
        histogram::estimate(&htree, &noisy, Objective::new(0.9).unwrap(), &settings).unwrap();
    assert!(!found.residuals.converged() && found.iterations == 3);
    assert!(found.residuals.to_string().starts_with("not converged; residuals: primal "));
    // All pairwise marginals agree, but no nonnegative table has them: three binary attributes
    // cannot all differ from each other.
    let domain = binary(3);
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| {
        let clique = Clique::new([domain.declared()[i], domain.declared()[j]]);
        Factor::new(&domain, clique, vec![0.0, 5.0, 5.0, 0.0])
    });
    let public = PublicMarginals::new(&domain, &domain.everything(), &pairs).unwrap();
    let found = contingency::estimate(
        &public,
        &[1.0; 8],
        Objective::new(1.0).unwrap(),
        &Settings::default(),
    );
    assert!(!found.unwrap().residuals.converged());
}
