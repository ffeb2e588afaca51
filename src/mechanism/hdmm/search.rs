use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::opt0::{Gram, optimise};
use crate::mechanism::MechanismError;
use crate::mechanism::support::strategy::Strategy;
use crate::workload::SubWorkload;
use dp::SeedPath;
use private_pgm::query::QueryFactor;

/// The Kronecker product of the best strategies for the factors of `part`, with `restarts` starts
/// per factor that is optimised.
pub(super) fn strategy(part: &SubWorkload, restarts: usize) -> Result<Strategy, MechanismError> {
    let (mut factors, mut error) = (Vec::new(), 1.0);
    for (factor, &n) in part.query.factors().iter().zip(part.query.shape()) {
        let (strategy, factor_error) = factor_strategy(factor, n, restarts);
        factors.push(strategy);
        error *= factor_error;
    }
    let query = part.query.with_factors(factors)?;
    Ok(Strategy { clique: part.clique.clone(), query, error })
}

/// The strategy for the queries on one attribute, and its error.
///
/// If a record is in at most one row, as for the identity, the queries themselves are the best
/// strategy. Other strategies are optimised once per process and set of queries. The search depends
/// on the queries and the number of starts only, so the order of calls does not matter.
fn factor_strategy(factor: &QueryFactor, n: usize, restarts: usize) -> (QueryFactor, f64) {
    let disjoint = matches!(
        factor,
        QueryFactor::Identity
            | QueryFactor::Total
            | QueryFactor::Evidence(_)
            | QueryFactor::Compress(_)
    );
    if disjoint {
        return (factor.clone(), factor.rows(n) as f64);
    }
    let key = SeedPath::new("strategy", "OPT_0")
        .with("queries", format_args!("{factor:?}"))
        .with("values", n)
        .seed();
    let known = {
        let mut all = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((key, restarts)).or_default())
    };
    // A second caller waits. The search starts no threads, so a caller cannot wait for itself.
    known
        .get_or_init(|| {
            let (strategy, error) = optimise(&Gram::new(factor, n), restarts, key);
            (QueryFactor::PIdentity(strategy), error)
        })
        .clone()
}

/// By the hash of the queries and the number of starts: the strategy and its error.
type OptimisedStrategies = HashMap<([u8; 32], usize), Arc<OnceLock<(QueryFactor, f64)>>>;

static CACHE: LazyLock<Mutex<OptimisedStrategies>> = LazyLock::new(Mutex::default);
