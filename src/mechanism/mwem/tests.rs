//! Sensitivities by brute force, the ledger, and the effect of rounds.

use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::support::small_table::SmallTable;
use crate::mechanism::{Noise, Private, find};
use crate::workload::{SubWorkload, Workload};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Epsilon, Guarantee, LInfinity, SeedPath};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Estimator, Pgm, Progress, Settings};
use private_pgm::model::Projectable;

fn domain() -> Domain {
    Domain::new([("a", 2), ("b", 3), ("c", 4), ("d", 3)]).unwrap()
}

fn clique(domain: &Domain, names: &[&str]) -> Clique {
    names.iter().map(|name| domain.id(name).unwrap()).collect()
}

fn workload(domain: &Domain) -> Workload {
    let cliques = [["a", "b"], ["b", "c"], ["c", "d"]].map(|names| clique(domain, &names));
    Workload::marginals(domain, &cliques, &clique(domain, &["c", "d"])).unwrap()
}

/// Records with strong dependencies between neighbouring attributes.
fn data(domain: &Domain, records: u32) -> Dataset {
    let column = |code: fn(u32) -> u32| (0..records).map(code).collect::<Vec<u32>>();
    let codes = [
        column(|i| u32::from(i % 7 < 2)),
        column(|i| (i % 7) / 3),
        column(|i| ((i % 7) / 2 + u32::from(i % 5 == 0)) % 4),
        column(|i| ((i % 7) / 2 + u32::from(i % 11 == 0)) % 3),
    ];
    Dataset::from_codes("toy", domain, &codes, Provenance::default()).unwrap()
}

/// The records of a table with these counts.
fn records(domain: &Domain, table: &[u64]) -> Dataset {
    let mut codes = vec![Vec::new(); domain.len()];
    for (cell, &count) in table.iter().enumerate() {
        for _ in 0..count {
            let mut rest = cell;
            for (column, &id) in codes.iter_mut().zip(domain.declared()) {
                column.push((rest % domain.size(id)) as u32);
                rest /= domain.size(id);
            }
        }
    }
    Dataset::from_codes("table", domain, &codes, Provenance::default()).unwrap()
}

fn released(
    parameters: &str,
    data: &Dataset,
    workload: &Workload,
    epsilon: f64,
    neighbours: Neighbours,
    seed: u64,
) -> Result<(Release, Budget), MechanismError> {
    let estimator = Pgm::new(Settings { iterations: Some(500), ..Settings::default() });
    let mwem = (find("mwem").unwrap().build)(&parameters.parse().unwrap()).unwrap();
    let (noise, memory_limit) = (Noise::Exact, 1 << 30);
    let task = Task {
        data: Private::new(data),
        workload,
        noise,
        estimator: &estimator,
        public: None,
        memory_limit,
        deadline: None,
    };
    let mut budget = Budget::new(Epsilon::new(epsilon).unwrap(), neighbours);
    let mut source = NoiseSource::seeded(&SeedPath::new("test", seed));
    Ok((mwem.release(&task, &mut budget, &mut source)?, budget))
}

fn measured(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("MWEM publishes answers"),
    }
}

fn estimated(
    release: &Release,
    domain: &Domain,
    estimator: &dyn Estimator,
) -> Box<dyn Projectable> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let observer = &mut |_: &Progress<'_>| {};
    let mut context = EstimatorContext {
        memory_limit: 1 << 30,
        deadline: None,
        warm_start: None,
        rng: &mut rng,
        observer,
    };
    estimator.estimate(&release.evidence(domain), &mut context).unwrap().answers
}

/// The mean over the sub-workloads of |W x - W x^|_1 / (2 |W x|_1).
fn error(workload: &Workload, data: &Dataset, estimate: &dyn Projectable) -> f64 {
    let truth = workload.answers(data).unwrap();
    let marginals = estimate.marginals(&workload.cliques()).unwrap();
    let part = |((part, truth), marginal): ((&SubWorkload, &Vec<f64>), &Factor)| {
        let answers = part.answers(marginal.values());
        let distance: f64 = truth.iter().zip(answers).map(|(t, e)| (t - e).abs()).sum();
        distance / (2.0 * truth.iter().sum::<f64>())
    };
    let parts = workload.parts().iter().zip(&truth).zip(&marginals).map(part);
    parts.sum::<f64>() / truth.len() as f64
}

#[test]
fn the_sensitivity_of_scores_is_as_claimed_on_all_small_tables() {
    let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
    let everything = domain.everything();
    let prefix = clique(&domain, &["b"]);
    let workload = Workload::marginals(&domain, &[everything.clone(), prefix.clone()], &prefix);
    let workload = workload.unwrap();
    // Not integral, below some counts and above others.
    let cells = vec![0.3, 1.7, 0.0, 2.2, 0.1, 0.9];
    let whole = Factor::new(&domain, everything, cells);
    let estimate = [whole.clone(), whole.sum_onto(&prefix)];
    for (neighbours, tables) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let scores = |table: &[u64]| {
            let truth = workload.answers(&records(&domain, table)).unwrap();
            scores(workload.parts(), &truth, &estimate)
        };
        let worst = worst_case::<LInfinity>(6, tables, scores).distance;
        assert_eq!(worst, sensitivity(neighbours).unwrap().get());
    }
}

