use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, no_line_note, trials_phrase};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Seconds per iteration against the number of attributes, both logarithmic: the paper's
/// Figure 2b.
///
/// A line for each estimator. Where it does not run at the next size, the end of its line says
/// why; one that never runs is in a note.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let mechanisms = distinct(trials.iter().map(|trial| trial.mechanism.as_str()));
    let name = |key: &SeriesKey| match (mechanisms.len(), key.arm) {
        (..=1, arm) if arm != "own" => labels::arm(arm),
        _ => labels::mechanism_with(key.context, key.arm),
    };
    let all = distinct(trials.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }));

    let mut keys = Vec::new();
    let mut no_line = Vec::new();
    let mut left_out = Vec::new();
    let mut lines = Vec::new();
    for key in all {
        let rows: Vec<&TrialRecord> =
            trials.iter().filter(|t| t.mechanism == key.context && t.arm == key.arm).collect();
        let mut sizes: Vec<usize> = rows.iter().map(|trial| trial.attributes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let tally = |size: usize| {
            let here = rows.iter().copied().filter(move |t| t.attributes == size);
            Tally::of(here, Metric::SecondsPerIteration)
        };
        left_out.extend(sizes.iter().filter_map(|&size| {
            let what = tally(size).left_out()?;
            Some((format!("{} with {size} attributes", name(&key)), what))
        }));
        let points: Vec<Point> = sizes
            .iter()
            .filter_map(|&size| {
                let y = Some(tally(size).spread()?);
                Some(Point { x: size as f64, y, unconverged: 0 })
            })
            .collect();
        let last = points.last().map_or(0.0, |point| point.x);
        let end = sizes.iter().filter(|&&size| size as f64 > last).find_map(|&size| {
            let mark = tally(size).mark(facts)?;
            Some(format!("{mark} with {size} attributes"))
        });
        match (points.is_empty(), end) {
            (true, end) => no_line.extend(end.map(|end| format!("{} ({end})", name(&key)))),
            (false, end) => {
                lines.push(Line { series: keys.len(), points, end });
                keys.push(key);
            }
        }
    }

    let notes = [no_line_note(&no_line), left_out_note(&left_out)];
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
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
        notes: notes.into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
    })
}
