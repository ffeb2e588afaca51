use super::super::chart::{Bar, Category, Chart, Outcome, Panel, Shown};
use super::font;
use super::paragraph::wrapped;
use super::reading;
use super::scale::AxisRange;
use super::scene::{Frame, INK, READABLE, Scene, Text, at, pen, text};
use super::symbols;
use crate::figures::palette::Colour;

/// The share of a category's width that its bars fill.
const FILLED: f64 = 0.78;
const MAX_BAR_WIDTH: f64 = 34.0;
const REASON_SIZE: f64 = 9.5;
const REASON_LEADING: f64 = 11.5;

/// The series that occur, in ascending order, and the width of a bar in a plot of this width.
fn slots(categories: &[Category], width: f64) -> (Vec<usize>, f64) {
    let mut present: Vec<usize> =
        categories.iter().flat_map(|category| &category.bars).map(|bar| bar.series).collect();
    present.sort_unstable();
    present.dedup();
    let share = width / categories.len().max(1) as f64;
    let slot = (share * FILLED / present.len().max(1) as f64).min(MAX_BAR_WIDTH);
    (present, slot)
}

/// Whether reasons in place of bars are legible in a panel of about this width; otherwise crosses
/// replace them.
pub(super) fn reasons_fit(categories: &[Category], panel_width: f64) -> bool {
    slots(categories, panel_width - 60.0).1 + 2.0 >= REASON_LEADING
}

/// Draws groups of bars. Each series of the panel has a slot in every group, so that a missing bar
/// leaves a gap.
pub(super) fn draw(
    scene: &mut Scene,
    (chart, panel): (&Chart, &Panel),
    categories: &[Category],
    y: &AxisRange,
    frame: Frame,
) {
    let (present, width) = slots(categories, frame.width);
    let share = frame.width / categories.len().max(1) as f64;
    for (i, category) in categories.iter().enumerate() {
        let middle = frame.left + share * (i as f64 + 0.5);
        let left = middle - width * present.len() as f64 / 2.0;
        for bar in &category.bars {
            // Bars of a series that the chart does not have are skipped.
            let Some(series) = chart.series.get(bar.series) else { continue };
            let index = present.partition_point(|&series| series < bar.series);
            let slot = Frame { left: left + width * index as f64, width, ..frame };
            draw_bar(scene, bar, series.colour, y, slot);
            let names = [panel.title.as_str(), &category.label, &series.name];
            scene.reading(slot, reading::bar(&names, &panel.y.label, bar));
        }
    }
}

/// Draws a bar with its dagger into its slot, which is as high as the plot.
fn draw_bar(scene: &mut Scene, bar: &Bar, colour: Colour, y: &AxisRange, slot: Frame) {
    let near_bottom = at(slot.left + slot.width / 2.0, slot.bottom() - 7.0);
    match &bar.outcome {
        Outcome::Value(shown) => {
            draw_value(scene, shown, colour, y, slot);
            if bar.unconverged > 0 {
                draw_dagger(scene, shown, y, slot);
            }
        }
        Outcome::Failure(reason) => draw_reason(scene, reason, colour.mixed(INK, READABLE), slot),
        Outcome::Missing => symbols::cross(scene, near_bottom, colour),
    }
}

fn draw_value(scene: &mut Scene, shown: &Shown, colour: Colour, y: &AxisRange, slot: Frame) {
    let middle = slot.left + slot.width / 2.0;
    let Some(value) = y.fraction(shown.value) else {
        return symbols::zero(scene, at(middle, slot.bottom()), colour);
    };
    let y_of = |fraction: f64| slot.bottom() - fraction * slot.height;
    let base = y.fraction(0.0).unwrap_or(0.0);
    let (top, bottom) = (y_of(value.max(base)), y_of(value.min(base)));
    let gap = (0.06 * slot.width).min(1.5);
    let (left, width) = (slot.left + gap, slot.width - 2.0 * gap);
    scene.rectangle(Frame { left, top, width, height: bottom - top }, colour);
    if shown.low < shown.high {
        let end = |value: f64| at(middle, y_of(y.fraction(value).unwrap_or(0.0)));
        let cap = (0.36 * slot.width).min(8.0);
        symbols::whisker(scene, end(shown.low), end(shown.high), cap, pen(INK, 1.0));
        symbols::clipped_ends(scene, y.cuts(shown), end, INK);
    }
}

/// Above the whisker, or above the symbol of a value that is off the axis.
fn draw_dagger(scene: &mut Scene, shown: &Shown, y: &AxisRange, slot: Frame) {
    let height = y.fraction(shown.high).map_or(symbols::ZERO_HEIGHT, |top| top * slot.height);
    let tip = at(slot.left + slot.width / 2.0, slot.bottom() - height);
    symbols::dagger(scene, tip, slot);
}

/// Writes upwards why there is no bar: in full, or what follows the colon, or a cross, whichever
/// fits first.
fn draw_reason(scene: &mut Scene, reason: &str, colour: Colour, slot: Frame) {
    let middle = slot.left + slot.width / 2.0;
    let width = |lines: &[String]| REASON_LEADING * lines.len() as f64;
    let short = reason.split_once(": ").map_or(reason, |(_, rest)| rest);
    let mut candidates = [reason, short]
        .into_iter()
        .map(|text| wrapped(text, REASON_SIZE, false, slot.height - 10.0));
    let Some(lines) = candidates.find(|lines| width(lines) <= slot.width + 2.0) else {
        return symbols::cross(scene, at(middle, slot.bottom() - 7.0), colour);
    };
    let cap_height = REASON_SIZE * font::CAPITAL;
    let first = middle - width(&lines) / 2.0 + (REASON_LEADING + cap_height) / 2.0;
    for (i, line) in lines.into_iter().enumerate() {
        let place = at(first + REASON_LEADING * i as f64, slot.bottom() - 5.0);
        scene.text(Text { turn: 90.0, colour, ..text(place, line, REASON_SIZE) });
    }
}
