//! Strategies: what a matrix mechanism measures in place of a sub-workload (Li, Hay, Rastogi, Miklau,
//! McGregor, PODS 2010), with Laplace noise.

mod consistent;

pub(super) use consistent::{Prepared, estimators};

use super::{MechanismError, Task};
use dp::{L1, Neighbours, NoiseSource, Sensitivity, Share};
use private_pgm::domain::Clique;
use private_pgm::factor::Projectable;
use private_pgm::loss::Measurement;
use private_pgm::query::{QueryFactor, QueryMatrix};

/// A bound on the number of records of any table, where that number is private: 2^32. Our choice;
/// it enters the allowance for rounding only.
const MOST_RECORDS: f64 = (1u64 << 32) as f64;

/// What is measured instead of a sub-workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strategy {
    pub(super) clique: Clique,
    /// A.
    pub(super) query: QueryMatrix,
    /// The expected squared error of the sub-workload, in units of the variance of one answer.
    pub(super) error: f64,
}

impl Strategy {
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

    /// The answers with noise.
    pub(super) fn measure(
        self,
        task: &Task<'_>,
        share: Share,
        source: &mut NoiseSource,
    ) -> Result<Measurement, MechanismError> {
        let sensitivity = self.sensitivity(task, share.neighbours())?;
        let line = match self.query.is_identity() {
            true => task.noise.whole(),
            false => task.noise.real(sensitivity, self.query.rows()),
        };
        let names = task.workload.domain().names(&self.clique);
        let label = format!("strategy on {}", names.join(", "));
        let noisy = share.laplace(label, &self.answers(task)?, sensitivity, line, source)?;
        let Self { clique, query, .. } = self;
        Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
    }
}
