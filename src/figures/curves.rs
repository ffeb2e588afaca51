use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, STAR, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, marks_note, no_line_note, trials_phrase};
use crate::results::TrialRecord;

/// Curves in a grid of panels: a column for each data, unless something else is in one column, and a
/// row for whatever else sets panels apart.
pub(super) struct Grid<'a, R> {
    /// The name of the column that a trial belongs into.
    pub(super) column: fn(&TrialRecord) -> String,
    /// What the rows are, from top to bottom.
    pub(super) rows: Vec<R>,
    /// Whether a trial belongs into a row.
    pub(super) is_in: fn(&TrialRecord, &R) -> bool,
    /// What a row is called; empty where its panels need no such name.
    pub(super) name: fn(&R) -> String,
    /// Where a trial is on the horizontal axis.
    pub(super) x: fn(&TrialRecord) -> Option<f64>,
    /// What that is.
    pub(super) x_label: &'a str,
    /// Whether the horizontal axis is labelled at each of the values.
    pub(super) ticks_at_values: bool,
}

impl<R> Grid<'_, R> {
    /// A line for each mechanism and estimator with whiskers from the smallest to the largest, both
    /// axes logarithmic. What did not run somewhere is said in a note.
    pub(super) fn chart(&self, trials: &[TrialRecord], facts: &Facts) -> Chart {
        let columns = distinct(trials.iter().map(self.column));
        let keys = distinct(
            trials
                .iter()
                .filter(|t| facts.metric.of(t).is_some())
                .map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }),
        );
        let (mut no_line, mut left_out, mut panels) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.rows {
            for column in &columns {
                let here: Vec<&TrialRecord> = trials
                    .iter()
                    .filter(|t| (self.column)(t) == *column && (self.is_in)(t, row))
                    .collect();
                let mut values: Vec<f64> = here.iter().filter_map(|t| (self.x)(t)).collect();
                values.sort_by(f64::total_cmp);
                values.dedup();
                let of_here =
                    distinct(here.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }));
                let row_name = (self.name)(row);
                let of_row = match self.rows.len() {
                    ..=1 => String::new(),
                    _ => format!(", {row_name}"),
                };
                let mut lines = Vec::new();
                for arm in of_here {
                    let of_arm = || {
                        let same =
                            move |t: &&TrialRecord| t.mechanism == arm.context && t.arm == arm.arm;
                        here.iter().copied().filter(same)
                    };
                    let name = labels::mechanism_with(arm.context, arm.arm);
                    let place = format!("{name} on {column}{of_row}");
                    let whole = Tally::of(of_arm(), facts.metric);
                    if let Some(mark) = whole.mark(facts) {
                        no_line.push(format!("{place} ({mark})"));
                    }
                    left_out.extend(whole.left_out().map(|what| (place, what)));
                    let Some(series) = keys.iter().position(|key| *key == arm) else { continue };
                    let points = values.iter().map(|&x| {
                        let at = of_arm().filter(|t| (self.x)(t) == Some(x));
                        let tally = Tally::of(at, facts.metric);
                        Point { x, y: tally.spread(), unconverged: tally.unconverged() }
                    });
                    lines.push(Line { series, points: points.collect(), end: None });
                }
                let star = if here.iter().any(|t| t.standin) { STAR } else { "" };
                let column_name = match columns.len() {
                    1 if star.is_empty() => String::new(),
                    _ => format!("{column}{star}"),
                };
                let parts: Vec<&str> = [column_name.as_str(), &row_name]
                    .into_iter()
                    .filter(|p| !p.is_empty())
                    .collect();
                let ticks = if self.ticks_at_values { values } else { Vec::new() };
                let x = Axis { ticks, ..Axis::log(self.x_label) };
                let content = Content::Lines { x, lines, ranges: Ranges::Whiskers };
                let title = parts.join(", ");
                panels.push(Panel { title, y: Axis::log(facts.metric.label()), content });
            }
        }
        let standins = trials.iter().filter(|t| t.standin).map(|t| labels::dataset(&t.dataset));
        let notes = [
            labels::standin_note(&distinct(standins)),
            marks_note(&panels),
            no_line_note(&no_line),
            left_out_note(&left_out),
        ];
        let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
        let name = match columns.as_slice() {
            [only] => only.clone(),
            _ => String::new(),
        };
        Chart {
            title: facts.title.clone(),
            subtitle: labels::joined(&[&facts.subtitle, &name, &spread]),
            series: labels::series(&keys, |key| labels::mechanism_with(key.context, key.arm)),
            columns: match self.rows.len() {
                ..=1 => panels.len().min(3),
                _ => columns.len(),
            },
            panels,
            shares_y: self.rows.len() <= 1,
            notes: notes.into_iter().flatten().collect(),
            footnote: facts.footnote.clone(),
        }
    }
}
