use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::support::bayesian_network::Family;
use crate::mechanism::{Noise, Private, find};
use crate::workload::Workload;
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{LInfinity, Mechanism as Draw, SeedPath};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::fit::{EstimatorContext, Pgm, Progress};
use private_pgm::junction_tree::JunctionTree;
use rand::SeedableRng;

/// Each attribute depends on the one before it. Deterministic.
fn chain(sizes: &[usize], records: usize) -> Dataset {
    let named = sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n));
    let domain = Domain::new(named).unwrap();
    let mut codes: Vec<Vec<u32>> = Vec::new();
    for (place, &size) in sizes.iter().enumerate() {
        let code = |record: usize| {
            let before = codes.last().map_or(0, |column| column[record] as usize);
            // Every third record is independent of the one before it.
            let own = (record * (2 * place + 3) + record / 7) % size;
            (if record % 3 == place % 3 { own } else { before % size }) as u32
        };
        let column = (0..records).map(code).collect();
        codes.push(column);
    }
    Dataset::from_codes("chain", &domain, &codes, Provenance::default()).unwrap()
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(Epsilon::new(epsilon).unwrap(), Neighbours::Replace)
}

fn release(
    mechanism: &PrivBayes,
    data: &Dataset,
    budget: &mut Budget,
) -> Result<Release, MechanismError> {
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
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "privbayes"));
    mechanism.release(&task, budget, &mut source)
}

fn answers(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("PrivBayes publishes tables"),
    }
}

fn families(mechanism: &PrivBayes, data: &Dataset, cells: usize, epsilon: f64) -> Vec<Family> {
    let shares = budget(epsilon).rest().unwrap().split(data.domain().len() - 1).unwrap();
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "network"));
    network::choose(mechanism, Private::new(data), cells, shares, &mut source, || Ok(())).unwrap()
}

#[test]
fn the_draws_spend_half_of_the_budget_on_the_network_and_half_on_the_tables() {
    let data = chain(&[2, 3, 4, 2, 5], 1000);
    let mut budget = budget(2.0);
    release(&PrivBayes::default(), &data, &mut budget).unwrap();
    let ledger = budget.ledger();
    let Some(Guarantee::Pure { epsilon }) = ledger.verify(budget.total()).unwrap() else {
        panic!("a pure guarantee")
    };
    assert!(epsilon.get() <= 2.0 && epsilon.get() > 2.0 - 1e-12);
    let entries: Vec<_> = ledger.lines().iter().map(|line| &line.entry).collect();
    assert_eq!(entries.len(), 4 + 5);
    for (place, entry) in entries.iter().enumerate() {
        let (mechanism, epsilon) =
            if place < 4 { (Draw::Exponential, 0.25) } else { (Draw::DiscreteLaplace, 0.2) };
        assert_eq!(entry.draw.mechanism, mechanism);
        let Guarantee::Pure { epsilon: granted } = entry.granted else { panic!("pure") };
        assert!((granted.get() - epsilon).abs() < 1e-12);
    }
    for entry in &entries[4..] {
        // 2 d / (epsilon / 2).
        assert!((entry.draw.scale - 10.0).abs() < 1e-9, "{}", entry.draw.scale);
        assert_eq!(entry.draw.sensitivity, 2.0);
    }
    let claimed = 3.0 / 1000.0 + 2.0 / 1e6;
    assert!((entries[0].draw.sensitivity - claimed).abs() < 1e-5 * claimed);
}

