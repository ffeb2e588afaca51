//! How far a record moves what is published, against what the ledger says, on all neighbouring pairs
//! of small tables and through the whole of every mechanism.
//!
//! With an absurdly large epsilon exact noise is zero, so that what a mechanism publishes are the
//! answers that it adds noise to.

use dp::sensitivity::brute_force::{Records, for_each_table};
use dp::sensitivity::{L1, L2, Norm};
use dp::{
    Budget, Delta, Draw, Epsilon, Guarantee, Mechanism as Drawn, Neighbours, NoiseSource, Rho,
    SeedPath,
};
use pgmbench::data::{Dataset, Provenance};
use pgmbench::mechanism::{
    GuaranteeKind, Kind, MECHANISMS, Mechanism, MechanismError, Noise, Published, Task,
};
use pgmbench::workload::Workload;
use private_pgm::baselines::Pgm;
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::Settings;
use private_pgm::loss::Measurement;

const CELLS: usize = 6;

fn domain() -> Domain {
    Domain::new([("a", 2), ("b", 3)]).unwrap()
}

fn dataset(table: &[u64]) -> Dataset {
    let mut codes = vec![Vec::new(); 2];
    for (cell, &count) in table.iter().enumerate() {
        for _ in 0..count {
            codes[0].push(cell as u32 / 3);
            codes[1].push(cell as u32 % 3);
        }
    }
    Dataset::from_codes("small", &domain(), &codes, Provenance::default()).unwrap()
}

fn workload() -> Workload {
    let domain = domain();
    let [a, b] = [domain.declared()[0], domain.declared()[1]];
    let cliques = [Clique::new([a, b]), Clique::new([b]), Clique::new([a])];
    Workload::marginals(&domain, &cliques, &Clique::new([b])).unwrap()
}

/// What is published without noise, and the draws that would have made it noisy, in order.
struct Noiseless {
    table: Vec<u64>,
    answers: Vec<Measurement>,
    draws: Vec<Draw>,
}

fn noiseless(
    kind: &Kind,
    mechanism: &dyn Mechanism,
    table: &[u64],
    neighbours: Neighbours,
) -> Result<Noiseless, MechanismError> {
    // MWEM's estimator wants a standard deviation that is not 0; at e^-100 nothing is drawn either.
    let large = if kind.name == "mwem" { 2e3 } else { 1e12 };
    let (epsilon, delta) = (Epsilon::new(large).unwrap(), Delta::new(1e-6).unwrap());
    let total: Guarantee = match kind.guarantee {
        GuaranteeKind::Pure => epsilon.into(),
        GuaranteeKind::Approximate => (epsilon, delta).into(),
        GuaranteeKind::Concentrated => Rho::implying(epsilon, delta).unwrap().into(),
    };
    let (data, workload) = (dataset(table), workload());
    let settings = Settings { iterations: Some(5), ..Settings::default() };
    let task = Task {
        data: &data,
        workload: &workload,
        public: None,
        noise: Noise::Exact,
        estimator: &Pgm { parallel: false, ..Pgm::new(settings) },
        memory_limit: 1 << 28,
        deadline: None,
    };
    let mut budget = Budget::new(total, neighbours);
    let mut source = NoiseSource::seeded(&SeedPath::new("sensitivities", 1));
    let release = mechanism.release(&task, &mut budget, &mut source)?;
    let answers = match release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => Vec::new(),
    };
    let noise =
        |draw: &Draw| !matches!(draw.mechanism, Drawn::Exponential | Drawn::MonotoneExponential);
    let ledger = budget.ledger();
    let draws = ledger.lines().iter().map(|line| line.entry.draw.clone()).filter(noise);
    Ok(Noiseless { table: table.to_vec(), draws: draws.collect(), answers })
}

