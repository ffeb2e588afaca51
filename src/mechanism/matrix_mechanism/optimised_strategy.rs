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

/// A strategy that a search has found.
pub(super) struct OptimisedStrategy {
    /// A.
    pub(super) queries: Matrix,
    /// A^+.
    pub(super) inverse: Matrix,
    /// The expected squared error of the queries that it was made for, in units of the variance of one
    /// answer: tr(V (A^T A)^+).
    pub(super) error: f64,
    /// For post-processing.
    pub(super) prepared: Prepared,
}

impl OptimisedStrategy {
    /// `None` when the queries are all 0, or not finite.
    pub(super) fn new(query: &QueryMatrix, search: Search) -> Option<Self> {
        let gram = &query.gram();
        let identity = || QueryFactor::Identity.to_dense(gram.rows());
        let of = |queries: Matrix, inverse: Matrix| {
            let spread = product(gram, &inverse);
            let error = spread.values().iter().zip(inverse.values()).map(|(s, i)| s * i).sum();
            Some(Self { queries, inverse, error, prepared: Prepared::default() })
        };
        match search {
            // A record is in one query at most: they are themselves the best that can be asked.
            _ if query.is_identity() => of(identity(), identity()),
            Search::Approximated => {
                let Approximated { queries, inverse, .. } = approximated(gram)?;
                of(queries, inverse)
            }
            Search::LowRank => {
                let queries = low_rank(gram)?;
                let inverse = pseudo_inverse(&queries)?;
                let found = of(queries, inverse)?;
                // The identity: noise on the counts themselves.
                let counts = (0..gram.rows()).map(|i| gram[(i, i)]).sum::<f64>();
                match found.error <= counts {
                    true => Some(found),
                    false => of(identity(), identity()),
                }
            }
        }
    }
}

/// The strategy for these queries, searched for once in a process: it depends on nothing else, so that
/// it does not matter who asks first.
pub(super) fn find(query: &QueryMatrix, search: Search) -> Option<Arc<OptimisedStrategy>> {
    let content = content(query);
    let known = {
        let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((content, search)).or_default())
    };
    // Whoever comes second waits. The searches fork no threads, so that nobody waits for themselves.
    let found = known.get_or_init(|| OptimisedStrategy::new(query, search).map(Arc::new));
    found.clone()
}

type Known = HashMap<([u8; 32], Search), Arc<OnceLock<Option<Arc<OptimisedStrategy>>>>>;

static FOUND: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// A hash of the queries.
fn content(query: &QueryMatrix) -> [u8; 32] {
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
