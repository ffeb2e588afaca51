//! What every mechanism promises, whichever it is.

use std::time::Instant;

use dp::{
    Budget, Delta, Epsilon, Guarantee, Ledger, Neighbours, NoiseSource, Provenance, Rho, SeedPath,
};
use pgmbench::data::{Dataset, Registry};
use pgmbench::mechanism::{
    GuaranteeKind, Kind, MECHANISMS, MechanismError, Noise, Published, Release, Task,
};
use pgmbench::workload::Workload;
use private_pgm::baselines::Pgm;
use private_pgm::factor::Projectable;
use private_pgm::fit::Settings;

fn titanic() -> (Dataset, Workload) {
    let entry = Registry::new("no such folder").entry("titanic").unwrap();
    let asked = entry.schema().workload.clone().unwrap();
    let data = entry.load().unwrap();
    // A few triples: every mechanism must work, not all of the paper's workload.
    let workload = Workload::marginals(data.domain(), &asked.triples[..4], &asked.prefix).unwrap();
    (data, workload)
}

fn guarantee(kind: &Kind, epsilon: f64) -> Guarantee {
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-3).unwrap());
    match kind.guarantee {
        GuaranteeKind::Pure => epsilon.into(),
        GuaranteeKind::Approximate => (epsilon, delta).into(),
        GuaranteeKind::Concentrated => Rho::implying(epsilon, delta).unwrap().into(),
    }
}

fn release(kind: &Kind, trial: usize, noise: Noise) -> (Release, Ledger) {
    let (release, budget) = try_release(kind, trial, noise, None);
    let release = release.unwrap();
    let ledger = budget.ledger();
    let spent =
        ledger.verify(budget.total()).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
    assert!(spent.is_some(), "{} has drawn nothing", kind.name);
    (release, ledger)
}

fn try_release(
    kind: &Kind,
    trial: usize,
    noise: Noise,
    deadline: Option<Instant>,
) -> (Result<Release, MechanismError>, Budget) {
    let (data, workload) = titanic();
    let settings = Settings { iterations: Some(30), ..Settings::default() };
    let task = Task {
        data: &data,
        workload: &workload,
        public: None,
        noise,
        estimator: &Pgm::new(settings),
        memory_limit: 1 << 30,
        deadline,
    };
    let mut budget = Budget::new(guarantee(kind, 1.0), Neighbours::Replace);
    let path = SeedPath::new("mechanism", kind.name).with("trial", trial);
    let mut source = NoiseSource::seeded(&path);
    let mechanism = (kind.build)(&toml::Table::new()).unwrap();
    (mechanism.release(&task, &mut budget, &mut source), budget)
}

#[test]
fn no_mechanism_goes_on_when_its_time_is_over() {
    for kind in MECHANISMS {
        let (ended, _) = try_release(kind, 0, Noise::Exact, Some(Instant::now()));
        assert!(matches!(ended, Err(MechanismError::Timeout)), "{}", kind.name);
    }
}

/// All numbers that were published, and all draws.
fn bytes((release, ledger): &(Release, Ledger)) -> String {
    let mut lines = Vec::new();
    ledger.write_json_lines(&mut lines).unwrap();
    let answers = match &release.published {
        Published::Answers(answers) => format!("{answers:?}"),
        Published::Likelihood(likelihood) => format!("{:?}", likelihood.cliques()),
    };
    answers + &String::from_utf8(lines).unwrap()
}

#[test]
fn the_ledger_of_every_mechanism_keeps_the_budget_and_names_its_randomness() {
    for kind in MECHANISMS {
        let (_, ledger) = release(kind, 0, Noise::Exact);
        let mut lines = Vec::new();
        ledger.write_json_lines(&mut lines).unwrap();
        let seeded = serde_json::to_string(&Provenance::Seeded).unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert!(text.lines().all(|line| line.contains(&seeded)), "{}", kind.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_release_and_another_one_another() {
    for kind in MECHANISMS {
        let first = release(kind, 0, Noise::Exact);
        assert_eq!(bytes(&first), bytes(&release(kind, 0, Noise::Exact)), "{}", kind.name);
        let Published::Answers(answers) = &first.0.published else { continue };
        let other = release(kind, 1, Noise::Exact);
        let Published::Answers(others) = &other.0.published else { panic!() };
        assert_ne!(answers, others, "{}", kind.name);
    }
}

#[test]
fn every_listed_parameter_has_the_default_that_is_listed_and_others_are_refused() {
    for kind in MECHANISMS {
        for parameter in kind.parameters {
            let text = format!("{} = {}", parameter.name, parameter.default);
            let table: toml::Table =
                text.parse().unwrap_or_else(|_| panic!("{}: {text}", kind.name));
            assert!((kind.build)(&table).is_ok(), "{}: {text}", kind.name);
            let nonsense = format!("{} = [\"nonsense\"]", parameter.name).parse().unwrap();
            let refused = (kind.build)(&nonsense);
            assert!(refused.is_err(), "{}: {} = [\"nonsense\"]", kind.name, parameter.name);
        }
        let unknown = "no_such_parameter = 1".parse().unwrap();
        let message = (kind.build)(&unknown).err().unwrap().message;
        assert!(message.contains("no_such_parameter"), "{}: {message}", kind.name);
    }
}

#[test]
fn pure_mechanisms_spend_all_of_epsilon_and_no_delta() {
    for kind in MECHANISMS.iter().filter(|kind| kind.guarantee == GuaranteeKind::Pure) {
        let (_, ledger) = release(kind, 0, Noise::Exact);
        let spent = ledger.verify(guarantee(kind, 1.0)).unwrap();
        let Some(Guarantee::Pure { epsilon }) = spent else { panic!("{}: {spent:?}", kind.name) };
        // It may stop before all rounds that the budget is laid out for, and draws no others.
        if kind.name == "pmw" {
            continue;
        }
        assert!(epsilon.get() > 0.999_999, "{} leaves budget unused: {spent:?}", kind.name);
    }
}
