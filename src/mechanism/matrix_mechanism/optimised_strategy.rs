use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::Search;
use super::covariance::{Approximated, approximated};
use super::low_rank::low_rank;
use crate::mechanism::support::strategy::Prepared;
use crate::numeric::symmetric::pseudo_inverse;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::product::product;
use private_pgm::query::{QueryFactor, QueryMatrix};

pub(super) struct OptimisedStrategy {
    /// A.
    pub(super) queries: Matrix,
    /// A^+.
    pub(super) inverse: Matrix,
    /// The expected squared error of the queries, in units of the variance of one answer:
    /// tr(V (A^T A)^+).
    pub(super) error: f64,
    /// For post-processing.
    pub(super) prepared: Prepared,
}

impl OptimisedStrategy {
    /// `None` if the queries are all 0 or not finite.
    pub(super) fn new(query: &QueryMatrix, search: Search) -> Option<Self> {
        let gram = &query.gram();
        let identity = || QueryFactor::Identity.to_dense(gram.rows());
        let of = |queries: Matrix, inverse: Matrix| {
            let spread = product(gram, &inverse);
            let error = spread.values().iter().zip(inverse.values()).map(|(s, i)| s * i).sum();
            Some(Self { queries, inverse, error, prepared: Prepared::default() })
        };
        match search {
            // A record is in at most one query, so the queries themselves are the best strategy.
            _ if query.is_identity() => of(identity(), identity()),
            Search::Approximated => {
                let Approximated { queries, inverse, .. } = approximated(gram)?;
                of(queries, inverse)
            }
            Search::LowRank => {
                let queries = low_rank(gram)?;
                let inverse = pseudo_inverse(&queries)?;
                let optimised = of(queries, inverse)?;
                // The error of the identity: noise on the counts themselves.
                let counts = (0..gram.rows()).map(|i| gram[(i, i)]).sum::<f64>();
                match optimised.error <= counts {
                    true => Some(optimised),
                    false => of(identity(), identity()),
                }
            }
        }
    }
}

/// The strategy for these queries, optimised once per process. It depends on the queries and the
/// search only, so the order of calls does not matter.
pub(super) fn find(query: &QueryMatrix, search: Search) -> Option<Arc<OptimisedStrategy>> {
    let key = hash(query);
    let cached = {
        let mut all = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((key, search)).or_default())
    };
    // A second caller waits. The search starts no threads, so a caller cannot wait for itself.
    cached.get_or_init(|| OptimisedStrategy::new(query, search).map(Arc::new)).clone()
}

type Cache = HashMap<([u8; 32], Search), Arc<OnceLock<Option<Arc<OptimisedStrategy>>>>>;

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

fn hash(query: &QueryMatrix) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for (factor, n) in query.factors().iter().zip(query.shape()) {
        hasher.update(format!("{} {n} {} ", factor.name(), factor.rows(*n)).as_bytes());
        match factor {
            QueryFactor::Dense(matrix) => {
                for row in 0..matrix.rows() {
                    let bytes = matrix.row(row).iter().flat_map(|entry| entry.to_le_bytes());
                    hasher.update(&bytes.collect::<Vec<u8>>());
                }
            }
            other => {
                hasher.update(format!("{other:?} ").as_bytes());
            }
        }
    }
    *hasher.finalize().as_bytes()
}
