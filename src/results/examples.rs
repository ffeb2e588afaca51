//! Rows for tests.

use super::record::{Status, TraceRecord, TrialRecord};

/// A trial that is done; its key says which one it is.
pub(super) fn row(dataset: &str, mechanism: &str, arm: &str, trial: usize) -> TrialRecord {
    TrialRecord {
        key: format!("{dataset}-{mechanism}-{arm}-{trial}"),
        experiment: "test".into(),
        dataset: dataset.into(),
        standin: false,
        attributes: 15,
        records: 1000,
        case: String::new(),
        size: None,
        mechanism: mechanism.into(),
        arm: arm.into(),
        epsilon: 1.0,
        delta: 0.0,
        trial,
        seed: format!("{trial:x}"),
        status: Status::Done,
        phase: String::new(),
        workload_error: Some(0.1 + trial as f64 / 3.0),
        mean_squared_error: None,
        max_error: None,
        error_bound: None,
        measurement_error: None,
        l1_loss: None,
        l2_loss: Some(1e-300),
        loss: None,
        gap: None,
        rounds: None,
        round_limit: None,
        iterations: Some(1000),
        select_seconds: None,
        measure_seconds: None,
        estimate_seconds: Some(0.25),
        evaluate_seconds: None,
        seconds_per_iteration: None,
        junction_tree_cells: Some(1e19),
        peak_bytes: None,
        message: "a, \"quoted\" word".into(),
    }
}

/// The traces of a row, with these workload errors.
pub(super) fn traces(row: &TrialRecord, workload_errors: &[f64]) -> Vec<TraceRecord> {
    let trace = |(iteration, &workload_error)| TraceRecord {
        key: row.key.clone(),
        dataset: row.dataset.clone(),
        mechanism: row.mechanism.clone(),
        arm: row.arm.clone(),
        epsilon: row.epsilon,
        trial: row.trial,
        iteration,
        seconds: 0.5,
        l1_loss: 2.0,
        l2_loss: 3.0,
        workload_error,
    };
    workload_errors.iter().enumerate().map(trace).collect()
}
