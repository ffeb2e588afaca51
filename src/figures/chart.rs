use super::palette::Colour;
use crate::results::Spread;

/// A figure as data: what is drawn, not how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The headline.
    pub title: String,
    /// A line beneath it.
    pub subtitle: String,
    /// What the legend lists, once for all panels, which refer to it by index.
    pub series: Vec<Series>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side.
    pub columns: usize,
    /// Whether all panels have the same y axis, labelled in the first column only.
    pub shares_y: bool,
    /// Sentences under the picture that a reader needs to read it rightly.
    pub notes: Vec<String>,
    /// Where the numbers come from, in small print.
    pub footnote: String,
}

/// What bars or lines of one look stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Which dashes and markers its lines have, counted from 0 (solid, dots); any number will do.
    pub style: usize,
}

/// One coordinate system.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What sets it apart from the other panels; may be empty.
    pub title: String,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub content: Content,
}

/// An axis of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures; may be empty.
    pub label: String,
    /// How numbers become lengths.
    pub scale: Scale,
    /// Where it is labelled. When empty, at round numbers.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// A logarithmic axis, labelled at round numbers.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ticks: Vec::new() }
    }

    /// A linear axis, labelled at round numbers.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, ticks: Vec::new() }
    }
}

/// How numbers become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long. Values that are not positive get a marker at the low end.
    Log,
}

/// What a panel shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Groups of bars.
    Bars {
        /// What the groups are; may be empty.
        label: String,
        /// The groups, from left to right.
        categories: Vec<Category>,
    },
    /// Curves.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// The curves; later ones are on top.
        lines: Vec<Line>,
        /// How the range around a value is shown.
        ranges: Ranges,
    },
}

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// The name under the group.
    pub label: String,
    /// At most one bar for each series; drawn in the order of the series.
    pub bars: Vec<Bar>,
}

/// A bar, or what stands in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Index into [`Chart::series`].
    pub series: usize,
    /// What became of it.
    pub outcome: Outcome,
    /// How many of its estimates have not converged; a dagger marks the bar if there are any.
    pub unconverged: usize,
}

/// What a bar has to show.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A number.
    Value(Spread),
    /// The reason why there is none, written where the bar would be.
    Mark(String),
    /// No number and no reason: a cross.
    Missing,
}

impl Outcome {
    /// The number, where there is one.
    pub fn spread(&self) -> Option<&Spread> {
        match self {
            Outcome::Value(spread) => Some(spread),
            Outcome::Mark(_) | Outcome::Missing => None,
        }
    }
}

/// How the ranges of a panel's lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// A shade along the line: for many points.
    Bands,
    /// A whisker at each point: for few.
    Whiskers,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Index into [`Chart::series`].
    pub series: usize,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// Why it ends where it does.
    pub end: Option<String>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// The value there; none interrupts the line and leaves a cross.
    pub y: Option<Spread>,
    /// How many of its estimates have not converged; a dagger marks the point if there are any.
    pub unconverged: usize,
}

impl Panel {
    /// Whether something in it is marked as not converged.
    pub(super) fn has_unconverged(&self) -> bool {
        match &self.content {
            Content::Bars { categories, .. } => {
                let mut bars = categories.iter().flat_map(|category| &category.bars);
                bars.any(|bar| bar.unconverged > 0 && bar.outcome.spread().is_some())
            }
            Content::Lines { lines, .. } => {
                let mut points = lines.iter().flat_map(|line| &line.points);
                points.any(|point| point.unconverged > 0 && point.y.is_some())
            }
        }
    }
}
