//! Pictures of results.
//!
//! A [`Figure`] turns records into a [`Chart`], which is data only; one renderer draws any chart
//! as SVG and as PNG ([`svg`], [`png()`], [`write()`]). The font travels inside the program, so the
//! same chart gives the same bytes on every machine.
//!
//! A figure reads records and nothing else: it is redrawn without running anything again. Only
//! arms that are done enter medians; whatever is left out is said in a note under the picture.

mod bars;
mod cases;
mod chart;
mod curves;
mod epsilon;
mod error;
mod facts;
pub mod labels;
mod numbers;
mod palette;
mod records;
mod render;
mod rounds;
mod scaling;
mod sizes;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod traces;

pub use chart::{
    Axis, Bar, Category, Chart, Content, Line, Outcome, Panel, Point, Ranges, Scale, Series,
};
pub use error::FigureError;
pub use facts::{Facts, chart_of};
pub use palette::Colour;
pub use render::{PIXELS_PER_UNIT, Size, png, svg, write};

use crate::config::FigureKind;
use crate::results::{TraceRecord, TrialRecord};

/// A kind of figure.
pub struct Figure {
    /// How a configuration names it.
    pub kind: FigureKind,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// Its chart, or nothing for a kind that has no picture. Never fails: without records that it
    /// could show, the chart has no panels.
    pub chart: fn(&[TrialRecord], &[TraceRecord], &Facts) -> Option<Chart>,
}

/// All kinds of figures.
pub const FIGURES: &[Figure] = &[
    Figure {
        kind: FigureKind::Bars,
        about: "Error of each estimator, in groups by data, a panel for each mechanism.",
        chart: bars::chart,
    },
    Figure {
        kind: FigureKind::Epsilon,
        about: "Error against epsilon, a column of panels for each data, a row for each case.",
        chart: epsilon::chart,
    },
    Figure {
        kind: FigureKind::Sizes,
        about: "Error against the size of queries, a column of panels for each data, a row for each epsilon.",
        chart: sizes::chart,
    },
    Figure {
        kind: FigureKind::Cases,
        about: "Error by kind of query, a bar for each mechanism and estimator, a panel for each data and epsilon.",
        chart: cases::chart,
    },
    Figure {
        kind: FigureKind::Records,
        about: "Error against the number of records, a column of panels for each number of attributes, a row for each epsilon; with the bound of the mechanism's theory.",
        chart: records::chart,
    },
    Figure {
        kind: FigureKind::Rounds,
        about: "Rounds that a mechanism used against those that there could have been, a line for each data.",
        chart: rounds::chart,
    },
    Figure {
        kind: FigureKind::Scaling,
        about: "Seconds per iteration against the number of attributes, a line for each estimator.",
        chart: scaling::chart,
    },
    Figure {
        kind: FigureKind::Traces,
        about: "L1 loss, L2 loss and workload error over the iterations of each estimator.",
        chart: traces::chart,
    },
    Figure {
        kind: FigureKind::Table,
        about: "No picture: the experiment's numbers are read as a table.",
        chart: table::chart,
    },
];

/// What draws figures of this kind.
pub fn figure(kind: FigureKind) -> &'static Figure {
    // A test sees to it that every kind is listed.
    FIGURES.iter().find(|figure| figure.kind == kind).unwrap_or(&FIGURES[0])
}
