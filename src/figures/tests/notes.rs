//! Notes under figures.

use super::building::{chart, names};
use super::synthetic::{
    ended, figure_2a, figure_2b, figure_3, figure_3_trials, five, trial, with_sizes,
};
use crate::figures::{Chart, Content, Panel, Size, svg};
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
    assert!(spreads().all(|spread| spread.high < 1e30));
    assert_eq!(
        chart.notes,
        [
            "No line for own estimator (infeasible: would need 8.0 GB).",
            "Left out: PGM, minimising L1 loss: 1 of 3 trials ran out of time.",
        ]
    );
}

/// The same trial with a certified gap of `share` of its loss.
fn certified(row: TrialRecord, share: f64) -> TrialRecord {
    TrialRecord { loss: Some(1000.0), gap: Some(1000.0 * share), ..row }
}

/// Per bar or point, the number of estimates that have not converged.
fn unconverged(chart: &Chart) -> Vec<usize> {
    let of_panel = |panel: &Panel| -> Vec<usize> {
        match &panel.content {
            Content::Bars { categories, .. } => {
                categories.iter().flat_map(|c| &c.bars).map(|bar| bar.unconverged).collect()
            }
            Content::Lines { lines, .. } => {
                lines.iter().flat_map(|l| &l.points).map(|point| point.unconverged).collect()
            }
        }
    };
    chart.panels.iter().flat_map(of_panel).collect()
}

const NOTE: &str = "\u{2020} not converged: the loss is not certified to be within 1 % of the \
                    smallest possible one, so that more iterations may change the estimate.";

#[test]
fn bars_of_unconverged_estimates_have_a_dagger_that_a_note_explains() {
    let mut rows = five("adult", "hdmm", "lls", 0.3);
    let near = five("adult", "hdmm", "mw", 0.2).into_iter().map(|row| certified(row, 0.001));
    rows.extend(near);
    let far = five("adult", "hdmm", "pgm", 0.1).into_iter().enumerate();
    rows.extend(far.map(|(i, row)| certified(row, if i < 2 { 0.5 } else { 0.001 })));
    for kind in ["bars", "cases"] {
        let chart = chart(kind, &rows, &[]);
        assert_eq!(unconverged(&chart), [0, 0, 2], "{kind}");
        assert_eq!(chart.notes, [NOTE], "{kind}");
        for width in [640.0, 317.0] {
            let svg = svg(&chart, Size::of_width(&chart, width));
            assert_eq!(svg.matches(">\u{2020}</text>").count(), 1, "{kind}");
            assert!(svg.contains("(5 trials, 2 of them not converged)"), "{kind}");
        }
    }
    rows.retain(|row| row.arm != "pgm");
    let chart = chart("bars", &rows, &[]);
    assert!(chart.notes.is_empty() && !svg(&chart, Size::natural(&chart)).contains('\u{2020}'));
}

#[test]
fn points_and_ends_of_traces_of_unconverged_estimates_have_a_dagger() {
    let far_at = |epsilon: f64| if epsilon == 10.0 { 0.5 } else { 0.001 };
    let rows: Vec<TrialRecord> = figure_2a()
        .into_iter()
        .map(|row| if row.arm == "pgm" { certified(row.clone(), far_at(row.epsilon)) } else { row })
        .collect();
    let lines = chart("epsilon", &rows, &[]);
    assert_eq!(unconverged(&lines), [0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
    assert!(lines.notes.contains(&NOTE.to_string()), "{:?}", lines.notes);
    assert_eq!(svg(&lines, Size::natural(&lines)).matches(">\u{2020}</text>").count(), 1);

    let trials: Vec<TrialRecord> =
        figure_3_trials().into_iter().map(|row| certified(row, 0.5)).collect();
    let traces = chart("traces", &trials, &figure_3());
    for panel in &traces.panels {
        let Content::Lines { lines, .. } = &panel.content else { panic!("no lines") };
        for line in lines {
            let (last, before) = line.points.split_last().unwrap();
            assert!(last.unconverged > 0 && before.iter().all(|point| point.unconverged == 0));
        }
    }
    assert!(traces.notes.contains(&NOTE.to_string()), "{:?}", traces.notes);
}

#[test]
fn seconds_per_iteration_have_no_dagger() {
    let rows: Vec<TrialRecord> = figure_2b().into_iter().map(|row| certified(row, 0.5)).collect();
    let chart = chart("scaling", &rows, &[]);
    assert!(unconverged(&chart).iter().all(|&count| count == 0) && chart.notes.is_empty());
}

#[test]
fn each_case_of_a_trace_has_its_own_line() {
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
fn an_estimator_that_failed_at_every_size_is_listed_in_a_note() {
    let failed = |row| ended(row, Status::Failed, None);
    let rows: Vec<TrialRecord> =
        five("synthetic", "triples", "lsmr", 1.0).into_iter().map(failed).collect();
    let chart = chart("scaling", &rows, &[]);
    assert_eq!(chart.notes, ["No line for LSMR (failed with 9 attributes)."]);
}

#[test]
fn notes_name_the_row_of_panels_if_there_are_several() {
    let mut rows = with_sizes();
    for row in rows.iter_mut().filter(|row| row.mechanism == "privlet" && row.epsilon == 0.1) {
        *row = ended(row.clone(), Status::Failed, None);
    }
    rows.iter_mut().find(|row| row.epsilon == 1.0).unwrap().status = Status::Timeout;
    assert_eq!(
        chart("sizes", &rows, &[]).notes,
        [
            "No line for Privlet on Nettrace, epsilon = 0.1 (failed).",
            "Left out: Laplace on Nettrace, epsilon = 1: 1 of 15 trials ran out of time.",
        ]
    );
    rows.retain(|row| row.epsilon == 0.1);
    let notes = chart("sizes", &rows, &[]).notes;
    assert_eq!(notes, ["No line for Privlet on Nettrace (failed)."]);
}
