use super::super::chart::{Bar, Category, Chart, Outcome, Panel};
use super::font;
use super::paragraph::wrapped;
use super::reading;
use super::scale::Stretch;
use super::scene::{Anchor, Frame, INK, READABLE, Scene, Text, at, pen, text};
use super::symbols;
use crate::figures::palette::Colour;

/// The share of a category's width that its bars take.
const FILLED: f64 = 0.78;
/// No bar is wider.
const WIDEST: f64 = 34.0;
const MARK_SIZE: f64 = 9.5;
const MARK_LEADING: f64 = 11.5;

/// The series that occur, and with them how wide a bar is in a plot of this width.
fn slots(categories: &[Category], width: f64) -> (Vec<usize>, f64) {
    let mut places: Vec<usize> =
        categories.iter().flat_map(|category| &category.bars).map(|bar| bar.series).collect();
    places.sort_unstable();
    places.dedup();
    let share = width / categories.len().max(1) as f64;
    let slot = (share * FILLED / places.len().max(1) as f64).min(WIDEST);
    (places, slot)
}

/// Whether there is room for reasons in place of bars in a panel of about this width; otherwise
/// they are crosses.
pub(super) fn marks_fit(categories: &[Category], panel_width: f64) -> bool {
    slots(categories, panel_width - 60.0).1 + 2.0 >= MARK_LEADING
}

/// Draws groups of bars. Each series that occurs in the panel has a place in every group, so that
/// a bar which is not there is seen to be not there.
pub(super) fn draw(
    scene: &mut Scene,
    (chart, panel): (&Chart, &Panel),
    categories: &[Category],
    y: &Stretch,
    frame: Frame,
) {
    let (places, width) = slots(categories, frame.width);
    let share = frame.width / categories.len().max(1) as f64;
    for (i, category) in categories.iter().enumerate() {
        let middle = frame.left + share * (i as f64 + 0.5);
        let left = middle - width * places.len() as f64 / 2.0;
        for bar in &category.bars {
            // A bar of a series that the chart does not have is not drawn.
            let Some(series) = chart.series.get(bar.series) else { continue };
            let place = places.partition_point(|&series| series < bar.series);
            let slot = Frame { left: left + width * place as f64, width, ..frame };
            one(scene, bar, series.colour, y, slot);
            if bar.unconverged > 0 {
                mark(scene, bar, y, slot);
            }
            let whose = [panel.title.as_str(), &category.label, &series.name];
            scene.reading(slot, reading::bar(&whose, &panel.y.label, bar));
        }
    }
}

/// Marks a bar as not converged, over its whisker or the symbol of a value that is off the axis.
fn mark(scene: &mut Scene, bar: &Bar, y: &Stretch, slot: Frame) {
    let Some(spread) = bar.outcome.spread() else { return };
    let height = y.fraction(spread.max).map_or(symbols::ZERO_HEIGHT, |top| top * slot.height);
    let tip = at(slot.left + slot.width / 2.0, slot.bottom() - height);
    symbols::unconverged(scene, tip, slot);
}

/// Draws one bar into its slot, which is as high as the plot.
fn one(scene: &mut Scene, bar: &Bar, colour: Colour, y: &Stretch, slot: Frame) {
    let middle = slot.left + slot.width / 2.0;
    let dark = colour.mixed(INK, READABLE);
    let height = |fraction: f64| slot.bottom() - fraction * slot.height;
    match &bar.outcome {
        Outcome::Value(spread) => {
            let Some(value) = y.fraction(spread.median) else {
                return symbols::zero(scene, at(middle, slot.bottom()), colour);
            };
            let base = y.fraction(0.0).unwrap_or(0.0);
            let (top, bottom) = (height(value.max(base)), height(value.min(base)));
            let gap = (0.06 * slot.width).min(1.5);
            let body = Frame {
                left: slot.left + gap,
                top,
                width: slot.width - 2.0 * gap,
                height: bottom - top,
            };
            scene.block(body, colour);
            if spread.min < spread.max {
                let end = |value: f64| at(middle, height(y.fraction(value).unwrap_or(0.0)));
                let cap = (0.36 * slot.width).min(8.0);
                symbols::whisker(scene, end(spread.min), end(spread.max), cap, pen(INK, 1.0));
            }
        }
        Outcome::Mark(reason) => {
            let block = |lines: &[String]| MARK_LEADING * lines.len() as f64;
            // Where there is little room, what follows the colon says enough.
            let short = reason.split_once(": ").map_or(reason.as_str(), |(_, rest)| rest);
            let texts = [reason.as_str(), short].into_iter();
            let mut tries = texts.map(|text| wrapped(text, MARK_SIZE, false, slot.height - 10.0));
            let Some(lines) = tries.find(|lines| block(lines) <= slot.width + 2.0) else {
                return symbols::cross(scene, at(middle, slot.bottom() - 7.0), dark);
            };
            let block = block(&lines);
            let first = middle - block / 2.0 + (MARK_LEADING + MARK_SIZE * font::CAPITAL) / 2.0;
            for (i, line) in lines.into_iter().enumerate() {
                let place = at(first + MARK_LEADING * i as f64, slot.bottom() - 5.0);
                let mark = text(place, line, MARK_SIZE);
                scene.text(Text { turn: 90.0, colour: dark, anchor: Anchor::Start, ..mark });
            }
        }
        Outcome::Missing => symbols::cross(scene, at(middle, slot.bottom() - 7.0), colour),
    }
}
