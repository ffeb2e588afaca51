use super::Facts;
use super::chart::Chart;
use super::curves::Grid;
use super::labels::{self, distinct};
use crate::results::{TraceRecord, TrialRecord};

/// Error against the size of the queries: Figure 5.2.2 of KDD 2015. A column of panels per dataset,
/// a row per epsilon.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let grid = Grid {
        column: |trial| labels::dataset(&trial.dataset),
        rows: distinct(trials.iter().map(|trial| trial.epsilon)),
        is_in_row: |trial, epsilon| trial.epsilon == *epsilon,
        row_name: |epsilon| format!("epsilon = {epsilon}"),
        x: &|trial| trial.size.map(|size| size as f64),
        x_label: "size of the range",
        ticks_at_values: false,
    };
    Some(grid.chart(trials, facts))
}
