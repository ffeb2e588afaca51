use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::{Noise, Private};
use crate::workload::Workload;
use dp::{Delta, Epsilon, Guarantee, Mechanism as Draw, Neighbours, Rho, SeedPath};
use private_pgm::domain::Domain;
use private_pgm::fit::{Estimated, Estimator, EstimatorContext, Pgm, Progress};
use private_pgm::model::Projectable;

/// b copies a except in every tenth record, and d copies c.
fn pairs(records: u32) -> Dataset {
    let domain = Domain::new([("a", 3), ("b", 3), ("c", 4), ("d", 4), ("e", 2)]).unwrap();
    let column = |code: &dyn Fn(u32) -> u32| (0..records).map(code).collect::<Vec<u32>>();
    let codes = [
        column(&|i| i % 3),
        column(&|i| if i % 10 == 0 { 0 } else { i % 3 }),
        column(&|i| (i / 3) % 4),
        column(&|i| if i % 10 == 5 { 1 } else { (i / 3) % 4 }),
        column(&|i| (i / 12) % 2),
    ];
    Dataset::from_codes("pairs", &domain, &codes, Provenance::default()).unwrap()
}

fn rho(epsilon: f64, neighbours: Neighbours) -> Budget {
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap());
    Budget::new(Rho::implying(epsilon, delta).unwrap(), neighbours)
}

fn release(data: &Dataset, budget: &mut Budget) -> Result<Release, MechanismError> {
    let workload = Workload::marginals(data.domain(), &[], &Clique::empty()).unwrap();
    let task = Task {
        data: Private::new(data),
        workload: &workload,
        noise: Noise::Exact,
        estimator: &Pgm::default(),
        public: None,
        memory_limit: 1 << 30,
        deadline: None,
    };
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "mst"));
    Mst::default().release(&task, budget, &mut source)
}

fn answers(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("MST publishes marginals"),
    }
}

fn estimate(estimator: &dyn Estimator, release: &Release, domain: &Domain) -> Estimated {
    let mut run = EstimatorContext {
        memory_limit: 1 << 30,
        deadline: None,
        warm_start: None,
        rng: &mut ChaCha20Rng::seed_from_u64(5),
        observer: &mut |_: &Progress<'_>| {},
    };
    estimator.estimate(&release.evidence(domain), &mut run).unwrap()
}

