use super::palette::Colour;
use crate::config::{Emphasis, Metric, Statistic};
use crate::results::Spread;

/// A figure as data: what is drawn, not how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub title: String,
    pub subtitle: String,
    /// One legend for all panels, which refer to its entries by index.
    pub series: Vec<Series>,
    /// Row by row.
    pub panels: Vec<Panel>,
    /// The number of panels per row, if the figure is wide enough.
    pub columns: usize,
    /// Whether all panels have the same y axis, labelled in the first column only.
    pub shares_y: bool,
    /// Sentences under the panels: explanations of marks, and what the figure leaves out.
    pub notes: Vec<String>,
    /// What the figure may not be used for, after the notes. Narrow figures end at its first colon.
    pub notice: String,
    /// Where the numbers come from, in small print.
    pub footnote: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Shown in the legend.
    pub name: String,
    pub colour: Colour,
    /// Dashes and markers of its lines, counted from 0 (solid, discs); repeats after the last one.
    pub style: usize,
    /// The width of its lines.
    pub emphasis: Emphasis,
}

/// What a bar or a point shows of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    pub value: f64,
    /// The ends of the whisker.
    pub low: f64,
    pub high: f64,
    /// Of values.
    pub count: usize,
    pub statistic: Statistic,
}

impl Shown {
    /// The median and the range, or the mean and a standard error to either side.
    pub fn of(spread: &Spread, statistic: Statistic) -> Self {
        let count = spread.count;
        match (statistic, spread.mean) {
            (Statistic::Mean, Some(mean)) => {
                let error = mean.standard_error.unwrap_or(0.0);
                let (low, high) = (mean.value - error, mean.value + error);
                Self { value: mean.value, low, high, count, statistic }
            }
            _ => {
                let Spread { median: value, min: low, max: high, .. } = *spread;
                Self { value, low, high, count, statistic: Statistic::Median }
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// May be empty.
    pub title: String,
    pub y: Axis,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// May be empty.
    pub label: String,
    pub scale: Scale,
    /// Values with a labelled tick. If empty, round numbers have one.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// A logarithmic axis, labelled at round numbers.
    pub(super) fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ticks: Vec::new() }
    }

    /// The axis of a metric: linear for a part of a whole, otherwise logarithmic.
    pub(super) fn of(metric: Metric) -> Self {
        let scale = if metric.is_about_error_bars() { Scale::Linear } else { Scale::Log };
        Self { label: metric.label(), scale, ticks: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// A value that is not positive is shown as a symbol at the low end.
    Log,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Bars {
        /// Of the category axis; may be empty.
        label: String,
        /// Groups of bars, from left to right.
        categories: Vec<Category>,
    },
    Lines {
        x: Axis,
        /// Later lines are drawn on top of earlier ones.
        lines: Vec<Line>,
        ranges: Ranges,
    },
}

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    pub label: String,
    /// At most one bar per series; drawn in the order of the series.
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Index into [`Chart::series`].
    pub series: usize,
    pub outcome: Outcome,
    /// The number of its estimates that have not converged; above 0, a dagger marks the bar.
    pub unconverged: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Value(Shown),
    /// Why there is no value, written in place of the bar.
    Failure(String),
    /// No value for an unknown reason, shown as a cross.
    Missing,
}

impl Outcome {
    pub(super) fn shown(&self) -> Option<&Shown> {
        match self {
            Outcome::Value(shown) => Some(shown),
            Outcome::Failure(_) | Outcome::Missing => None,
        }
    }
}

/// How the whiskers' ends are shown along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// A shaded band: for many points.
    Bands,
    /// A whisker at each point: for few points.
    Whiskers,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Index into [`Chart::series`].
    pub series: usize,
    /// From left to right.
    pub points: Vec<Point>,
    /// Why the line does not continue, written next to its last point.
    pub end: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    /// `None` interrupts the line and is shown as a cross.
    pub y: Option<Shown>,
    /// The number of its estimates that have not converged; above 0, a dagger marks the point.
    pub unconverged: usize,
}

impl Panel {
    /// Whether some bar or point has a dagger.
    pub(super) fn has_unconverged(&self) -> bool {
        match &self.content {
            Content::Bars { categories, .. } => {
                let mut bars = categories.iter().flat_map(|category| &category.bars);
                bars.any(|bar| bar.unconverged > 0 && bar.outcome.shown().is_some())
            }
            Content::Lines { lines, .. } => {
                let mut points = lines.iter().flat_map(|line| &line.points);
                points.any(|point| point.unconverged > 0 && point.y.is_some())
            }
        }
    }
}
