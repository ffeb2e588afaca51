use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::covariance::approximated;
use super::low_rank::error;
use super::optimised_strategy::{OptimisedStrategy, find};
use super::{LRM, MM, Search, strategy};
use crate::mechanism::support::small_table::{SmallTable, answers};
use crate::mechanism::{MechanismError, Noise, Task};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Budget, Epsilon, L1, Neighbours, NoiseSource, SeedPath};
use private_pgm::domain::Domain;
use private_pgm::fit::{EstimatorContext, Progress};
use private_pgm::model::Projectable;
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::product::{View, product};
use private_pgm::query::{QueryFactor, QueryMatrix};

const SEARCHES: [Search; 2] = [Search::Approximated, Search::LowRank];

fn query(rows: usize, entries: Vec<f64>) -> QueryMatrix {
    let cols = entries.len() / rows;
    let domain = Domain::new([("a", cols)]).unwrap();
    let matrix = Matrix::new(rows, cols, entries);
    QueryMatrix::dense(&domain, domain.everything().as_slice(), matrix).unwrap()
}

fn factor(factor: QueryFactor, n: usize) -> QueryMatrix {
    let domain = Domain::new([("a", n)]).unwrap();
    let identity = QueryMatrix::identity(&domain, &domain.everything()).unwrap();
    identity.with_factors(vec![factor]).unwrap()
}

fn gram(matrix: &Matrix) -> Matrix {
    product(View::from(matrix).transposed(), matrix)
}

/// tr(V M^-1) max diag M.
fn objective(v: &Matrix, m: &Matrix) -> f64 {
    let mut solved = v.clone();
    Cholesky::new(m.clone()).unwrap().solve(solved.values_mut());
    let trace: f64 = (0..m.rows()).map(|i| solved[(i, i)]).sum();
    trace * (0..m.rows()).map(|i| m[(i, i)]).fold(0.0, f64::max)
}

fn small_workloads() -> impl Strategy<Value = (usize, usize, Vec<f64>, Vec<f64>)> {
    (1usize..6, 1usize..6).prop_flat_map(|(rows, cols)| {
        // Multiples of a quarter: the searches do not support nearly singular matrices.
        let quarters = (-8i8..=8).prop_map(|quarters| f64::from(quarters) / 4.0);
        let entry = prop_oneof![Just(0.0), Just(1.0), quarters];
        let other = prop::collection::vec(-1.0..1.0f64, cols * cols);
        (Just(rows), Just(cols), prop::collection::vec(entry, rows * cols), other)
    })
}

