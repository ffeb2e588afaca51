use std::path::PathBuf;

use clap::Args;
use private_pgm::domain::{AttributeId, Clique};
use private_pgm::model::{Calibrated, InferenceError, Model};
use private_pgm::problem::Problem;
use private_pgm::residual::{ResidualError, Residuals};
use private_pgm::uncertainty::{Bootstrap, z_score};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use thiserror::Error;

use super::engine_files::read_problem;
use super::failure::{Failure, ResultExt};
use super::table::{Intervals, Table, Unit};

/// Intervals of answers.
#[derive(Args)]
pub(crate) struct ErrorBarArgs {
    /// Print an interval of each answer, by a bootstrap: the measurements of this problem, which
    /// the model was estimated from, are simulated with their noise. Contains the error from the
    /// noise, not that of attributes that were not measured together
    #[arg(long, value_name = "PROBLEM")]
    error_bars: Option<PathBuf>,
    /// The probability with which an interval should cover the truth
    #[arg(long, value_name = "P", default_value_t = 0.95, requires = "error_bars")]
    interval: f64,
    /// Print the interval of the unbiased estimate from residuals instead: exact for Gaussian
    /// noise, wider, not always around the answer, and only for marginals inside measured ones
    #[arg(long, requires = "error_bars", conflicts_with_all = ["given", "condition", "factored"])]
    exact: bool,
    /// Number of simulations, each of which fits a model
    #[arg(long, value_name = "N", default_value_t = 100, requires = "error_bars")]
    replicates: usize,
}

/// Simulations need reproducible randomness, not secret randomness.
const SEED: u64 = 0;

impl ErrorBarArgs {
    pub(crate) fn is_asked(&self) -> bool {
        self.error_bars.is_some()
    }

    /// `requested` are the attributes of the first tables, which are counts of records or
    /// probabilities. `answers` computes the values of all tables, one after the other.
    pub(crate) fn add_to(
        &self,
        (tables, requested): (&mut [Table], &[Vec<AttributeId>]),
        model: &Model,
        answers: impl Fn(&Calibrated) -> Result<Vec<f64>, InferenceError> + Sync,
    ) -> Result<(), Failure> {
        let Some(path) = &self.error_bars else { return Ok(()) };
        let z = z_score(self.interval).ok_or_else(|| {
            let found = self.interval;
            Failure::input(format!("--interval: expected a number between 0 and 1, found {found}"))
        })?;
        let problem = read_problem(path)?;
        let flag = format!("--error-bars {}", path.display());
        if self.exact {
            let exact = Exact::new(&problem, model).input_at(&flag)?;
            for (table, ids) in tables.iter_mut().zip(requested) {
                let (values, stddev) = exact.marginal(ids).input_at(&flag)?;
                let errors = std::iter::repeat(stddev);
                table.intervals = Some(self.intervals(z, &values, errors, (0.0, model.total())));
            }
            return Ok(());
        }
        let bootstrap = Bootstrap { replicates: self.replicates, ..Bootstrap::default() };
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        let errors = bootstrap.errors(&problem, model, answers, &mut rng);
        let mut errors = errors.input_at(&flag)?.into_iter();
        for (at, table) in tables.iter_mut().enumerate() {
            let limits = match table.unit {
                _ if at >= requested.len() => (f64::NEG_INFINITY, f64::INFINITY),
                Unit::Count => (0.0, model.total()),
                Unit::Probability => (0.0, 1.0),
            };
            let own = errors.by_ref().take(table.values.len());
            table.intervals = Some(self.intervals(z, &table.values, own, limits));
        }
        Ok(())
    }

    fn intervals(
        &self,
        z: f64,
        values: &[f64],
        errors: impl Iterator<Item = f64>,
        (least, most): (f64, f64),
    ) -> Intervals {
        let interval = |(&value, error): (&f64, f64)| {
            let end = |sign: f64| (value + sign * z * error).clamp(least, most);
            (end(-1.0), end(1.0))
        };
        let (low, high) = values.iter().zip(errors).map(interval).unzip();
        Intervals { low, high, interval: self.interval }
    }
}

/// The unbiased estimate of a problem.
struct Exact {
    residuals: Residuals,
}

#[derive(Debug, Error)]
enum ExactError {
    #[error("the model was not fitted to this problem: the attributes differ")]
    OtherProblem,
    #[error(transparent)]
    Residuals(#[from] ResidualError),
    #[error("--exact: {0:?} are not inside a measured marginal")]
    NotMeasured(Vec<String>),
}

impl Exact {
    fn new(problem: &Problem, model: &Model) -> Result<Self, ExactError> {
        if problem.domain != *model.domain() {
            return Err(ExactError::OtherProblem);
        }
        let total = (!problem.total_is_estimated).then_some(problem.total);
        let residuals = Residuals::estimate(&problem.domain, &problem.measurements, total)?;
        Ok(Self { residuals })
    }

    /// The counts, row-major in the attributes as listed, and the standard deviation of each.
    fn marginal(&self, ids: &[AttributeId]) -> Result<(Vec<f64>, f64), ExactError> {
        let clique: Clique = ids.iter().copied().collect();
        let Some(variance) = self.residuals.cell_variance(&clique) else {
            let names = self.residuals.domain().names(&clique);
            return Err(ExactError::NotMeasured(names.into_iter().map(String::from).collect()));
        };
        Ok((self.residuals.marginal(&clique).values_as_listed(ids), variance.sqrt()))
    }
}
