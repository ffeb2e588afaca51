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

use crate::results::{TraceRecord, TrialRecord};

/// A kind of figure.
pub struct Figure {
    /// How a configuration names it.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// Its chart, or nothing for a kind that has no picture. Never fails: without records that it
    /// could show, the chart has no panels.
    pub chart: fn(&[TrialRecord], &[TraceRecord], &Facts) -> Option<Chart>,
}

/// All kinds of figures.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "bars",
        about: "Error of each estimator, in groups by data, a panel for each mechanism.",
        chart: bars::chart,
    },
    Figure {
        name: "epsilon",
        about: "Error against epsilon, a column of panels for each data, a row for each case.",
        chart: epsilon::chart,
    },
    Figure {
        name: "sizes",
        about: "Error against the size of queries, a column of panels for each data, a row for each epsilon.",
        chart: sizes::chart,
    },
    Figure {
        name: "cases",
        about: "Error by kind of query, a bar for each mechanism and estimator, a panel for each data and epsilon.",
        chart: cases::chart,
    },
    Figure {
        name: "records",
        about: "Error against the number of records, a column of panels for each number of attributes, a row for each epsilon; with the bound of the mechanism's theory.",
        chart: records::chart,
    },
    Figure {
        name: "rounds",
        about: "Rounds that a mechanism used against those that there could have been, a line for each data.",
        chart: rounds::chart,
    },
    Figure {
        name: "scaling",
        about: "Seconds per iteration against the number of attributes, a line for each estimator.",
        chart: scaling::chart,
    },
    Figure {
        name: "traces",
        about: "L1 loss, L2 loss and workload error over the iterations of each estimator.",
        chart: traces::chart,
    },
    Figure {
        name: "table",
        about: "No picture: the experiment's numbers are read as a table.",
        chart: table::chart,
    },
];

/// The kind with this name.
pub fn figure(name: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|figure| figure.name == name)
}
