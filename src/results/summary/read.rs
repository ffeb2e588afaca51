use std::path::Path;

use serde::Deserialize;

use super::super::csv_records;
use super::super::statistics::{CONFIDENCE, Interval, Mean, PairedRatio, Spread};
use super::{Endings, Group, METRICS, OPTIONAL, Summary};

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
    #[serde(default)]
    not_applicable: usize,
    failed: usize,
    #[serde(default)]
    unconverged: Option<usize>,
    workload_error_median: Option<f64>,
    workload_error_min: Option<f64>,
    workload_error_max: Option<f64>,
    #[serde(default)]
    workload_error_mean: Option<f64>,
    #[serde(default)]
    workload_error_standard_error: Option<f64>,
    #[serde(default)]
    mean_squared_error_median: Option<f64>,
    #[serde(default)]
    mean_squared_error_min: Option<f64>,
    #[serde(default)]
    mean_squared_error_max: Option<f64>,
    #[serde(default)]
    mean_squared_error_mean: Option<f64>,
    #[serde(default)]
    mean_squared_error_standard_error: Option<f64>,
    #[serde(default)]
    max_error_median: Option<f64>,
    #[serde(default)]
    max_error_min: Option<f64>,
    #[serde(default)]
    max_error_max: Option<f64>,
    #[serde(default)]
    max_error_mean: Option<f64>,
    #[serde(default)]
    max_error_standard_error: Option<f64>,
    measurement_error_median: Option<f64>,
    measurement_error_min: Option<f64>,
    measurement_error_max: Option<f64>,
    #[serde(default)]
    measurement_error_mean: Option<f64>,
    #[serde(default)]
    measurement_error_standard_error: Option<f64>,
    #[serde(default)]
    rounds_median: Option<f64>,
    #[serde(default)]
    rounds_min: Option<f64>,
    #[serde(default)]
    rounds_max: Option<f64>,
    #[serde(default)]
    rounds_mean: Option<f64>,
    #[serde(default)]
    rounds_standard_error: Option<f64>,
    estimate_seconds_median: Option<f64>,
    estimate_seconds_min: Option<f64>,
    estimate_seconds_max: Option<f64>,
    #[serde(default)]
    estimate_seconds_mean: Option<f64>,
    #[serde(default)]
    estimate_seconds_standard_error: Option<f64>,
    seconds_per_iteration_median: Option<f64>,
    seconds_per_iteration_min: Option<f64>,
    seconds_per_iteration_max: Option<f64>,
    #[serde(default)]
    seconds_per_iteration_mean: Option<f64>,
    #[serde(default)]
    seconds_per_iteration_standard_error: Option<f64>,
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
    /// In the order of [`METRICS`].
    fn spreads(&self) -> [Option<Spread>; METRICS.len()] {
        let count = self.done;
        let spread = |[median, min, max, mean, standard_error]: [Option<f64>; 5]| {
            let mean = mean.map(|value| Mean { value, standard_error });
            let (median, min, max) = (median?, min?, max?);
            Some(Spread { count, median, min, max, mean, interval: None })
        };
        [
            spread([
                self.workload_error_median,
                self.workload_error_min,
                self.workload_error_max,
                self.workload_error_mean,
                self.workload_error_standard_error,
            ]),
            spread([
                self.mean_squared_error_median,
                self.mean_squared_error_min,
                self.mean_squared_error_max,
                self.mean_squared_error_mean,
                self.mean_squared_error_standard_error,
            ]),
            spread([
                self.max_error_median,
                self.max_error_min,
                self.max_error_max,
                self.max_error_mean,
                self.max_error_standard_error,
            ]),
            spread([
                self.measurement_error_median,
                self.measurement_error_min,
                self.measurement_error_max,
                self.measurement_error_mean,
                self.measurement_error_standard_error,
            ]),
            spread([
                self.rounds_median,
                self.rounds_min,
                self.rounds_max,
                self.rounds_mean,
                self.rounds_standard_error,
            ]),
            spread([
                self.estimate_seconds_median,
                self.estimate_seconds_min,
                self.estimate_seconds_max,
                self.estimate_seconds_mean,
                self.estimate_seconds_standard_error,
            ]),
            spread([
                self.seconds_per_iteration_median,
                self.seconds_per_iteration_min,
                self.seconds_per_iteration_max,
                self.seconds_per_iteration_mean,
                self.seconds_per_iteration_standard_error,
            ]),
        ]
    }

    fn group(self) -> Group {
        let spreads = self.spreads();
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
                not_applicable: self.not_applicable,
                failed: self.failed,
            },
            unconverged: self.unconverged,
            spreads,
            optional: [None; OPTIONAL.len()],
            peak_bytes: self.peak_bytes,
            ratio,
        }
    }
}
