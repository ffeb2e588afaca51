//! The summary of the trials of each arm: medians, ranges, means, and the comparison with PGM.

mod read;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use super::convergence::{UNCONVERGED_MARK, unconverged};
use super::record::TrialRecord;
use super::statistics::{PairedRatio, Spread};
use crate::atomic_file::NewFile;
use crate::config::{Metric, Status};
use crate::spreadsheet;

/// The arm that the others are compared with.
pub const REFERENCE_ARM: &str = "pgm";

/// The numbers of a row of `summary.csv`, each with median, smallest, largest and mean.
const METRICS: [Metric; 7] = [
    Metric::WorkloadError,
    Metric::MeanSquaredError,
    Metric::MaxError,
    Metric::MeasurementError,
    Metric::Rounds,
    Metric::EstimateSeconds,
    Metric::SecondsPerIteration,
];

/// Numbers that only some experiments record. `summary.csv` does not have them.
const OPTIONAL: [Metric; 2] = [Metric::Coverage, Metric::BoundCoverage];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    pub done: usize,
    /// Would exceed the memory limit.
    pub infeasible: usize,
    /// Exceeded the time limit.
    pub timeout: usize,
    /// The estimator cannot use what was measured.
    pub not_applicable: usize,
    pub failed: usize,
}

impl Endings {
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a TrialRecord>) -> Self {
        let mut endings = Self::default();
        for row in rows {
            *match row.status {
                Status::Done => &mut endings.done,
                Status::Infeasible => &mut endings.infeasible,
                Status::Timeout => &mut endings.timeout,
                Status::NotApplicable => &mut endings.not_applicable,
                Status::Failed => &mut endings.failed,
            } += 1;
        }
        endings
    }

    /// The number of trials.
    pub fn count(self) -> usize {
        self.counts().iter().map(|(_, count)| count).sum()
    }

    fn counts(self) -> [(Status, usize); 5] {
        [
            (Status::Done, self.done),
            (Status::Infeasible, self.infeasible),
            (Status::Timeout, self.timeout),
            (Status::NotApplicable, self.not_applicable),
            (Status::Failed, self.failed),
        ]
    }
}

impl fmt::Display for Endings {
    /// Such as `3 done, 2 timeout`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts().into_iter().filter(|&(_, count)| count > 0);
        let texts: Vec<_> = counts.map(|(status, count)| format!("{count} {status}")).collect();
        f.write_str(if texts.is_empty() { "none" } else { "" })?;
        f.write_str(&texts.join(", "))
    }
}

/// The trials of one arm of a mechanism on a dataset with a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub dataset: String,
    /// Whether the data is a stand-in.
    pub standin: bool,
    pub attributes: usize,
    /// Distinguishes the cases of the data; empty if there is only one.
    pub case: String,
    pub mechanism: String,
    pub arm: String,
    pub epsilon: f64,
    pub delta: f64,
    pub endings: Endings,
    /// How many of those that ended with an estimate have not converged. `None` for estimates
    /// without a certificate, and in summaries of earlier versions.
    pub unconverged: Option<usize>,
    /// Over the trials that ended with an estimate, in the order of `METRICS`.
    spreads: [Option<Spread>; METRICS.len()],
    /// In the order of `OPTIONAL`.
    optional: [Option<Spread>; OPTIONAL.len()],
    /// The largest number of bytes that a trial used or would have needed.
    pub peak_bytes: Option<f64>,
    /// Workload error over that of [`REFERENCE_ARM`] in the same trial: how many times better PGM
    /// is. `None` for that arm itself, and if no trial has both.
    pub ratio: Option<PairedRatio>,
}

impl Group {
    fn contains(&self, row: &TrialRecord) -> bool {
        self.matches_except_arm(row) && self.arm == row.arm
    }

    /// Whether the row agrees with this group in everything but the arm.
    fn matches_except_arm(&self, row: &TrialRecord) -> bool {
        (&self.dataset, self.attributes, &self.case, &self.mechanism)
            == (&row.dataset, row.attributes, &row.case, &row.mechanism)
            && (self.epsilon, self.delta) == (row.epsilon, row.delta)
    }

