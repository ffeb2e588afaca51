//! Positions of title, legend, panels in a grid, and notes.
//!
//! All plots have the same size: what remains after all labels have their space.

use super::super::chart::{Chart, Content, Panel, Scale, Shown};
use super::Size;
use super::legend;
use super::panel::{self, Margins};
use super::paragraph::wrapped;
use super::scale::AxisRange;
use super::scene::{Anchor, FAINT, Frame, INK, SOFT, Scene, Text, at, text};
use crate::figures::palette::Colour;

const MARGIN: f64 = 22.0;
/// Right of each plot: half of a tick label extends into it.
const GAP: f64 = 26.0;
/// How far whiskers extend a logarithmic axis. Our choice: a whisker that ends near 0 would take
/// most of the axis.
const MAX_WHISKER: f64 = 10.0;
/// The minimum width and height of a plot, whatever the size of the picture.
const MIN_PLOT: f64 = 24.0;
/// The minimum width of a column of panels; narrower pictures have fewer columns.
const MIN_COLUMN: f64 = 220.0;
/// Below this width, the picture is for a paper's column or a phone.
const NARROW: f64 = 480.0;

/// A paragraph of the header or the footer.
struct Paragraph {
    content: String,
    size: f64,
    bold: bool,
    colour: Colour,
    space_above: f64,
}

impl Paragraph {
    fn lines(&self, width: f64) -> Vec<String> {
        wrapped(&self.content, self.size, self.bold, width)
    }

    fn leading(&self) -> f64 {
        self.size * 1.4
    }

    fn height(&self, width: f64) -> f64 {
        match self.lines(width).len() {
            0 => 0.0,
            count => self.space_above + self.leading() * count as f64,
        }
    }
}

fn paragraph(content: &str, size: f64, colour: Colour, space_above: f64) -> Paragraph {
    Paragraph { content: content.into(), size, bold: false, colour, space_above }
}

fn header(chart: &Chart) -> [Paragraph; 2] {
    let title = Paragraph { bold: true, ..paragraph(&chart.title, 16.0, INK, 0.0) };
    [title, paragraph(&chart.subtitle, 11.5, SOFT, 3.0)]
}

fn footer(chart: &Chart, width: f64) -> Vec<Paragraph> {
    let notice = match chart.notice.split_once(':') {
        Some((short, _)) if width < NARROW => format!("{short}."),
        _ => chart.notice.clone(),
    };
    let notes = chart.notes.iter().chain([&notice]);
    let notes = notes.map(|note| paragraph(note, 10.0, SOFT, 3.0));
    notes.chain([paragraph(&chart.footnote, 9.0, FAINT, 6.0)]).collect()
}

/// The heights above and below the panels in a picture of this width.
fn reserved_heights(chart: &Chart, width: f64) -> (f64, f64) {
    let inner = width - 2.0 * MARGIN;
    let legend = match legend::height(chart, inner) {
        0.0 => 0.0,
        height => height + 8.0,
    };
    let head: f64 = header(chart).iter().map(|paragraph| paragraph.height(inner)).sum();
    let foot: f64 = footer(chart, width).iter().map(|paragraph| paragraph.height(inner)).sum();
    (MARGIN + head + legend + 8.0, foot + MARGIN)
}

/// The default width, by the number of columns and bars.
pub(super) fn natural_width(chart: &Chart) -> f64 {
    let columns = grid(chart, f64::INFINITY).0;
    let width = match columns {
        1 => 640.0,
        2 => 900.0,
        3 => 1020.0,
        more => 300.0 * more as f64,
    };
    let widest = chart.panels.iter().map(|panel| match &panel.content {
        Content::Bars { categories, .. } => {
            let bars: usize = categories.iter().map(|category| category.bars.len().max(1)).sum();
            10.0 * bars as f64 + 20.0 * categories.len() as f64 + 60.0
        }
        Content::Lines { .. } => 0.0,
    });
    widest.fold(width, |width, panel| width.max(panel * columns as f64))
}

