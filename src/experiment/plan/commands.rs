//! Mechanisms and estimators that are commands of the user.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Spanned, Table};

use super::PlanError;
use super::mechanisms::{PlannedMechanism, arms_or_default, delta, find_arm};
use crate::config::{self, Experiment, MechanismCommand, Source};
use crate::experiment::command_estimator::EstimatorCommand;
use crate::mechanism::{self, MECHANISMS, command::CommandMechanism};
use crate::subprocess::Program;

/// The estimators of the file that are commands.
pub(in crate::experiment) fn estimators(
    source: &Source,
    experiment: &Experiment,
) -> Result<Vec<Arc<EstimatorCommand>>, PlanError> {
    let planned = |written: &config::EstimatorCommand| {
        let name = written.name.as_ref();
        let extra = MECHANISMS.iter().flat_map(|spec| spec.extra_estimators);
        if find_arm(name).is_some() || extra.clone().any(|extra| extra.name == *name) {
            return Err(taken(source, "an estimator", &written.name));
        }
        let (program, fingerprint) = program(source, &written.command, &written.files)?;
        let parameters = toml::to_string(&written.parameters).unwrap_or_default();
        let fingerprint = format!("{fingerprint} {parameters}");
        let parameters = written.parameters.clone();
        Ok(Arc::new(EstimatorCommand::new(name, program, parameters, fingerprint)))
    };
    experiment.estimators.iter().map(planned).collect()
}

/// A mechanism that is a command.
pub(super) fn mechanism(
    source: &Source,
    experiment: &Experiment,
    (named, written): (&config::Mechanism, &MechanismCommand),
    estimators: &[Arc<EstimatorCommand>],
) -> Result<PlannedMechanism, PlanError> {
    let name = named.name.as_ref();
    if mechanism::find(name).is_some() {
        return Err(taken(source, "a mechanism", &named.name));
    }
    let (program, fingerprint) = program(source, &written.command, &written.files)?;
    let parameters: Table = named
        .parameters
        .iter()
        .map(|(name, value)| (name.as_ref().clone(), value.as_ref().clone()))
        .collect();
    Ok(PlannedMechanism {
        name: name.clone(),
        label: named.label.as_ref().clone(),
        title: named.label.as_ref().clone(),
        parameters: format!(
            "{}command = {fingerprint}",
            toml::to_string(&parameters).unwrap_or_default()
        ),
        command: Some(program.shown()),
        mechanism: Box::new(CommandMechanism::new(program, parameters)),
        workload_dependence: CommandMechanism::WORKLOAD_DEPENDENCE,
        has_rounds: false,
        cost_model: CommandMechanism::COST_MODEL,
        guarantee: written.guarantee,
        delta: delta(source, experiment, named, (written.guarantee, name))?,
        arms: arms_or_default(source, &[], named, estimators)?,
    })
}

/// The program, and a hash of it and its files.
fn program(
    source: &Source,
    command: &Spanned<Vec<String>>,
    files: &[PathBuf],
) -> Result<(Program, String), PlanError> {
    let program = Program::new(command.as_ref(), &source.resolve(Path::new("")));
    let fingerprint = program.fingerprint(files).map_err(|(path, error)| {
        let message = format!("{} cannot be read: {error}", path.display());
        let help = "paths are relative to the folder of this file";
        source.error(command.span(), message, Some(help))
    })?;
    Ok((program, fingerprint))
}

fn taken(source: &Source, what: &str, name: &Spanned<String>) -> PlanError {
    let message = format!("there is {what} \"{name}\" already");
    let help = "a command needs a name of its own";
    source.error(name.span(), message, Some(help)).into()
}
