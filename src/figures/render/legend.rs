use super::super::chart::{Chart, Content, Line, Outcome, Scale, Series};
use super::bars::reasons_fit;
use super::font;
use super::layout;
use super::lines::has_markers;
use super::scene::{Frame, Position, SOFT, Scene, at, text};
use super::symbols;

const SIZE: f64 = 11.0;
const ROW: f64 = 19.0;
const GAP: f64 = 22.0;

#[derive(Clone, Copy, Debug)]
enum Entry<'a> {
    Series(&'a Series),
    Zero,
    Missing,
    Clipped,
}

impl Entry<'_> {
    fn name(&self) -> &str {
        match self {
            Entry::Series(series) => &series.name,
            Entry::Zero => "zero, off the logarithmic axis",
            Entry::Missing => "no value",
            Entry::Clipped => "continues beyond the axis",
        }
    }

    fn key_length(&self, lines: bool) -> f64 {
        match self {
            Entry::Series(_) if lines => 26.0,
            _ => 11.0,
        }
    }
}

/// The height of the legend at a maximum width.
pub(super) fn height(chart: &Chart, width: f64) -> f64 {
    placed(chart, width).last().map_or(0.0, |(_, place)| place.y + ROW)
}

/// Draws the legend; `corner` is its upper left corner.
pub(super) fn draw(scene: &mut Scene, chart: &Chart, corner: Position, width: f64) {
    let lines = has_lines(chart);
    let markers = all_lines(chart).any(has_markers);
    for (entry, place) in placed(chart, width) {
        let (x, y) = (corner.x + place.x, corner.y + place.y);
        let middle = y + ROW / 2.0;
        let length = entry.key_length(lines);
        let centre = at(x + length / 2.0, middle);
        match entry {
            Entry::Series(series) if lines => {
                scene.line(at(x, middle), at(x + length, middle), symbols::line_pen(series));
                if markers {
                    symbols::point(scene, centre, series);
                }
            }
            Entry::Series(series) => {
                let swatch = Frame { left: x, top: middle - 5.5, width: length, height: 11.0 };
                scene.rectangle(swatch, series.colour);
            }
            Entry::Zero => symbols::zero(scene, at(centre.x, middle + 4.5), SOFT),
            Entry::Missing => symbols::cross(scene, centre, SOFT),
            Entry::Clipped => symbols::clipped(scene, at(centre.x, middle + 3.0), -5.0, SOFT),
        }
        let baseline = middle + SIZE * font::CAPITAL / 2.0;
        scene.text(text(at(x + length + 6.0, baseline), entry.name(), SIZE));
    }
}

/// The entries with the position of their upper left corners, in rows.
fn placed(chart: &Chart, width: f64) -> Vec<(Entry<'_>, Position)> {
    let lines = has_lines(chart);
    let mut next = at(0.0, 0.0);
    let mut place = |entry: Entry| {
        let length = entry.key_length(lines) + 6.0 + font::width(entry.name(), SIZE, false);
        if next.x > 0.0 && next.x + length > width {
            next = at(0.0, next.y + ROW);
        }
        let here = next;
        next.x += length + GAP;
        here
    };
    entries(chart, width).into_iter().map(|entry| (entry, place(entry))).collect()
}

/// The series, and the symbols for missing values that occur in a chart of this width.
fn entries(chart: &Chart, width: f64) -> Vec<Entry<'_>> {
    let panel_width = width / layout::grid(chart, width).0 as f64;
    let (mut zero, mut missing) = (false, false);
    for panel in &chart.panels {
        let mut record = |value: Option<f64>| match value {
            None => missing = true,
            Some(value) => zero |= panel.y.scale == Scale::Log && value <= 0.0,
        };
        match &panel.content {
            Content::Bars { categories, .. } => {
                let fit = reasons_fit(categories, panel_width);
                for bar in categories.iter().flat_map(|category| &category.bars) {
                    match &bar.outcome {
                        Outcome::Value(shown) => record(Some(shown.value)),
                        Outcome::Missing => record(None),
                        Outcome::Failure(_) if fit => {}
                        Outcome::Failure(_) => record(None),
                    }
                }
            }
            Content::Lines { lines, .. } => {
                let points = lines.iter().flat_map(|line| &line.points);
                points.for_each(|point| record(point.y.map(|y| y.value)));
            }
        }
    }
    let series = chart.series.iter().map(Entry::Series);
    let symbols = [
        zero.then_some(Entry::Zero),
        missing.then_some(Entry::Missing),
        layout::cuts_whiskers(chart).then_some(Entry::Clipped),
    ];
    series.chain(symbols.into_iter().flatten()).collect()
}

fn has_lines(chart: &Chart) -> bool {
    chart.panels.iter().any(|panel| matches!(panel.content, Content::Lines { .. }))
}

fn all_lines(chart: &Chart) -> impl Iterator<Item = &Line> {
    chart.panels.iter().flat_map(|panel| match &panel.content {
        Content::Lines { lines, .. } => lines.as_slice(),
        Content::Bars { .. } => &[],
    })
}
