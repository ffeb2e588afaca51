//! Mechanisms on data so small that all tables of its size can be enumerated.

use dp::transcript::Event;
use dp::{
    Budget, Delta, Epsilon, Guarantee, Ledger, Neighbours, NoiseSource, Provenance, Rho, SeedPath,
};
use pgmbench::data::{Dataset, Provenance as Origin};
use pgmbench::mechanism::{
    GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Noise, Private, Release, Task, find,
};
use pgmbench::workload::Workload;
use private_pgm::domain::{Clique, Domain};

use crate::rough::Rough;

/// The attributes. All tables have 8 cells, and all marginals a power of two: then EFPA's published
/// cells determine its coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Two and four values, with prefix sums over the larger. All marginals.
    Pair,
    /// Three attributes of two values. All pairs.
    Triangle,
}

pub(crate) const CELLS: usize = 8;

impl Shape {
    pub(crate) fn sizes(self) -> &'static [usize] {
        match self {
            Shape::Pair => &[2, 4],
            Shape::Triangle => &[2, 2, 2],
        }
    }

    pub(crate) fn domain(self) -> Domain {
        Domain::new(["a", "b", "c"].into_iter().zip(self.sizes().iter().copied())).unwrap()
    }

    fn workload(self, domain: &Domain) -> Workload {
        let ids = domain.declared();
        let (cliques, prefix) = match self {
            Shape::Pair => {
                let [a, b] = [ids[0], ids[1]];
                (vec![vec![a, b], vec![b], vec![a]], vec![b])
            }
            Shape::Triangle => {
                let [a, b, c] = [ids[0], ids[1], ids[2]];
                (vec![vec![a, b], vec![a, c], vec![b, c]], Vec::new())
            }
        };
        let cliques: Vec<Clique> = cliques.into_iter().map(Clique::new).collect();
        Workload::marginals(domain, &cliques, &Clique::new(prefix)).unwrap()
    }

    /// The records of a table with these counts, the last attribute fastest.
    pub(crate) fn data(self, counts: &[u64]) -> Dataset {
        let mut codes = vec![Vec::new(); self.sizes().len()];
        for (cell, &count) in counts.iter().enumerate() {
            let mut rest = cell;
            for (column, &size) in codes.iter_mut().zip(self.sizes()).rev() {
                column.extend(std::iter::repeat_n((rest % size) as u32, count as usize));
                rest /= size;
            }
        }
        Dataset::from_codes("small", &self.domain(), &codes, Origin::default()).unwrap()
    }
}

/// A mechanism with parameters, a claim and a shape of data.
pub(crate) struct Setup {
    pub(crate) spec: &'static MechanismSpec,
    mechanism: Box<dyn Mechanism>,
    pub(crate) neighbours: Neighbours,
    pub(crate) epsilon: f64,
    pub(crate) shape: Shape,
    pub(crate) workload: Workload,
}

/// The delta of all claims.
pub(crate) const DELTA: f64 = 1e-3;

/// A release, with everything that it has drawn.
pub(crate) struct Run {
    pub(crate) release: Release,
    pub(crate) ledger: Ledger,
    pub(crate) events: Vec<Event>,
}

impl Setup {
    pub(crate) fn new(
        name: &str,
        parameters: &str,
        shape: Shape,
        epsilon: f64,
        neighbours: Neighbours,
    ) -> Self {
        let spec = find(name).unwrap();
        let mechanism = (spec.build)(&parameters.parse().unwrap()).unwrap();
        let workload = shape.workload(&shape.domain());
        Self { spec, mechanism, neighbours, epsilon, shape, workload }
    }

    pub(crate) fn title(&self) -> String {
        format!("{} ({:?}, {:?})", self.spec.name, self.neighbours, self.shape)
    }

    /// What the mechanism has to keep: epsilon, or epsilon and delta.
    pub(crate) fn total(&self) -> Guarantee {
        let (epsilon, delta) = (Epsilon::new(self.epsilon).unwrap(), Delta::new(DELTA).unwrap());
        match self.spec.guarantee {
            GuaranteeKind::Pure => epsilon.into(),
            GuaranteeKind::Approximate => (epsilon, delta).into(),
            GuaranteeKind::Concentrated => Rho::implying(epsilon, delta).unwrap().into(),
        }
    }

    /// The noise of trial number `trial`.
    pub(crate) fn path(&self, trial: usize) -> SeedPath {
        SeedPath::new("sabotage", self.spec.name).with("trial", trial)
    }

    pub(crate) fn run(&self, data: &Dataset, trial: usize) -> Result<Run, MechanismError> {
        self.run_from(data, NoiseSource::recording(&self.path(trial)))
    }

    /// A run on `data` whose draws return what those of another run returned.
    pub(crate) fn replay(&self, data: &Dataset, of: &Run) -> Result<Run, MechanismError> {
        self.run_from(data, NoiseSource::replaying(&self.path(0), of.events.clone().into()))
    }

    fn run_from(&self, data: &Dataset, mut source: NoiseSource) -> Result<Run, MechanismError> {
        let task = Task {
            data: Private::new(data),
            workload: &self.workload,
            public: None,
            noise: Noise::Exact,
            estimator: &Rough,
            memory_limit: 1 << 28,
            deadline: None,
        };
        let mut budget = Budget::new(self.total(), self.neighbours);
        let release = self.mechanism.release(&task, &mut budget, &mut source)?;
        assert_eq!(source.provenance(), Provenance::Seeded);
        let events = source.events().to_vec();
        Ok(Run { release, ledger: budget.ledger(), events })
    }
}
