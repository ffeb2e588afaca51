//! Rows and manifests for tests.

use super::manifest::{DatasetFacts, Manifest, NOTICE, configuration_hash};
use super::record::{TraceRecord, TrialRecord};
use super::schedule::{Block, BlockArm, BlockCase, hash};
use crate::config::Source;

/// A trial that is done; its key contains the arguments.
pub(crate) fn row(dataset: &str, mechanism: &str, arm: &str, trial: usize) -> TrialRecord {
    TrialRecord {
        key: format!("{dataset}-{mechanism}-{arm}-{trial}"),
        release: format!("{dataset}-{mechanism}-{trial}"),
        experiment: "test".into(),
        dataset: dataset.into(),
        attributes: 15,
        records: 1000,
        mechanism: mechanism.into(),
        arm: arm.into(),
        epsilon: 1.0,
        trial,
        seed: format!("{trial:x}"),
        workload_error: Some(0.1 + trial as f64 / 3.0),
        l2_loss: Some(1e-300),
        iterations: Some(1000),
        estimate_seconds: Some(0.25),
        junction_tree_cells: Some(1e19),
        message: "a, \"quoted\" word".into(),
        ..TrialRecord::default()
    }
}

/// The manifest of an experiment with the mechanism `hdmm` on these data with these arms, and
/// epsilon 1. Without runs.
pub(crate) fn manifest(datasets: &[&str], arms: &[&str]) -> Manifest {
    let text = format!(
        "name = 'test'\nepsilon = 1\ndatasets = {datasets:?}\n[[mechanism]]\nname = 'hdmm'\n\
         arms = {arms:?}\n"
    );
    let source = Source { path: "test.toml".into(), text };
    let experiment = source.parse().unwrap();
    let facts = |name: &&str| DatasetFacts {
        name: name.to_string(),
        blake3: "00ff".into(),
        records: 1000,
        attributes: 15,
        domain: "2e4".into(),
        queries: 77,
        standin: *name == "loans",
        workload_origin: None,
        table: None,
        predictions: Vec::new(),
        cases: Vec::new(),
    };
    let block = |dataset: &&str| Block {
        dataset: dataset.to_string(),
        mechanism: "hdmm".into(),
        hash: hash(&[dataset]),
        cases: vec![BlockCase { name: String::new(), hash: hash(&["case"]) }],
        arms: arms
            .iter()
            .map(|arm| BlockArm {
                name: arm.to_string(),
                hash: hash(&[arm]),
                predicted_seconds: 0.1,
            })
            .collect(),
    };
    Manifest {
        notice: NOTICE.into(),
        configuration_text: source.text,
        configuration_blake3: configuration_hash(&experiment),
        full_iterations: experiment.most_iterations(),
        experiment,
        datasets: datasets.iter().map(facts).collect(),
        schedule: datasets.iter().map(block).collect(),
        runs: Vec::new(),
    }
}

/// The traces of a row, with these workload errors.
pub(crate) fn traces(row: &TrialRecord, workload_errors: &[f64]) -> Vec<TraceRecord> {
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
