//! Sensitivity by brute force, the ledger, the rounds, the proved accuracy, and the agreement of
//! all forms of p^.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::{Noise, Private, find};
use crate::workload::{SubWorkload, Workload};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Delta, Epsilon, Guarantee, LInfinity, Neighbours, Rho, SeedPath};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Estimator, EstimatorContext, EstimatorError, Pgm, Progress};
use private_pgm::model::Projectable;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::query::{QueryFactor, QueryMatrix};

fn binary(attributes: usize) -> Domain {
    Domain::new((0..attributes).map(|i| (format!("x{i}"), 2))).unwrap()
}

/// Each bit repeats the one before it in about six of seven records.
fn data(domain: &Domain, records: u32) -> Dataset {
    let mut codes: Vec<Vec<u32>> = vec![(0..records).map(|i| u32::from(i % 5 == 0)).collect()];
    for place in 1..domain.len() as u32 {
        let last = &codes[place as usize - 1];
        let flips = |i: u32| u32::from((i * 31 + place * 17).is_multiple_of(7));
        codes.push((0..records).zip(last).map(|(i, bit)| bit ^ flips(i)).collect());
    }
    Dataset::from_codes("bits", domain, &codes, Provenance::default()).unwrap()
}

/// The marginals on all sets of `size` adjacent attributes.
fn neighbours(domain: &Domain, size: usize) -> Workload {
    let sets = domain.declared().windows(size);
    let cliques: Vec<Clique> = sets.map(|set| Clique::new(set.iter().copied())).collect();
    Workload::marginals(domain, &cliques, &Clique::empty()).unwrap()
}

fn pairs(domain: &Domain) -> Workload {
    let ids = domain.declared();
    let below = |i: usize| ids[..i].iter().map(move |&other| Clique::new([ids[i], other]));
    let cliques: Vec<Clique> = (1..ids.len()).flat_map(below).collect();
    Workload::marginals(domain, &cliques, &Clique::empty()).unwrap()
}

fn released(
    name: &str,
    parameters: &str,
    data: &Dataset,
    workload: &Workload,
    total: impl Into<Guarantee>,
    neighbours: Neighbours,
    seed: u64,
) -> Result<(Release, Budget), MechanismError> {
    let mechanism = (find(name).unwrap().build)(&parameters.parse().unwrap()).unwrap();
    let task = Task {
        data: Private::new(data),
        workload,
        noise: Noise::Exact,
        estimator: &Pgm::default(),
        public: None,
        memory_limit: 1 << 30,
        deadline: None,
    };
    let mut budget = Budget::new(total, neighbours);
    let mut source = NoiseSource::seeded(&SeedPath::new("test", seed));
    Ok((mechanism.release(&task, &mut budget, &mut source)?, budget))
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn answers(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("PMW publishes answers"),
    }
}

fn estimated(
    estimator: &dyn Estimator,
    release: &Release,
    domain: &Domain,
    memory_limit: u64,
) -> Result<Box<dyn Projectable>, EstimatorError> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let observer = &mut |_: &Progress<'_>| {};
    let mut context = EstimatorContext {
        memory_limit,
        deadline: None,
        warm_start: None,
        rng: &mut rng,
        observer,
    };
    Ok(estimator.estimate(&release.evidence(domain), &mut context)?.answers)
}

fn model(release: &Release) -> &dyn Estimator {
    &*release.extra_estimators[0].1
}

fn of_estimate(workload: &Workload, estimate: &dyn Projectable) -> Vec<f64> {
    let marginals = estimate.marginals(&workload.cliques()).unwrap();
    let parts = workload.parts().iter().zip(&marginals);
    parts.flat_map(|(part, marginal)| part.answers(marginal.values())).collect()
}

/// The largest error of a query, as a share of the records.
fn largest_error(workload: &Workload, data: &Dataset, estimate: &dyn Projectable) -> f64 {
    let truth = workload.answers(data).unwrap().concat();
    let found = of_estimate(workload, estimate);
    let errors = truth.iter().zip(found).map(|(t, e)| (t - e).abs());
    errors.fold(0.0, f64::max) / data.len() as f64
}

