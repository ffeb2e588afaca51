use std::collections::BTreeSet;

use rand::SeedableRng;
use rand::rngs::SysRng;
use rand_chacha::ChaCha20Rng;
use thiserror::Error;

use crate::data::{Dataset, Provenance as RecordProvenance};
use crate::mechanism::{
    self, Bound, BoundSource, MechanismError, Noise, ParameterError as MechanismParameterError,
    Private, Published, Release, Task,
};
use crate::workload::Workload;
use dp::{
    Budget, Delta, Epsilon, Guarantee, Ledger, LedgerError, Neighbours, NoiseSource,
    ParameterError, Provenance, Rho,
};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Estimated, Estimator, EstimatorContext, EstimatorError, Pgm, Settings};
use private_pgm::model::{Model, Projectable, Sampling};
use private_pgm::query::QueryFactor;
use private_pgm::residual::{ResidualError, Residuals};

/// Iterations of the fit (our choice): the remaining optimisation error is far below the noise.
const ITERATIONS: usize = 1000;

/// Iterations between two rounds, as in experiments.
const ROUND_ITERATIONS: usize = 100;

/// The probability with which each error bar holds, our choice.
pub const ERROR_BAR_CONFIDENCE: f64 = 0.95;

/// The most marginals of a workload, our choice.
const MAX_MARGINALS: f64 = 100_000.0;

/// A mechanism that releases synthetic records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseMechanism {
    #[default]
    Aim,
    Mst,
}

impl ReleaseMechanism {
    /// As in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aim => "aim",
            Self::Mst => "mst",
        }
    }
}

/// What to release.
#[derive(Clone, Copy, Debug)]
pub struct SynthesisRequest {
    pub mechanism: ReleaseMechanism,
    /// AIM aims at the marginals of all sets of this many attributes.
    pub degree: usize,
    pub epsilon: Epsilon,
    pub delta: Delta,
    pub neighbours: Neighbours,
    /// The number of synthetic records. Default: the total of the release.
    pub count: Option<usize>,
    /// In bytes.
    pub memory_limit: u64,
}

/// Synthetic records for release, with the evidence of their privacy cost.
#[derive(Debug)]
pub struct SyntheticRelease {
    pub records: Dataset,
    /// The model that the records were drawn from.
    pub model: Model,
    /// Every draw of noise.
    pub ledger: Ledger,
    pub randomness: Provenance,
    /// The number of records of the data: exact where it is public, otherwise an estimate.
    pub total: f64,
    /// The average of the noisy answers, for marginals whose cells were measured.
    pub answers: Residuals,
    /// Of the attributes and of the workload, for marginals that have one.
    pub error_bars: Vec<ErrorBar>,
}

/// A bound on |M_r(D) - M_r(D')|_1, with D' the synthetic records scaled to the number of records
/// of the data. It holds with probability [`ERROR_BAR_CONFIDENCE`], for each marginal on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBar {
    pub clique: Clique,
    pub bound: Bound,
}

#[derive(Debug, Error)]
pub enum SynthesisError {
    #[error("the operating system gives no random numbers: {0}")]
    Randomness(String),
    #[error(
        "{sets:.1e} marginals of {degree} attributes are more than {MAX_MARGINALS}; expected \
         smaller marginals"
    )]
    TooManyMarginals { degree: usize, sets: f64 },
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    #[error(transparent)]
    MechanismParameter(#[from] MechanismParameterError),
    /// The ledger exceeds the budget.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl SynthesisRequest {
    /// The guarantee of the release: the rho-zCDP that implies (epsilon, delta).
    pub fn kept_guarantee(&self) -> Result<Guarantee, ParameterError> {
        Ok(Rho::implying(self.epsilon, self.delta)?.into())
    }

    /// The standard deviation of the noise on each count of the one-way marginals, the first that
    /// are measured. `attributes` is their number.
    pub fn first_noise_stddev(&self, attributes: usize) -> Result<f64, ParameterError> {
        let rho = Rho::implying(self.epsilon, self.delta)?.get();
        let squared = match self.neighbours {
            Neighbours::Replace => 2.0,
            Neighbours::AddRemove => 1.0,
        };
        // AIM: 0.9 of a sixteenth; MST: a third; divided among the attributes.
        let part = match self.mechanism {
            ReleaseMechanism::Aim => 0.9 / 16.0,
            ReleaseMechanism::Mst => 1.0 / 3.0,
        };
        Ok((squared * attributes.max(1) as f64 / (2.0 * part * rho)).sqrt())
    }

    /// The marginals on all sets of `degree` attributes, or on all attributes if these are fewer.
    fn workload(&self, domain: &Domain) -> Result<Workload, SynthesisError> {
        let degree = self.degree.min(domain.len());
        let sets =
            (0..degree).fold(1.0, |sets, i| sets * (domain.len() - i) as f64 / (i + 1) as f64);
        if sets > MAX_MARGINALS {
            return Err(SynthesisError::TooManyMarginals { degree, sets });
        }
        let cliques = domain.everything().subsets(degree);
        Ok(Workload::marginals(domain, &cliques, &Clique::empty()).map_err(MechanismError::from)?)
    }
}

