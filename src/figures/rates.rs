use std::collections::BTreeMap;

use super::chart::{Chart, Content, Line, Panel, Point, Series, Shown};
use super::traces::{Quantity, chart_of};
use super::{Facts, palette};
use crate::config::{Emphasis, Statistic};
use crate::results::{TraceRecord, TrialRecord, above_minimum};

const QUANTITIES: [(&str, Quantity); 2] = [
    ("L1 loss above its minimum", |trace| trace.l1_loss),
    ("L2 loss above its minimum", |trace| trace.l2_loss),
];

/// Points of a line whose iterations have a smaller ratio than this cannot be told apart.
const SPACING: f64 = 1.03;

/// Rates that are proved for convex losses and for smooth ones, and those of accelerated methods.
const GUIDES: [(&str, f64); 3] = [("1/\u{221a}t", 0.5), ("1/t", 1.0), ("1/t\u{b2}", 2.0)];

/// How fast estimators approach the minimum of the loss that they minimise.
///
/// The smallest loss so far above the smallest of all arms in the same trial, so that the arm that
/// comes nearest shows nothing of its end. Both axes are logarithmic: a power of t is a straight
/// line, and three of them are drawn through the highest point on the left.
pub(super) fn chart(
    trials: &[TrialRecord],
    traces: &[TraceRecord],
    facts: &Facts,
) -> Option<Chart> {
    // Their order in the legend, and whether they minimise the L1 loss.
    let arms: BTreeMap<&str, (usize, bool)> = trials
        .iter()
        .enumerate()
        .filter_map(|(row, trial)| Some((&*trial.key, (row, minimises_l1(trial)?))))
        .collect();
    let mut shown: BTreeMap<(usize, usize), TraceRecord> = BTreeMap::new();
    // The next iteration to show, by row.
    let mut least: BTreeMap<usize, f64> = BTreeMap::new();
    let nothing = f64::NAN;
    for (is_l1, loss) in [(true, QUANTITIES[0].1), (false, QUANTITIES[1].1)] {
        for (trace, above) in above_minimum(traces, loss) {
            if let Some(&(row, minimises_l1)) = arms.get(&*trace.key)
                && minimises_l1 == is_l1
                && trace.iteration as f64 >= least.get(&row).copied().unwrap_or(0.0)
            {
                least.insert(row, trace.iteration as f64 * SPACING);
                let (l1_loss, l2_loss) = if is_l1 { (above, nothing) } else { (nothing, above) };
                let changed = TraceRecord { l1_loss, l2_loss, ..trace.clone() };
                shown.insert((row, trace.iteration), changed);
            }
        }
    }
    let shown: Vec<TraceRecord> = shown.into_values().collect();
    let mut chart = chart_of(trials, &shown, facts, &QUANTITIES);
    chart.panels.retain(|panel| highest_on_the_left(panel).is_some());
    chart.columns = chart.panels.len().max(1);
    let series = chart.series.len();
    for panel in &mut chart.panels {
        add_guides(panel, series);
    }
    let name = "powers of t, the number of iterations".into();
    let colour = palette::bound(chart.series.iter().map(|series| series.colour));
    let emphasis = Emphasis::Extra;
    chart.series.push(Series { name, colour, style: series, emphasis });
    Some(chart)
}

/// Whether the loss that was minimised is the L1 loss; `None` without a loss.
fn minimises_l1(trial: &TrialRecord) -> Option<bool> {
    let (loss, l1, l2) = (trial.loss?, trial.l1_loss?, trial.l2_loss?);
    Some((loss - l1).abs() < (loss - l2).abs())
}

/// The points of all lines: x and the value.
fn points(panel: &Panel) -> Vec<(f64, f64)> {
    let Content::Lines { lines, .. } = &panel.content else { return Vec::new() };
    let points = lines.iter().flat_map(|line| &line.points);
    points.filter_map(|point| Some((point.x, point.y?.value))).collect()
}

fn highest_on_the_left(panel: &Panel) -> Option<(f64, f64)> {
    let order = |a: &(f64, f64), b: &(f64, f64)| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1));
    points(panel).into_iter().max_by(order)
}

/// The lines of power laws, as far down as the lowest point of the panel.
fn add_guides(panel: &mut Panel, series: usize) {
    let Some((left, top)) = highest_on_the_left(panel) else { return };
    let all = points(panel);
    let right = all.iter().map(|point| point.0).fold(left, f64::max);
    let bottom = all.iter().map(|point| point.1).fold(top, f64::min);
    let guide = |(name, exponent): (&str, f64)| {
        let at = |x: f64| {
            let value = top * (x / left).powf(-exponent);
            let statistic = Statistic::Median;
            let shown = Shown { value, low: value, high: value, count: 1, statistic };
            Point { x, y: Some(shown), unconverged: 0 }
        };
        let end = right.min(left * (top / bottom).powf(1.0 / exponent));
        Line { series, points: vec![at(left), at(end)], end: Some(name.into()) }
    };
    if let Content::Lines { lines, .. } = &mut panel.content {
        // Below the lines of estimators.
        lines.splice(0..0, GUIDES.map(guide));
    }
}
