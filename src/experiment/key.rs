use super::{Case, Plan, PlannedArm, PlannedData, PlannedMechanism};
use crate::mechanism::WorkloadDependence;
use crate::results::schedule::{Block, BlockArm, BlockCase, hash};
use crate::workload::{SubWorkload, Workload};

/// Counts changes of the program that change numbers or keys; rows of before are then stale.
const EDITION: u32 = 10;

/// The releases of a mechanism on some data that answer these cases, without predictions.
pub(super) fn block(plan: &Plan, data: usize, mechanism: usize, cases: &[usize]) -> Block {
    let (data, mechanism) = (&plan.datasets[data], &plan.mechanisms[mechanism]);
    let arm = |arm: &PlannedArm| BlockArm {
        name: arm.name.clone(),
        hash: hash(&[&arm.name, arm.source.name(), &json(&arm.estimation)]),
        predicted_seconds: 0.0,
    };
    let case = |case: &Case| BlockCase {
        name: case.name.clone(),
        hash: hash(&[&case.name, &describe(&case.workload)]),
    };
    Block {
        dataset: data.name.clone(),
        mechanism: mechanism.label.clone(),
        hash: release_hash(plan, data, &data.cases[cases[0]], mechanism),
        cases: cases.iter().map(|&at| case(&data.cases[at])).collect(),
        arms: mechanism.arms.iter().map(arm).collect(),
    }
}

/// Of all that a release depends on, but for epsilon and trial.
fn release_hash(
    plan: &Plan,
    data: &PlannedData,
    case: &Case,
    mechanism: &PlannedMechanism,
) -> String {
    let experiment = &plan.experiment;
    let asked = match mechanism.workload_dependence {
        WorkloadDependence::Cliques => {
            let domain = case.workload.domain();
            let cliques = case.workload.cliques();
            let names: Vec<String> =
                cliques.iter().map(|clique| domain.names(clique).join(", ")).collect();
            names.join("; ")
        }
        WorkloadDependence::Queries => describe(&case.workload),
    };
    hash(&[
        &EDITION.to_string(),
        experiment.name.as_ref(),
        &experiment.seed.to_string(),
        &data.name,
        &data.fingerprint,
        &asked,
        &format!("{:?}", case.public),
        mechanism.name,
        &mechanism.label,
        &json(&mechanism.parameters),
        &format!("{:?}", mechanism.delta),
        &json(&experiment.neighbours),
        &json(&experiment.noise),
        &json(&experiment.limits),
    ])
}

/// A workload in words: the attributes of each set, `<` behind those that are asked by prefix.
fn describe(workload: &Workload) -> String {
    let domain = workload.domain();
    let part = |part: &SubWorkload| {
        let factors = part.query.factors();
        if factors.len() != part.clique.len() {
            let queries = blake3::hash(format!("{factors:?}").as_bytes()).to_hex();
            return format!("{}: {queries}", domain.names(&part.clique).join(", "));
        }
        let names = part.clique.iter().zip(factors).map(|(id, factor)| {
            format!("{} {} {}", domain.name(id), domain.size(id), factor.name())
        });
        names.collect::<Vec<_>>().join(", ")
    };
    workload.parts().iter().map(part).collect::<Vec<_>>().join("; ")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
