use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::support::small_table::{SmallTable, answers};
use crate::mechanism::{Noise, Private, find};
use crate::workload::Workload;
use dp::{Delta, Epsilon, Guarantee, Neighbours, Rho, SeedPath};
use private_pgm::domain::Domain;
use private_pgm::fit::{Pgm, Settings};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::model::Projectable;

fn rho(epsilon: f64) -> Rho {
    Rho::implying(Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap()).unwrap()
}

/// Records with strong dependencies between neighbouring attributes.
fn data(records: u32) -> Dataset {
    let domain = Domain::new([("a", 2), ("b", 3), ("c", 4), ("d", 3)]).unwrap();
    let column = |code: fn(u32) -> u32| (0..records).map(code).collect::<Vec<u32>>();
    let codes = [
        column(|i| u32::from(i % 7 < 2)),
        column(|i| (i % 7) / 3),
        column(|i| ((i % 7) / 2 + u32::from(i % 5 == 0)) % 4),
        column(|i| ((i % 7) / 2 + u32::from(i % 11 == 0)) % 3),
    ];
    Dataset::from_codes("toy", &domain, &codes, Provenance::default()).unwrap()
}

fn released(
    parameters: &str,
    data: &Dataset,
    budget: &mut Budget,
) -> Result<Release, MechanismError> {
    let domain = data.domain();
    let workload =
        Workload::marginals(domain, &domain.everything().subsets(2), &Clique::empty()).unwrap();
    let settings = Settings { iterations: Some(200), ..Settings::default() };
    let task = Task {
        data: Private::new(data),
        workload: &workload,
        noise: Noise::Exact,
        estimator: &Pgm::new(settings),
        public: None,
        memory_limit: 1 << 30,
        deadline: None,
    };
    let mechanism = (find("mwem-pgm").unwrap().build)(&parameters.parse().unwrap()).unwrap();
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "mwem-pgm"));
    mechanism.release(&task, budget, &mut source)
}

#[test]
fn the_rounds_spend_the_budget_with_nine_tenths_to_measure() {
    for (neighbours, first, part) in
        [(Neighbours::Replace, 0, 1.0), (Neighbours::AddRemove, 1, 1.0 - TOTAL)]
    {
        let total = rho(1.0);
        let mut budget = Budget::new(total, neighbours);
        let release = released("rounds = 5", &data(300), &mut budget).unwrap();
        let ledger = budget.ledger();
        assert_eq!(ledger.lines().len(), first + 10);
        assert_eq!(answers(&release).len(), first + 5);
        let Guarantee::Concentrated { rho: spent } =
            ledger.verify(budget.total()).unwrap().unwrap()
        else {
            panic!("rho")
        };
        assert!(spent <= total && spent.get() > total.get() * (1.0 - 1e-9));
        for round in ledger.lines()[first..].chunks_exact(2) {
            for (line, fraction) in round.iter().zip([1.0 - MEASURE, MEASURE]) {
                let Guarantee::Concentrated { rho } = line.entry.cost else { panic!("rho") };
                let expected = total.get() * part * fraction / 5.0;
                assert!((rho.get() / expected - 1.0).abs() < 1e-9, "{rho} {expected}");
            }
        }
        assert_eq!(release.total == 300.0, neighbours == Neighbours::Replace);
    }
}

#[test]
fn with_little_noise_every_dependence_is_measured() {
    let data = data(770);
    let mut budget = Budget::new(rho(100.0), Neighbours::Replace);
    let release = released("rounds = 6", &data, &mut budget).unwrap();
    let mut measured: Vec<&Clique> = answers(&release).iter().map(|m| &m.clique).collect();
    measured.sort();
    measured.dedup();
    assert!(measured.len() >= 4, "{measured:?}");
}

#[test]
fn marginals_that_make_the_model_too_large_are_not_selected() {
    let mut budget = Budget::new(rho(100.0), Neighbours::Replace);
    let data = data(300);
    let release = released("rounds = 6\nmax_cells = 24", &data, &mut budget).unwrap();
    let chosen: Vec<Clique> = answers(&release).iter().map(|m| m.clique.clone()).collect();
    assert!(JunctionTree::new(data.domain(), &chosen).size().cells <= 24.0, "{chosen:?}");
    let mut budget = Budget::new(rho(1.0), Neighbours::Replace);
    match released("max_cells = 5", &data, &mut budget) {
        Err(MechanismError::Infeasible { bytes, message }) => {
            assert_eq!(bytes, 48.0);
            assert!(message.starts_with("the smallest marginal"), "{message}");
        }
        other => panic!("{:?}", other.err()),
    }
    assert!(budget.ledger().lines().is_empty());
}

#[test]
fn the_same_seed_gives_the_same_release() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let release = |seed| {
        let (release, _) = table.release(&MWEM_PGM, rho(1.0), Neighbours::AddRemove, seed);
        answers(&release).to_vec()
    };
    assert_eq!(release(3), release(3));
    assert_ne!(release(3), release(4));
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for (text, part) in [
        ("rounds = 0", "rounds: expected"),
        ("max_cells = 0", "max_cells: expected a whole number from 1 on"),
        ("x = 1", "unknown field"),
    ] {
        let message = (MWEM_PGM.build)(&text.parse().unwrap()).err().unwrap().message;
        assert!(message.contains(part), "{text}: {message}");
    }
}
