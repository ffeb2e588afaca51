use std::collections::BTreeMap;

use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges, Series};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, shown_of, trials_phrase, unconverged_mark_note};
use crate::config::{Emphasis, Statistic};
use crate::results::{Metric, Status, TraceRecord, TrialRecord};

pub(super) type Quantity = fn(&TraceRecord) -> f64;

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
    Some(chart_of(trials, traces, facts, &QUANTITIES))
}

/// A panel for each quantity; values that are not finite are left out.
pub(super) fn chart_of(
    trials: &[TrialRecord],
    traces: &[TraceRecord],
    facts: &Facts,
    quantities: &[(&str, Quantity)],
) -> Chart {
    let contexts = contexts(trials);
    let key_of = |i: usize| SeriesKey { context: &contexts[i], arm: &trials[i].arm };
    let done: BTreeMap<&str, SeriesKey> = (0..trials.len())
        .filter(|&i| trials[i].status == Status::Done)
        .map(|i| (trials[i].key.as_str(), key_of(i)))
        .collect();
    let drawn: Vec<Drawn> =
        traces.iter().filter_map(|trace| Some((*done.get(trace.key.as_str())?, trace))).collect();
    let keys = distinct(drawn.iter().map(|(key, _)| *key));
    // What the configuration says of the arm, whose mechanism is that of its trials.
    let styled = |key: &SeriesKey| {
        let of_key = (0..trials.len()).find(|&i| key_of(i) == *key)?;
        Some(SeriesKey { context: &trials[of_key].mechanism, arm: &trials[of_key].arm })
    };
    let name = |key: &SeriesKey| {
        let given = styled(key).and_then(|styled| facts.given_name(&styled));
        match (key.context, given.unwrap_or_else(|| labels::arm(key.arm))) {
            ("", arm) => arm,
            (context, arm) => format!("{context}: {arm}"),
        }
    };
    let emphasis = |key: &SeriesKey| {
        styled(key).map_or_else(Emphasis::default, |styled| facts.emphasis_of(&styled))
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
        false => quantities.iter().map(panel).collect(),
    };
    let spread =
        trials_phrase(drawn.iter().map(|(_, trace)| trace.trial), "bands", Statistic::Median);
    let explanation = unconverged_mark_note(&panels);
    Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, name)
            .into_iter()
            .zip(&keys)
            .map(|(series, key)| Series { emphasis: emphasis(key), ..series })
            .collect(),
        columns: panels.len(),
        panels,
        shares_y: false,
        notes: [explanation].into_iter().chain(omissions.notes()).flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    }
}

/// The values of a quantity over the trials of a series, per iteration.
fn points(drawn: &[Drawn], key: &SeriesKey, quantity: Quantity) -> Vec<Point> {
    let mut by_iteration: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (_, trace) in drawn.iter().filter(|(other, trace)| other == key && trace.iteration > 0) {
        let value = Some(quantity(trace)).filter(|value| value.is_finite());
        by_iteration.entry(trace.iteration).or_default().extend(value);
    }
    let point = |(iteration, values): (usize, Vec<f64>)| Point {
        x: iteration as f64,
        y: shown_of(values, Statistic::Median),
        unconverged: 0,
    };
    by_iteration.retain(|_, values| !values.is_empty());
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