#[test]
fn published_tables_are_those_of_a_network_and_state_their_noise() {
    let data = chain(&[2, 3, 4, 2, 5], 1000);
    let release = release(&PrivBayes::default(), &data, &mut budget(2.0)).unwrap();
    assert_eq!((release.total, answers(&release).len()), (1000.0, 5));
    for answer in answers(&release) {
        assert!(answer.query.is_identity() && answer.check(data.domain()).is_ok());
        assert!(answer.y.iter().all(|y| y.fract() == 0.0));
        // The discrete Laplace distribution with b = 10 has nearly sqrt(2) b.
        assert!((answer.stddev - 200f64.sqrt()).abs() < 0.1, "{}", answer.stddev);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let data = chain(&[2, 3, 4, 2, 5], 500);
    let run = || {
        let release = release(&PrivBayes::default(), &data, &mut budget(1.0)).unwrap();
        let mut context = EstimatorContext {
            memory_limit: 1 << 30,
            deadline: None,
            warm_start: None,
            rng: &mut rand_chacha::ChaCha20Rng::seed_from_u64(5),
            observer: &mut |_: &Progress<'_>| {},
        };
        let estimated =
            release.own_estimator.estimate(&release.evidence(data.domain()), &mut context).unwrap();
        let drawn = estimated.answers.marginals(&[data.domain().everything()]).unwrap();
        (answers(&release).to_vec(), drawn)
    };
    let (first, again) = (run(), run());
    assert_eq!(first, again);
    assert_eq!(first.1[0].total(), 500.0);
}

#[test]
fn every_attribute_comes_once_after_its_parents() {
    let data = chain(&[3, 2, 4, 2, 2, 1, 6, 2], 400);
    for score in [Score::R, Score::MutualInformation] {
        for cells in [0, 5, 12, 100, 100_000] {
            let privbayes = PrivBayes { score, ..PrivBayes::default() };
            let mut seen: Vec<AttributeId> = Vec::new();
            for family in families(&privbayes, &data, cells, 1.0) {
                assert!(family.parents.iter().all(|parent| seen.contains(&parent)));
                assert!(!seen.contains(&family.child));
                seen.push(family.child);
                let of_table = data.domain().cells(&family.clique()).unwrap();
                assert!(family.parents.is_empty() || of_table <= cells, "{of_table} of {cells}");
            }
            assert_eq!(seen.len(), 8);
        }
    }
}

#[test]
fn tables_are_useful() {
    let data = chain(&[2, 3, 4, 2, 5], 1000);
    for theta in [0.5, 4.0, 20.0] {
        let privbayes = PrivBayes { theta, ..PrivBayes::default() };
        let release = release(&privbayes, &data, &mut budget(4.0)).unwrap();
        for answer in answers(&release).iter().filter(|answer| answer.clique.len() > 1) {
            // The noise has scale 2 * 5 / 2.
            assert!(1000.0 / answer.y.len() as f64 >= theta * 5.0, "{theta}: {:?}", answer.clique);
        }
    }
}

#[test]
fn with_a_large_budget_the_strongest_dependences_are_found() {
    let columns: Vec<Vec<u32>> = vec![
        (0..600).map(|i| i % 2).collect(),
        (0..600).map(|i| i % 3).collect(),
        (0..600).map(|i| (i / 6) % 3).collect(),
        (0..600).map(|i| (i % 3) + if i % 50 == 0 { 1 } else { 0 }).collect(),
    ];
    let domain = Domain::new([("a", 2), ("b", 3), ("c", 3), ("nearly b", 4)]).unwrap();
    let data = Dataset::from_codes("d", &domain, &columns, Provenance::default()).unwrap();
    for score in [Score::R, Score::MutualInformation] {
        let privbayes = PrivBayes { score, ..PrivBayes::default() };
        let found = families(&privbayes, &data, 12, 1e4);
        let pair = Clique::new(["b", "nearly b"].map(|name| domain.id(name).unwrap()));
        assert!(found.iter().any(|family| family.clique() == pair), "{score:?}: {found:?}");
    }
}

#[test]
fn the_sensitivity_of_a_family_score_is_at_most_as_claimed() {
    // X with 2 values and two parents, from records to scores.
    let domain = Domain::new([("p", 2), ("x", 2), ("q", 2)]).unwrap();
    let [p, x, q] = ["p", "x", "q"].map(|name| domain.id(name).unwrap());
    let family = Family { child: x, parents: Clique::new([p, q]) };
    for score in [Score::R, Score::MutualInformation] {
        for records in 1..=4 {
            let scored = |table: &[u64]| {
                let cells = table.iter().enumerate();
                let listed: Vec<usize> =
                    cells.flat_map(|(cell, &n)| std::iter::repeat_n(cell, n as usize)).collect();
                let bits = |shift: usize| listed.iter().map(move |cell| (cell >> shift & 1) as u32);
                let codes: Vec<Vec<u32>> = (0..3).map(|shift| bits(shift).collect()).collect();
                let data =
                    Dataset::from_codes("t", &domain, &codes, Provenance::default()).unwrap();
                vec![network::score(score, &data, &family).unwrap()]
            };
            let worst = worst_case::<LInfinity>(8, Records::Exactly(records), scored);
            let shape = [score::Shape { child: 2, parents: 4 }];
            let claimed = score.sensitivity(records as usize, &shape).unwrap().get();
            assert!(worst.distance <= claimed, "{score:?} {worst:?}");
        }
    }
}

#[test]
fn the_model_stays_within_its_limit() {
    let data = chain(&[2; 24], 300);
    let cells = |model_cells| {
        let privbayes = PrivBayes { model_cells, ..PrivBayes::default() };
        let found = families(&privbayes, &data, 16, 0.1);
        let cliques: Vec<Clique> = found.iter().map(Family::clique).collect();
        JunctionTree::new(data.domain(), &cliques).size().cells
    };
    let (free, bounded) = (cells(usize::MAX), cells(500));
    assert!(free > 2000.0, "{free}");
    // The limit applies to the tree before a family adds its own table.
    assert!(bounded <= 500.0 + 24.0 * 16.0, "{bounded}");
}

#[test]
fn one_attribute_gets_the_whole_budget() {
    let data = chain(&[4], 100);
    let mut budget = budget(1.0);
    let release = release(&PrivBayes::default(), &data, &mut budget).unwrap();
    assert_eq!(answers(&release).len(), 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(budget.total()));
    assert_eq!(budget.ledger().lines()[0].entry.draw.scale, 2.0);
}

#[test]
fn unsuitable_data_and_budgets_are_refused() {
    let refused = |data: &Dataset, mut budget: Budget| {
        let result = release(&PrivBayes::default(), data, &mut budget);
        let message = match result {
            Err(MechanismError::Unsuitable(message)) => message,
            _ => panic!("unsuitable"),
        };
        assert!(budget.ledger().lines().is_empty());
        message
    };
    assert!(refused(&chain(&[2, 3], 0), budget(1.0)).contains("at least one record"));
    let added = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove);
    assert!(refused(&chain(&[2, 3], 10), added).contains("replacement"));
}

#[test]
fn parameters_are_checked_and_listed_with_their_defaults() {
    let build = |text: &str| (PRIVBAYES.build)(&text.parse().unwrap()).map(|_| ());
    for (text, part) in [
        ("theta = 0.0", "theta: expected a positive number, found 0"),
        ("theta = nan", "theta: expected"),
        ("network_share = 1.0", "network_share: expected a number between 0 and 1"),
        ("candidates = 0", "candidates: expected a positive number"),
        ("score = \"f\"", "unknown variant"),
        ("thetta = 4.0", "unknown field"),
    ] {
        let message = build(text).unwrap_err().message;
        assert!(message.contains(part), "{text}: {message}");
    }
    assert!(build("theta = 2.0\nscore = \"mutual-information\"").is_ok());
    let listed: Vec<String> =
        PRIVBAYES.parameters.iter().map(|p| format!("{} = {}", p.name, p.default)).collect();
    let parsed: PrivBayes = parse(&listed.join("\n").parse().unwrap()).unwrap();
    assert_eq!(parsed, PrivBayes::default());
    assert_eq!(find("privbayes").unwrap().title, "PrivBayes");
}
