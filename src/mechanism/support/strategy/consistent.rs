//! Nonnegative counts from the answers to a strategy: the matrix mechanism as post-processed by
//! Lee, Wang, Kifer (KDD 2015, section 5.3). Each measured marginal is processed separately.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::mechanism::support::each_marginal::{EachMarginal, Processed, refused};
use crate::mechanism::support::post_processing::{AdmmParameters, AdmmVariant};
use crate::postprocess::strategy::{Strategy, StrategyError};
use private_pgm::fit::{Estimator, EstimatorError};
use private_pgm::loss::Measurement;
use private_pgm::numeric::bytes::Bytes;

/// The most entries of a strategy as a dense matrix, and of its factor. Our choice: 128 MiB each.
const MOST_ENTRIES: usize = 1 << 24;

/// A strategy as a dense matrix with its factorisation, computed at first use and shared.
pub(crate) type Prepared = Arc<OnceLock<Result<Strategy, StrategyError>>>;

/// The three variants of ADMM, by name, for measurements with these strategies.
pub(crate) fn estimators(
    strategies: Vec<Prepared>,
    admm: AdmmParameters,
) -> Vec<(&'static str, Box<dyn Estimator>)> {
    let of_variant = |(name, variant): (&'static str, AdmmVariant)| {
        let strategies = strategies.clone();
        let count = strategies.len();
        let process = move |index: usize, measured: &Measurement, deadline| {
            process(variant, &strategies[index], measured, deadline)
        };
        (name, Box::new(EachMarginal { count, process }) as Box<dyn Estimator>)
    };
    AdmmVariant::all(admm).map(of_variant).into()
}

fn process(
    variant: AdmmVariant,
    strategy: &Prepared,
    measured: &Measurement,
    deadline: Option<Instant>,
) -> Result<Processed, EstimatorError> {
    if measured.query.is_identity() {
        // Every objective is a sum over the cells with its minimum at the noisy count. So the
        // nearest nonnegative count is known, and equal for all variants.
        let cells = measured.y.iter().map(|count| count.max(0.0)).collect();
        return Ok(Processed { cells, message: "closed form".into(), ..Processed::default() });
    }
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
    let objective = variant.objective(measured.stddev).map_err(refused)?;
    let settings = variant.settings(measured.stddev, deadline);
    Processed::new(strategy.estimate(&measured.y, objective, &settings).map_err(refused)?)
}
