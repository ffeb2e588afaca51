use std::path::Path;

use serde::Deserialize;

use super::super::csv_records;
use super::super::statistics::{CONFIDENCE, Interval, PairedRatio, Spread};
use super::{Endings, Group, METRICS, Summary};

/// A row of `summary.csv`. Columns that earlier versions did not write may be missing.
#[derive(Deserialize)]
struct Row {
    dataset: String,
    #[serde(default)]
    case: String,
    standin: bool,
    attributes: usize,
    mechanism: String,
    arm: String,
    epsilon: f64,
    delta: f64,
    done: usize,
    infeasible: usize,
    timeout: usize,
    failed: usize,
    #[serde(default)]
    unconverged: Option<usize>,
    workload_error_median: Option<f64>,
    workload_error_min: Option<f64>,
    workload_error_max: Option<f64>,
    #[serde(default)]
    mean_squared_error_median: Option<f64>,
    #[serde(default)]
    mean_squared_error_min: Option<f64>,
    #[serde(default)]
    mean_squared_error_max: Option<f64>,
    #[serde(default)]
    max_error_median: Option<f64>,
    #[serde(default)]
    max_error_min: Option<f64>,
    #[serde(default)]
    max_error_max: Option<f64>,
    measurement_error_median: Option<f64>,
    measurement_error_min: Option<f64>,
    measurement_error_max: Option<f64>,
    #[serde(default)]
    rounds_median: Option<f64>,
    #[serde(default)]
    rounds_min: Option<f64>,
    #[serde(default)]
    rounds_max: Option<f64>,
    estimate_seconds_median: Option<f64>,
    estimate_seconds_min: Option<f64>,
    estimate_seconds_max: Option<f64>,
    seconds_per_iteration_median: Option<f64>,
    seconds_per_iteration_min: Option<f64>,
    seconds_per_iteration_max: Option<f64>,
    peak_bytes: Option<f64>,
    ratio_to_pgm_pairs: Option<usize>,
    ratio_to_pgm_median: Option<f64>,
    ratio_to_pgm_low: Option<f64>,
    ratio_to_pgm_high: Option<f64>,
    ratio_to_pgm_coverage: Option<f64>,
    #[serde(default)]
    ratio_to_pgm_bootstrap_low: Option<f64>,
    #[serde(default)]
    ratio_to_pgm_bootstrap_high: Option<f64>,
}

impl Summary {
    /// Reads a `summary.csv`, for results without rows. The file has no intervals of medians. Every
    /// trial that is done is taken to have every number.
    pub fn read_csv(path: &Path) -> Result<Self, csv::Error> {
        let rows: Vec<Row> = csv_records::read_file(path)?;
        Ok(Self { groups: rows.into_iter().map(Row::group).collect() })
    }
}

impl Row {
    fn group(self) -> Group {
        let spread = |median: Option<f64>, min: Option<f64>, max: Option<f64>| {
            let (median, min, max) = (median?, min?, max?);
            Some(Spread { count: self.done, median, min, max, interval: None })
        };
        // In the order of METRICS.
        let spreads: [Option<Spread>; METRICS.len()] = [
            spread(self.workload_error_median, self.workload_error_min, self.workload_error_max),
            spread(
                self.mean_squared_error_median,
                self.mean_squared_error_min,
                self.mean_squared_error_max,
            ),
            spread(self.max_error_median, self.max_error_min, self.max_error_max),
            spread(
                self.measurement_error_median,
                self.measurement_error_min,
                self.measurement_error_max,
            ),
            spread(self.rounds_median, self.rounds_min, self.rounds_max),
            spread(
                self.estimate_seconds_median,
                self.estimate_seconds_min,
                self.estimate_seconds_max,
            ),
            spread(
                self.seconds_per_iteration_median,
                self.seconds_per_iteration_min,
                self.seconds_per_iteration_max,
            ),
        ];
        let interval = |low: Option<f64>, high: Option<f64>, coverage: Option<f64>| {
            Some(Interval { low: low?, high: high?, coverage: coverage? })
        };
        let ratio = self.ratio_to_pgm_pairs.zip(self.ratio_to_pgm_median);
        let ratio = ratio.map(|(pairs, median)| PairedRatio {
            pairs,
            median,
            interval: interval(
                self.ratio_to_pgm_low,
                self.ratio_to_pgm_high,
                self.ratio_to_pgm_coverage,
            ),
            bootstrap: interval(
                self.ratio_to_pgm_bootstrap_low,
                self.ratio_to_pgm_bootstrap_high,
                Some(CONFIDENCE),
            ),
        });
        Group {
            dataset: self.dataset,
            case: self.case,
            standin: self.standin,
            attributes: self.attributes,
            mechanism: self.mechanism,
            arm: self.arm,
            epsilon: self.epsilon,
            delta: self.delta,
            endings: Endings {
                done: self.done,
                infeasible: self.infeasible,
                timeout: self.timeout,
                failed: self.failed,
            },
            unconverged: self.unconverged,
            spreads,
            peak_bytes: self.peak_bytes,
            ratio,
        }
    }
}
