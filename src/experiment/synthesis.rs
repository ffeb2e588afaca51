use rand::SeedableRng;
use rand::rngs::SysRng;
use rand_chacha::ChaCha20Rng;
use thiserror::Error;

use crate::data::Dataset;
use crate::mechanism::MechanismError;
use crate::mechanism::spanning_tree::{self, Synthesis};
use dp::{
    Delta, Epsilon, Guarantee, Ledger, LedgerError, Neighbours, NoiseSource, ParameterError,
    Provenance,
};
use private_pgm::fit::{EstimatorContext, Pgm, Settings};

/// Iterations of the fit (our choice): the remaining optimisation error is far below the noise.
const ITERATIONS: usize = 500;

/// Synthetic records for release, with the evidence of their privacy cost.
#[derive(Debug)]
pub struct SyntheticRelease {
    /// The records, and the model that they were drawn from.
    pub synthesis: Synthesis,
    /// Every draw of noise.
    pub ledger: Ledger,
    pub randomness: Provenance,
}

#[derive(Debug, Error)]
pub enum SynthesisError {
    #[error("the operating system gives no random numbers: {0}")]
    Randomness(String),
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The ledger exceeds the budget.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The guarantee of [`synthesize`]: the rho-zCDP that implies (epsilon, delta).
pub fn kept_guarantee(
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Guarantee, ParameterError> {
    Ok(spanning_tree::budget(epsilon, delta, neighbours)?.total())
}

/// Releases synthetic records under (epsilon, delta): measures one-way marginals and a spanning
/// tree of two-way marginals, fits a graphical model to both, and draws records from it. All
/// randomness comes from the operating system, so a release cannot be repeated.
pub fn synthesize(
    data: &Dataset,
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
    count: Option<usize>,
    memory_limit: u64,
) -> Result<SyntheticRelease, SynthesisError> {
    let mut budget = spanning_tree::budget(epsilon, delta, neighbours)?;
    let randomness = |error: rand::rngs::SysError| SynthesisError::Randomness(error.to_string());
    let mut source = NoiseSource::from_operating_system().map_err(randomness)?;
    let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).map_err(randomness)?;
    let pgm = Pgm::new(Settings { iterations: Some(ITERATIONS), ..Settings::default() });
    let mut context = EstimatorContext {
        memory_limit,
        deadline: None,
        warm_start: None,
        rng: &mut rng,
        observer: &mut |_| {},
    };
    let synthesis =
        spanning_tree::synthesize(data, &mut budget, &mut source, &pgm, count, &mut context)?;
    let ledger = budget.ledger();
    ledger.verify(budget.total())?;
    Ok(SyntheticRelease { synthesis, ledger, randomness: source.provenance() })
}
