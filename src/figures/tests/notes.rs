//! What is left out of a picture is said under it.

use super::building::{chart, names};
use super::made_up::{ended, figure_3, figure_3_trials, five, trial, with_sizes};
use crate::figures::Content;
use crate::results::{Status, TraceRecord, TrialRecord};

#[test]
fn traces_of_trials_that_are_not_done_are_left_out() {
    let (mut trials, mut traces) = (figure_3_trials(), figure_3());
    trials[1].status = Status::Timeout;
    let key = trials[1].key.clone();
    for trace in traces.iter_mut().filter(|trace| trace.key == key) {
        trace.l1_loss = 1e30;
    }
    trials.push(ended(trial("adult", "hdmm", "own", 0, 1.0), Status::Infeasible, Some(8e9)));
    let chart = chart("traces", &trials, &traces);
    let Content::Lines { lines, .. } = &chart.panels[0].content else { panic!("no lines") };
    let spreads = || lines.iter().flat_map(|line| &line.points).filter_map(|point| point.y);
    assert!(spreads().all(|spread| spread.max < 1e30));
    assert_eq!(
        chart.notes,
        [
            "No line for own estimator (infeasible: would need 8.0 GB).",
            "Not in the medians: PGM, minimising L1 loss: 1 of 3 trials ran out of time.",
        ]
    );
}

#[test]
fn traces_of_several_cases_are_several_lines() {
    let trials: Vec<TrialRecord> =
        with_sizes().into_iter().filter(|t| t.mechanism == "laplace" && t.epsilon == 1.0).collect();
    let trace = |trial: &TrialRecord| TraceRecord {
        key: trial.key.clone(),
        dataset: trial.dataset.clone(),
        mechanism: trial.mechanism.clone(),
        arm: trial.arm.clone(),
        trial: trial.trial,
        ..figure_3()[0].clone()
    };
    let traces: Vec<TraceRecord> = trials.iter().map(trace).collect();
    let expected = [2, 4, 8].map(|size| format!("ranges of {size}: own estimator"));
    assert_eq!(names(&chart("traces", &trials, &traces)), expected);
}

#[test]
fn an_estimator_that_failed_at_every_size_is_in_a_note() {
    let failed = |row| ended(row, Status::Failed, None);
    let rows: Vec<TrialRecord> =
        five("synthetic", "triples", "lsmr", 1.0).into_iter().map(failed).collect();
    let chart = chart("scaling", &rows, &[]);
    assert_eq!(chart.notes, ["No line for LSMR (failed with 9 attributes)."]);
}

#[test]
fn notes_name_the_row_of_panels_where_there_are_several() {
    let mut rows = with_sizes();
    for row in rows.iter_mut().filter(|row| row.mechanism == "privlet" && row.epsilon == 0.1) {
        *row = ended(row.clone(), Status::Failed, None);
    }
    rows.iter_mut().find(|row| row.epsilon == 1.0).unwrap().status = Status::Timeout;
    assert_eq!(
        chart("sizes", &rows, &[]).notes,
        [
            "No line for Privlet on Nettrace, epsilon = 0.1 (failed).",
            "Not in the medians: Laplace on Nettrace, epsilon = 1: 1 of 15 trials ran out of time.",
        ]
    );
    rows.retain(|row| row.epsilon == 0.1);
    let notes = chart("sizes", &rows, &[]).notes;
    assert_eq!(notes, ["No line for Privlet on Nettrace (failed)."]);
}