/// The default height at this width.
pub(super) fn natural_height(chart: &Chart, width: f64) -> f64 {
    let (columns, rows) = grid(chart, width - 2.0 * MARGIN);
    let row = match (columns, rows) {
        (_, 0) => 80.0,
        _ if width < NARROW && rows > 2 => 180.0,
        _ if width < NARROW => 235.0,
        (1, 1) => 370.0,
        (_, 1) => 300.0,
        _ => 255.0,
    };
    // The height of a row includes a title of one line.
    let plot = estimated_plot_width(width - 2.0 * MARGIN, columns);
    let one_line = title_heights(chart, columns, f64::INFINITY);
    let longer =
        title_heights(chart, columns, plot).iter().sum::<f64>() - one_line.iter().sum::<f64>();
    let (above, below) = reserved_heights(chart, width);
    above + row * rows.max(1) as f64 + longer + below
}

/// The approximate width of a plot, before the widths of labels are known.
fn estimated_plot_width(inner: f64, columns: usize) -> f64 {
    (inner / columns as f64 - 60.0).max(MIN_PLOT)
}

/// The height of the panel titles of each row above plots of this width.
fn title_heights(chart: &Chart, columns: usize, width: f64) -> Vec<f64> {
    let row = |panels: &[Panel]| {
        panels.iter().map(|panel| panel::title_height(panel, width)).fold(0.0, f64::max)
    };
    chart.panels.chunks(columns).map(row).collect()
}

/// Columns and rows of panels; `inner` is the width of the picture without its margins.
pub(super) fn grid(chart: &Chart, inner: f64) -> (usize, usize) {
    let room = (inner / MIN_COLUMN).clamp(1.0, chart.panels.len().max(1) as f64) as usize;
    let columns = chart.columns.clamp(1, room);
    (columns, chart.panels.len().div_ceil(columns))
}

pub(super) fn scene(chart: &Chart, size: Size) -> Scene {
    let (width, height) = (size.width(), size.height());
    let mut scene = Scene { width, height, shapes: Vec::new() };
    let inner = width - 2.0 * MARGIN;
    let (above, below) = reserved_heights(chart, width);

    let mut top = paragraphs(&mut scene, &header(chart), MARGIN, inner);
    top += 8.0;
    legend::draw(&mut scene, chart, at(MARGIN, top), inner);
    paragraphs(&mut scene, &footer(chart, width), height - below, inner);

    let area = Frame { left: MARGIN, top: above, width: inner, height: height - above - below };
    match chart.panels.is_empty() {
        true => scene.text(Text {
            anchor: Anchor::Middle,
            colour: FAINT,
            ..text(at(width / 2.0, area.top + area.height / 2.0), "no results yet", 12.0)
        }),
        false => panels(&mut scene, chart, area),
    }
    scene
}

/// Draws paragraphs from `top` downwards. Returns the bottom of the last.
fn paragraphs(scene: &mut Scene, list: &[Paragraph], mut top: f64, width: f64) -> f64 {
    for paragraph in list {
        let lines = paragraph.lines(width);
        top += if lines.is_empty() { 0.0 } else { paragraph.space_above };
        for line in lines {
            let baseline = at(MARGIN, top + paragraph.size);
            let (bold, colour) = (paragraph.bold, paragraph.colour);
            scene.text(Text { bold, colour, ..text(baseline, line, paragraph.size) });
            top += paragraph.leading();
        }
    }
    top
}

