//! Strategies: the queries that a matrix mechanism measures in place of a sub-workload, with
//! Laplace noise (Li, Hay, Rastogi, Miklau, McGregor, PODS 2010).

mod consistent;

pub(crate) use consistent::{Prepared, estimators};

use crate::data::Dataset;
use crate::mechanism::{MechanismError, Task};
use dp::{L1, Neighbours, NoiseSource, Sensitivity, Share};
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::numeric::memory;
use private_pgm::query::{QueryFactor, QueryMatrix};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strategy {
    pub(crate) clique: Clique,
    /// A.
    pub(crate) query: QueryMatrix,
    /// The expected squared error of the sub-workload, in units of the variance of one answer.
    pub(crate) error: f64,
}

impl Strategy {
    /// A mu, the answers without noise.
    pub(crate) fn answers(&self, data: &Dataset) -> Result<Vec<f64>, MechanismError> {
        let marginal = data.project(&self.clique)?;
        let mut answers = memory::zeros(self.query.rows());
        let mut scratch = memory::zeros(self.query.scratch_len());
        self.query.apply(marginal.values(), &mut answers, &mut scratch);
        Ok(answers)
    }

    /// The L1 sensitivity of the answers as they are computed in floating point.
    ///
    /// Let s be the largest L1 norm of a column of A. Exact answers have the sensitivity s when a
    /// record is added or removed, and at most 2s when a record is replaced. An allowance for
    /// rounding is added:
    ///
    /// - Along each axis whose factor is not the identity, an answer is a sum of at most n
    ///   products. Let k be the sum of n + 1 over these axes and u half of [`f64::EPSILON`]. The
    ///   rounding error of an answer is at most k u times the same sum over absolute values
    ///   (Higham, Accuracy and Stability, 3.1), to first order. 2u = EPSILON in place of u covers
    ///   the higher orders.
    /// - The sum of these bounds over all answers is at most k EPSILON s N for one table, and twice
    ///   that for two. N is the number of records where it is public, otherwise a bound for all
    ///   tables.
    /// - The computed s is itself a product of rounded sums, and is enlarged in the same way.
    pub(crate) fn sensitivity(
        &self,
        task: &Task<'_>,
        neighbours: Neighbours,
    ) -> Result<Sensitivity<L1>, MechanismError> {
        if self.query.is_identity() {
            return Ok(Sensitivity::<L1>::linear(1.0, neighbours)?);
        }
        let records = task.records_bound(neighbours);
        let (mut answer_operations, mut column_operations) = (0.0, 0.0);
        for (factor, &n) in self.query.factors().iter().zip(self.query.shape()) {
            if *factor != QueryFactor::Identity {
                answer_operations += (n + 1) as f64;
                column_operations += (factor.rows(n) + 1) as f64;
            }
        }
        let norm = dp::sabotage!(
            self.query.max_column_l1(),
            "strategy-l2-norm",
            self.query.max_column_l2_squared().sqrt()
        );
        let norm = norm * (1.0 + column_operations * f64::EPSILON);
        let allowance = 2.0 * answer_operations * f64::EPSILON * norm * records;
        Ok(Sensitivity::<L1>::linear(norm, neighbours)?.enlarged(allowance)?)
    }

    pub(crate) fn measure(
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
        let answers = self.answers(task.data.read(&share))?;
        let noisy = share.laplace(label, &answers, sensitivity, line, source)?;
        let Self { clique, query, .. } = self;
        Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
    }
}
