use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, STAR, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, no_line_note, trials_phrase};
use crate::results::{TraceRecord, TrialRecord};

/// Workload error against epsilon, both logarithmic: the paper's Figure 2a.
///
/// A panel for each data, a line for each mechanism and estimator with whiskers from the smallest
/// to the largest. What did not run at some epsilon is said in a note.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let mut epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    epsilons.sort_by(f64::total_cmp);
    let keys = distinct(
        trials
            .iter()
            .filter(|t| t.workload_error.is_some())
            .map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }),
    );

    let mut no_line = Vec::new();
    let mut left_out = Vec::new();
    let mut panels = Vec::new();
    for &dataset in &datasets {
        let rows: Vec<&TrialRecord> = trials.iter().filter(|t| t.dataset == dataset).collect();
        let mut lines = Vec::new();
        for arm in distinct(rows.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm })) {
            let of_arm =
                || rows.iter().copied().filter(|t| t.mechanism == arm.context && t.arm == arm.arm);
            let place = format!(
                "{} on {}",
                labels::mechanism_with(arm.context, arm.arm),
                labels::dataset(dataset)
            );
            let whole = Tally::of(of_arm(), |t| t.workload_error);
            if let Some(mark) = whole.mark(facts) {
                no_line.push(format!("{place} ({mark})"));
            }
            left_out.extend(whole.left_out().map(|what| (place, what)));
            let Some(series) = keys.iter().position(|key| *key == arm) else { continue };
            let points = epsilons.iter().map(|&epsilon| {
                let here = of_arm().filter(|t| t.epsilon == epsilon);
                Point { x: epsilon, y: Tally::of(here, |t| t.workload_error).spread() }
            });
            lines.push(Line { series, points: points.collect(), end: None });
        }
        let star = if rows.iter().any(|t| t.standin) { STAR } else { "" };
        let title = match datasets.len() {
            1 if star.is_empty() => String::new(),
            _ => labels::dataset(dataset) + star,
        };
        let x = Axis { ticks: epsilons.clone(), ..Axis::log("epsilon") };
        let content = Content::Lines { x, lines, ranges: Ranges::Whiskers };
        panels.push(Panel { title, y: Axis::log("workload error"), content });
    }

    let standins = trials.iter().filter(|t| t.standin).map(|t| labels::dataset(&t.dataset));
    let notes = [
        labels::standin_note(&distinct(standins)),
        no_line_note(&no_line),
        left_out_note(&left_out),
    ];
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
    let name = match datasets.as_slice() {
        [dataset] => labels::dataset(dataset),
        _ => String::new(),
    };
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &name, &spread]),
        series: labels::series(&keys, |key| labels::mechanism_with(key.context, key.arm)),
        columns: panels.len().min(2),
        panels,
        shares_y: true,
        notes: notes.into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
    })
}
