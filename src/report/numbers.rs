use super::experiment::Experiment;
use super::table::{Cell, Table, chosen, measured, text};
use crate::config::FigureKind;
use crate::figures::labels;
use crate::results::summary::{Group, REFERENCE_ARM};
use crate::results::{Metric, PairedRatio, unconverged_note};
use private_pgm::numeric::bytes::Bytes;

/// Medians with ranges, and the ratio of each arm to PGM. Errors of estimates that have not
/// converged are marked.
pub(super) fn table(id: String, experiment: &Experiment) -> Table {
    let columns = [
        "dataset",
        "attributes*",
        "mechanism",
        "estimator",
        "epsilon*",
        "workload error*",
        "smallest*",
        "largest*",
        "ratio to PGM*",
        "from*",
        "to*",
        "trials",
        "seconds*",
        "seconds per iteration*",
        "memory*",
        "error on what was measured*",
        "delta*",
    ];
    let is_scaling = experiment.figure_kind() == FigureKind::Scaling;
    let groups = experiment.summary.groups.iter();
    let rows = groups.map(|group| cells(group, is_scaling)).collect();
    let table = Table::new(id, "Medians over trials", columns, rows);
    let table = ["epsilon", "delta"].into_iter().fold(table, Table::without_constant);
    table.without_empty_columns()
}

/// The number of attributes is a column only in scaling experiments. In others it follows from the
/// dataset.
fn cells(group: &Group, is_scaling: bool) -> [Cell; 17] {
    let error = group.spread(Metric::WorkloadError);
    let median = |metric| measured(group.spread(metric).map(|spread| spread.median));
    let interval = group.ratio.and_then(|ratio| ratio.interval);
    // The range of a single trial says nothing.
    let range = error.filter(|error| error.count > 1);
    let memory = group.peak_bytes.map_or_else(Cell::default, |bytes| Cell {
        value: Some(bytes),
        ..text(Bytes(bytes).to_string())
    });
    let standin = if group.standin { " (stand-in)" } else { "" };
    [
        text(labels::dataset(&group.dataset) + standin),
        if is_scaling { chosen(group.attributes as f64) } else { Cell::default() },
        text(labels::mechanism(&group.mechanism)),
        text(labels::arm(&group.arm)),
        chosen(group.epsilon),
        marked(median(Metric::WorkloadError), group),
        measured(range.map(|error| error.min)),
        measured(range.map(|error| error.max)),
        measured(group.ratio.map(|ratio| ratio.median)),
        measured(interval.map(|interval| interval.low)),
        measured(interval.map(|interval| interval.high)),
        text(group.endings.to_string()),
        median(Metric::EstimateSeconds),
        median(Metric::SecondsPerIteration),
        memory,
        median(Metric::MeasurementError),
        chosen(group.delta),
    ]
}

/// Appends the mark of the group, if it has one.
fn marked(cell: Cell, group: &Group) -> Cell {
    match group.mark().filter(|_| cell.value.is_some()) {
        Some(mark) => Cell { text: format!("{} {mark}", cell.text), ..cell },
        None => cell,
    }
}

/// What the mark means; `None` without marks.
pub(super) fn about_marks(experiment: &Experiment) -> Option<String> {
    let has_marks = experiment.summary.groups.iter().any(|group| group.mark().is_some());
    has_marks.then(unconverged_note)
}

/// What ratios and intervals mean; `None` without ratios.
pub(super) fn about_intervals(experiment: &Experiment) -> Option<String> {
    let ratios: Vec<PairedRatio> =
        experiment.summary.groups.iter().filter_map(|group| group.ratio).collect();
    let reference = labels::arm(REFERENCE_ARM);
    let ratio = format!(
        "The ratio is the workload error over that of {reference} in the same trial, from the same \
         measurements, and the median of that over trials: above 1, {reference} is better."
    );
    let coverages = ratios.iter().filter_map(|ratio| Some(ratio.interval?.coverage));
    match (ratios.is_empty(), coverages.reduce(f64::min)) {
        (true, _) => None,
        (false, None) => Some(ratio + " A single trial has no interval."),
        (false, Some(coverage)) => Some(format!(
            "{ratio} Its interval, as in the terminal, is that from order statistics, which \
             contains the median of all possible trials with a probability of {:.1} % at least. \
             summary.csv has the percentile bootstrap as well.",
            100.0 * coverage
        )),
    }
}
