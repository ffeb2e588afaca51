use super::super::chart::{Axis, Chart, Line, Panel, Point, Ranges, Shown};
use super::super::numbers::number;
use super::font;
use super::paragraph::wrapped;
use super::placing::{Obstacles, place_label};
use super::reading;
use super::scale::AxisRange;
use super::scene::{Frame, INK, Position, READABLE, Scene, Text, at, pen, text};
use super::symbols;
use crate::config::Emphasis;

const END_SIZE: f64 = 10.0;
const END_LEADING: f64 = 13.0;
/// The maximum width of the text at the end of a line, in units and as a share of the plot.
const END_WIDTH: (f64, f64) = (250.0, 0.6);
/// Lines with more points have no markers.
const MAX_MARKERS: usize = 25;
/// Between a point and its dagger.
const DAGGER_DISTANCE: f64 = 3.0;
/// The side of the square around a point that shows its value on hovering.
const READING: f64 = 14.0;

/// Between neighbouring series of a figure with extra arms.
const SHIFT: f64 = 1.5;

pub(super) fn has_markers(line: &Line) -> bool {
    line.points.len() <= MAX_MARKERS
}

pub(super) fn x_range(x: &Axis, lines: &[Line]) -> AxisRange {
    let points = lines.iter().flat_map(|line| &line.points);
    AxisRange::around(points.map(|point| point.x).chain(x.ticks.iter().copied()), x.scale, false)
}

/// The coordinate system of a panel with lines.
pub(super) struct Plot<'a> {
    pub(super) chart: &'a Chart,
    pub(super) panel: &'a Panel,
    pub(super) x_label: &'a str,
    pub(super) x: &'a AxisRange,
    pub(super) y: &'a AxisRange,
    pub(super) frame: Frame,
}

