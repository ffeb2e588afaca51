//! Runs of a mechanism on a pair of neighbours, and the exact privacy loss of each.

use std::sync::Arc;

use rayon::prelude::*;

use super::observation::{Observation, same_publication};
use super::{AuditError, Case};
use crate::data::Dataset;
use crate::mechanism::{Mechanism, Noise, Private, Release, Task};
use dp::transcript::{Event, divergence, privacy_loss};
use dp::{Budget, Guarantee, Mechanism as Draw, Neighbours, NoiseSource, SeedPath};
use private_pgm::fit::{Pgm, Settings};

/// Bytes for the tables of a run. The data sets are tiny.
const MEMORY: u64 = 1 << 28;

/// Iterations of estimates between rounds. They use published values, so their number does not
/// affect privacy.
const ITERATIONS: usize = 20;

/// A mechanism with its case, for many runs.
pub(super) struct Runs<'a> {
    mechanism: &'a dyn Mechanism,
    case: &'a Case,
    total: Guarantee,
    neighbours: Neighbours,
    estimator: Pgm,
}

/// A run, and what its output says about the two data sets.
pub(super) struct Run {
    /// ln P(output | one) - ln P(output | other), infinite for an output that only the data set of
    /// this run can have.
    pub(super) loss: f64,
    /// [`divergence`] from the data set of this run to the other.
    pub(super) divergence: f64,
    /// Whether it drew noise, all of it Gaussian, and nothing else.
    pub(super) is_gaussian: bool,
    /// According to its ledger. `None` if there were no draws.
    pub(super) spent: Option<Guarantee>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    One,
    Other,
}

impl<'a> Runs<'a> {
    pub(super) fn new(
        mechanism: &'a dyn Mechanism,
        case: &'a Case,
        total: Guarantee,
        neighbours: Neighbours,
    ) -> Self {
        let settings = Settings { iterations: Some(ITERATIONS), ..Settings::default() };
        let estimator = Pgm { parallel: false, ..Pgm::new(settings) };
        Self { mechanism, case, total, neighbours, estimator }
    }

    fn data(&self, side: Side) -> &'a Dataset {
        match side {
            Side::One => &self.case.one,
            Side::Other => &self.case.other,
        }
    }

    /// `trials` runs on one of the data sets, in parallel.
    pub(super) fn many(
        &self,
        side: Side,
        trials: usize,
        seed: &SeedPath,
    ) -> Result<Vec<Run>, AuditError> {
        let path = seed.clone().with("data", side.name());
        let once = |trial| self.once(side, &path.clone().with("trial", trial));
        (0..trials).into_par_iter().map(once).collect()
    }

    /// Records a run and replays it on the neighbour.
    fn once(&self, side: Side, path: &SeedPath) -> Result<Run, AuditError> {
        let mut recording = NoiseSource::recording(path);
        let (release, spent) = self.release(self.data(side), &mut recording)?;
        let recorded: Arc<[Event]> = recording.into_events().into();
        let mut replaying = NoiseSource::replaying(path, Arc::clone(&recorded));
        let neighbour = self.data(side.opposite());
        // A mechanism that refuses to run does not have this output either.
        let replayed = self.release(neighbour, &mut replaying).ok();
        let replay = replaying.into_events();
        let same = match replayed {
            Some((other, _)) => same_publication(&release, &other, [neighbour, self.data(side)])?,
            None => false,
        };
        let found = |of: fn(&[Event], &[Event]) -> Option<f64>| match same {
            true => of(&recorded, &replay).unwrap_or(f64::INFINITY),
            false => f64::INFINITY,
        };
        let loss = found(privacy_loss);
        let mut draws = recorded.iter().filter_map(|event| event.handed());
        let is_gaussian = recorded.iter().any(|event| event.handed().is_some())
            && draws.all(|handed| {
                let mechanism = handed.draw.mechanism;
                matches!(mechanism, Draw::DiscreteGaussian | Draw::ContinuousGaussian)
            });
        Ok(Run {
            loss: if side == Side::One { loss } else { -loss },
            divergence: found(divergence),
            is_gaussian,
            spent,
        })
    }

    /// The releases of runs on one of the data sets, reduced to what an attacker sees who knows
    /// nothing of the mechanism, and the cost of the first run.
    pub(super) fn observe(
        &self,
        side: Side,
        trials: usize,
        seed: &SeedPath,
    ) -> Result<(Vec<Observation>, Option<Guarantee>), AuditError> {
        let path = seed.clone().with("data", side.name());
        let once = |trial| -> Result<_, AuditError> {
            let mut source = NoiseSource::seeded(&path.clone().with("trial", trial));
            let (release, spent) = self.release(self.data(side), &mut source)?;
            Ok((Observation::new(&release, &self.case.one, &self.case.other)?, spent))
        };
        let runs: Vec<(Observation, Option<Guarantee>)> =
            (0..trials).into_par_iter().map(once).collect::<Result<_, AuditError>>()?;
        let spent = runs.first().and_then(|(_, spent)| *spent);
        Ok((runs.into_iter().map(|(observation, _)| observation).collect(), spent))
    }

    /// A release, and its cost. The ledger is verified.
    fn release(
        &self,
        data: &Dataset,
        source: &mut NoiseSource,
    ) -> Result<(Release, Option<Guarantee>), AuditError> {
        let task = Task {
            data: Private::new(data),
            workload: &self.case.workload,
            public: None,
            noise: Noise::Exact,
            estimator: &self.estimator,
            memory_limit: MEMORY,
            deadline: None,
        };
        let mut budget = Budget::new(self.total, self.neighbours);
        let release = self.mechanism.release(&task, &mut budget, source)?;
        let spent = budget.ledger().verify(budget.total())?;
        Ok((release, spent))
    }
}

impl Side {
    fn opposite(self) -> Self {
        match self {
            Self::One => Self::Other,
            Self::Other => Self::One,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Other => "other",
        }
    }
}
