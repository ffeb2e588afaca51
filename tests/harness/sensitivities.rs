//! The change of the published answers between neighbours compared with the sensitivity in the
//! ledger, for all neighbouring pairs of small tables and for every mechanism end to end.
//!
//! With an extremely large epsilon exact noise is zero, so a mechanism publishes the answers before
//! noise.

use dp::sensitivity::brute_force::{Records, for_each_table};
use dp::sensitivity::{L1, L2, Norm};
use dp::{
    Budget, Delta, Draw, Epsilon, Guarantee, Mechanism as Drawn, Neighbours, NoiseSource, Rho,
    SeedPath,
};
use pgmbench::data::{Dataset, Provenance};
use pgmbench::mechanism::{
    GuaranteeKind, MECHANISMS, Mechanism, MechanismError, MechanismSpec, Noise, Private, Published,
    Task,
};
use pgmbench::workload::Workload;
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Pgm, Settings};
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

/// The published answers without noise, and the draws of noise in order.
struct Noiseless {
    table: Vec<u64>,
    answers: Vec<Measurement>,
    draws: Vec<Draw>,
}

fn noiseless(
    spec: &MechanismSpec,
    mechanism: &dyn Mechanism,
    table: &[u64],
    neighbours: Neighbours,
) -> Result<Noiseless, MechanismError> {
    // MWEM's estimator needs a standard deviation above 0. At this epsilon the noise is still zero.
    let large = if spec.name == "mwem" { 2e3 } else { 1e12 };
    let (epsilon, delta) = (Epsilon::new(large).unwrap(), Delta::new(1e-6).unwrap());
    let total: Guarantee = match spec.guarantee {
        GuaranteeKind::Pure => epsilon.into(),
        GuaranteeKind::Approximate => (epsilon, delta).into(),
        GuaranteeKind::Concentrated => Rho::implying(epsilon, delta).unwrap().into(),
    };
    let (data, workload) = (dataset(table), workload());
    let settings = Settings { iterations: Some(5), ..Settings::default() };
    let task = Task {
        data: Private::new(&data),
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

/// The largest ratio of a change to its sensitivity over all draws and neighbouring pairs.
fn largest_ratio(releases: &[Noiseless], neighbours: Neighbours) -> f64 {
    let mut most = 0.0f64;
    for one in releases {
        for other in releases.iter().filter(|other| are_neighbours(one, other, neighbours)) {
            let mut next = 0;
            for (draw, same) in one.draws.iter().zip(&other.draws) {
                // The answers of this draw: one measurement, or several.
                let (mut here, mut there, mut comparable) = (Vec::new(), Vec::new(), true);
                while here.len() < draw.values {
                    let (a, b) = (&one.answers[next], &other.answers[next]);
                    comparable &= a.clique == b.clique && a.query == b.query;
                    here.extend_from_slice(&a.y);
                    there.extend_from_slice(&b.y);
                    next += 1;
                }
                assert_eq!(here.len(), draw.values, "every answer was drawn");
                // After another selection the queries differ.
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
fn published_answers_change_by_at_most_the_sensitivity_in_the_ledger() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(2))]
    {
        let mut tables = Vec::new();
        for_each_table(CELLS, records, |table| tables.push(table.to_vec()));
        // EFPA publishes cells computed from the coefficients that it measures. Its own tests check
        // the sensitivity of the coefficients.
        for spec in MECHANISMS.iter().filter(|spec| spec.name != "efpa") {
            for parameters in variants(spec) {
                let mechanism = (spec.build)(&parameters.parse().unwrap()).unwrap();
                let releases: Result<Vec<Noiseless>, MechanismError> = tables
                    .iter()
                    .map(|table| noiseless(spec, &*mechanism, table, neighbours))
                    .collect();
                match releases {
                    Ok(releases) if releases[0].answers.is_empty() => {
                        assert_eq!(
                            spec.name, "dualquery",
                            "it publishes selections only, which it tests itself"
                        )
                    }
                    Ok(releases) => {
                        let most = largest_ratio(&releases, neighbours);
                        assert!(most > 0.5, "{}: only {most} of the sensitivity", spec.name);
                    }
                    Err(MechanismError::Unsuitable(reason)) => {
                        assert!(reason.contains("number of records"), "{}: {reason}", spec.name)
                    }
                    Err(error) => panic!("{}: {error}", spec.name),
                }
            }
        }
    }
}

/// Parameters that cover other code.
fn variants(spec: &MechanismSpec) -> &'static [&'static str] {
    match spec.name {
        "hdmm" => &["restarts = 2"],
        // Without noise, empty values would be merged, and their counts not published one by one.
        "mst" => &["threshold = 0.0"],
        "residual-planner" => &["", "objective = \"largest\""],
        // The default would take tens of thousands of rounds without noise.
        "pmw" | "pmw-delta" => &["alpha = 0.3"],
        // Its privacy loss is exponential in eta / N, and N is 3.
        "dualquery" => &["eta = 0.5"],
        _ => &[""],
    }
}