proptest! {
    #[test]
    fn no_other_covariance_is_better_than_the_certificate_allows(
        (_, cols, w, other) in small_workloads(),
    ) {
        // Full rank, for which the definition needs no pseudo-inverse.
        let mut v = gram(&Matrix::new(w.len() / cols, cols, w));
        (0..cols).for_each(|i| v[(i, i)] += 0.5);
        let found = approximated(&v).unwrap();
        let m = gram(&found.queries);
        prop_assert!((0..cols).all(|i| m[(i, i)] < 1.0 + 1e-12));
        prop_assert!(found.ratio < 1.0011);
        let value = objective(&v, &m);
        // Rivals: the identity, perturbations of the optimum, and a random matrix.
        let mut rival = gram(&Matrix::new(cols, cols, other));
        let identity = QueryFactor::Identity.to_dense(cols);
        prop_assert!(value <= found.ratio * objective(&v, &identity) * (1.0 + 1e-12));
        for weight in [0.01, 0.3, 3.0] {
            let mut moved = m.clone();
            for (m, r) in moved.values_mut().iter_mut().zip(rival.values()) {
                *m += weight * r;
            }
            prop_assert!(value <= found.ratio * objective(&v, &moved) * (1.0 + 1e-12));
        }
        (0..cols).for_each(|i| rival[(i, i)] += 0.01);
        prop_assert!(value <= found.ratio * objective(&v, &rival) * (1.0 + 1e-12));
    }

    #[test]
    fn strategies_answer_their_workload_with_the_claimed_error(
        (rows, cols, w, _) in small_workloads(),
    ) {
        let query = query(rows, w.clone());
        let w = Matrix::new(rows, cols, w);
        for search in SEARCHES {
            let Some(found) = OptimisedStrategy::new(&query, search) else {
                prop_assert!(w.values().iter().all(|&entry| entry == 0.0));
                continue;
            };
            // W A^+ A = W, and the noise on the answers has the covariance W A^+ (W A^+)^T.
            let b = product(&w, &found.inverse);
            let back = product(&b, &found.queries);
            let near = back.values().iter().zip(w.values()).all(|(b, w)| (b - w).abs() < 1e-6);
            prop_assert!(near, "{search:?}: {back:?} {w:?}");
            let error: f64 = b.values().iter().map(|b| b * b).sum();
            prop_assert!((error - found.error).abs() <= 1e-6 * error);
        }
    }

    #[test]
    fn the_gradient_of_the_low_rank_error_matches_finite_differences(
        (_, cols, w, l) in small_workloads(),
    ) {
        let v = gram(&Matrix::new(w.len() / cols, cols, w));
        let (rows, scale) = (cols + 2, 3.0);
        let mut at: Vec<f64> = l.iter().copied().cycle().take(cols * rows).collect();
        (0..cols).for_each(|col| at[col * rows + col] += 2.0 * cols as f64);
        let mut gradient = vec![0.0; at.len()];
        let value = error(&v, scale, rows, &at, &mut gradient);
        let strategy = Matrix::new(cols, rows, at.clone()).transposed();
        let mut solved = v.clone();
        Cholesky::new(gram(&strategy)).unwrap().solve(solved.values_mut());
        let expected = (0..cols).map(|i| solved[(i, i)]).sum::<f64>() / scale;
        prop_assert!((value - expected).abs() <= 1e-10 * expected.max(1.0));
        for place in 0..at.len() {
            let moved = |by: f64| {
                let mut at = at.clone();
                at[place] += by;
                error(&v, scale, rows, &at, &mut vec![0.0; at.len()])
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((slope - gradient[place]).abs() < 1e-6 * expected.max(1.0));
        }
    }
}

#[test]
fn the_strategy_is_the_symmetric_root_or_the_scaled_eigenvectors() {
    let ranges = approximated(&factor(QueryFactor::Ranges, 16).gram()).unwrap().queries;
    let transposed = ranges.transposed();
    assert!(ranges.values().iter().zip(transposed.values()).all(|(a, b)| (a - b).abs() < 1e-9));
    // M is a matrix of ones. Its root has columns of norm sqrt(5), its scaled eigenvector of 1.
    let total = approximated(&factor(QueryFactor::Total, 5).gram()).unwrap().queries;
    assert_eq!((total.rows(), total.cols()), (1, 5));
    assert!(total.values().iter().all(|entry| (entry.abs() - 1.0).abs() < 1e-6), "{total:?}");
}

#[test]
fn on_the_identity_all_estimates_are_the_noisy_counts_without_negative_ones() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let (release, _) = table.release(&MM, Epsilon::new(0.1).unwrap(), Neighbours::AddRemove, 1);
    // The last marginal has no prefix sums.
    let (domain, clique) = (table.workload.domain(), &table.workload.cliques()[2]);
    let expected: Vec<f64> = answers(&release)[2].y.iter().map(|y| y.max(0.0)).collect();
    for (name, estimator) in &release.extra_estimators {
        let mut rng = ChaCha20Rng::from_seed([0; 32]);
        let mut context = EstimatorContext {
            memory_limit: 1 << 30,
            deadline: None,
            warm_start: None,
            rng: &mut rng,
            observer: &mut |_: &Progress<'_>| {},
        };
        let found = estimator.estimate(&release.evidence(domain), &mut context).unwrap();
        assert_eq!(found.answers.project(clique).unwrap().values(), expected, "{name}");
    }
}

