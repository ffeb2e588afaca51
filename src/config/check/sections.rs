//! The sections of an experiment, except workload and figure.

use toml::Spanned;

use super::Checked;
use super::commands;
use super::values::{self, MAX_COUNT, count, counts, distinct, name, not_empty};
use crate::config::estimation::Estimation;
use crate::config::experiment::{Arm, Changes, Kind, Mechanism, Scaling};
use crate::config::raw::{RawArm, RawChanges, RawMechanism, RawScaling};
use crate::config::source::Source;
use crate::config::sweep::Sweep;

/// The largest number of attributes of a chain (our choice, a hundred times the paper's).
const MAX_ATTRIBUTES: u64 = 100_000;

pub(super) fn mechanisms(
    source: &Source,
    raw: Option<Spanned<Vec<Spanned<RawMechanism>>>>,
    estimation: &Estimation,
) -> Checked<Vec<Mechanism>> {
    let mut mechanisms = Vec::new();
    for raw in raw.into_iter().flat_map(Spanned::into_inner) {
        mechanisms.push(mechanism(source, raw.into_inner(), estimation)?);
    }
    let labels = mechanisms.iter().map(|mechanism| &mechanism.label);
    let help = "a mechanism that takes part twice needs a label for its results: label = \"other\"";
    distinct(source, "mechanism", labels, String::clone, Some(help))?;
    Ok(mechanisms)
}

fn mechanism(source: &Source, raw: RawMechanism, estimation: &Estimation) -> Checked<Mechanism> {
    let label = raw.label.unwrap_or_else(|| raw.name.clone());
    name(source, "label", &label)?;
    let estimation = raw.estimation.over(source, estimation)?;
    let delta = raw.delta.map(|delta| values::delta(source, delta)).transpose()?;
    let command = commands::of_mechanism(source, raw.command, raw.files, raw.guarantee)?;
    if command.is_some() {
        name(source, "name of a command", &raw.name)?;
    }
    Ok(Mechanism {
        name: raw.name,
        label,
        arms: match raw.arms {
            Some(written) => arms(source, written, &estimation)?,
            None => Vec::new(),
        },
        estimation,
        parameters: raw.parameters,
        delta,
        command,
    })
}

fn arms(
    source: &Source,
    written: Spanned<Vec<RawArm>>,
    estimation: &Estimation,
) -> Checked<Vec<Arm>> {
    not_empty(source, "arms", &written)?;
    let mut arms = Vec::with_capacity(written.as_ref().len());
    for raw in written.into_inner() {
        name(source, "name of an arm", &raw.name)?;
        let estimation = raw.estimation.over(source, estimation)?;
        arms.push(Arm { name: raw.name, estimator: raw.estimator, estimation });
    }
    let help =
        "an estimator that takes part twice needs a name: { name = \"a\", estimator = \"pgm\" }";
    distinct(source, "arms", arms.iter().map(|arm| &arm.name), String::clone, Some(help))?;
    Ok(arms)
}

pub(super) fn scaling(
    source: &Source,
    raw: RawScaling,
    estimation: &Estimation,
) -> Checked<Scaling> {
    let number = |setting, value: Option<Spanned<u64>>, default: usize, low| match &value {
        Some(value) => count(source, setting, value, low..=MAX_COUNT),
        None => Ok(default),
    };
    Ok(Scaling {
        attributes: counts(source, "attributes", &raw.attributes, 3..=MAX_ATTRIBUTES)?,
        // As many as in the paper.
        values: number("values", raw.values, 10, 2)?,
        // Our choice; the time does not depend on it.
        records: number("records", raw.records, 1000, 1)?,
        arms: arms(source, raw.arms, estimation)?,
    })
}

pub(super) fn sweep(source: &Source, sweep: Sweep) -> Checked<Sweep> {
    not_empty(source, "values", &sweep.values)?;
    distinct(source, "values", sweep.values.as_ref(), ToString::to_string, None)?;
    Ok(sweep)
}

pub(super) fn quick(source: &Source, raw: RawChanges, kind: Kind) -> Checked<Changes> {
    let no_data = raw.datasets.as_ref().filter(|_| kind == Kind::Scaling).map(Spanned::span);
    let no_chains = raw.attributes.as_ref().filter(|_| kind != Kind::Scaling).map(Spanned::span);
    let estimates =
        [raw.algorithm.as_ref().map(Spanned::span), raw.gap.as_ref().map(Spanned::span)];
    let no_estimates = estimates.into_iter().flatten().find(|_| kind == Kind::Datasets);
    if let Some(place) = no_data.or(no_chains).or(no_estimates) {
        let message = format!("kind = \"{}\" has no such setting to change", kind.name());
        let help = "datasets are for kind mechanisms or datasets, attributes for kind scaling, \
                    algorithm and gap for kind mechanisms or scaling";
        return Err(source.error(place, message, Some(help)));
    }
    let number = |setting, value: Option<Spanned<u64>>| {
        value.map(|value| count(source, setting, &value, 1..=MAX_COUNT)).transpose()
    };
    Ok(Changes {
        trials: number("trials", raw.trials)?,
        algorithm: raw.algorithm.map(Spanned::into_inner),
        iterations: number("iterations", raw.iterations)?,
        gap: raw.gap.map(|gap| values::gap(source, &gap)).transpose()?,
        datasets: raw.datasets.map(|list| values::datasets(source, list)).transpose()?,
        attributes: match &raw.attributes {
            Some(list) => Some(counts(source, "attributes", list, 3..=MAX_ATTRIBUTES)?),
            None => None,
        },
    })
}
