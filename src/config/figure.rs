use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metric::Metric;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    pub kind: FigureKind,
    /// The column to show. Default: `max_error` for `records`, `workload_error` for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    pub statistic: Statistic,
    /// How arms are shown, by `mechanism/arm`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arms: BTreeMap<String, ArmStyle>,
}

/// What a bar or a point says of several trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// With whiskers from the smallest to the largest value.
    #[default]
    Median,
    /// With whiskers of one standard error to either side.
    Mean,
}

/// How an arm is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArmStyle {
    /// In the legend. Default: from the names of mechanism and arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub emphasis: Emphasis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emphasis {
    /// Not in the paper: thin, below the others.
    Extra,
    #[default]
    Normal,
    /// What the figure is about: wide, above the others.
    Main,
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
    /// Error against the values of the sweep.
    Sweep,
    /// Losses and error over the iterations.
    Traces,
    /// Losses above their minimum over the iterations.
    Rates,
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
            FigureKind::Sweep => "sweep",
            FigureKind::Traces => "traces",
            FigureKind::Rates => "rates",
            FigureKind::Ratios => "ratios",
            FigureKind::Table => "table",
        }
    }
}
