use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// How results are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The kind of figure.
    pub kind: FigureKind,
    /// The column that it shows; unless told, `max_error` for records and `workload_error` for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Bars by data set, a panel for each mechanism.
    Bars,
    /// Error against epsilon.
    Epsilon,
    /// Time against the number of attributes.
    Scaling,
    /// Error against the size of queries, a row of panels for each epsilon.
    Sizes,
    /// Bars by case, a panel for each data set.
    Cases,
    /// Error against the number of records.
    Records,
    /// Rounds that were used against those that there could have been.
    Rounds,
    /// Losses and error over the iterations.
    Traces,
    /// Text only.
    Table,
}

impl FigureKind {
    /// As it is written.
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
            FigureKind::Table => "table",
        }
    }
}
