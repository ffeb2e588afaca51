use thiserror::Error;

use crate::data::{Dataset, Schema};
use crate::mechanism::{GuaranteeKind, Mechanism, MechanismError, Noise, Private, Published, Task};
use crate::workload::Workload;
use dp::{
    Budget, Delta, Epsilon, Guarantee, Ledger, LedgerError, Neighbours, NoiseSource,
    ParameterError, Provenance, Rho,
};
use private_pgm::domain::{Clique, Domain};
use private_pgm::fit::{Pgm, Settings};
use private_pgm::problem::{Problem, ProblemError};
use private_pgm::query::QueryError;

/// Iterations between two rounds of an adaptive mechanism, as in experiments.
const ROUND_ITERATIONS: usize = 100;

/// The most marginals of a workload (our choice).
const MAX_MARGINALS: f64 = 100_000.0;

/// Noisy answers for release, with the evidence of their privacy cost.
#[derive(Debug)]
pub struct MeasuredRelease {
    /// With the labels of the schema.
    pub problem: Problem,
    /// Every draw of noise.
    pub ledger: Ledger,
    pub randomness: Provenance,
}

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error("the operating system gives no random numbers: {0}")]
    Randomness(String),
    #[error(
        "there are {sets:.1e} sets of {size} attributes, more than {MAX_MARGINALS}; measure \
         smaller or fewer marginals"
    )]
    TooManyMarginals { size: usize, sets: f64 },
    #[error("its answers are not linear measurements, so that they are no problem")]
    NotAnswers,
    #[error(transparent)]
    Workload(#[from] QueryError),
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The ledger exceeds the budget.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The guarantee that a mechanism keeps to imply epsilon, or (epsilon, delta). A pure one does not
/// ask for delta.
pub fn kept_by(
    kind: GuaranteeKind,
    epsilon: Epsilon,
    delta: impl FnOnce() -> Result<Delta, ParameterError>,
) -> Result<Guarantee, ParameterError> {
    Ok(match kind {
        GuaranteeKind::Pure => epsilon.into(),
        GuaranteeKind::Approximate => (epsilon, delta()?).into(),
        GuaranteeKind::Concentrated => Rho::implying(epsilon, delta()?)?.into(),
    })
}

/// The counts of all cells of these marginals.
pub fn marginals_of(schema: &Schema, cliques: &[Clique]) -> Result<Workload, MeasureError> {
    Ok(Workload::marginals(schema.domain(), cliques, &Clique::empty())?)
}

/// The marginals on all sets of `size` attributes, or on all attributes if these are fewer.
pub fn all_marginals(domain: &Domain, size: usize) -> Result<Vec<Clique>, MeasureError> {
    let size = size.min(domain.len());
    let sets = (0..size).fold(1.0, |sets, i| sets * (domain.len() - i) as f64 / (i + 1) as f64);
    match sets > MAX_MARGINALS {
        true => Err(MeasureError::TooManyMarginals { size, sets }),
        false => Ok(domain.everything().subsets(size)),
    }
}

/// Measures `data` with noise of the operating system, so that the release cannot be repeated.
/// `total` is the budget, of which everything is spent.
pub fn measure(
    data: &Dataset,
    schema: &Schema,
    workload: &Workload,
    mechanism: &dyn Mechanism,
    (total, neighbours): (Guarantee, Neighbours),
    memory_limit: u64,
) -> Result<MeasuredRelease, MeasureError> {
    let mut source = NoiseSource::from_operating_system()
        .map_err(|error| MeasureError::Randomness(error.to_string()))?;
    let between_rounds =
        Pgm::new(Settings { iterations: Some(ROUND_ITERATIONS), ..Settings::default() });
    let task = Task {
        data: Private::new(data),
        workload,
        noise: Noise::Exact,
        estimator: &between_rounds,
        public: None,
        memory_limit,
        deadline: None,
    };
    let mut budget = Budget::new(total, neighbours);
    let release = mechanism.release(&task, &mut budget, &mut source)?;
    let ledger = budget.ledger();
    ledger.verify(budget.total())?;
    let Published::Answers(answers) = release.published else {
        return Err(MeasureError::NotAnswers);
    };
    // Where the number of records is private, readers estimate it from the answers.
    let public_total = (neighbours == Neighbours::Replace).then_some(release.total);
    let problem = Problem::builder(schema.labelled_domain())
        .total(public_total)
        .measure_all(answers)
        .build()?;
    Ok(MeasuredRelease { problem, ledger, randomness: source.provenance() })
}