#[test]
fn the_sensitivity_of_scores_is_as_claimed_on_all_small_tables() {
    let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
    let [a, b] = [domain.declared()[0], domain.declared()[1]];
    let cliques = [Clique::new([a, b]), Clique::new([b])];
    let workload = Workload::marginals(&domain, &cliques, &Clique::new([b])).unwrap();
    let records = |table: &[u64]| {
        let mut codes = vec![Vec::new(); 2];
        for (cell, &count) in table.iter().enumerate() {
            for _ in 0..count {
                codes[0].push(cell as u32 / 3);
                codes[1].push(cell as u32 % 3);
            }
        }
        Dataset::from_codes("table", &domain, &codes, Provenance::default()).unwrap()
    };
    for (relation, tables) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let scores = |table: &[u64]| {
            let data = records(table);
            let queries = Queries::new("PMW", &workload, &data).unwrap();
            // The last prefix of b counts everything and is omitted.
            assert_eq!(queries.len(), 2 * (6 + 2));
            let estimates: Vec<f64> = (0..8).map(|i| 0.07 + 0.11 * f64::from(i)).collect();
            queries.scores(&estimates, 3.7)
        };
        let worst = worst_case::<LInfinity>(6, tables, scores).distance;
        assert_eq!(worst, 1.0, "{relation:?}");
    }
}

#[test]
fn the_budget_covers_all_rounds_and_the_ledger_lists_those_that_were_used() {
    let domain = binary(4);
    let (data, workload) = (data(&domain, 400), pairs(&domain));
    let rho = Rho::implying(epsilon(1.0), Delta::new(1e-6).unwrap()).unwrap();
    for (name, total) in [("pmw", epsilon(1.0).into()), ("pmw-delta", Guarantee::from(rho))] {
        for (relation, counted) in [(Neighbours::Replace, 0), (Neighbours::AddRemove, 1)] {
            for seed in 0..5 {
                let (release, budget) =
                    released(name, "alpha = 0.4", &data, &workload, total, relation, seed).unwrap();
                let Rounds { used, limit } = release.diagnostics.rounds.unwrap();
                // floor(4 ln 16 / 0.16)
                assert_eq!(limit, 69);
                assert!((1..=limit).contains(&used));
                let ledger = budget.ledger();
                assert_eq!(ledger.lines().len(), 2 * used + counted);
                assert_eq!(answers(&release).len(), used + counted);
                let spent = ledger.verify(total).unwrap().unwrap();
                let part = |guarantee: Guarantee| match guarantee {
                    Guarantee::Pure { epsilon } => epsilon.get(),
                    Guarantee::Concentrated { rho } => rho.get(),
                    Guarantee::Approximate { .. } => panic!("{guarantee}"),
                };
                let rounds = used as f64 / limit as f64;
                let expected = match relation {
                    Neighbours::Replace => rounds,
                    Neighbours::AddRemove => 0.05 + 0.95 * rounds,
                };
                assert!((part(spent) / part(total) - expected).abs() < 1e-9);
                assert_eq!(budget.remaining(), None, "what was not needed is not given back");
                assert_eq!(release.total == 400.0, relation == Neighbours::Replace);
            }
        }
    }
}

#[test]
fn table_and_model_agree_and_runs_are_reproducible() {
    let domain = binary(7);
    let data = data(&domain, 700);
    // The junction tree of the first is smaller than the table, that of the second is not.
    for workload in [neighbours(&domain, 3), pairs(&domain)] {
        for (seed, epsilon_value) in [(0, 1e5), (1, 2000.0), (2, 300.0), (3, 1.0)] {
            let total = epsilon(epsilon_value);
            let run = |seed| {
                released("pmw", "alpha = 0.1", &data, &workload, total, Neighbours::Replace, seed)
                    .unwrap()
                    .0
            };
            let release = run(seed);
            let own = estimated(&*release.own_estimator, &release, &domain, 1 << 20).unwrap();
            let model = estimated(model(&release), &release, &domain, 1 << 20).unwrap();
            let pairs =
                of_estimate(&workload, &*own).into_iter().zip(of_estimate(&workload, &*model));
            for (own, model) in pairs {
                assert!((own - model).abs() < 1e-9 * 700.0, "{own} and {model}");
            }
            assert!(answers(&release) == answers(&run(seed)), "the same seed");
            let differs = answers(&release) != answers(&run(seed + 10));
            assert!(differs || epsilon_value > 1.0, "another seed, where there is noise");
        }
    }
}

