use super::{Case, Plan, PlannedArm, PlannedData, PlannedMechanism};
use crate::mechanism::WorkloadDependence;
use crate::results::schedule::{Block, BlockArm, BlockCase, hash};
use crate::workload::{SubWorkload, Workload};

/// Incremented when the program changes numbers or keys, so that earlier rows become stale.
const EDITION: u32 = 12;

/// The releases of a mechanism on a dataset that answer these cases, with predicted times of zero.
pub(super) fn block(plan: &Plan, data: usize, mechanism: usize, cases: &[usize]) -> Block {
    let (data, mechanism) = (&plan.datasets[data], &plan.mechanisms[mechanism]);
    let arm = |arm: &PlannedArm| {
        let mut parts = vec![arm.name.clone(), arm.source.identity(), json(&arm.estimation)];
        parts.extend(coverage(plan));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        BlockArm { name: arm.name.clone(), hash: hash(&parts), predicted_seconds: 0.0 }
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

/// The evaluation, where rows record the coverage of error bars.
fn coverage(plan: &Plan) -> Option<String> {
    let evaluation = &plan.experiment.evaluation;
    evaluation.coverage.map(|_| json(evaluation))
}

/// Hash of everything that a release depends on, except epsilon and trial.
fn release_hash(
    plan: &Plan,
    data: &PlannedData,
    case: &Case,
    mechanism: &PlannedMechanism,
) -> String {
    let experiment = &plan.experiment;
    let workload = match mechanism.workload_dependence {
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
        &workload,
        &format!("{:?}", case.public),
        &mechanism.name,
        &mechanism.label,
        &json(&mechanism.parameters),
        &format!("{:?}", mechanism.delta),
        &json(&experiment.neighbours),
        &json(&experiment.noise),
        &json(&experiment.limits),
    ])
}

/// The attributes of each clique with their sizes and the names of their query factors. A hash
/// stands for queries that are not a product over attributes.
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
