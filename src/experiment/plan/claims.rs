use toml::Spanned;

use super::{PlanError, PlannedMechanism};
use crate::config::{Experiment, Kind, Source, closest};
use crate::results::claims::Claim;

/// Whether claims are about data, arms and budgets of the experiment: a slip of the pen would never be
/// told. The data are those of the file, of which a quick run may leave some out.
pub(super) fn check(
    source: &Source,
    experiment: &Experiment,
    mechanisms: &[PlannedMechanism],
    claims: &[Spanned<Claim>],
) -> Result<(), PlanError> {
    let whole = source.parse()?;
    for claim in claims {
        let refuse = |what: &str, word: &str, known: Vec<&str>| {
            let help = match closest(word, known.iter().copied()) {
                Some(close) => format!("did you mean \"{close}\"?"),
                None => format!("there is {}", known.join(", ")),
            };
            let message =
                format!("a claim about {what} {word}, which the experiment does not have");
            PlanError::from(source.error(claim.span(), message, Some(&help)))
        };
        let known = || whole.datasets.iter().map(|dataset| dataset.name.as_ref().as_str());
        if let Some(dataset) = claim.as_ref().dataset()
            && experiment.kind == Kind::Mechanisms
            && !known().any(|name| name == dataset)
        {
            return Err(refuse("the data", dataset, known().collect()));
        }
        for (mechanism, arm) in claim.as_ref().sides() {
            let labels = || mechanisms.iter().map(|planned| planned.label.as_str()).collect();
            let planned = mechanisms.iter().find(|planned| planned.label == mechanism);
            let planned = planned.ok_or_else(|| refuse("the mechanism", mechanism, labels()))?;
            let arms: Vec<&str> = planned.arms.iter().map(|arm| arm.name.as_str()).collect();
            if !arms.contains(&arm) {
                return Err(refuse("the arm", arm, arms));
            }
        }
        for wanted in claim.as_ref().epsilons() {
            let known = || experiment.epsilon.iter().map(|epsilon| epsilon.as_ref());
            if !known().any(|epsilon| epsilon == wanted) {
                let words: Vec<String> = known().map(f64::to_string).collect();
                let words = words.iter().map(String::as_str).collect();
                return Err(refuse("epsilon", &wanted.to_string(), words));
            }
        }
    }
    Ok(())
}
