use std::collections::BTreeMap;

use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, shown_of, trials_phrase, unconverged_mark_note};
use crate::config::Statistic;
use crate::results::{Metric, Status, TraceRecord, TrialRecord};

type Quantity = fn(&TraceRecord) -> f64;

/// A panel each.
const QUANTITIES: [(&str, Quantity); 3] = [
    ("L1 loss", |trace| trace.l1_loss),
    ("L2 loss", |trace| trace.l2_loss),
    ("Workload error", |trace| trace.workload_error),
];

/// The series of a trace, and the trace.
type Drawn<'a> = (SeriesKey<'a>, &'a TraceRecord);

/// Losses and workload error over the iterations: the paper's Figure 3.
///
/// A line per estimator: medians over the trials that are done, with a band from the smallest to
/// the largest value. Axes are logarithmic, because most changes happen in the first of thousands
/// of iterations; iteration 0 is not shown. The mark of an estimate that has not converged is at
/// the end of its line, since the points before it are not estimates.
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
    let drawn: Vec<Drawn> =
        traces.iter().filter_map(|trace| Some((*done.get(trace.key.as_str())?, trace))).collect();
    let keys = distinct(drawn.iter().map(|(key, _)| *key));
    let name = |key: &SeriesKey| match (key.context, labels::arm(key.arm)) {
        ("", arm) => arm,
        (context, arm) => format!("{context}: {arm}"),
    };

    let mut omissions = Omissions::default();
    let mut unconverged = vec![0; keys.len()];
    for key in distinct((0..trials.len()).map(key_of)) {
        let in_series = (0..trials.len()).filter(|&i| key_of(i) == key).map(|i| &trials[i]);
        let tally = Tally::of(in_series, Metric::WorkloadError);
        if let Some(reason) = tally.failure(facts) {
            omissions.add_missing_line(&name(&key), &reason);
        }
        // An estimator without iterations has no line.
        if let Some(series) = keys.iter().position(|drawn| *drawn == key) {
            unconverged[series] = tally.unconverged();
            omissions.add(&name(&key), &tally);
        }
    }

    let panel = |&(title, quantity): &(&str, Quantity)| {
        let line = |(series, key): (usize, &SeriesKey)| {
            let mut points = points(&drawn, key, quantity);
            if let Some(last) = points.last_mut() {
                last.unconverged = unconverged[series];
            }
            Line { series, points, end: None }
        };
        let lines = keys.iter().enumerate().map(line).collect();
        let content = Content::Lines { x: Axis::log("iterations"), lines, ranges: Ranges::Bands };
        Panel { title: title.into(), y: Axis::log(""), content }
    };
    let panels: Vec<Panel> = match drawn.is_empty() {
        true => Vec::new(),
        false => QUANTITIES.iter().map(panel).collect(),
    };
    let spread =
        trials_phrase(drawn.iter().map(|(_, trace)| trace.trial), "bands", Statistic::Median);
    let explanation = unconverged_mark_note(&panels);
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, name),
        columns: panels.len(),
        panels,
        shares_y: false,
        notes: [explanation].into_iter().chain(omissions.notes()).flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// The values of a quantity over the trials of a series, per iteration.
fn points(drawn: &[Drawn], key: &SeriesKey, quantity: Quantity) -> Vec<Point> {
    let mut by_iteration: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (_, trace) in drawn.iter().filter(|(other, trace)| other == key && trace.iteration > 0) {
        by_iteration.entry(trace.iteration).or_default().push(quantity(trace));
    }
    let point = |(iteration, values): (usize, Vec<f64>)| Point {
        x: iteration as f64,
        y: shown_of(values, Statistic::Median),
        unconverged: 0,
    };
    by_iteration.into_iter().map(point).collect()
}

/// For each trial, whatever varies between trials apart from estimator and trial number.
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
        let shown: Vec<&str> = varying.iter().map(|&part| parts[part].as_str()).collect();
        shown.join(", ")
    };
    parts.iter().map(context).collect()
}
