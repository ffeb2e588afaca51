use super::super::chart::{Axis, Chart, Line, Panel, Point, Ranges};
use super::super::numbers::number;
use super::font;
use super::paragraph::wrapped;
use super::placing::{Obstacles, place_label};
use super::reading;
use super::scale::Stretch;
use super::scene::{At, Frame, INK, Pen, READABLE, Scene, Text, at, pen, text};
use super::symbols;
use crate::results::Spread;

const END_SIZE: f64 = 10.0;
const END_LEADING: f64 = 13.0;
/// End marks are broken into lines of at most this length, and this share of the plot.
const END_ROOM: (f64, f64) = (250.0, 0.6);
/// Lines with more points have no markers at them.
const MOST_MARKERS: usize = 25;
/// From a point to the mark of an estimate that has not converged.
const MARK_DISTANCE: f64 = 3.0;
/// The side of the area around a point that tells its value.
const READING: f64 = 14.0;

/// Whether a line's points are marked.
pub(super) fn has_markers(line: &Line) -> bool {
    line.points.len() <= MOST_MARKERS
}

/// The x axis of a panel's lines.
pub(super) fn horizontal_stretch(x: &Axis, lines: &[Line]) -> Stretch {
    let points = lines.iter().flat_map(|line| &line.points);
    Stretch::around(points.map(|point| point.x).chain(x.ticks.iter().copied()), x.scale, false)
}

/// Draws curves: ranges below, then lines, then the reasons why they end.
pub(super) fn draw(
    scene: &mut Scene,
    (chart, panel): (&Chart, &Panel),
    (horizontal, lines): (&Axis, &[Line]),
    ranges: Ranges,
    (x, y): (&Stretch, &Stretch),
    frame: Frame,
) {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.series < chart.series.len()).collect();
    let plot = Plot { x, y, frame };
    for line in &lines {
        let colour = chart.series[line.series].colour;
        for run in plot.runs(line) {
            match ranges {
                Ranges::Bands => {
                    let highs = run.iter().map(|&(x, spread)| at(x, plot.height(spread.max)));
                    let lows = run.iter().rev().map(|&(x, spread)| at(x, plot.height(spread.min)));
                    scene.area(highs.chain(lows).collect(), colour, 0.16);
                }
                Ranges::Whiskers => {
                    for &(x, spread) in run.iter().filter(|(_, spread)| spread.min < spread.max) {
                        let (low, high) = (plot.height(spread.min), plot.height(spread.max));
                        scene.line(at(x, low), at(x, high), pen(colour, 1.5));
                    }
                }
            }
        }
    }
    let mut obstacles = Obstacles::new(frame);
    for line in &lines {
        let series = &chart.series[line.series];
        for run in plot.runs(line) {
            let curve: Vec<At> = run.iter().map(|&(x, s)| at(x, plot.height(s.median))).collect();
            obstacles.curve(&curve);
            scene.polyline(curve.clone(), symbols::line_pen(series));
            if has_markers(line) || curve.len() == 1 {
                curve.iter().for_each(|&place| symbols::point(scene, place, series));
            }
        }
        for point in &line.points {
            let Some(across) = plot.across(point) else { continue };
            match point.y {
                None => symbols::cross(scene, at(across, frame.bottom() - 6.0), series.colour),
                Some(spread) if y.fraction(spread.median).is_none() => {
                    symbols::zero(scene, at(across, frame.bottom()), series.colour);
                }
                Some(_) => {}
            }
        }
    }
    for line in &lines {
        let name = &chart.series[line.series].name;
        // Where points are close together each has its share of the way.
        let share = frame.width / line.points.len().max(1) as f64;
        let side = READING.min(share.max(2.0));
        for point in &line.points {
            let (Some(across), Some(spread)) = (plot.across(point), point.y) else { continue };
            if !spread.median.is_finite() {
                continue;
            }
            let area = Frame {
                left: across - side / 2.0,
                top: plot.height(spread.median) - READING / 2.0,
                width: side,
                height: READING,
            };
            let place = format!("{} {}", horizontal.label, number(point.x, 6));
            let whose = [panel.title.as_str(), name, place.trim()];
            scene.reading(area, reading::value(&whose, &panel.y.label, &spread, point.unconverged));
        }
    }
    for point in lines.iter().flat_map(|line| &line.points).filter(|point| point.unconverged > 0) {
        if let (Some(across), Some(spread)) = (plot.across(point), point.y) {
            let over = at(across, plot.height(spread.median) - MARK_DISTANCE);
            symbols::unconverged(scene, over, frame);
        }
    }
    for line in lines {
        let (Some(end), Some(run)) = (&line.end, plot.runs(line).pop()) else { continue };
        let Some(&(x, spread)) = run.last() else { continue };
        let colour = chart.series[line.series].colour.mixed(INK, READABLE);
        end_mark(scene, end, at(x, plot.height(spread.median)), pen(colour, 1.0), &mut obstacles);
    }
}

/// Writes why a line ends beside its last point.
fn end_mark(scene: &mut Scene, reason: &str, tip: At, pen: Pen, obstacles: &mut Obstacles) {
    let room = END_ROOM.0.min(END_ROOM.1 * obstacles.plot().width);
    let lines = wrapped(reason, END_SIZE, false, room);
    let width = lines.iter().map(|line| font::width(line, END_SIZE, false)).fold(0.0, f64::max);
    let height = END_LEADING * lines.len() as f64;
    let place = place_label(tip, width, height, obstacles);
    for (i, line) in lines.into_iter().enumerate() {
        let baseline = at(place.left, place.top + END_LEADING * i as f64 + END_SIZE);
        scene.text(Text { colour: pen.colour, halo: true, ..text(baseline, line, END_SIZE) });
    }
}

/// Where values are.
struct Plot<'a> {
    x: &'a Stretch,
    y: &'a Stretch,
    frame: Frame,
}

impl Plot<'_> {
    fn across(&self, point: &Point) -> Option<f64> {
        Some(self.frame.left + self.x.fraction(point.x)? * self.frame.width)
    }

    /// What the axis cannot show is at its low end.
    fn height(&self, value: f64) -> f64 {
        self.frame.bottom() - self.y.fraction(value).unwrap_or(0.0) * self.frame.height
    }

    /// The pieces of a line between points without a value that can be shown.
    fn runs(&self, line: &Line) -> Vec<Vec<(f64, Spread)>> {
        let shown = |point: &Point| {
            let spread = point.y.filter(|spread| self.y.fraction(spread.median).is_some())?;
            Some((self.across(point)?, spread))
        };
        let places: Vec<Option<(f64, Spread)>> = line.points.iter().map(shown).collect();
        let runs = places.split(Option::is_none).filter(|run| !run.is_empty());
        runs.map(|run| run.iter().copied().flatten().collect()).collect()
    }
}
