use thiserror::Error;

use crate::domain::{Clique, Domain};
use crate::query::{QueryMatrix, TotalEstimator};

/// Noisy answers to linear queries on one marginal: y = Q mu_C + noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The attributes of the marginal, C.
    pub clique: Clique,
    /// The queries, Q.
    pub query: QueryMatrix,
    /// The answers in axis order, y: one per row of Q.
    pub y: Vec<f64>,
    /// The standard deviation of the noise on each answer.
    pub stddev: f64,
}

/// Why a measurement is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeasurementError {
    /// The number of columns of Q is not the number of cells of the marginal.
    #[error("expected queries over {expected:.4e} cells, found {found}")]
    Cells {
        /// The number of cells of the clique's marginal.
        expected: f64,
        /// The number of columns of the query matrix.
        found: usize,
    },
    /// The number of answers is not the number of queries.
    #[error("expected {expected} answers, found {found}")]
    Answers {
        /// The number of rows of the query matrix.
        expected: usize,
        /// The number of answers.
        found: usize,
    },
    /// An answer is infinite or not a number.
    #[error("expected finite answers, found {value} at {index}")]
    NotFinite {
        /// Its position in y.
        index: usize,
        /// The answer.
        value: f64,
    },
    /// The standard deviation is not positive, or its square is not a normal number.
    #[error("expected a positive standard deviation whose square is a normal number, found {0}")]
    Stddev(f64),
}

impl Measurement {
    /// Checks that the dimensions match each other and `domain`, and that all numbers are valid.
    pub fn check(&self, domain: &Domain) -> Result<(), MeasurementError> {
        if domain.cells(&self.clique) != Some(self.query.cols()) {
            let expected = domain.cells_f64(&self.clique);
            return Err(MeasurementError::Cells { expected, found: self.query.cols() });
        }
        let (expected, found) = (self.query.rows(), self.y.len());
        if expected != found {
            return Err(MeasurementError::Answers { expected, found });
        }
        if let Some(index) = self.y.iter().position(|y| !y.is_finite()) {
            return Err(MeasurementError::NotFinite { index, value: self.y[index] });
        }
        // Losses divide by the variance, which must neither underflow nor overflow.
        let variance = self.stddev * self.stddev;
        if !(self.stddev > 0.0 && variance.is_normal()) {
            return Err(MeasurementError::Stddev(self.stddev));
        }
        Ok(())
    }
}

/// Estimates the number of records from the measurements (supplement E.1).
///
/// Each measurement whose queries determine the total gives an unbiased estimate. The result is
/// their average, weighted by the inverse of their variances. `None` when no measurement determines
/// the total.
pub fn estimate_total(measurements: &[Measurement]) -> Option<f64> {
    let mut weighted_sum = 0.0;
    let mut weights = 0.0;
    for measurement in measurements {
        if let Some(total) = TotalEstimator::new(&measurement.query) {
            let variance = total.variance_factor() * measurement.stddev.powi(2);
            weighted_sum += total.estimate(&measurement.y) / variance;
            weights += 1.0 / variance;
        }
    }
    (weights > 0.0).then(|| weighted_sum / weights)
}