/// Releases synthetic records under (epsilon, delta): measures marginals, fits a graphical model to
/// them, and draws records from it. All randomness comes from the operating system, so a release
/// cannot be repeated.
pub fn synthesize(
    data: &Dataset,
    request: &SynthesisRequest,
) -> Result<SyntheticRelease, SynthesisError> {
    let randomness = |error: rand::rngs::SysError| SynthesisError::Randomness(error.to_string());
    let mut source = NoiseSource::from_operating_system().map_err(randomness)?;
    let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).map_err(randomness)?;
    synthesize_from(data, request, &mut source, &mut rng)
}

/// The same with given randomness, for tests of what a release depends on.
#[cfg(feature = "sabotage")]
pub fn synthesize_with(
    data: &Dataset,
    request: &SynthesisRequest,
    source: &mut NoiseSource,
    rng: &mut ChaCha20Rng,
) -> Result<SyntheticRelease, SynthesisError> {
    synthesize_from(data, request, source, rng)
}

/// The same with given randomness. `rng` need not be secret.
fn synthesize_from(
    data: &Dataset,
    request: &SynthesisRequest,
    source: &mut NoiseSource,
    rng: &mut ChaCha20Rng,
) -> Result<SyntheticRelease, SynthesisError> {
    let domain = data.domain();
    let name = request.mechanism.name();
    let spec = mechanism::find(name).expect("the mechanisms of releases are listed");
    let mechanism = (spec.build)(&toml::Table::new())?;
    let pgm =
        |iterations| Pgm::new(Settings { iterations: Some(iterations), ..Settings::default() });
    let task = Task {
        data: Private::new(data),
        workload: &request.workload(domain)?,
        noise: Noise::Exact,
        estimator: &pgm(ROUND_ITERATIONS),
        public: None,
        memory_limit: request.memory_limit,
        deadline: None,
    };
    let mut budget = Budget::new(request.kept_guarantee()?, request.neighbours);
    let release = mechanism.release(&task, &mut budget, source)?;
    let ledger = budget.ledger();
    ledger.verify(budget.total())?;
    let mut run = EstimatorContext {
        memory_limit: request.memory_limit,
        deadline: None,
        warm_start: release.warm_start.as_ref(),
        rng,
        observer: &mut |_| {},
    };
    let estimated = pgm(ITERATIONS).estimate(&release.evidence(domain), &mut run);
    let Estimated { model, .. } = estimated.map_err(MechanismError::from)?;
    let model = model.ok_or_else(|| {
        let message = "the estimator has no model to draw records from".to_string();
        MechanismError::from(EstimatorError::Unsupported(message))
    })?;
    let total = release.total.round() as usize;
    let total = dp::sabotage!(total, "release-of-as-many-records", data.len());
    let count = request.count.unwrap_or(total);
    let inference = |error| MechanismError::from(EstimatorError::from(error));
    let calibrated = model.calibrated().map_err(inference)?;
    let codes = calibrated.synthesize(count, Sampling::Rounded, run.rng).map_err(inference)?;
    let name = format!("synthetic-{}", data.name());
    let records = Dataset::from_codes(&name, domain, &codes, RecordProvenance::default())
        .map_err(MechanismError::from)?;
    let estimator = |error: ResidualError| MechanismError::from(EstimatorError::from(error));
    let wanted = domain.everything().subsets(1).into_iter().chain(task.workload.cliques());
    Ok(SyntheticRelease {
        error_bars: error_bars(&release, request, &records, wanted),
        answers: average(&release, domain).map_err(estimator)?,
        total: release.total,
        records,
        model,
        ledger,
        randomness: source.provenance(),
    })
}

/// Uses the release and the synthetic records alone. A marginal that is too large to count has no
/// bar.
fn error_bars(
    release: &Release,
    request: &SynthesisRequest,
    records: &Dataset,
    wanted: impl Iterator<Item = Clique>,
) -> Vec<ErrorBar> {
    let Some(bounds) = release.error_bounds(records.domain()) else { return Vec::new() };
    let scale = release.total / records.len().max(1) as f64;
    let trivial = match request.neighbours {
        Neighbours::Replace => 2.0 * release.total,
        // The number of records is private, and its estimate no bound.
        Neighbours::AddRemove => f64::INFINITY,
    };
    let cliques: BTreeSet<(usize, Clique)> = wanted.map(|clique| (clique.len(), clique)).collect();
    let bar = |(_, clique): (usize, Clique)| {
        let found = records.project(&clique).ok()?.scaled(scale);
        let bound = bounds.bound(&found, 1.0 - ERROR_BAR_CONFIDENCE).ok()??;
        let bound = match bound.l1 > trivial {
            true => Bound { l1: trivial, source: BoundSource::Records },
            false => bound,
        };
        Some(ErrorBar { clique, bound })
    };
    cliques.into_iter().filter_map(bar).collect()
}

