use toml::Spanned;

use super::{PlanError, PlannedMechanism};
use crate::config::{Claim, Experiment, Kind, Source, closest};

/// Checks that claims name datasets and budgets of the file. Otherwise a misspelt claim would never
/// be evaluated, without any message. Checks the file before overrides, because a quick run may
/// omit datasets.
pub(super) fn check_written(source: &Source, written: &Experiment) -> Result<(), PlanError> {
    let names = written.datasets.iter().map(|dataset| dataset.label().as_ref().as_str());
    let names: Vec<&str> = names.collect();
    let epsilons: Vec<String> = written.epsilon.iter().map(ToString::to_string).collect();
    let epsilons: Vec<&str> = epsilons.iter().map(String::as_str).collect();
    for claim in &written.claims {
        if let Some(dataset) = claim.as_ref().dataset()
            && written.kind != Kind::Scaling
        {
            check_known(source, claim, "the data", dataset, &names)?;
        }
        if let Some(metric) = claim.as_ref().metric()
            && metric.is_about_error_bars()
            && written.evaluation.coverage.is_none()
        {
            let name = metric.name();
            let message = format!("a claim about {name}, which the experiment does not record");
            let help = "say with which probability error bars should contain the truth: \
                        coverage = 0.95 under [evaluation]";
            return Err(source.error(claim.span(), message, Some(help)).into());
        }
        for epsilon in claim.as_ref().epsilons() {
            check_known(source, claim, "epsilon", &epsilon.to_string(), &epsilons)?;
        }
    }
    Ok(())
}

/// Checks that claims name planned mechanisms and arms.
pub(super) fn check(
    source: &Source,
    experiment: &Experiment,
    mechanisms: &[PlannedMechanism],
) -> Result<(), PlanError> {
    let labels: Vec<&str> = mechanisms.iter().map(|planned| planned.label.as_str()).collect();
    for claim in &experiment.claims {
        for (mechanism, arm) in claim.as_ref().sides() {
            check_known(source, claim, "the mechanism", mechanism, &labels)?;
            let planned = mechanisms.iter().filter(|planned| planned.label == mechanism);
            let arms = planned.flat_map(|planned| &planned.arms).map(|arm| arm.name.as_str());
            check_known(source, claim, "the arm", arm, &arms.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn check_known(
    source: &Source,
    claim: &Spanned<Claim>,
    what: &str,
    word: &str,
    known: &[&str],
) -> Result<(), PlanError> {
    if known.contains(&word) {
        return Ok(());
    }
    let help = match closest(word, known.iter().copied()) {
        Some(close) => format!("did you mean \"{close}\"?"),
        None => format!("there is {}", known.join(", ")),
    };
    let message = format!("a claim about {what} {word}, which the experiment does not have");
    Err(source.error(claim.span(), message, Some(&help)).into())
}
