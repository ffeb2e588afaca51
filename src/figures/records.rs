use super::Facts;
use super::chart::{Chart, Content, Line, Point, Series};
use super::curves::Grid;
use super::labels::{self, distinct};
use super::palette;
use super::tally::shown_of;
use crate::config::{Emphasis, Statistic};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Error against the number of records, over all datasets.
///
/// A column of panels per number of attributes, a row per epsilon. A mechanism with a theoretical
/// bound on the largest query error has a second line for the bound.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let several = epsilons.len() > 1;
    let grid = Grid {
        column: |trial| format!("{} attributes", trial.attributes),
        rows: epsilons.clone(),
        is_in_row: |trial, epsilon| trial.epsilon == *epsilon,
        row_name: if several {
            |epsilon| format!("epsilon = {epsilon}")
        } else {
            |_| String::new()
        },
        x: &|trial| Some(trial.records as f64),
        x_label: "number of records",
        ticks_at_values: false,
    };
    let mut chart = grid.chart(trials, facts);
    if facts.metric == Metric::MaxError {
        let columns = distinct(trials.iter().map(|trial| trial.attributes));
        let panel_keys = epsilons.iter().flat_map(|e| columns.iter().map(move |c| (*e, *c)));
        let in_panels: Vec<Vec<&TrialRecord>> = panel_keys
            .map(|key| trials.iter().filter(|t| (t.epsilon, t.attributes) == key).collect())
            .collect();
        add_bounds(&mut chart, &in_panels);
    }
    Some(chart)
}

/// Adds a line to each panel for each mechanism with a bound. The lines share a colour and differ
/// by their dashes.
fn add_bounds(chart: &mut Chart, in_panels: &[Vec<&TrialRecord>]) {
    let bounded = in_panels.iter().flatten().filter(|trial| trial.error_bound.is_some());
    let colour = palette::bound(chart.series.iter().map(|series| series.colour));
    for (style, mechanism) in distinct(bounded.map(|t| t.mechanism.as_str())).iter().enumerate() {
        let series = chart.series.len();
        let name = format!("{}, bound", labels::mechanism(mechanism));
        chart.series.push(Series { name, colour, style: style + 1, emphasis: Emphasis::Normal });
        for (panel, here) in chart.panels.iter_mut().zip(in_panels) {
            let Content::Lines { lines, .. } = &mut panel.content else { continue };
            let of_mechanism = || here.iter().filter(|trial| trial.mechanism == *mechanism);
            let mut records: Vec<usize> =
                of_mechanism().filter(|t| t.error_bound.is_some()).map(|t| t.records).collect();
            records.sort_unstable();
            records.dedup();
            let at = |&records: &usize| {
                let here = of_mechanism().filter(|t| t.records == records);
                let bounds = here.filter_map(|t| t.error_bound);
                Point { x: records as f64, y: shown_of(bounds, Statistic::Median), unconverged: 0 }
            };
            let points: Vec<Point> = records.iter().map(at).collect();
            if !points.is_empty() {
                lines.push(Line { series, points, end: None });
            }
        }
    }
}
