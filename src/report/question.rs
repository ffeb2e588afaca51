use super::experiment::Experiment;
use crate::config::FigureKind;
use crate::figures::labels;
use crate::figures::labels::enumeration;

/// Longer lists of names are replaced by their number.
const MAX_NAMES: usize = 5;

/// The question of the experiment in one sentence.
pub(super) fn of(experiment: &Experiment) -> String {
    let groups = &experiment.summary.groups;
    if groups.is_empty() {
        let names = experiment.manifest.datasets.iter().map(|data| labels::dataset(&data.name));
        let names = listed(names, "datasets");
        return format!("Which records and which queries are experiments on {names} about?");
    }
    let arms = listed(groups.iter().map(|group| estimator(&group.arm)), "estimators");
    let mechanisms =
        listed(groups.iter().map(|group| labels::mechanism(&group.mechanism)), "mechanisms");
    let datasets = listed(groups.iter().map(|group| labels::dataset(&group.dataset)), "datasets");
    let mut epsilons: Vec<f64> = groups.iter().map(|group| group.epsilon).collect();
    epsilons.sort_by(f64::total_cmp);
    let epsilon = match (epsilons.first(), epsilons.last()) {
        (Some(low), Some(high)) if low < high => format!("epsilon from {low} to {high}"),
        (Some(one), _) => format!("epsilon {one}"),
        _ => String::new(),
    };
    let asked = match experiment.figure_kind() {
        FigureKind::Scaling => {
            "how long does an iteration take, and with how many attributes at most?"
        }
        FigureKind::Traces => "how do the losses and the error on the workload fall on the way?",
        FigureKind::Rates => "how fast do the losses approach their minimum?",
        _ => "whose answers to the workload are closest to the truth?",
    };
    format!(
        "Given the same noisy measurements ({mechanisms} on {datasets}, {epsilon}), what do {arms} \
         make of them: {asked}"
    )
}

fn estimator(arm: &str) -> String {
    match arm {
        "own" => "the mechanism's own estimator".into(),
        _ => labels::arm(arm),
    }
}

/// Distinct names as "a, b and c", or their number.
fn listed(names: impl IntoIterator<Item = String>, what: &str) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    match distinct.as_slice() {
        [] => format!("no {what}"),
        many if many.len() > MAX_NAMES => format!("{} {what}", many.len()),
        few => enumeration(few),
    }
}
