use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::opt0::{Gram, optimise};
use crate::domain::Clique;
use crate::factor::Projectable;
use crate::mechanism::{MechanismError, Task};
use crate::privacy::{L1, Neighbours, SeedPath, Sensitivity};
use crate::workload::{QueryFactor, QueryMatrix, SubWorkload};

/// A bound on the number of records of any table, where that number is private: 2^32. Our choice;
/// it enters the allowance for rounding only.
const MOST_RECORDS: f64 = (1u64 << 32) as f64;

/// What is measured instead of a sub-workload: the Kronecker product of the best strategies for its
/// factors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strategy {
    pub(super) clique: Clique,
    /// A.
    pub(super) query: QueryMatrix,
    /// The expected squared error of the sub-workload, in units of the variance of one answer.
    pub(super) error: f64,
}

impl Strategy {
    /// For `part`, with this many starts for each factor that is optimised.
    pub(super) fn new(part: &SubWorkload, restarts: usize) -> Result<Self, MechanismError> {
        let (mut factors, mut error) = (Vec::new(), 1.0);
        for (factor, &n) in part.query.factors().iter().zip(part.query.shape()) {
            let (strategy, factor_error) = factor_strategy(factor, n, restarts);
            factors.push(strategy);
            error *= factor_error;
        }
        let query = part.query.with_factors(factors)?;
        Ok(Self { clique: part.clique.clone(), query, error })
    }

    /// A mu, the answers without noise.
    pub(super) fn answers(&self, task: &Task<'_>) -> Result<Vec<f64>, MechanismError> {
        let marginal = task.data.project(&self.clique)?;
        let mut answers = vec![0.0; self.query.rows()];
        let mut scratch = vec![0.0; self.query.scratch_len()];
        self.query.apply(marginal.values(), &mut answers, &mut scratch);
        Ok(answers)
    }

    /// How far one record moves the answers as they are computed: s or 2s, with s the largest L1
    /// norm of a column of A, and room for rounding.
    ///
    /// Along each axis that is not copied, an answer is a sum of at most n products, so that it is
    /// off by at most k u times what it would be without signs, where u is half of
    /// [`f64::EPSILON`] and k the sum of n + 1 over these axes (Higham, Accuracy and Stability,
    /// 3.1; twice u covers the higher orders). In sum that is k EPSILON s N, for each of the two
    /// tables. N is their number of records where it is public, else a bound for all tables. The
    /// norm of a column is itself a product of sums of at most n + p entries.
    pub(super) fn sensitivity(
        &self,
        task: &Task<'_>,
        neighbours: Neighbours,
    ) -> Result<Sensitivity<L1>, MechanismError> {
        if self.query.is_identity() {
            return Ok(Sensitivity::<L1>::linear(1.0, neighbours)?);
        }
        let records = match neighbours {
            Neighbours::Replace => task.data.len() as f64,
            Neighbours::AddRemove => MOST_RECORDS,
        };
        let (mut answer_operations, mut column_operations) = (0.0, 0.0);
        for (factor, &n) in self.query.factors().iter().zip(self.query.shape()) {
            if *factor != QueryFactor::Identity {
                answer_operations += (n + 1) as f64;
                column_operations += (factor.rows(n) + 1) as f64;
            }
        }
        let norm = self.query.max_column_l1() * (1.0 + column_operations * f64::EPSILON);
        let allowance = 2.0 * answer_operations * f64::EPSILON * norm * records;
        Ok(Sensitivity::<L1>::linear(norm, neighbours)?.enlarged(allowance)?)
    }
}

/// The strategy for the queries on one attribute, and its error.
///
/// Where a record is in one row at most, as for the identity, the queries themselves are the best
/// that can be asked. Other strategies are found by optimisation, once in a process for the same
/// queries: the search depends on nothing else, so that it does not matter who asks first.
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
        let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((key, restarts)).or_default())
    };
    // Whoever comes second waits. The search forks no threads, so that nobody waits for themselves.
    known
        .get_or_init(|| {
            let (strategy, error) = optimise(&Gram::new(factor, n), restarts, key);
            (QueryFactor::PIdentity(strategy), error)
        })
        .clone()
}

/// By the hash of the queries, and the number of starts.
type Found = HashMap<([u8; 32], usize), Arc<OnceLock<(QueryFactor, f64)>>>;

static FOUND: LazyLock<Mutex<Found>> = LazyLock::new(Mutex::default);
