//! Commands of the user.

use std::path::PathBuf;

use toml::Spanned;

use super::Checked;
use super::values::{distinct, name};
use crate::config::command::{EstimatorCommand, MechanismCommand};
use crate::config::source::Source;
use crate::mechanism::GuaranteeKind;

/// The command of a mechanism, which the other two settings belong to.
pub(super) fn of_mechanism(
    source: &Source,
    command: Option<Spanned<Vec<String>>>,
    files: Option<Spanned<Vec<PathBuf>>>,
    guarantee: Option<Spanned<GuaranteeKind>>,
) -> Checked<Option<MechanismCommand>> {
    let Some(command) = command else {
        let files = files.map(|files| ("files", files.span()));
        return match files.or(guarantee.map(|kind| ("guarantee", kind.span()))) {
            Some((setting, place)) => {
                let message = format!("`{setting}` is for mechanisms that are commands");
                let help = "add command = [\"python3\", \"mine.py\"], or leave it out";
                Err(source.error(place, message, Some(help)))
            }
            None => Ok(None),
        };
    };
    words(source, &command)?;
    let files = files.map_or(Vec::new(), Spanned::into_inner);
    let guarantee = guarantee.map_or(GuaranteeKind::Pure, Spanned::into_inner);
    Ok(Some(MechanismCommand { command, files, guarantee }))
}

/// A command has a program.
fn words(source: &Source, command: &Spanned<Vec<String>>) -> Checked<()> {
    match command.as_ref().first() {
        Some(program) if !program.is_empty() => Ok(()),
        _ => {
            let help = "name a program and its arguments: command = [\"python3\", \"mine.py\"]";
            Err(source.error(command.span(), "the command has no program", Some(help)))
        }
    }
}

/// The commands that arms may name.
pub(super) fn estimators(
    source: &Source,
    written: Option<Spanned<Vec<Spanned<EstimatorCommand>>>>,
) -> Checked<Vec<EstimatorCommand>> {
    let list = written.map_or(Vec::new(), Spanned::into_inner);
    let list: Vec<EstimatorCommand> = list.into_iter().map(Spanned::into_inner).collect();
    for estimator in &list {
        name(source, "name of an estimator", &estimator.name)?;
        words(source, &estimator.command)?;
    }
    distinct(source, "estimator", list.iter().map(|one| &one.name), String::clone, None)?;
    Ok(list)
}