/// The largest part of its sensitivity that a draw was seen to use, over all neighbouring pairs.
fn used(releases: &[Noiseless], neighbours: Neighbours) -> f64 {
    let mut most = 0.0f64;
    for one in releases {
        for other in releases.iter().filter(|other| are_neighbours(one, other, neighbours)) {
            let mut next = 0;
            for (draw, same) in one.draws.iter().zip(&other.draws) {
                // The answers that this draw is for: one measurement, or several together.
                let (mut here, mut there, mut comparable) = (Vec::new(), Vec::new(), true);
                while here.len() < draw.values {
                    let (a, b) = (&one.answers[next], &other.answers[next]);
                    comparable &= a.clique == b.clique && a.query == b.query;
                    here.extend_from_slice(&a.y);
                    there.extend_from_slice(&b.y);
                    next += 1;
                }
                assert_eq!(here.len(), draw.values, "every answer was drawn");
                // Another choice asks other questions, then and afterwards.
                if !comparable {
                    break;
                }
                assert_eq!((draw.values, draw.sensitivity), (same.values, same.sensitivity));
                let distance = match draw.mechanism {
                    Drawn::DiscreteLaplace => L1::distance(&here, &there),
                    Drawn::DiscreteGaussian => L2::distance(&here, &there),
                    _ => panic!("{draw:?}"),
                };
                let part = distance / draw.sensitivity;
                assert!(
                    part <= 1.0 + 1e-12,
                    "{}: {distance} for a sensitivity of {}; {:?} {:?}",
                    draw.label,
                    draw.sensitivity,
                    one.table,
                    other.table
                );
                most = most.max(part);
            }
        }
    }
    most
}

fn are_neighbours(one: &Noiseless, other: &Noiseless, neighbours: Neighbours) -> bool {
    let gained = |from: &[u64], to: &[u64]| -> u64 {
        from.iter().zip(to).map(|(&a, &b)| b.saturating_sub(a)).sum()
    };
    let (up, down) = (gained(&one.table, &other.table), gained(&other.table, &one.table));
    match neighbours {
        Neighbours::Replace => (up, down) == (1, 1),
        Neighbours::AddRemove => up + down == 1,
    }
}

#[test]
fn no_record_moves_what_is_published_by_more_than_the_ledger_says() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(2))]
    {
        let mut tables = Vec::new();
        for_each_table(CELLS, records, |table| tables.push(table.to_vec()));
        // EFPA publishes cells that are made of the coefficients which it draws; the sensitivity of
        // these is tested where they are.
        for kind in MECHANISMS.iter().filter(|kind| kind.name != "efpa") {
            for parameters in variants(kind) {
                let mechanism = (kind.build)(&parameters.parse().unwrap()).unwrap();
                let releases: Result<Vec<Noiseless>, MechanismError> = tables
                    .iter()
                    .map(|table| noiseless(kind, &*mechanism, table, neighbours))
                    .collect();
                match releases {
                    Ok(releases) if releases[0].answers.is_empty() => {
                        assert_eq!(kind.name, "dualquery", "its choices are tested where they are")
                    }
                    Ok(releases) => {
                        let most = used(&releases, neighbours);
                        assert!(most > 0.5, "{}: only {most} of the sensitivity", kind.name);
                    }
                    Err(MechanismError::Unsuitable(reason)) => {
                        assert!(reason.contains("number of records"), "{}: {reason}", kind.name)
                    }
                    Err(error) => panic!("{}: {error}", kind.name),
                }
            }
        }
    }
}

/// Parameters that lead through other code.
fn variants(kind: &Kind) -> &'static [&'static str] {
    match kind.name {
        "mwem" => &["", "measure = \"marginal\""],
        "hdmm" => &["restarts = 2"],
        // By default it would take tens of thousands of rounds when there is no noise.
        "pmw" | "pmw-delta" => &["alpha = 0.3"],
        // Its privacy loss is exponential in eta / N, and N is 3.
        "dualquery" => &["eta = 0.5"],
        _ => &[""],
    }
}
