use super::super::chart::Series;
use super::super::palette::Colour;
use super::font;
use super::scene::{Anchor, Frame, INK, Pen, Position, Scene, Text, WHITE, at, pen, text};
use crate::config::Emphasis;
use crate::results::UNCONVERGED_MARK;

/// Solid, dashed, dotted, dash and dot.
const DASHES: [&[f64]; 4] = [&[], &[6.0, 3.0], &[2.0, 2.5], &[7.0, 2.5, 2.0, 2.5]];
const RADIUS: f64 = 3.4;
/// The height of the symbol of a value that is off the axis.
pub(super) const ZERO_HEIGHT: f64 = 7.5;
const DAGGER_SIZE: f64 = 11.0;

pub(super) fn line_pen(series: &Series) -> Pen {
    let width = 1.8 * weight(series);
    Pen { colour: series.colour, width, dashes: DASHES[series.style % DASHES.len()] }
}

/// The width of its lines and the size of its markers, relative to those of a normal series.
pub(super) fn weight(series: &Series) -> f64 {
    match series.emphasis {
        Emphasis::Extra => 0.6,
        Emphasis::Normal => 1.0,
        Emphasis::Main => 1.7,
    }
}

/// The marker of a series: a disc, a square, a triangle or a diamond.
pub(super) fn point(scene: &mut Scene, place: Position, series: &Series) {
    let Position { x, y } = place;
    let r = RADIUS * weight(series).sqrt();
    let corners = match series.style % 4 {
        0 => return scene.disc(place, r, series.colour),
        1 => [(-r, -r), (r, -r), (r, r), (-r, r)].map(|(dx, dy)| at(x + 0.9 * dx, y + 0.9 * dy)),
        2 => [(0.0, -1.25 * r), (1.2 * r, r), (-1.2 * r, r), (-1.2 * r, r)]
            .map(|(dx, dy)| at(x + dx, y + dy)),
        _ => [(0.0, -1.3 * r), (1.3 * r, 0.0), (0.0, 1.3 * r), (-1.3 * r, 0.0)]
            .map(|(dx, dy)| at(x + dx, y + dy)),
    };
    scene.area(corners.to_vec(), series.colour, 1.0);
}

/// A hollow triangle that points down, for a value that is not positive on a logarithmic axis.
/// `place` is at the low end of the axis.
pub(super) fn zero(scene: &mut Scene, place: Position, colour: Colour) {
    let Position { x, y } = place;
    let top = y - ZERO_HEIGHT;
    let (left, right, tip) = (at(x - 3.6, top), at(x + 3.6, top), at(x, y - 1.5));
    scene.area(vec![left, right, tip], WHITE, 1.0);
    scene.polyline(vec![left, right, tip, left], pen(colour, 1.3));
}

/// Marks a missing value.
pub(super) fn cross(scene: &mut Scene, place: Position, colour: Colour) {
    let Position { x, y } = place;
    let r = 3.0;
    scene.line(at(x - r, y - r), at(x + r, y + r), pen(colour, 1.5));
    scene.line(at(x - r, y + r), at(x + r, y - r), pen(colour, 1.5));
}

/// Marks an estimate that has not converged, above `place` but inside of the plot.
pub(super) fn dagger(scene: &mut Scene, place: Position, plot: Frame) {
    let baseline = (place.y - 3.0).max(plot.top + DAGGER_SIZE * font::CAPITAL);
    let mark = text(at(place.x, baseline), UNCONVERGED_MARK, DAGGER_SIZE);
    scene.text(Text { anchor: Anchor::Middle, colour: INK, halo: true, ..mark });
}

/// Arrowheads at the ends of a whisker that the axis cuts, low and high; `end` is the place of a
/// value on the axis.
pub(super) fn clipped_ends(
    scene: &mut Scene,
    cuts: [bool; 2],
    end: impl Fn(f64) -> Position,
    colour: Colour,
) {
    for (cut, value, height) in [(cuts[0], f64::MIN, -5.0), (cuts[1], f64::MAX, 5.0)] {
        if cut {
            clipped(scene, end(value), height, colour);
        }
    }
}

/// An arrowhead with its tip at `tip`; its base is `height` below.
pub(super) fn clipped(scene: &mut Scene, tip: Position, height: f64, colour: Colour) {
    let base = tip.y + height;
    scene.area(vec![tip, at(tip.x - 3.0, base), at(tip.x + 3.0, base)], colour, 1.0);
}

/// A vertical line with a horizontal cap of width `cap` at each end.
pub(super) fn whisker(scene: &mut Scene, low: Position, high: Position, cap: f64, pen: Pen) {
    scene.line(low, high, pen);
    for end in [low, high] {
        scene.line(at(end.x - cap / 2.0, end.y), at(end.x + cap / 2.0, end.y), pen);
    }
}
