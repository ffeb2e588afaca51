//! For tests: a table so small that all tables of its size can be enumerated.

use crate::data::{Dataset, Provenance};
use crate::mechanism::{Mechanism, MechanismSpec, Noise, Private, Published, Release, Task};
use crate::workload::Workload;
use dp::{Budget, Guarantee, Neighbours, NoiseSource, SeedPath};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::Pgm;
use private_pgm::loss::Measurement;

/// Records with attributes of two and three values, and a workload of three marginals with prefix
/// sums over the larger attribute.
pub(crate) struct SmallTable {
    pub(crate) data: Dataset,
    pub(crate) workload: Workload,
    estimator: Pgm,
}

impl SmallTable {
    pub(crate) const CELLS: usize = 6;

    pub(crate) fn new(counts: &[u64]) -> Self {
        let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
        let [a, b] = [domain.declared()[0], domain.declared()[1]];
        let mut codes = vec![Vec::new(); 2];
        for (cell, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                codes[0].push(cell as u32 / 3);
                codes[1].push(cell as u32 % 3);
            }
        }
        let data = Dataset::from_codes("small", &domain, &codes, Provenance::default()).unwrap();
        let cliques = [Clique::new([a, b]), Clique::new([b]), Clique::new([a])];
        let workload = Workload::marginals(&domain, &cliques, &Clique::new([b])).unwrap();
        Self { data, workload, estimator: Pgm::default() }
    }

    pub(crate) fn task(&self) -> Task<'_> {
        Task {
            data: Private::new(&self.data),
            workload: &self.workload,
            noise: Noise::Exact,
            estimator: &self.estimator,
            public: None,
            memory_limit: 1 << 30,
            deadline: None,
        }
    }

    /// The release of a mechanism with default parameters, and the budget after it.
    pub(crate) fn release(
        &self,
        spec: &MechanismSpec,
        total: impl Into<Guarantee>,
        neighbours: Neighbours,
        seed: u64,
    ) -> (Release, Budget) {
        let mechanism: Box<dyn Mechanism> = (spec.build)(&toml::Table::new()).unwrap();
        let mut budget = Budget::new(total, neighbours);
        let mut source = NoiseSource::seeded(&SeedPath::new("seed", seed));
        let release = mechanism.release(&self.task(), &mut budget, &mut source).unwrap();
        (release, budget)
    }
}

pub(crate) fn answers(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("expected noisy answers"),
    }
}
