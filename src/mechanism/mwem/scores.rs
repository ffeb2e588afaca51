use serde::Deserialize;

use crate::data::MarginalTooLarge;
use crate::workload::{SubWorkload, Workload};
use dp::{LInfinity, Neighbours, Sensitivity, SensitivityError};
use private_pgm::factor::{Factor, Projectable};

/// What a round chooses and measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measure {
    /// One query of the workload.
    #[default]
    Query,
    /// The marginal of one sub-workload, all of its cells.
    Marginal,
}

/// Estimates are rounded to multiples of 1 / GRID before they are compared with counts.
const GRID: f64 = (1 << 20) as f64;

impl Measure {
    /// The answers that could be measured, for each sub-workload. Whole numbers.
    pub(super) fn truth<P: Projectable<Error = MarginalTooLarge>>(
        self,
        workload: &Workload,
        data: &P,
    ) -> Result<Vec<Vec<f64>>, MarginalTooLarge> {
        match self {
            Measure::Query => workload.answers(data),
            Measure::Marginal => {
                let counts = |part: &SubWorkload| Ok(data.project(&part.clique)?.into_values());
                workload.parts().iter().map(counts).collect()
            }
        }
    }

    /// The score of every candidate: of each query of each sub-workload, |q(x) - q(x^)|; of each
    /// marginal, |x - x^|_1 - n b, with n b the sum of |noise| that is expected when its n cells
    /// are measured with Laplace noise of scale b. `marginals` are those of the estimate x^.
    ///
    /// # Sensitivity
    ///
    /// x^, n and b do not depend on the data (x^ by way of what was paid for). By the triangle
    /// inequality ||a| - |a'|| <= |a - a'|, a score moves by no more than the answers in it:
    ///
    /// | neighbours | q(x), q of zeros and ones | the cells of x, in L1 |
    /// | --- | --- | --- |
    /// | add or remove | 1: the record counts or not | 1: one cell |
    /// | replace | 1: the old record counts or not, the new one counts or not, q(x') - q(x) is the difference | 2: one cell less, another more |
    ///
    /// Floating point adds nothing to that: counts are whole, x^ and n b are rounded to multiples
    /// of 2^-20, which the public may do with what is public, and sums and differences of such
    /// numbers are exact up to 2^32.
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

    /// How far one record moves a score, as [`Measure::scores`] proves, and in L1 what is measured.
    pub(super) fn sensitivity(
        self,
        neighbours: Neighbours,
    ) -> Result<Sensitivity<LInfinity>, SensitivityError> {
        Sensitivity::new(self.moved(neighbours), neighbours)
    }

    /// The sensitivity as a number. That of the answers in L1 is the same.
    pub(super) fn moved(self, neighbours: Neighbours) -> f64 {
        match (self, neighbours) {
            (Measure::Marginal, Neighbours::Replace) => 2.0,
            (Measure::Query, _) | (Measure::Marginal, Neighbours::AddRemove) => 1.0,
        }
    }
}

fn on_grid(value: f64) -> f64 {
    (value * GRID).round() / GRID
}
