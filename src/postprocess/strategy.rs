//! Counts from noisy answers to the queries of a strategy (KDD 2015, Algorithm 4).

use thiserror::Error;

use super::admm::{Combine, Map, Residuals, Settings, SettingsError, Term, solve};
use super::proximal::{NonNegative, Objective};
use crate::numeric::matrix::Matrix;

/// The queries A of a matrix mechanism, ready for post-processing.
pub struct Strategy {
    queries: Matrix,
    /// Of A^T A + I.
    combine: Combine,
}

/// Counts, and the way to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The counts, none of them negative.
    pub counts: Vec<f64>,
    /// How many iterations it took.
    pub iterations: usize,
    /// What was left, in units of the objective.
    pub residuals: Residuals,
}

/// Why answers cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum StrategyError {
    /// alpha or rho.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An entry is infinite or not a number.
    #[error("the strategy has entries that are no finite numbers")]
    NotFinite,
    /// There is not one answer per query.
    #[error("the strategy has {expected} queries, and {found} answers were given")]
    Answers {
        /// The queries.
        expected: usize,
        /// The answers.
        found: usize,
    },
}

impl Strategy {
    /// Costs columns^3 / 6 multiplications, once for all answers.
    pub fn new(queries: Matrix) -> Result<Self, StrategyError> {
        let maps = [Map::Dense(&queries), Map::Identity];
        let combine = Combine::factor(&maps, queries.cols()).ok_or(StrategyError::NotFinite)?;
        Ok(Self { queries, combine })
    }

    /// A.
    pub fn queries(&self) -> &Matrix {
        &self.queries
    }

    /// The counts x >= 0 whose answers A x are nearest to the noisy ones by the objective.
    ///
    /// The print of Algorithm 4 has z^k in line 6 where the update of x needs z^(k+1). Each iteration
    /// costs three products with A and the solution of a factored system.
    pub fn estimate(
        &self,
        noisy: &[f64],
        objective: Objective,
        settings: &Settings,
    ) -> Result<Estimate, StrategyError> {
        settings.check()?;
        let (expected, found) = (self.queries.rows(), noisy.len());
        if expected != found {
            return Err(StrategyError::Answers { expected, found });
        }
        let noisy = objective.scaled(noisy);
        let near = objective.near(&noisy);
        let terms = [
            Term { map: Map::Dense(&self.queries), function: &near },
            Term { map: Map::Identity, function: &NonNegative },
        ];
        let start = vec![0.0; self.queries.cols()];
        let solution = solve(&terms, &self.combine, start, settings);
        Ok(Estimate {
            counts: objective.counts(&solution.x),
            iterations: solution.iterations,
            residuals: solution.residuals,
        })
    }
}
