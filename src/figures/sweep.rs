use std::collections::BTreeMap;

use super::Facts;
use super::chart::Chart;
use super::curves::Grid;
use super::labels::{self, distinct};
use crate::config::Sweep;
use crate::results::{TraceRecord, TrialRecord};

/// Error against the values of the sweep, a column of panels per dataset, a row per epsilon. What
/// is not swept has no line.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let sweep = facts.sweep.as_ref()?;
    let (mut values, mut swept) = (BTreeMap::new(), Vec::new());
    for trial in trials {
        let mut trial = trial.clone();
        if let Some(value) = take_value(sweep, &mut trial) {
            values.insert(trial.key.clone(), value);
            swept.push(trial);
        }
    }
    let epsilons = distinct(swept.iter().map(|trial| trial.epsilon));
    let several = epsilons.len() > 1;
    let grid = Grid {
        column: |trial| labels::dataset(&trial.dataset),
        rows: epsilons,
        is_in_row: |trial, epsilon| trial.epsilon == *epsilon,
        row_name: match several {
            true => |epsilon| format!("epsilon = {epsilon}"),
            false => |_| String::new(),
        },
        x: &|trial| values.get(&trial.key).copied(),
        x_label: sweep.parameter.as_ref(),
        ticks_at_values: true,
    };
    Some(grid.chart(&swept, facts))
}

/// The value of the row, whose names lose it.
fn take_value(sweep: &Sweep, trial: &mut TrialRecord) -> Option<f64> {
    for name in [&mut trial.dataset, &mut trial.mechanism, &mut trial.arm] {
        if let Some((base, value)) = sweep.base_of(name) {
            *name = base.to_string();
            return Some(value);
        }
    }
    None
}
