use std::collections::BTreeMap;

use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, marks_note, no_line_note, spread_of, trials_phrase};
use crate::results::{Metric, Status, TraceRecord, TrialRecord};

/// A number that changes from iteration to iteration.
type Quantity = fn(&TraceRecord) -> f64;

/// What is followed over the iterations, a panel each.
const QUANTITIES: [(&str, Quantity); 3] = [
    ("L1 loss", |trace| trace.l1_loss),
    ("L2 loss", |trace| trace.l2_loss),
    ("Workload error", |trace| trace.workload_error),
];

/// Losses and workload error over the iterations: the paper's Figure 3.
///
/// A line for each estimator: medians over trials that are done, with a band from the smallest to the
/// largest. Logarithmic, because most happens in the first of thousands of iterations; the start at
/// iteration 0 is not on such an axis. The mark of estimates that have not converged is where a
/// line ends: what it passes on its way is no estimate.
pub(super) fn chart(
    trials: &[TrialRecord],
    traces: &[TraceRecord],
    facts: &Facts,
) -> Option<Chart> {
    let contexts = contexts(trials);
    let key_of = |i: usize| SeriesKey { context: &contexts[i], arm: &trials[i].arm };
    let done: BTreeMap<&str, SeriesKey> = (0..trials.len())
        .filter(|&i| trials[i].status == Status::Done)
        .map(|i| (trials[i].key.as_str(), key_of(i)))
        .collect();
    let drawn: Vec<(SeriesKey, &TraceRecord)> =
        traces.iter().filter_map(|trace| Some((*done.get(trace.key.as_str())?, trace))).collect();
    let keys = distinct(drawn.iter().map(|(key, _)| *key));
    let name = |key: &SeriesKey| match (key.context, labels::arm(key.arm)) {
        ("", arm) => arm,
        (context, arm) => format!("{context}: {arm}"),
    };

    let (mut no_line, mut left_out) = (Vec::new(), Vec::new());
    let mut unconverged = vec![0; keys.len()];
    for key in distinct((0..trials.len()).map(key_of)) {
        let of_key = (0..trials.len()).filter(|&i| key_of(i) == key).map(|i| &trials[i]);
        let tally = Tally::of(of_key, Metric::WorkloadError);
        no_line.extend(tally.mark(facts).map(|mark| format!("{} ({mark})", name(&key))));
        if let Some(series) = keys.iter().position(|drawn| *drawn == key) {
            unconverged[series] = tally.unconverged();
        }
        // An estimator without iterations has no line that something could be left out of.
        let missing = tally.left_out().filter(|_| keys.contains(&key));
        left_out.extend(missing.map(|what| (name(&key), what)));
    }

    let panel = |(title, quantity): &(&str, Quantity)| {
        let line = |(series, key): (usize, &SeriesKey)| {
            let mut by_iteration: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            let of_key = drawn.iter().filter(|(other, _)| other == key).map(|(_, trace)| *trace);
            for trace in of_key.filter(|trace| trace.iteration > 0) {
                by_iteration.entry(trace.iteration).or_default().push(quantity(trace));
            }
            let point = |(iteration, values): (usize, Vec<f64>)| Point {
                x: iteration as f64,
                y: spread_of(values),
                unconverged: 0,
            };
            let mut points: Vec<Point> = by_iteration.into_iter().map(point).collect();
            if let Some(last) = points.last_mut() {
                last.unconverged = unconverged[series];
            }
            Line { series, points, end: None }
        };
        Panel {
            title: title.to_string(),
            y: Axis::log(""),
            content: Content::Lines {
                x: Axis::log("iterations"),
                lines: keys.iter().enumerate().map(line).collect(),
                ranges: Ranges::Bands,
            },
        }
    };
    let panels: Vec<Panel> = match drawn.is_empty() {
        true => Vec::new(),
        false => QUANTITIES.iter().map(panel).collect(),
    };
    let spread = trials_phrase(drawn.iter().map(|(_, trace)| trace.trial), "bands");
    let notes = [marks_note(&panels), no_line_note(&no_line), left_out_note(&left_out)];
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, name),
        columns: panels.len(),
        panels,
        shares_y: false,
        notes: notes.into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
    })
}

/// What sets each trial apart from those of other lines, beside its estimator: whatever varies.
fn contexts(trials: &[TrialRecord]) -> Vec<String> {
    let parts_of = |trial: &TrialRecord| {
        [
            labels::mechanism(&trial.mechanism),
            labels::dataset(&trial.dataset),
            trial.case.clone(),
            format!("epsilon = {}", trial.epsilon),
        ]
    };
    let parts: Vec<[String; 4]> = trials.iter().map(parts_of).collect();
    let varies = |part: usize| parts.iter().any(|other| other[part] != parts[0][part]);
    let varying: Vec<usize> = (0..4).filter(|&part| varies(part)).collect();
    let context = |parts: &[String; 4]| {
        let said: Vec<&str> = varying.iter().map(|&part| parts[part].as_str()).collect();
        said.join(", ")
    };
    parts.iter().map(context).collect()
}
