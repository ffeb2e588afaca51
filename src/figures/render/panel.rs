use super::super::chart::{Axis, Chart, Content, Panel};
use super::bars;
use super::font;
use super::lines::{Plot, x_range};
use super::paragraph::wrapped;
use super::scale::{AxisRange, Tick};
use super::scene::{
    AXIS, Anchor, FINE_GRID, Frame, GRID, INK, Position, SOFT, Scene, Text, at, pen, text,
};

pub(super) const TICK_SIZE: f64 = 10.5;
const LABEL_SIZE: f64 = 11.0;
const TITLE_SIZE: f64 = 12.5;
const TITLE_LEADING: f64 = 16.0;
/// The angle of labels that are too long to be horizontal, in degrees.
const SLANT: f64 = 35.0;

/// Space for labels next to and below a plot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margins {
    pub(super) left: f64,
    pub(super) below: f64,
}

/// The height of a panel's title above a plot of this width.
pub(super) fn title_height(panel: &Panel, width: f64) -> f64 {
    match title_lines(panel, width).len() {
        0 => 10.0,
        lines => TITLE_SIZE + 18.0 + TITLE_LEADING * (lines - 1) as f64,
    }
}

fn title_lines(panel: &Panel, width: f64) -> Vec<String> {
    wrapped(&panel.title, TITLE_SIZE, true, width)
}

/// The space for the labels of a panel whose plot is about as large as `plot`.
pub(super) fn margins(panel: &Panel, y: &AxisRange, plot: Frame, labelled: bool) -> Margins {
    let widest = |labels: &mut dyn Iterator<Item = String>| {
        labels.map(|label| font::width(&label, TICK_SIZE, false)).fold(0.0, f64::max)
    };
    let ticks = y.ticks(&panel.y, max_vertical_ticks(plot));
    let label = if panel.y.label.is_empty() { 0.0 } else { LABEL_SIZE + 9.0 };
    let left = match labelled {
        true => widest(&mut ticks.into_iter().map(|tick| tick.label)) + 9.0 + label,
        false => 0.0,
    };
    let (labels_height, axis_label) = match &panel.content {
        Content::Bars { label, categories } => {
            let names = || categories.iter().map(|category| category.label.clone());
            let height = match needs_slant(names(), plot.width) {
                true => widest(&mut names()) * SLANT.to_radians().sin() + TICK_SIZE,
                false => TICK_SIZE,
            };
            (height, label)
        }
        Content::Lines { x, .. } => (TICK_SIZE, &x.label),
    };
    let axis_label = if axis_label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 };
    Margins { left, below: labels_height + 10.0 + axis_label + 8.0 }
}

/// Draws a panel with its plot in `frame`.
pub(super) fn draw(
    scene: &mut Scene,
    chart: &Chart,
    panel: &Panel,
    y: &AxisRange,
    frame: Frame,
    labelled: bool,
) {
    for (i, line) in title_lines(panel, frame.width).into_iter().rev().enumerate() {
        let baseline = frame.top - 9.0 - TITLE_LEADING * i as f64;
        scene.text(Text { bold: true, ..text(at(frame.left, baseline), line, TITLE_SIZE) });
    }
    vertical_axis(scene, panel, y, frame, labelled);
    match &panel.content {
        Content::Bars { label, categories } => {
            bars::draw(scene, (chart, panel), categories, y, frame);
            let names: Vec<&str> = categories.iter().map(|c| c.label.as_str()).collect();
            category_axis(scene, &names, frame);
            horizontal_label(scene, label, frame);
        }
        Content::Lines { x, lines, ranges } => {
            let range = x_range(x, lines);
            let ticks = horizontal_ticks(&range, x, frame.width);
            horizontal_axis(scene, &ticks, frame);
            let plot = Plot { chart, panel, x_label: &x.label, x: &range, y, frame };
            plot.draw(scene, lines, *ranges);
            horizontal_label(scene, &x.label, frame);
        }
    }
}

/// The approximate number of labels that fit next to a plot.
fn max_vertical_ticks(plot: Frame) -> usize {
    (plot.height / 30.0) as usize
}

