use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, trials_phrase};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Seconds per iteration against the number of attributes, both logarithmic: the paper's
/// Figure 2b.
///
/// A line per estimator. If it does not run at the next size, the reason is written at the end of
/// its line; an estimator that never runs is listed in a note.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let mechanisms = distinct(trials.iter().map(|trial| trial.mechanism.as_str()));
    let name = |key: &SeriesKey| match (mechanisms.len(), key.arm) {
        (..=1, arm) if arm != "own" => labels::arm(arm),
        _ => labels::mechanism_with(key.context, key.arm),
    };
    let all = distinct(trials.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }));

    let (mut keys, mut lines) = (Vec::new(), Vec::new());
    let mut omissions = Omissions::default();
    for key in all {
        let tallies = tallies_by_size(trials, &key);
        for (size, tally) in &tallies {
            omissions.add(&format!("{} with {size} attributes", name(&key)), tally);
        }
        let (points, end) = curve(&tallies, facts);
        if !points.is_empty() {
            lines.push(Line { series: keys.len(), points, end });
            keys.push(key);
        } else if let Some(reason) = end {
            omissions.add_missing_line(&name(&key), &reason);
        }
    }

    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers", facts.statistic);
    let panel = |lines| Panel {
        title: String::new(),
        y: Axis::log("seconds per iteration"),
        content: Content::Lines {
            x: Axis::log("number of attributes"),
            lines,
            ranges: Ranges::Whiskers,
        },
    };
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, name),
        panels: if lines.is_empty() { Vec::new() } else { vec![panel(lines)] },
        columns: 1,
        shares_y: false,
        notes: omissions.notes().into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// The trials of a series by number of attributes, in ascending order.
fn tallies_by_size(trials: &[TrialRecord], key: &SeriesKey) -> Vec<(usize, Tally)> {
    let in_series = || trials.iter().filter(|t| t.mechanism == key.context && t.arm == key.arm);
    let mut sizes: Vec<usize> = in_series().map(|trial| trial.attributes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let tally = |size: usize| {
        let here = in_series().filter(|trial| trial.attributes == size);
        (size, Tally::of(here, Metric::SecondsPerIteration))
    };
    sizes.into_iter().map(tally).collect()
}

/// The points of a line, and why it does not continue beyond the last of them.
fn curve(tallies: &[(usize, Tally)], facts: &Facts) -> (Vec<Point>, Option<String>) {
    let point = |(size, tally): &(usize, Tally)| {
        Some(Point { x: *size as f64, y: Some(tally.shown(facts.statistic)?), unconverged: 0 })
    };
    let points: Vec<Point> = tallies.iter().filter_map(point).collect();
    let last = points.last().map_or(0.0, |point| point.x);
    let end = tallies.iter().filter(|(size, _)| *size as f64 > last).find_map(|(size, tally)| {
        let reason = tally.failure(facts)?;
        Some(format!("{reason} with {size} attributes"))
    });
    (points, end)
}