#[test]
fn the_rounds_spend_the_budget_and_no_more() {
    let domain = domain();
    let (data, workload) = (data(&domain, 300), workload(&domain));
    for (neighbours, draws) in [(Neighbours::Replace, 14), (Neighbours::AddRemove, 15)] {
        let (release, budget) =
            released("rounds = 7", &data, &workload, 0.7, neighbours, 1).unwrap();
        let ledger = budget.ledger();
        assert_eq!(ledger.lines().len(), draws);
        let spent = ledger.verify(budget.total()).unwrap().unwrap();
        let Guarantee::Pure { epsilon } = spent else { panic!("{spent}") };
        assert!((epsilon.get() - 0.7).abs() < 1e-12, "{epsilon:?}");
        assert_eq!(budget.remaining(), None);
        assert_eq!(measured(&release).len(), draws - 7);
        assert!(neighbours == Neighbours::AddRemove || release.total == 300.0);
    }
}

#[test]
fn a_number_of_records_implied_by_public_marginals_costs_nothing() {
    let table = SmallTable::new(&[3, 1, 4, 1, 5, 9]);
    let mwem = (find("mwem").unwrap().build)(&"rounds = 2".parse().unwrap()).unwrap();
    for (public, draws) in [(None, 5), (Some(0), 4), (Some(1), 4)] {
        let mut budget = Budget::new(Epsilon::new(0.01).unwrap(), Neighbours::AddRemove);
        let mut source = NoiseSource::seeded(&SeedPath::new("total", 1));
        let task = Task { public, ..table.task() };
        let release = mwem.release(&task, &mut budget, &mut source).unwrap();
        assert_eq!(budget.ledger().lines().len(), draws);
        assert_eq!(release.total == 23.0, public.is_some(), "{}", release.total);
    }
}

#[test]
fn by_default_one_query_is_measured_in_each_of_as_many_rounds_as_attributes() {
    let domain = domain();
    let (data, workload) = (data(&domain, 300), workload(&domain));
    let (release, _) = released("", &data, &workload, 8.0, Neighbours::Replace, 2).unwrap();
    assert_eq!(measured(&release).len(), 4);
    for answer in measured(&release) {
        assert_eq!(answer.y.len(), 1);
        // Laplace noise of scale 1 / (8 / (2 * 4)) = 1, on the integers.
        let ratio = (-1.0f64).exp();
        assert!((answer.stddev - (2.0 * ratio).sqrt() / (1.0 - ratio)).abs() < 1e-9);
    }
}

#[test]
fn the_same_seed_gives_the_same_release() {
    let domain = domain();
    let (data, workload) = (data(&domain, 300), workload(&domain));
    let release = |seed| {
        let released = released("", &data, &workload, 1.0, Neighbours::Replace, seed);
        measured(&released.unwrap().0).to_vec()
    };
    assert_eq!(release(3), release(3));
    assert_ne!(release(3), release(4));
}

#[test]
fn with_little_noise_the_error_decreases_with_the_rounds_and_both_estimators_agree() {
    let domain = domain();
    let (data, workload) = (data(&domain, 770), workload(&domain));
    let errors = [1, 2, 40].map(|rounds| {
        let parameters = format!("rounds = {rounds}");
        // A standard deviation of 0.01.
        let epsilon = 20.0 * f64::from(rounds);
        let (release, _) =
            released(&parameters, &data, &workload, epsilon, Neighbours::Replace, 5).unwrap();
        let pgm = estimated(&release, &domain, &Pgm::default());
        let own = estimated(&release, &domain, &*release.own_estimator);
        let [pgm, own] = [pgm, own].map(|answers| error(&workload, &data, &*answers));
        assert!((pgm - own).abs() < 1e-3 * pgm.max(0.1), "{pgm} and {own}");
        pgm
    });
    assert!(errors[0] > errors[1] && errors[1] > errors[2], "{errors:?}");
    assert!(errors[2] < 0.01, "{errors:?}");
}

const DAMPED: &str = "updates = \"damped\"\n";

#[test]
fn damped_rounds_spend_the_budget_and_own_estimates_are_nearer_to_the_data_than_uniform_ones() {
    let domain = domain();
    let (data, workload) = (data(&domain, 770), workload(&domain));
    for (neighbours, parameters) in
        [(Neighbours::Replace, ""), (Neighbours::AddRemove, "rounds = 6\npasses = 10")]
    {
        let parameters = format!("{DAMPED}{parameters}");
        let (release, budget) =
            released(&parameters, &data, &workload, 4.0, neighbours, 1).unwrap();
        let spent = budget.ledger().verify(budget.total()).unwrap().unwrap();
        let Guarantee::Pure { epsilon } = spent else { panic!("{spent}") };
        assert!((epsilon.get() - 4.0).abs() < 1e-12, "{epsilon:?}");
        let own = estimated(&release, &domain, &*release.own_estimator);
        let uniform = estimated(&release, &domain, &private_pgm::baselines::Uniform);
        let [own, uniform] = [own, uniform].map(|answers| error(&workload, &data, &*answers));
        assert!(own < 0.9 * uniform, "{own} {uniform}");
    }
}

#[test]
fn the_schedule_depends_on_public_facts_only() {
    let domain = domain();
    let (data, workload) = (data(&domain, 770), workload(&domain));
    let other = records(&domain, &[770]);
    let rounds = [&data, &other].map(|data| {
        let released = released(DAMPED, data, &workload, 1.0, Neighbours::Replace, 1);
        released.unwrap().0.diagnostics.rounds
    });
    assert_eq!(rounds[0], rounds[1]);
    let refused = released(DAMPED, &data, &workload, 1.0, Neighbours::AddRemove, 1).err().unwrap();
    assert!(refused.to_string().contains("which is private here"), "{refused}");
}
