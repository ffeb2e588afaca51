//! Properties of every mechanism.

use std::time::Instant;

use dp::{
    Budget, Delta, Epsilon, Guarantee, Ledger, Neighbours, NoiseSource, Provenance, Rho, SeedPath,
};
use pgmbench::data::{Dataset, Registry};
use pgmbench::mechanism::{
    GuaranteeKind, MECHANISMS, MechanismError, MechanismSpec, Noise, Private, Published, Release,
    Task,
};
use pgmbench::workload::Workload;
use private_pgm::fit::{Pgm, Settings};
use private_pgm::model::Projectable;

fn titanic() -> (Dataset, Workload) {
    let entry = Registry::new("no such folder").entry("titanic").unwrap();
    let asked = entry.schema().workload.clone().unwrap();
    let data = entry.load().unwrap();
    // A few triples, so that the test is fast.
    let workload = Workload::marginals(data.domain(), &asked.triples[..4], &asked.prefix).unwrap();
    (data, workload)
}

fn guarantee(spec: &MechanismSpec, epsilon: f64) -> Guarantee {
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-3).unwrap());
    match spec.guarantee {
        GuaranteeKind::Pure => epsilon.into(),
        GuaranteeKind::Approximate => (epsilon, delta).into(),
        GuaranteeKind::Concentrated => Rho::implying(epsilon, delta).unwrap().into(),
    }
}

fn release(spec: &MechanismSpec, trial: usize, noise: Noise) -> (Release, Ledger) {
    let (release, budget) = try_release(spec, trial, noise, None);
    let release = release.unwrap();
    let ledger = budget.ledger();
    let spent =
        ledger.verify(budget.total()).unwrap_or_else(|error| panic!("{}: {error}", spec.name));
    assert!(spent.is_some(), "{} has drawn nothing", spec.name);
    (release, ledger)
}

fn try_release(
    spec: &MechanismSpec,
    trial: usize,
    noise: Noise,
    deadline: Option<Instant>,
) -> (Result<Release, MechanismError>, Budget) {
    let (data, workload) = titanic();
    let settings = Settings { iterations: Some(30), ..Settings::default() };
    let task = Task {
        data: Private::new(&data),
        workload: &workload,
        public: None,
        noise,
        estimator: &Pgm::new(settings),
        memory_limit: 1 << 30,
        deadline,
    };
    let mut budget = Budget::new(guarantee(spec, 1.0), Neighbours::Replace);
    let path = SeedPath::new("mechanism", spec.name).with("trial", trial);
    let mut source = NoiseSource::seeded(&path);
    let mechanism = (spec.build)(&toml::Table::new()).unwrap();
    (mechanism.release(&task, &mut budget, &mut source), budget)
}

#[test]
fn mechanisms_with_rounds_publish_their_number_and_no_others_do() {
    for spec in MECHANISMS {
        let (release, _) = release(spec, 0, Noise::Exact);
        assert_eq!(release.diagnostics.rounds.is_some(), spec.has_rounds, "{}", spec.name);
    }
}

#[test]
fn every_mechanism_stops_at_its_deadline() {
    for spec in MECHANISMS {
        let (ended, _) = try_release(spec, 0, Noise::Exact, Some(Instant::now()));
        assert!(matches!(ended, Err(MechanismError::Timeout)), "{}", spec.name);
    }
}

/// All published numbers and all draws.
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
fn the_ledger_of_every_mechanism_verifies_and_names_its_randomness() {
    for spec in MECHANISMS {
        let (_, ledger) = release(spec, 0, Noise::Exact);
        let mut lines = Vec::new();
        ledger.write_json_lines(&mut lines).unwrap();
        let seeded = serde_json::to_string(&Provenance::Seeded).unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert!(text.lines().all(|line| line.contains(&seeded)), "{}", spec.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_release_and_another_seed_another_one() {
    for spec in MECHANISMS {
        let first = release(spec, 0, Noise::Exact);
        assert_eq!(bytes(&first), bytes(&release(spec, 0, Noise::Exact)), "{}", spec.name);
        let Published::Answers(answers) = &first.0.published else { continue };
        let other = release(spec, 1, Noise::Exact);
        let Published::Answers(others) = &other.0.published else { panic!() };
        assert_ne!(answers, others, "{}", spec.name);
    }
}

#[test]
fn listed_defaults_are_accepted_and_unknown_parameters_are_refused() {
    for spec in MECHANISMS {
        for parameter in spec.parameters {
            let text = format!("{} = {}", parameter.name, parameter.default);
            let table: toml::Table =
                text.parse().unwrap_or_else(|_| panic!("{}: {text}", spec.name));
            assert!((spec.build)(&table).is_ok(), "{}: {text}", spec.name);
            let nonsense = format!("{} = [\"nonsense\"]", parameter.name).parse().unwrap();
            let refused = (spec.build)(&nonsense);
            assert!(refused.is_err(), "{}: {} = [\"nonsense\"]", spec.name, parameter.name);
        }
        let unknown = "no_such_parameter = 1".parse().unwrap();
        let message = (spec.build)(&unknown).err().unwrap().message;
        assert!(message.contains("no_such_parameter"), "{}: {message}", spec.name);
    }
}

#[test]
fn pure_mechanisms_spend_all_of_epsilon_and_no_delta() {
    for spec in MECHANISMS.iter().filter(|spec| spec.guarantee == GuaranteeKind::Pure) {
        let (_, ledger) = release(spec, 0, Noise::Exact);
        let spent = ledger.verify(guarantee(spec, 1.0)).unwrap();
        let Some(Guarantee::Pure { epsilon }) = spent else { panic!("{}: {spent:?}", spec.name) };
        // PMW may stop before its last round.
        if spec.name == "pmw" {
            continue;
        }
        assert!(epsilon.get() > 0.999_999, "{} leaves budget unused: {spent:?}", spec.name);
    }
}
