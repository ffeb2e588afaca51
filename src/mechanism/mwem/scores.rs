use serde::Deserialize;

use crate::mechanism::support::score_grid::on_grid;
use crate::workload::{SubWorkload, Workload};
use dp::{LInfinity, Neighbours, Sensitivity, SensitivityError};
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// What a round selects and measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measure {
    /// One query of the workload.
    #[default]
    Query,
    /// All cells of the marginal of one sub-workload.
    Marginal,
}

impl Measure {
    /// The exact answers of all candidates by sub-workload. They are integers.
    pub(super) fn truth(
        self,
        workload: &Workload,
        data: &dyn Projectable,
    ) -> Result<Vec<Vec<f64>>, MarginalError> {
        match self {
            Measure::Query => workload.answers(data),
            Measure::Marginal => {
                let counts = |part: &SubWorkload| Ok(data.project(&part.clique)?.into_values());
                workload.parts().iter().map(counts).collect()
            }
        }
    }

    /// The score of every candidate. For a query q it is |q(x) - q(x^)|. For a marginal with n
    /// cells it is |x - x^|_1 - n b, where n b is the expected L1 norm of Laplace noise of scale b
    /// on its cells. `marginals` are those of the estimate x^.
    ///
    /// # Sensitivity
    ///
    /// x^, n and b are the same for both tables: x^ depends on published answers only. By the
    /// triangle inequality, ||a| - |a'|| <= |a - a'|, a score changes by at most the L1 change of
    /// the answers in it:
    ///
    /// | neighbours | q(x), q with entries 0 and 1 | the cells of x, in L1 |
    /// | --- | --- | --- |
    /// | add or remove | 1: the record is counted or not | 1: one cell |
    /// | replace | 1: old and new record are counted or not | 2: one cell less, another more |
    ///
    /// Rounding does not increase these values. Counts are integers. x^ and n b are public and are
    /// rounded to multiples of 2^-20. Sums and differences of such numbers are exact up to 2^32.
    pub(super) fn scores(
        self,
        parts: &[SubWorkload],
        truth: &[Vec<f64>],
        marginals: &[Factor],
        noise_scale: f64,
    ) -> Vec<f64> {
        let error = |truth: f64, estimate: f64| (truth - on_grid(estimate)).abs();
        let mut scores = Vec::new();
        for ((part, truth), marginal) in parts.iter().zip(truth).zip(marginals) {
            match self {
                Measure::Query => {
                    let estimate = part.answers(marginal.values());
                    scores.extend(truth.iter().zip(estimate).map(|(&t, e)| error(t, e)));
                }
                Measure::Marginal => {
                    let errors = truth.iter().zip(marginal.values()).map(|(&t, &e)| error(t, e));
                    scores.push(errors.sum::<f64>() - on_grid(truth.len() as f64 * noise_scale));
                }
            }
        }
        scores
    }

    /// The sensitivity of a score, as proved at [`Measure::scores`].
    pub(super) fn sensitivity(
        self,
        neighbours: Neighbours,
    ) -> Result<Sensitivity<LInfinity>, SensitivityError> {
        Sensitivity::new(self.largest_change(neighbours), neighbours)
    }

    /// The sensitivity of a score. The L1 sensitivity of the measured answers is the same.
    pub(super) fn largest_change(self, neighbours: Neighbours) -> f64 {
        match (self, neighbours) {
            (Measure::Marginal, Neighbours::Replace) => 2.0,
            (Measure::Query, _) | (Measure::Marginal, Neighbours::AddRemove) => 1.0,
        }
    }
}