#[test]
fn low_rank_strategies_have_columns_of_norm_one_and_are_never_worse_than_the_identity() {
    let signs = (0..64).map(|i| if (i * i / 7) % 2 == 0 { 1.0 } else { -1.0 }).collect();
    for query in [
        factor(QueryFactor::Ranges, 16),
        factor(QueryFactor::Prefix, 16),
        factor(QueryFactor::Total, 5),
        query(8, signs),
    ] {
        let found = OptimisedStrategy::new(&query, Search::LowRank).unwrap();
        let norm = QueryFactor::Dense(found.queries.clone()).max_column_l1(query.cols());
        assert!((norm - 1.0).abs() < 1e-12, "{norm}");
        let v = query.gram();
        let counts: f64 = (0..v.rows()).map(|i| v[(i, i)]).sum();
        assert!(found.error <= counts, "{} {counts}", found.error);
    }
    // HDMM's search finds 0.436 of the identity's error for 64 prefix sums.
    let found = OptimisedStrategy::new(&factor(QueryFactor::Prefix, 64), Search::LowRank).unwrap();
    assert!(found.error < 0.46 * (64.0 * 65.0 / 2.0), "{}", found.error);
}

#[test]
fn the_identity_is_its_own_strategy() {
    for search in SEARCHES {
        let found = OptimisedStrategy::new(&factor(QueryFactor::Identity, 4), search).unwrap();
        assert_eq!(found.queries, QueryFactor::Identity.to_dense(4));
        assert!((found.error - 4.0).abs() < 1e-12);
    }
}

#[test]
fn the_sensitivity_of_the_answers_is_at_most_as_claimed() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        for search in SEARCHES {
            let of = |table: &SmallTable, part: usize| {
                let part = &table.workload.parts()[part];
                strategy(&table.task(), part, &find(&part.query, search).unwrap()).unwrap()
            };
            for part in 0..3 {
                let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
                    let table = SmallTable::new(counts);
                    of(&table, part).answers(&table.data).unwrap()
                });
                let table = SmallTable::new(&[1, 1, 1, 0, 0, 0]);
                let claimed =
                    of(&table, part).sensitivity(&table.task(), neighbours).unwrap().get();
                assert!(worst.distance <= claimed, "{} {claimed}", worst.distance);
                // Not tight: some columns have a smaller norm, and the columns of two records may
                // overlap.
                assert!(worst.distance > 0.45 * claimed, "{} {claimed}", worst.distance);
            }
        }
    }
}

#[test]
fn with_negligible_noise_every_estimator_finds_the_counts() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    for spec in [&MM, &LRM] {
        let (release, budget) =
            table.release(spec, Epsilon::new(1000.0).unwrap(), Neighbours::AddRemove, 1);
        budget.ledger().verify(budget.total()).unwrap();
        assert!((release.total - 15.0).abs() < 0.5, "{}", release.total);
        assert_eq!(answers(&release).len(), 3);
        let domain = table.workload.domain();
        let clique = table.workload.cliques()[0].clone();
        let truth = table.data.project(&clique).unwrap();
        let estimators = release
            .extra_estimators
            .iter()
            .map(|(name, extra_estimators)| (*name, extra_estimators));
        for (name, estimator) in estimators.chain([("own", &release.own_estimator)]) {
            let mut rng = ChaCha20Rng::from_seed([0; 32]);
            let mut context = EstimatorContext {
                memory_limit: 1 << 30,
                deadline: None,
                warm_start: None,
                rng: &mut rng,
                observer: &mut |_: &Progress<'_>| {},
            };
            let found = estimator.estimate(&release.evidence(domain), &mut context).unwrap();
            let cells = found.answers.marginals(std::slice::from_ref(&clique)).unwrap();
            let pairs = cells[0].values().iter().zip(truth.values());
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 0.3), "{name}: {pairs:?}");
        }
    }
}

#[test]
fn searches_that_do_not_fit_into_memory_are_refused_with_their_size() {
    let table = SmallTable::new(&[1; 6]);
    let task = Task { memory_limit: 1000, noise: Noise::Exact, ..table.task() };
    let mechanism = (LRM.build)(&toml::Table::new()).unwrap();
    let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
    let mut source = NoiseSource::seeded(&SeedPath::new("seed", 1));
    let refused = mechanism.release(&task, &mut budget, &mut source).err().unwrap();
    assert!(matches!(refused, MechanismError::Infeasible { bytes: 3456.0, .. }), "{refused}");
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for (text, name) in [("alpha = 2", "alpha"), ("rho = -1.0", "rho"), ("rank = 3", "unknown")] {
        for spec in [&MM, &LRM] {
            let message = (spec.build)(&text.parse().unwrap()).err().unwrap().message;
            assert!(message.starts_with(name), "{text}: {message}");
        }
    }
}
