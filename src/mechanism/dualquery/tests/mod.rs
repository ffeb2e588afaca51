mod likelihood;
mod record;
mod release;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::mechanism::{Noise, Private};
use crate::workload::Workload;
use dp::{Delta, Epsilon, SeedPath};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::Pgm;

fn domain() -> Domain {
    Domain::new([("a", 3), ("b", 4), ("c", 2), ("d", 3), ("e", 5)]).unwrap()
}

fn clique(domain: &Domain, names: &str) -> Clique {
    names.chars().map(|name| domain.id(&name.to_string()).unwrap()).collect()
}

/// Cliques around a cycle, without e. Prefix queries on b and d.
fn workload() -> Workload {
    let domain = domain();
    let cliques = ["abc", "bcd", "ad"].map(|names| clique(&domain, names));
    Workload::marginals(&domain, &cliques, &clique(&domain, "bd")).unwrap()
}

/// Every attribute mostly repeats the one before it.
fn data(records: usize) -> Dataset {
    let domain = domain();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut columns = vec![Vec::new(); domain.len()];
    for _ in 0..records {
        let mut last = rng.random_range(0..2u32);
        for (column, &id) in columns.iter_mut().zip(domain.declared()) {
            let size = domain.size(id) as u32;
            let keeps = rng.random_range(0..4) > 0;
            last = if keeps { last % size } else { rng.random_range(0..size) };
            column.push(last);
        }
    }
    Dataset::from_codes("test", &domain, &columns, Provenance::default()).unwrap()
}

fn total(epsilon: f64) -> Guarantee {
    (Epsilon::new(epsilon).unwrap(), Delta::new(1e-3).unwrap()).into()
}

fn released(
    mechanism: &dyn Mechanism,
    budget: &mut Budget,
    data: &Dataset,
) -> Result<Release, MechanismError> {
    let (workload, pgm) = (workload(), Pgm::default());
    let task = Task {
        data: Private::new(data),
        workload: &workload,
        noise: Noise::Exact,
        estimator: &pgm,
        public: None,
        memory_limit: 1 << 24,
        deadline: None,
    };
    let path = SeedPath::new("test", "dualquery");
    mechanism.release(&task, budget, &mut NoiseSource::seeded(&path))
}
