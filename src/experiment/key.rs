use super::{Plan, PlannedArm, Trial};
use crate::workload::Workload;

/// Counts changes of the program that change numbers; rows of before are then stale.
const EDITION: u32 = 9;

/// The key of an arm's row: a hash of all that its numbers depend on.
pub(super) fn arm_key(plan: &Plan, trial: &Trial, case: usize, arm: &PlannedArm) -> String {
    let (data, mechanism) = (plan.data(trial), plan.mechanism(trial));
    let (experiment, case) = (&plan.experiment, &data.cases[case]);
    let parts = [
        EDITION.to_string(),
        experiment.name.as_ref().clone(),
        plan.seed_path(trial).to_string(),
        data.fingerprint.clone(),
        describe(&case.workload),
        case.name.clone(),
        mechanism.label.clone(),
        mechanism.parameters.clone(),
        format!("{:?}", mechanism.delta),
        json(&experiment.neighbours),
        json(&experiment.noise),
        json(&experiment.limits),
        arm.name.clone(),
        arm.source.name().into(),
        json(&arm.estimation),
    ];
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| {
        hasher.update(part.as_bytes());
        hasher.update(b"\n");
    });
    hasher.finalize().to_hex()[..16].to_string()
}

/// A workload in words: the attributes of each set, `<` behind those that are asked by prefix.
pub(super) fn describe(workload: &Workload) -> String {
    let domain = workload.domain();
    let part = |part: &crate::workload::SubWorkload| {
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
