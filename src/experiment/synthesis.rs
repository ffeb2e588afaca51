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
use private_pgm::baselines::{Pgm, Run};
use private_pgm::fit::Settings;

/// Iterations of the fit. What is left of the optimisation after these is far below the noise.
const ITERATIONS: usize = 500;

/// Synthetic records that may be passed on, and the proof of what they cost.
#[derive(Debug)]
pub struct SyntheticRelease {
    /// Records and model.
    pub synthesis: Synthesis,
    /// Each draw of noise.
    pub ledger: Ledger,
    /// Where the noise came from.
    pub randomness: Provenance,
}

/// Why there is no release.
#[derive(Debug, Error)]
pub enum SynthesisError {
    /// The operating system has no random numbers.
    #[error("the operating system gives no random numbers: {0}")]
    Randomness(String),
    /// A privacy parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The mechanism has failed.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The ledger does not add up.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What the mechanism of [`synthesize`] keeps, which implies (epsilon, delta): rho-zCDP.
pub fn kept_guarantee(
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Guarantee, ParameterError> {
    Ok(spanning_tree::budget(epsilon, delta, neighbours)?.total())
}

/// Releases synthetic records under (epsilon, delta): one-way marginals, a spanning tree of two-way
/// ones, and records drawn from the graphical model of both. All randomness is the operating
/// system's, so that nobody can repeat it.
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
    let pgm = Pgm { settings: Settings { iterations: Some(ITERATIONS), ..Settings::default() } };
    let mut run = Run {
        memory_limit,
        deadline: None,
        warm_start: None,
        rng: &mut rng,
        observer: &mut |_| {},
    };
    let synthesis =
        spanning_tree::synthesize(data, &mut budget, &mut source, &pgm, count, &mut run)?;
    let ledger = budget.ledger();
    ledger.verify(budget.total())?;
    Ok(SyntheticRelease { synthesis, ledger, randomness: source.provenance() })
}