fn panels(scene: &mut Scene, chart: &Chart, area: Frame) {
    let (columns, rows) = grid(chart, area.width);
    let ranges = y_ranges(chart);
    let labelled = |i: usize| !chart.shares_y || i.is_multiple_of(columns);

    // Margins and plot size depend on each other. An approximate plot size suffices, because it
    // affects only the number of ticks and the slant of labels.
    let guess = Frame {
        left: 0.0,
        top: 0.0,
        width: estimated_plot_width(area.width, columns),
        height: (area.height / rows as f64 - 60.0).max(MIN_PLOT),
    };
    let margins: Vec<Margins> = chart
        .panels
        .iter()
        .zip(&ranges)
        .enumerate()
        .map(|(i, (panel, y))| panel::margins(panel, y, guess, labelled(i)))
        .collect();
    let largest = |of: fn(&Margins) -> f64, picked: &dyn Fn(usize) -> bool| {
        let picked = margins.iter().enumerate().filter(|(i, _)| picked(*i));
        picked.map(|(_, margins)| of(margins)).fold(0.0, f64::max)
    };
    let left: Vec<f64> =
        (0..columns).map(|c| largest(|margins| margins.left, &|i| i % columns == c)).collect();
    let below: Vec<f64> =
        (0..rows).map(|r| largest(|margins| margins.below, &|i| i / columns == r)).collect();

    let taken = left.iter().sum::<f64>() + GAP * columns as f64 - MARGIN / 2.0;
    let width = ((area.width - taken) / columns as f64).max(MIN_PLOT);
    let above = title_heights(chart, columns, width);
    let taken: f64 = above.iter().chain(&below).sum();
    let height = ((area.height - taken) / rows as f64).max(MIN_PLOT);
    for (i, (panel, y)) in chart.panels.iter().zip(&ranges).enumerate() {
        let (row, column) = (i / columns, i % columns);
        let frame = Frame {
            left: area.left + left[..=column].iter().sum::<f64>() + column as f64 * (width + GAP),
            top: area.top
                + above[..=row].iter().sum::<f64>()
                + below[..row].iter().sum::<f64>()
                + row as f64 * height,
            width,
            height,
        };
        panel::draw(scene, chart, panel, y, frame, labelled(i));
    }
}

/// The y axes of the panels. They contain all values. On a logarithmic axis whiskers are cut where
/// they extend beyond the values by more than a factor of [`MAX_WHISKER`].
fn y_ranges(chart: &Chart) -> Vec<AxisRange> {
    let own = chart.panels.iter().map(|panel| {
        let shown: Vec<&Shown> = match chart.shares_y {
            true => chart.panels.iter().flat_map(all_shown).collect(),
            false => all_shown(panel),
        };
        let mut ends: Vec<f64> = shown.iter().map(|shown| shown.value).collect();
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        if panel.y.scale == Scale::Log {
            let positive = || ends.iter().copied().filter(|&value| value > 0.0);
            low = positive().reduce(f64::min).map_or(low, |least| least / MAX_WHISKER);
            high = positive().reduce(f64::max).map_or(high, |most| most * MAX_WHISKER);
        }
        ends.extend(shown.iter().flat_map(|shown| [shown.low.max(low), shown.high.min(high)]));
        let is_bars = matches!(panel.content, Content::Bars { .. });
        AxisRange::around(ends, panel.y.scale, is_bars)
    });
    own.collect()
}

/// Whether some whisker extends beyond its axis.
pub(super) fn cuts_whiskers(chart: &Chart) -> bool {
    let mut panels = chart.panels.iter().zip(y_ranges(chart));
    panels.any(|(panel, y)| all_shown(panel).iter().any(|shown| y.cuts(shown) != [false; 2]))
}

fn all_shown(panel: &Panel) -> Vec<&Shown> {
    match &panel.content {
        Content::Bars { categories, .. } => {
            let bars = categories.iter().flat_map(|category| &category.bars);
            bars.filter_map(|bar| bar.outcome.shown()).collect()
        }
        Content::Lines { lines, .. } => {
            let points = lines.iter().flat_map(|line| &line.points);
            points.filter_map(|point| point.y.as_ref()).collect()
        }
    }
}
