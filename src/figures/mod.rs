//! Figures of results.
//!
//! A [`Figure`] turns records into a [`Chart`], which is data only; one renderer draws any chart
//! as SVG and as PNG ([`svg`], [`png()`], [`write()`]). The font is embedded, so the same
//! chart gives the same bytes on every machine.
//!
//! A figure depends on records only: it can be redrawn without running anything again. Medians and
//! means are over trials that are done; notes under the panels list what is left out.

mod bars;
mod cases;
mod chart;
mod curves;
mod epsilon;
mod error;
mod facts;
pub mod labels;
mod numbers;
mod overlap;
mod palette;
mod rates;
mod ratios;
mod records;
mod render;
mod rounds;
mod scaling;
mod sizes;
mod sweep;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod traces;

pub use chart::{
    Axis, Bar, Category, Chart, Content, Line, Outcome, Panel, Point, Ranges, Scale, Series, Shown,
};
pub use error::FigureError;
pub use facts::{Facts, chart_of};
pub use palette::Colour;
pub use ratios::shows_ratios;
pub use render::{PIXELS_PER_UNIT, Size, pdf, png, svg, write};

use crate::config::FigureKind;
use crate::results::{TraceRecord, TrialRecord};

pub struct Figure {
    pub kind: FigureKind,
    /// One sentence.
    pub about: &'static str,
    /// `None` for a kind without a picture. Without records to show, the chart has no panels.
    pub chart: fn(&[TrialRecord], &[TraceRecord], &Facts) -> Option<Chart>,
}

pub const FIGURES: &[Figure] = &[
    Figure {
        kind: FigureKind::Bars,
        about: "Error of each estimator, grouped by dataset, a panel per mechanism.",
        chart: bars::chart,
    },
    Figure {
        kind: FigureKind::Epsilon,
        about: "Error against epsilon, a column of panels per dataset, a row per case.",
        chart: epsilon::chart,
    },
    Figure {
        kind: FigureKind::Sizes,
        about: "Error against the size of queries, a column of panels per dataset, a row per \
                epsilon.",
        chart: sizes::chart,
    },
    Figure {
        kind: FigureKind::Cases,
        about: "Error by kind of query, a bar per mechanism and estimator, a panel per dataset \
                and epsilon.",
        chart: cases::chart,
    },
    Figure {
        kind: FigureKind::Records,
        about: "Error against the number of records, with the mechanism's theoretical bound, a \
                column of panels per number of attributes, a row per epsilon.",
        chart: records::chart,
    },
    Figure {
        kind: FigureKind::Rounds,
        about: "Rounds that a mechanism used against the number planned, a line per dataset.",
        chart: rounds::chart,
    },
    Figure {
        kind: FigureKind::Sweep,
        about: "Error against the values of the sweep, a column of panels per dataset, a row per \
                epsilon.",
        chart: sweep::chart,
    },
    Figure {
        kind: FigureKind::Scaling,
        about: "Seconds per iteration against the number of attributes, a line per estimator.",
        chart: scaling::chart,
    },
    Figure {
        kind: FigureKind::Traces,
        about: "L1 loss, L2 loss and workload error over the iterations of each estimator.",
        chart: traces::chart,
    },
    Figure {
        kind: FigureKind::Rates,
        about: "Losses above their minimum over the iterations of each estimator, beside powers of \
                the number of iterations.",
        chart: rates::chart,
    },
    Figure {
        kind: FigureKind::Ratios,
        about: "Ratios of two estimators' errors next to the numbers of the claims, a panel per \
                mechanism.",
        chart: ratios::chart,
    },
    Figure {
        kind: FigureKind::Table,
        about: "No picture: the results are a table.",
        chart: table::chart,
    },
];

pub fn figure(kind: FigureKind) -> &'static Figure {
    // A test checks that every kind is listed.
    FIGURES.iter().find(|figure| figure.kind == kind).unwrap_or(&FIGURES[0])
}
