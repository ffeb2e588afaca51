//! Counts without negative ones from the answers to a strategy: the matrix mechanism as post-processed
//! by Lee, Wang, Kifer (KDD 2015, section 5.3). Each measured marginal is on its own.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::mechanism::each_marginal::{EachMarginal, Processed, refused};
use crate::mechanism::post_processing::{Mixture, Way};
use crate::postprocess::strategy::{Estimate, Strategy, StrategyError};
use private_pgm::baselines::{Estimator, EstimatorError};
use private_pgm::loss::Measurement;
use private_pgm::numeric::bytes::Bytes;

/// The most entries of a strategy that is written out, and of the factor beside it. Our choice, 128 MiB
/// each.
const MOST_ENTRIES: usize = 1 << 24;

/// A strategy, written out and factored when first asked for, once for all that share it.
pub(in crate::mechanism) type Prepared = Arc<OnceLock<Result<Strategy, StrategyError>>>;

/// The three ways, by name, for measurements with these strategies.
pub(in crate::mechanism) fn estimators(
    strategies: Vec<Prepared>,
    mixture: Mixture,
) -> Vec<(&'static str, Box<dyn Estimator>)> {
    let of_way = |(name, way): (&'static str, Way)| {
        let strategies = strategies.clone();
        let count = strategies.len();
        let process = move |place: usize, measured: &Measurement, deadline| {
            process(way, &strategies[place], measured, deadline)
        };
        (name, Box::new(EachMarginal { count, process }) as Box<dyn Estimator>)
    };
    Way::all(mixture).map(of_way).into()
}

fn process(
    way: Way,
    strategy: &Prepared,
    measured: &Measurement,
    deadline: Option<Instant>,
) -> Result<Processed, EstimatorError> {
    let (rows, cols) = (measured.query.rows(), measured.query.cols());
    if rows.max(cols).saturating_mul(cols) > MOST_ENTRIES {
        let bytes = 8.0 * (rows + cols) as f64 * cols as f64;
        let message = format!(
            "a strategy of {rows} queries over {cols} cells, written out, needs {}",
            Bytes(bytes)
        );
        return Err(EstimatorError::Infeasible { bytes, message });
    }
    let strategy = strategy.get_or_init(|| Strategy::new(measured.query.to_dense()));
    let strategy = strategy.as_ref().map_err(refused)?;
    let objective = way.objective(measured.stddev).map_err(refused)?;
    let settings = way.settings(measured.stddev, deadline);
    let found = strategy.estimate(&measured.y, objective, &settings).map_err(refused)?;
    let Estimate { counts, iterations, residuals } = found;
    Processed::after(iterations, &residuals, counts)
}