    fn new(first: &TrialRecord, rows: &[TrialRecord]) -> Self {
        let mut group = Self {
            dataset: first.dataset.clone(),
            standin: first.standin,
            attributes: first.attributes,
            case: first.case.clone(),
            mechanism: first.mechanism.clone(),
            arm: first.arm.clone(),
            epsilon: first.epsilon,
            delta: first.delta,
            endings: Endings::default(),
            unconverged: None,
            spreads: [None; METRICS.len()],
            optional: [None; OPTIONAL.len()],
            peak_bytes: None,
            ratio: None,
        };
        let own: Vec<_> = rows.iter().filter(|row| group.contains(row)).collect();
        group.endings = Endings::of(own.iter().copied());
        group.unconverged = unconverged(own.iter().copied());
        let spread = |metric: Metric| Spread::of(own.iter().filter_map(|row| metric.of(row)));
        (group.spreads, group.optional) = (METRICS.map(spread), OPTIONAL.map(spread));
        group.peak_bytes = own.iter().filter_map(|row| row.peak_bytes).reduce(f64::max);
        if group.arm != REFERENCE_ARM {
            let is_reference =
                |row: &&TrialRecord| group.matches_except_arm(row) && row.arm == REFERENCE_ARM;
            let reference: Vec<_> = rows.iter().filter(is_reference).collect();
            group.ratio = PairedRatio::of(Metric::WorkloadError.paired_ratios(&own, &reference));
        }
        group
    }

    /// The mark of its numbers if some of its estimates have not converged.
    pub fn mark(&self) -> Option<&'static str> {
        self.unconverged.is_some_and(|count| count > 0).then_some(UNCONVERGED_MARK)
    }

    /// `None` for metrics that the summary does not have.
    pub fn spread(&self, metric: Metric) -> Option<Spread> {
        let mut listed = METRICS.iter().zip(&self.spreads);
        let mut optional = OPTIONAL.iter().zip(&self.optional);
        let found = listed.find(|(name, _)| **name == metric);
        found.or_else(|| optional.find(|(name, _)| **name == metric)).and_then(|(_, it)| *it)
    }
}

/// The summary of an experiment, in the order of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One per dataset, case, mechanism, arm and budget.
    pub groups: Vec<Group>,
}

impl Summary {
    /// `rows` are those of one configuration: no stale ones, and one per trial and arm
    /// ([`super::store::Recorded::rows_of`]).
    pub fn of(rows: &[TrialRecord]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for row in rows {
            if !groups.iter().any(|group| group.contains(row)) {
                groups.push(Group::new(row, rows));
            }
        }
        Self { groups }
    }

    /// Writes `summary.csv` atomically.
    pub fn write_csv(&self, path: &Path) -> io::Result<()> {
        let mut file = NewFile::create(path)?;
        file.write_all(&self.csv()?)?;
        file.commit()
    }

    /// The content of `summary.csv`.
    pub fn csv(&self) -> io::Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(header())?;
        for group in &self.groups {
            writer.write_record(record(group))?;
        }
        spreadsheet::fields_of(writer.into_inner().map_err(|error| error.into_error())?)
    }
}

fn header() -> Vec<String> {
    let group =
        ["dataset", "standin", "attributes", "case", "mechanism", "arm", "epsilon", "delta"];
    let endings =
        Endings::default().counts().map(|(status, _)| status.to_string().replace(' ', "_"));
    let of_metric = |metric: Metric| {
        ["median", "min", "max", "mean", "standard_error"]
            .map(|part| format!("{}_{part}", metric.name()))
    };
    let ratio = ["pairs", "median", "low", "high", "coverage", "bootstrap_low", "bootstrap_high"]
        .map(|part| format!("ratio_to_{REFERENCE_ARM}_{part}"));
    let mut names: Vec<String> = group.map(String::from).into();
    names.extend(endings);
    names.push("unconverged".into());
    names.extend(METRICS.into_iter().flat_map(of_metric));
    names.push("peak_bytes".into());
    names.extend(ratio);
    names
}

fn record(group: &Group) -> Vec<String> {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut values = vec![
        group.dataset.clone(),
        group.standin.to_string(),
        group.attributes.to_string(),
        group.case.clone(),
        group.mechanism.clone(),
        group.arm.clone(),
        group.epsilon.to_string(),
        group.delta.to_string(),
    ];
    values.extend(group.endings.counts().map(|(_, count)| count.to_string()));
    values.push(group.unconverged.map_or_else(String::new, |count| count.to_string()));
    for spread in &group.spreads {
        let of = |part: fn(Spread) -> f64| text(spread.map(part));
        values.extend([of(|s| s.median), of(|s| s.min), of(|s| s.max)]);
        let mean = spread.and_then(|spread| spread.mean);
        values.push(text(mean.map(|mean| mean.value)));
        values.push(text(mean.and_then(|mean| mean.standard_error)));
    }
    values.push(text(group.peak_bytes));
    let interval = group.ratio.and_then(|ratio| ratio.interval);
    let bootstrap = group.ratio.and_then(|ratio| ratio.bootstrap);
    values.push(group.ratio.map_or_else(String::new, |ratio| ratio.pairs.to_string()));
    values.push(text(group.ratio.map(|ratio| ratio.median)));
    values.push(text(interval.map(|interval| interval.low)));
    values.push(text(interval.map(|interval| interval.high)));
    values.push(text(interval.map(|interval| interval.coverage)));
    values.push(text(bootstrap.map(|interval| interval.low)));
    values.push(text(bootstrap.map(|interval| interval.high)));
    values
}
