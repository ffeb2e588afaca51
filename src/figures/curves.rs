use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, trials_phrase, unconverged_mark_note};
use crate::results::TrialRecord;

/// Error curves in a grid of panels, defined by how a trial is assigned to a panel and to a
/// position on the x axis.
pub(super) struct Grid<'a, R> {
    /// The name of a trial's column of panels, in most figures its dataset.
    pub(super) column: fn(&TrialRecord) -> String,
    /// From top to bottom.
    pub(super) rows: Vec<R>,
    pub(super) is_in_row: fn(&TrialRecord, &R) -> bool,
    /// Empty if panels of the row do not show its name.
    pub(super) row_name: fn(&R) -> String,
    pub(super) x: &'a dyn Fn(&TrialRecord) -> Option<f64>,
    pub(super) x_label: &'a str,
    /// Whether the x axis has a tick at each value instead of round numbers.
    pub(super) ticks_at_values: bool,
}

impl<R> Grid<'_, R> {
    /// A line per mechanism and estimator with whiskers from the smallest to the largest value.
    /// Both axes are logarithmic. Notes list what did not run.
    pub(super) fn chart(&self, trials: &[TrialRecord], facts: &Facts) -> Chart {
        let columns = distinct(trials.iter().map(self.column));
        let with_value = trials.iter().filter(|t| facts.metric.of(t).is_some());
        let keys = distinct(with_value.map(series_key));
        let (mut omissions, mut panels) = (Omissions::default(), Vec::new());
        for row in &self.rows {
            for column in &columns {
                let in_panel =
                    |t: &&TrialRecord| (self.column)(t) == *column && (self.is_in_row)(t, row);
                let in_panel: Vec<&TrialRecord> = trials.iter().filter(in_panel).collect();
                let x_values = self.x_values(&in_panel);
                let row_name = (self.row_name)(row);
                let place = match self.rows.len() {
                    ..=1 => column.clone(),
                    _ => format!("{column}, {row_name}"),
                };
                let lines =
                    self.lines(&in_panel, (&keys, &x_values), &place, facts, &mut omissions);
                let star = labels::star(in_panel);
                let column_name = match columns.len() {
                    1 if star.is_empty() => String::new(),
                    _ => format!("{column}{star}"),
                };
                let names = [column_name, row_name].into_iter().filter(|name| !name.is_empty());
                let title = names.collect::<Vec<String>>().join(", ");
                let ticks = if self.ticks_at_values { x_values } else { Vec::new() };
                let x = Axis { ticks, ..Axis::log(self.x_label) };
                let content = Content::Lines { x, lines, ranges: Ranges::Whiskers };
                panels.push(Panel { title, y: Axis::of(facts.metric), content });
            }
        }
        let explanations = [labels::standin_note(trials), unconverged_mark_note(&panels)];
        let spread =
            trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers", facts.statistic);
        let only_column = match columns.as_slice() {
            [only] => only,
            _ => "",
        };
        Chart {
            title: facts.title.clone(),
            subtitle: labels::joined(&[&facts.subtitle, only_column, &spread]),
            series: facts.series(&keys),
            columns: match self.rows.len() {
                ..=1 => panels.len().min(3),
                _ => columns.len(),
            },
            panels,
            shares_y: self.rows.len() <= 1,
            notes: explanations.into_iter().chain(omissions.notes()).flatten().collect(),
            footnote: facts.footnote.clone(),
            ..Chart::default()
        }
    }

    fn x_values(&self, trials: &[&TrialRecord]) -> Vec<f64> {
        let mut values: Vec<f64> = trials.iter().filter_map(|trial| (self.x)(trial)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The lines of one panel; `place` names the panel in notes.
    fn lines(
        &self,
        in_panel: &[&TrialRecord],
        (keys, x_values): (&[SeriesKey], &[f64]),
        place: &str,
        facts: &Facts,
        omissions: &mut Omissions,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        for key in distinct(in_panel.iter().copied().map(series_key)) {
            let in_line = || in_panel.iter().copied().filter(move |t| series_key(t) == key);
            let place = format!("{} on {place}", facts.name_of(&key));
            let all = Tally::of(in_line(), facts.metric);
            if let Some(reason) = all.failure(facts) {
                omissions.add_missing_line(&place, &reason);
            }
            omissions.add(&place, &all);
            let Some(series) = keys.iter().position(|drawn| *drawn == key) else { continue };
            let points = x_values.iter().map(|&x| {
                let here = in_line().filter(|trial| (self.x)(trial) == Some(x));
                let tally = Tally::of(here, facts.metric);
                Point { x, y: tally.shown(facts.statistic), unconverged: tally.unconverged() }
            });
            lines.push(Line { series, points: points.collect(), end: None });
        }
        lines.sort_by_key(|line| facts.emphasis_of(&keys[line.series]));
        lines
    }
}

fn series_key(trial: &TrialRecord) -> SeriesKey<'_> {
    SeriesKey { context: &trial.mechanism, arm: &trial.arm }
}