#[test]
fn with_little_noise_runs_end_early_and_within_the_proved_error() {
    let domain = binary(7);
    let (data, workload) = (data(&domain, 5000), pairs(&domain));
    let uniform = {
        let (release, _) =
            released("pmw", "alpha = 0.9", &data, &workload, epsilon(1e4), Neighbours::Replace, 0)
                .unwrap();
        assert_eq!(release.diagnostics.rounds.unwrap().used, 1, "nothing is off by more than 1");
        largest_error(
            &workload,
            &data,
            &*estimated(&*release.own_estimator, &release, &domain, 1 << 20).unwrap(),
        )
    };
    let mut last = uniform;
    for alpha in [0.1, 0.05, 0.02, 0.015] {
        let parameters = format!("alpha = {alpha}");
        let (release, _) =
            released("pmw", &parameters, &data, &workload, epsilon(1e6), Neighbours::Replace, 1)
                .unwrap();
        let Rounds { used, limit } = release.diagnostics.rounds.unwrap();
        assert_eq!(release.diagnostics.error_bound, Some(4.0 * alpha));
        // Hoeffding's lemma: two sevenths of the lecture's rounds, and the round whose check
        // passes.
        assert!(used > 1 && used <= 2 * limit / 7 + 1, "{used} of {limit}");
        let own = estimated(&*release.own_estimator, &release, &domain, 1 << 20).unwrap();
        let error = largest_error(&workload, &data, &*own);
        assert!(error <= 4.0 * alpha && error < last, "alpha {alpha}: {error}, before {last}");
        last = error;
    }
}

#[test]
fn no_run_uses_more_rounds_than_the_limit_and_some_use_all() {
    let domain = binary(1);
    // With so much noise, each check passes with probability about one half.
    let (data, workload) = (data(&domain, 3), neighbours(&domain, 1));
    let mut ran_out = 0;
    for seed in 0..200 {
        let (release, _) = released(
            "pmw",
            "alpha = 0.95",
            &data,
            &workload,
            epsilon(1e-3),
            Neighbours::Replace,
            seed,
        )
        .unwrap();
        let Rounds { used, limit } = release.diagnostics.rounds.unwrap();
        assert!(used <= limit && limit == 3);
        assert_eq!(release.diagnostics.error_bound, None, "nothing is proved for three records");
        let own = estimated(&*release.own_estimator, &release, &domain, 1 << 20).unwrap();
        assert!((own.marginals(&[Clique::empty()]).unwrap()[0].values()[0] - 3.0).abs() < 1e-9);
        ran_out += usize::from(used == limit);
    }
    // A quarter: the first two checks fail.
    assert!(ran_out > 20 && ran_out < 80, "{ran_out}");
}

#[test]
fn the_model_works_on_a_domain_of_a_quintillion_records() {
    let domain = binary(60);
    assert!(domain.cells_f64(&domain.everything()) > 1e18);
    let (data, workload) = (data(&domain, 3000), neighbours(&domain, 2));
    let (release, _) =
        released("pmw", "alpha = 0.2", &data, &workload, epsilon(1e5), Neighbours::Replace, 1)
            .unwrap();
    let answers = estimated(model(&release), &release, &domain, 1 << 26).unwrap();
    let error = largest_error(&workload, &data, &*answers);
    assert!(error <= 0.8, "{error}");
    match estimated(&*release.own_estimator, &release, &domain, 1 << 40).err() {
        Some(EstimatorError::Infeasible { bytes, message }) => {
            assert_eq!(bytes, 8.0 * 2f64.powi(60));
            assert!(
                message.starts_with("the table of all possible records needs 9.2 EB"),
                "{message}"
            );
        }
        other => panic!("{other:?}"),
    }
    // All pairs fit into no memory.
    let everything = pairs(&domain);
    let refused = released("pmw", "", &data, &everything, epsilon(1.0), Neighbours::Replace, 1);
    match refused.err() {
        Some(MechanismError::Estimator(EstimatorError::Infeasible { bytes, .. })) => {
            assert!(bytes >= 8.0 * 2f64.powi(60));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unsuitable_data_and_workloads_are_refused_with_the_reason() {
    let domain = binary(3);
    let (data, workload) = (data(&domain, 50), pairs(&domain));
    let refused = |parameters: &str, data: &Dataset, workload: &Workload| {
        let refused =
            released("pmw", parameters, data, workload, epsilon(1.0), Neighbours::Replace, 0);
        match refused.err() {
            Some(MechanismError::Unsuitable(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let reason = refused("alpha = 0.001", &data, &workload);
    assert!(reason.contains("alpha = 0.001") && reason.contains("at least"), "{reason}");
    let none = Dataset::from_codes("none", &domain, &vec![Vec::new(); 3], Provenance::default());
    assert!(refused("", &none.unwrap(), &workload).contains("at least one"));
    let clique = domain.everything();
    let part = |factor: QueryFactor| {
        let factors = vec![factor; 3];
        let (query, _) = QueryMatrix::kronecker(&domain, clique.as_slice(), factors).unwrap();
        Workload::whole(&domain, SubWorkload { clique: clique.clone(), query })
    };
    assert!(
        refused("", &data, &part(QueryFactor::Dense(Matrix::new(1, 2, vec![0.0, 2.0]))))
            .contains("count records")
    );
    assert!(refused("", &data, &part(QueryFactor::Total)).contains("no queries"));
    assert!(data.project(&clique).is_ok());
}