#[test]
fn the_draws_spend_a_third_of_rho_each() {
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        let mut budget = rho(1.0, neighbours);
        let release = release(&pairs(600), &mut budget).unwrap();
        let Guarantee::Concentrated { rho: total } = budget.total() else { panic!("rho") };
        let Some(Guarantee::Concentrated { rho }) = budget.ledger().verify(budget.total()).unwrap()
        else {
            panic!("rho")
        };
        assert!(rho <= total && rho.get() > total.get() * (1.0 - 1e-12));
        let ledger = budget.ledger();
        let entries: Vec<_> = ledger.lines().iter().map(|line| &line.entry).collect();
        let kinds: Vec<Draw> = entries.iter().map(|entry| entry.draw.mechanism).collect();
        let expected = [
            [Draw::DiscreteGaussian; 5].as_slice(),
            &[Draw::Exponential; 4],
            &[Draw::DiscreteGaussian; 4],
        ];
        assert_eq!(kinds, expected.concat());
        // sigma = sqrt(D^2 / (2 rho_i)), with D^2 = 2 or 1 and rho_i a fifth or a fourth of a
        // third.
        let squared = if neighbours == Neighbours::Replace { 2.0 } else { 1.0 };
        for (answer, parts) in answers(&release).iter().zip([5.0; 5].into_iter().chain([4.0; 4])) {
            let sigma = (squared * 3.0 * parts / (2.0 * total.get())).sqrt();
            assert!((answer.stddev / sigma - 1.0).abs() < 1e-6, "{} {sigma}", answer.stddev);
        }
        // The exponential mechanism is (epsilon^2 / 8)-zCDP at temperature 2 D / epsilon.
        let epsilon = (8.0 * total.get() / 12.0).sqrt();
        let temperature = 2.0 * squared / epsilon;
        assert!((entries[5].draw.scale / temperature - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_pairs_are_a_spanning_tree_with_the_strong_dependences() {
    let data = pairs(6000);
    let release = release(&data, &mut rho(10.0, Neighbours::Replace)).unwrap();
    let measured: Vec<Clique> = answers(&release).iter().map(|a| a.clique.clone()).collect();
    let edges = &measured[5..];
    // Four edges connect all five attributes.
    assert_eq!(edges.len(), 4);
    let mut reached = edges[0].clone();
    for _ in 0..4 {
        let adjacent = edges.iter().filter(|edge| !edge.intersection(&reached).is_empty());
        reached = adjacent.fold(reached.clone(), |all, edge| all.union(edge));
    }
    assert_eq!(reached, data.domain().everything());
    for names in [["a", "b"], ["c", "d"]] {
        let pair = Clique::new(names.map(|name| data.domain().id(name).unwrap()));
        assert!(edges.contains(&pair), "{names:?} in {edges:?}");
    }
}

#[test]
fn the_own_estimator_reproduces_a_strong_pair() {
    let data = pairs(6000);
    let release = release(&data, &mut rho(10.0, Neighbours::Replace)).unwrap();
    let pair = Clique::new(["a", "b"].map(|name| data.domain().id(name).unwrap()));
    let truth = data.project(&pair).unwrap();
    let estimated = estimate(&*release.own_estimator, &release, data.domain());
    let table = estimated.answers.marginals(std::slice::from_ref(&pair)).unwrap().remove(0);
    for (found, expected) in table.values().iter().zip(truth.values()) {
        assert!((found - expected).abs() < 20.0, "{found} {expected}");
    }
}

#[test]
fn rare_values_are_merged_and_their_count_is_spread_evenly() {
    // Of a's ten values only 0 and 7 occur, and b copies it.
    let domain = Domain::new([("a", 10), ("b", 3)]).unwrap();
    let codes: [Vec<u32>; 2] = [
        (0..4000).map(|i| if i % 4 == 0 { 7 } else { 0 }).collect(),
        (0..4000).map(|i| u32::from(i % 4 == 0)).collect(),
    ];
    let data = Dataset::from_codes("rare", &domain, &codes, Provenance::default()).unwrap();
    let mut budget = rho(1.0, Neighbours::AddRemove);
    let release = release(&data, &mut budget).unwrap();
    // Two values of a and the others as one; of b only one value is rare, and it stays.
    let rows: Vec<usize> = answers(&release).iter().map(|answer| answer.y.len()).collect();
    assert_eq!(rows, [3, 2, 1, 9]);
    assert_eq!(answers(&release)[2].stddev, answers(&release)[1].stddev * 8f64.sqrt());
    assert!(budget.ledger().verify(budget.total()).is_ok());
    let a = Clique::new([domain.id("a").unwrap()]);
    let estimated = estimate(&*release.own_estimator, &release, &domain);
    let table = estimated.answers.marginals(&[a]).unwrap().remove(0);
    let merged: Vec<f64> =
        (0..10).filter(|v| ![0, 7].contains(v)).map(|v| table.values()[v]).collect();
    assert!(merged.iter().all(|cell| (cell - merged[0]).abs() < 1e-6 * (1.0 + cell)), "{merged:?}");
    assert!((table.values()[7] - 1000.0).abs() < 100.0, "{table:?}");
    assert!((release.total - 4000.0).abs() < 100.0, "{}", release.total);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let data = pairs(600);
    let run = || {
        let release = release(&data, &mut rho(1.0, Neighbours::Replace)).unwrap();
        let drawn = estimate(&*release.own_estimator, &release, data.domain());
        let everything = [data.domain().everything()];
        (answers(&release).to_vec(), drawn.answers.marginals(&everything).unwrap())
    };
    assert_eq!(run(), run());
}

#[test]
fn an_unknown_number_of_records_is_estimated() {
    let release = release(&pairs(600), &mut rho(1.0, Neighbours::AddRemove)).unwrap();
    assert!(release.total != 600.0 && (release.total - 600.0).abs() < 100.0, "{}", release.total);
    // An empty table too: that it is empty is not public.
    let release = super::tests::release(&pairs(0), &mut rho(1.0, Neighbours::AddRemove)).unwrap();
    assert!(release.total >= 1.0);
}

#[test]
fn one_attribute_needs_no_tree() {
    let domain = Domain::new([("only", 4)]).unwrap();
    let codes = [(0..1000).map(|i| i % 4).collect()];
    let data = Dataset::from_codes("one", &domain, &codes, Provenance::default()).unwrap();
    let mut budget = rho(1.0, Neighbours::Replace);
    let release = release(&data, &mut budget).unwrap();
    assert_eq!(answers(&release).len(), 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(budget.total()));
    let drawn = estimate(&*release.own_estimator, &release, &domain);
    let total = drawn.answers.marginals(&[domain.everything()]).unwrap()[0].total();
    assert!((total - 1000.0).abs() < 1e-6, "{total}");
}

#[test]
fn unsuitable_data_budgets_and_parameters_are_refused() {
    let empty = release(&pairs(0), &mut rho(1.0, Neighbours::Replace));
    assert!(matches!(empty, Err(MechanismError::Unsuitable(_))));
    let mut pure = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
    let refused = release(&pairs(10), &mut pure).err().unwrap();
    assert!(refused.to_string().contains("Gaussian"), "{refused}");
    for (text, part) in [
        ("weights = [1.0, 0.0, 1.0]", "found 0"),
        ("weights = [1.0]", "3"),
        ("threshold = -1.0", "threshold: expected"),
        ("x = 1", "unknown"),
    ] {
        let message = (MST.build)(&text.parse().unwrap()).err().unwrap().message;
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_budget_of_epsilon_and_delta_works_with_more_noise() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let mut approximate = Budget::new((epsilon, delta), Neighbours::Replace);
    let noisier = release(&pairs(600), &mut approximate).unwrap();
    assert!(approximate.ledger().verify(approximate.total()).is_ok());
    let concentrated = release(&pairs(600), &mut rho(1.0, Neighbours::Replace)).unwrap();
    assert!(answers(&concentrated)[0].stddev < answers(&noisier)[0].stddev);
}
