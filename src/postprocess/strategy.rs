//! Counts from noisy answers to the queries of a strategy (KDD 2015, Algorithm 4).

use thiserror::Error;

use super::admm::{Estimate, Factor, Settings, SettingsError, Term, solve};
use super::map::Map;
use super::proximal::{NonNegative, Objective};
use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::sparse::CsrMatrix;

/// A strategy with a smaller fraction of nonzero entries is stored as a sparse matrix. Our choice.
const SPARSE: f64 = 0.25;

/// The queries A of a matrix mechanism, with the factor for post-processing.
pub(crate) struct Strategy {
    queries: Queries,
    /// Of A^T A + I.
    factor: Factor,
}

enum Queries {
    Dense(Matrix),
    Sparse(CsrMatrix),
}

impl Queries {
    fn new(queries: Matrix) -> Self {
        let entries = queries.values().iter().filter(|&&entry| entry != 0.0).count();
        if entries as f64 >= SPARSE * queries.values().len() as f64 {
            return Self::Dense(queries);
        }
        let mut sparse = CsrMatrix::new(queries.cols());
        for row in 0..queries.rows() {
            let entries = queries.row(row).iter().copied().enumerate();
            sparse.push_row(entries.filter(|&(_, entry)| entry != 0.0));
        }
        Self::Sparse(sparse)
    }

    fn map(&self) -> Map<'_> {
        match self {
            Self::Dense(matrix) => Map::Dense(matrix),
            Self::Sparse(matrix) => Map::Sparse(matrix),
        }
    }

    /// Rows and columns.
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Dense(matrix) => (matrix.rows(), matrix.cols()),
            Self::Sparse(matrix) => (matrix.rows(), matrix.cols()),
        }
    }
}

/// Why answers cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub(crate) enum StrategyError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the strategy has entries that are not finite")]
    NotFinite,
    #[error("the strategy has {expected} queries, found {found} answers")]
    Answers { expected: usize, found: usize },
    #[error("answer {answer} is {value}; expected a finite number")]
    Answer { answer: usize, value: f64 },
}

impl Strategy {
    /// Costs columns^3 / 6 multiplications, once for all answers.
    pub(crate) fn new(queries: Matrix) -> Result<Self, StrategyError> {
        let queries = Queries::new(queries);
        let maps = [queries.map(), Map::Identity];
        let factor = Factor::new(&maps, queries.shape().1).ok_or(StrategyError::NotFinite)?;
        Ok(Self { queries, factor })
    }

    /// The counts x >= 0 whose answers A x are nearest to the noisy ones by the objective.
    ///
    /// Line 6 of Algorithm 4 as printed has z^k where the update of x needs z^(k+1). Each iteration
    /// costs two products with A and the solution of a factored system.
    pub(crate) fn estimate(
        &self,
        noisy: &[f64],
        objective: Objective,
        settings: &Settings,
    ) -> Result<Estimate, StrategyError> {
        settings.check()?;
        let ((expected, cols), found) = (self.queries.shape(), noisy.len());
        if expected != found {
            return Err(StrategyError::Answers { expected, found });
        }
        if let Some(answer) = noisy.iter().position(|value| !value.is_finite()) {
            return Err(StrategyError::Answer { answer, value: noisy[answer] });
        }
        let noisy = objective.scaled(noisy);
        let near = objective.near(&noisy);
        let terms = [
            Term { map: self.queries.map(), function: &near },
            Term { map: Map::Identity, function: &NonNegative },
        ];
        let start = vec![0.0; cols];
        let solution = solve(&terms, &self.factor, start, settings);
        Ok(objective.estimate(solution))
    }
}
