use serde::{Deserialize, Serialize};

use super::metric::Metric;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    pub kind: FigureKind,
    /// The column to show. Default: `max_error` for `records`, `workload_error` for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Bars by data set, one panel per mechanism.
    Bars,
    /// Error against epsilon.
    Epsilon,
    /// Time against the number of attributes.
    Scaling,
    /// Error against the size of queries, one row of panels per epsilon.
    Sizes,
    /// Bars by case, one panel per data set.
    Cases,
    /// Error against the number of records.
    Records,
    /// Rounds used against the limit of rounds.
    Rounds,
    /// Losses and error over the iterations.
    Traces,
    /// Ratios of two arms' errors next to those of the claims, one panel per mechanism.
    Ratios,
    /// Text only.
    Table,
}

impl FigureKind {
    /// The name in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            FigureKind::Bars => "bars",
            FigureKind::Epsilon => "epsilon",
            FigureKind::Scaling => "scaling",
            FigureKind::Sizes => "sizes",
            FigureKind::Cases => "cases",
            FigureKind::Records => "records",
            FigureKind::Rounds => "rounds",
            FigureKind::Traces => "traces",
            FigureKind::Ratios => "ratios",
            FigureKind::Table => "table",
        }
    }
}