fn vertical_axis(scene: &mut Scene, panel: &Panel, y: &AxisRange, frame: Frame, labelled: bool) {
    let mut widest: f64 = 0.0;
    let mut ticks = y.ticks(&panel.y, max_vertical_ticks(frame));
    ticks.sort_by_key(|tick| !tick.label.is_empty());
    for tick in ticks {
        let height = frame.bottom() - tick.fraction * frame.height;
        let colour = if tick.label.is_empty() { FINE_GRID } else { GRID };
        scene.line(at(frame.left, height), at(frame.right(), height), pen(colour, 1.0));
        if labelled && !tick.label.is_empty() {
            widest = widest.max(font::width(&tick.label, TICK_SIZE, false));
            let place = at(frame.left - 7.0, height + TICK_SIZE * font::CAPITAL / 2.0);
            let label = text(place, tick.label, TICK_SIZE);
            scene.text(Text { anchor: Anchor::End, colour: SOFT, ..label });
        }
    }
    if labelled && !panel.y.label.is_empty() {
        let place = at(frame.left - widest - 16.0, frame.top + frame.height / 2.0);
        let label = text(place, panel.y.label.as_str(), LABEL_SIZE);
        scene.text(Text { anchor: Anchor::Middle, turn: 90.0, ..label });
    }
}

/// As many ticks as possible without overlapping labels.
fn horizontal_ticks(range: &AxisRange, axis: &Axis, width: f64) -> Vec<Tick> {
    let fits = |ticks: &[Tick]| {
        let mut end = f64::NEG_INFINITY;
        let mut labelled: Vec<&Tick> = ticks.iter().filter(|tick| !tick.label.is_empty()).collect();
        labelled.sort_by(|a, b| a.fraction.total_cmp(&b.fraction));
        labelled.into_iter().all(|tick| {
            let half = font::width(&tick.label, TICK_SIZE, false) / 2.0;
            let (start, before) = (tick.fraction * width - half, end);
            end = start + 2.0 * half + 8.0;
            start >= before
        })
    };
    let tries = (2..=16).rev().map(|most| range.ticks(axis, most));
    tries.into_iter().find(|ticks| fits(ticks)).unwrap_or_default()
}

fn horizontal_axis(scene: &mut Scene, ticks: &[Tick], frame: Frame) {
    let bottom = frame.bottom();
    for tick in ticks {
        let x = frame.left + tick.fraction * frame.width;
        if tick.label.is_empty() {
            scene.line(at(x, bottom), at(x, bottom + 3.0), pen(AXIS, 0.7));
            continue;
        }
        scene.line(at(x, frame.top), at(x, bottom), pen(GRID, 1.0));
        let label = text(at(x, bottom + 7.0 + TICK_SIZE), tick.label.as_str(), TICK_SIZE);
        scene.text(Text { anchor: Anchor::Middle, colour: SOFT, ..label });
    }
    scene.line(at(frame.left, bottom), at(frame.right(), bottom), pen(AXIS, 1.0));
}

fn category_axis(scene: &mut Scene, names: &[&str], frame: Frame) {
    let bottom = frame.bottom();
    scene.line(at(frame.left, bottom), at(frame.right(), bottom), pen(AXIS, 1.0));
    let slanted = needs_slant(names.iter().map(|name| name.to_string()), frame.width);
    for (i, name) in names.iter().enumerate() {
        let x = frame.left + frame.width * (i as f64 + 0.5) / names.len() as f64;
        let (place, anchor, turn): (Position, Anchor, f64) = match slanted {
            true => (at(x + 4.0, bottom + 13.0), Anchor::End, SLANT),
            false => (at(x, bottom + 8.0 + TICK_SIZE), Anchor::Middle, 0.0),
        };
        scene.text(Text { anchor, turn, colour: INK, ..text(place, *name, TICK_SIZE) });
    }
}

/// Whether some name is wider than its share of the axis.
fn needs_slant(names: impl ExactSizeIterator<Item = String>, width: f64) -> bool {
    let share = width / names.len().max(1) as f64;
    names.into_iter().any(|name| font::width(&name, TICK_SIZE, false) > share - 6.0)
}

fn horizontal_label(scene: &mut Scene, label: &str, frame: Frame) {
    if !label.is_empty() {
        let place = at(frame.left + frame.width / 2.0, frame.bottom() + TICK_SIZE + 26.0);
        scene.text(Text { anchor: Anchor::Middle, ..text(place, label, LABEL_SIZE) });
    }
}