impl Plot<'_> {
    /// Draws from bottom to top: ranges, lines, hover areas, daggers, reasons why lines end. Lines
    /// of a series that the chart does not have are skipped.
    pub(super) fn draw(&self, scene: &mut Scene, lines: &[Line], ranges: Ranges) {
        let has_series = |line: &&Line| line.series < self.chart.series.len();
        let lines: Vec<&Line> = lines.iter().filter(has_series).collect();
        for line in &lines {
            self.draw_ranges(scene, line, ranges);
        }
        let mut obstacles = Obstacles::new(self.frame);
        for line in &lines {
            self.draw_line(scene, line, &mut obstacles);
        }
        for line in &lines {
            self.add_readings(scene, line);
        }
        for line in &lines {
            self.draw_daggers(scene, line);
        }
        for line in lines {
            self.draw_end(scene, line, &mut obstacles);
        }
    }

    fn draw_ranges(&self, scene: &mut Scene, line: &Line, ranges: Ranges) {
        let series = &self.chart.series[line.series];
        let (colour, weight) = (series.colour, symbols::weight(series));
        for run in self.runs(line) {
            match ranges {
                Ranges::Bands => {
                    let highs = run.iter().map(|&(x, shown)| at(x, self.y_of(shown.high)));
                    let lows = run.iter().rev().map(|&(x, shown)| at(x, self.y_of(shown.low)));
                    scene.area(highs.chain(lows).collect(), colour, 0.16);
                }
                Ranges::Whiskers => {
                    for &(x, shown) in run.iter().filter(|(_, shown)| shown.low < shown.high) {
                        let (low, high) = (self.y_of(shown.low), self.y_of(shown.high));
                        scene.line(at(x, low), at(x, high), pen(colour, 1.5 * weight));
                        let end = |value: f64| at(x, self.y_of(value));
                        symbols::clipped_ends(scene, self.y.cuts(&shown), end, colour);
                    }
                }
            }
        }
    }

    fn draw_line(&self, scene: &mut Scene, line: &Line, obstacles: &mut Obstacles) {
        let series = &self.chart.series[line.series];
        for run in self.runs(line) {
            let curve: Vec<Position> =
                run.iter().map(|&(x, shown)| at(x, self.y_of(shown.value))).collect();
            obstacles.curve(&curve);
            scene.polyline(curve.clone(), symbols::line_pen(series));
            if has_markers(line) || curve.len() == 1 {
                curve.iter().for_each(|&place| symbols::point(scene, place, series));
            }
        }
        for point in &line.points {
            let Some(x) = self.x_of(line, point) else { continue };
            let bottom = self.frame.bottom();
            match point.y {
                None => symbols::cross(scene, at(x, bottom - 6.0), series.colour),
                Some(shown) if self.y.fraction(shown.value).is_none() => {
                    symbols::zero(scene, at(x, bottom), series.colour);
                }
                Some(_) => {}
            }
        }
    }

    fn add_readings(&self, scene: &mut Scene, line: &Line) {
        let name = &self.chart.series[line.series].name;
        // Areas of points that are close together are narrower, so that they do not overlap.
        let share = self.frame.width / line.points.len().max(1) as f64;
        let width = READING.min(share.max(2.0));
        for point in &line.points {
            let (Some(x), Some(shown)) = (self.x_of(line, point), point.y) else { continue };
            if !shown.value.is_finite() {
                continue;
            }
            let area = Frame {
                left: x - width / 2.0,
                top: self.y_of(shown.value) - READING / 2.0,
                width,
                height: READING,
            };
            let place = format!("{} {}", self.x_label, number(point.x, 6));
            let names = [self.panel.title.as_str(), name, place.trim()];
            let content = reading::value(&names, &self.panel.y.label, &shown, point.unconverged);
            scene.reading(area, content);
        }
    }

    fn draw_daggers(&self, scene: &mut Scene, line: &Line) {
        for point in line.points.iter().filter(|point| point.unconverged > 0) {
            if let (Some(x), Some(shown)) = (self.x_of(line, point), point.y) {
                let over = at(x, self.y_of(shown.value) - DAGGER_DISTANCE);
                symbols::dagger(scene, over, self.frame);
            }
        }
    }

    fn draw_end(&self, scene: &mut Scene, line: &Line, obstacles: &mut Obstacles) {
        let (Some(reason), Some(run)) = (&line.end, self.runs(line).pop()) else { return };
        let Some(&(x, shown)) = run.last() else { return };
        let colour = self.chart.series[line.series].colour.mixed(INK, READABLE);
        let max_width = END_WIDTH.0.min(END_WIDTH.1 * self.frame.width);
        let lines = wrapped(reason, END_SIZE, false, max_width);
        let width = lines.iter().map(|line| font::width(line, END_SIZE, false)).fold(0.0, f64::max);
        let height = END_LEADING * lines.len() as f64;
        let place = place_label(at(x, self.y_of(shown.value)), width, height, obstacles);
        for (i, line) in lines.into_iter().enumerate() {
            let baseline = at(place.left, place.top + END_LEADING * i as f64 + END_SIZE);
            scene.text(Text { colour, halo: true, ..text(baseline, line, END_SIZE) });
        }
    }

    /// Lines of a figure with extra arms are moved against each other, so that arms with the same
    /// values, and their whiskers, do not cover each other.
    fn x_of(&self, line: &Line, point: &Point) -> Option<f64> {
        let series = &self.chart.series;
        let shift = match series.iter().any(|series| series.emphasis == Emphasis::Extra) {
            true => SHIFT * (line.series as f64 - (series.len() - 1) as f64 / 2.0),
            false => 0.0,
        };
        Some(self.frame.left + self.x.fraction(point.x)? * self.frame.width + shift)
    }

    /// The low end of the axis for a value that the axis cannot show.
    fn y_of(&self, value: f64) -> f64 {
        self.frame.bottom() - self.y.fraction(value).unwrap_or(0.0) * self.frame.height
    }

    /// The pieces of a line between points without a value on the axis.
    fn runs(&self, line: &Line) -> Vec<Vec<(f64, Shown)>> {
        let shown = |point: &Point| {
            let shown = point.y.filter(|shown| self.y.fraction(shown.value).is_some())?;
            Some((self.x_of(line, point)?, shown))
        };
        let places: Vec<Option<(f64, Shown)>> = line.points.iter().map(shown).collect();
        let runs = places.split(Option::is_none).filter(|run| !run.is_empty());
        runs.map(|run| run.iter().copied().flatten().collect()).collect()
    }
}
