use super::Facts;
use super::chart::Chart;
use super::curves::Grid;
use super::labels::{self, distinct};
use crate::results::{TraceRecord, TrialRecord};

/// Error against epsilon: Figure 2a of ICML 2019, Figures 5.1.1, 5.2.1 and 5.3.1 of KDD 2015. A
/// column of panels per dataset, a row per case.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let grid = Grid {
        column: |trial| labels::dataset(&trial.dataset),
        rows: distinct(trials.iter().map(|trial| trial.case.clone())),
        is_in_row: |trial, case| trial.case == *case,
        row_name: |case| case.clone(),
        x: &|trial| Some(trial.epsilon),
        x_label: "epsilon",
        ticks_at_values: true,
    };
    Some(grid.chart(trials, facts))
}
