use std::collections::BTreeMap;

use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{spread_of, trials_phrase};
use crate::results::{TraceRecord, TrialRecord};

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
/// A line for each estimator: medians over trials with a band from the smallest to the largest.
/// Logarithmic, because most happens in the first of thousands of iterations; the start at
/// iteration 0 is not on such an axis.
pub(super) fn chart(_: &[TrialRecord], traces: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let datasets = distinct(traces.iter().map(|trace| trace.dataset.as_str()));
    let mechanisms = distinct(traces.iter().map(|trace| trace.mechanism.as_str()));
    let epsilons = distinct(traces.iter().map(|trace| trace.epsilon));
    let context = |trace: &TraceRecord| {
        let epsilon = format!("epsilon = {}", trace.epsilon);
        let parts = [
            (mechanisms.len() > 1, labels::mechanism(&trace.mechanism)),
            (datasets.len() > 1, labels::dataset(&trace.dataset)),
            (epsilons.len() > 1, epsilon),
        ];
        let varying: Vec<String> = parts.into_iter().filter(|part| part.0).map(|p| p.1).collect();
        varying.join(", ")
    };
    let contexts: Vec<String> = traces.iter().map(context).collect();
    let key_of = |i: usize| SeriesKey { context: &contexts[i], arm: &traces[i].arm };
    let keys = distinct((0..traces.len()).map(key_of));

    let panel = |(title, quantity): &(&str, Quantity)| {
        let line = |(series, key): (usize, &SeriesKey)| {
            let mut by_iteration: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            let of_key = (0..traces.len()).filter(|&i| key_of(i) == *key);
            for trace in of_key.map(|i| &traces[i]).filter(|trace| trace.iteration > 0) {
                by_iteration.entry(trace.iteration).or_default().push(quantity(trace));
            }
            let points = by_iteration
                .into_iter()
                .map(|(iteration, values)| Point { x: iteration as f64, y: spread_of(values) });
            Line { series, points: points.collect(), end: None }
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
    let panels: Vec<Panel> = match traces.is_empty() {
        true => Vec::new(),
        false => QUANTITIES.iter().map(panel).collect(),
    };
    let spread = trials_phrase(traces.iter().map(|trace| trace.trial), "bands");
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, |key| match (key.context, labels::arm(key.arm)) {
            ("", arm) => arm,
            (context, arm) => format!("{context}: {arm}"),
        }),
        columns: panels.len(),
        panels,
        shares_y: false,
        notes: Vec::new(),
        footnote: facts.footnote.clone(),
    })
}