/// The answers that count values or sums of them.
fn average(release: &Release, domain: &Domain) -> Result<Residuals, ResidualError> {
    let Published::Answers(answers) = &release.published else {
        return Residuals::estimate(domain, &[], Some(release.total));
    };
    let is_count =
        |factor: &QueryFactor| matches!(factor, QueryFactor::Identity | QueryFactor::Total);
    let counts = answers.iter().filter(|answer| answer.query.factors().iter().all(is_count));
    Residuals::estimate(domain, &counts.cloned().collect::<Vec<_>>(), Some(release.total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp::SeedPath;

    /// b copies a except in every tenth record, and c is independent.
    fn copies() -> Dataset {
        let domain = Domain::new([("a", 3), ("b", 3), ("c", 2)]).unwrap();
        let column = |code: fn(u32) -> u32| (0..6000).map(code).collect::<Vec<u32>>();
        let codes = [
            column(|i| i % 3),
            column(|i| if i % 10 == 0 { 0 } else { i % 3 }),
            column(|i| (i / 3) % 2),
        ];
        Dataset::from_codes("copies", &domain, &codes, RecordProvenance::default()).unwrap()
    }

    fn request(mechanism: ReleaseMechanism) -> SynthesisRequest {
        SynthesisRequest {
            mechanism,
            degree: 2,
            epsilon: Epsilon::new(10.0).unwrap(),
            delta: Delta::new(1e-6).unwrap(),
            neighbours: Neighbours::Replace,
            count: Some(3000),
            memory_limit: 1 << 30,
        }
    }

    #[test]
    fn synthetic_records_resemble_the_data() {
        let data = copies();
        for mechanism in [ReleaseMechanism::Aim, ReleaseMechanism::Mst] {
            let request = request(mechanism);
            let mut source = NoiseSource::seeded(&SeedPath::new("test", "synthesize"));
            let mut rng = ChaCha20Rng::seed_from_u64(5);
            let made = synthesize_from(&data, &request, &mut source, &mut rng).unwrap();
            assert_eq!((made.records.len(), made.records.name()), (3000, "synthetic-copies"));
            let pair = Clique::new(["a", "b"].map(|name| data.domain().id(name).unwrap()));
            let (found, truth) =
                (made.records.project(&pair).unwrap(), data.project(&pair).unwrap());
            for (found, truth) in found.values().iter().zip(truth.values()) {
                assert!((found - truth / 2.0).abs() < 25.0, "{found} {truth}");
            }
            check_error_bars(&data, &made, mechanism);
            assert!(made.ledger.verify(request.kept_guarantee().unwrap()).unwrap().is_some());
            // The predicted noise is that of the first draws.
            let first = made.ledger.lines()[0].entry.draw.scale;
            let predicted = request.first_noise_stddev(3).unwrap();
            assert!((first / predicted - 1.0).abs() < 1e-6, "{first} {predicted}");
        }
    }

    /// AIM has a bar for each attribute and each pair, and MST none.
    fn check_error_bars(data: &Dataset, made: &SyntheticRelease, mechanism: ReleaseMechanism) {
        assert_eq!(made.total, 6000.0);
        let expected = if mechanism == ReleaseMechanism::Aim { 6 } else { 0 };
        assert_eq!(made.error_bars.len(), expected);
        for ErrorBar { clique, bound } in &made.error_bars {
            let (found, truth) =
                (made.records.project(clique).unwrap(), data.project(clique).unwrap());
            let pairs = found.values().iter().zip(truth.values());
            let error: f64 = pairs.map(|(found, truth)| (2.0 * found - truth).abs()).sum();
            assert!(error <= bound.l1 && bound.l1 < 3000.0, "{clique:?} {error} {bound:?}");
        }
        let a = Clique::new([data.domain().id("a").unwrap()]);
        let stddev = made.answers.cell_variance(&a).unwrap().sqrt();
        for cell in made.answers.marginal(&a).values() {
            assert!((cell - 2000.0).abs() < 200.0 + 5.0 * stddev, "{cell} {stddev}");
        }
    }

    #[test]
    fn no_error_bar_is_above_what_the_number_of_records_allows() {
        let data = copies();
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            let epsilon = Epsilon::new(0.001).unwrap();
            let request = request(ReleaseMechanism::Aim);
            let request = SynthesisRequest { epsilon, neighbours, ..request };
            let mut source = NoiseSource::seeded(&SeedPath::new("test", "bars"));
            let mut rng = ChaCha20Rng::seed_from_u64(5);
            let made = synthesize_from(&data, &request, &mut source, &mut rng).unwrap();
            assert_eq!(made.error_bars.len(), 6);
            let all_are_trivial = made
                .error_bars
                .iter()
                .all(|bar| bar.bound == Bound { l1: 12000.0, source: BoundSource::Records });
            assert_eq!(all_are_trivial, neighbours == Neighbours::Replace);
        }
    }

    #[test]
    fn too_many_marginals_are_refused_before_the_data_is_used() {
        let domain = Domain::new((0..80).map(|i| (format!("x{i}"), 2))).unwrap();
        let request = SynthesisRequest { degree: 5, ..request(ReleaseMechanism::Aim) };
        let refused = request.workload(&domain).unwrap_err().to_string();
        assert!(refused.contains("marginals of 5 attributes"), "{refused}");
    }
}
