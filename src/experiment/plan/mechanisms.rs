use std::sync::Arc;

use toml::{Spanned, Table};

use super::{PlanError, commands};
use crate::config::{self, Estimation, Experiment, Source, closest};
use crate::experiment::arm::{ARMS, ArmKind};
use crate::experiment::command_estimator::EstimatorCommand;
use crate::mechanism::{
    self, CostModel, ExtraEstimator, GuaranteeKind, MECHANISMS, Mechanism, WorkloadDependence,
};
use dp::Neighbours;

/// A mechanism of the experiment with its arms.
pub struct PlannedMechanism {
    /// As in the file.
    pub name: String,
    /// Its name in the results.
    pub label: String,
    /// For display.
    pub title: String,
    pub mechanism: Box<dyn Mechanism>,
    /// As TOML, for the key. Of a command, also its fingerprint.
    pub parameters: String,
    /// `None` for a mechanism of the program.
    pub command: Option<String>,
    pub workload_dependence: WorkloadDependence,
    pub has_rounds: bool,
    pub cost_model: CostModel,
    pub guarantee: GuaranteeKind,
    /// `None` for pure differential privacy.
    pub delta: Option<f64>,
    pub arms: Vec<PlannedArm>,
}

/// An estimator of the experiment with its settings.
pub struct PlannedArm {
    /// Its name in the results.
    pub name: String,
    pub source: ArmSource,
    pub estimation: Estimation,
}

#[derive(Clone)]
pub enum ArmSource {
    /// Listed in [`ARMS`].
    Listed(&'static ArmKind),
    /// Specific to the mechanism.
    Extra(&'static ExtraEstimator),
    /// A command of the file.
    Command(Arc<EstimatorCommand>),
}

impl ArmSource {
    /// As in configurations.
    pub fn name(&self) -> &str {
        match self {
            ArmSource::Listed(kind) => kind.name,
            ArmSource::Extra(extra) => extra.name,
            ArmSource::Command(command) => command.name(),
        }
    }

    /// One sentence.
    pub fn summary(&self) -> String {
        match self {
            ArmSource::Listed(kind) => kind.summary.into(),
            ArmSource::Extra(extra) => extra.summary.into(),
            ArmSource::Command(command) => format!("The command `{}`.", command.shown()),
        }
    }

    pub fn is_command(&self) -> bool {
        matches!(self, ArmSource::Command(_))
    }

    /// What the numbers depend on, except the settings.
    pub(in crate::experiment) fn identity(&self) -> String {
        match self {
            ArmSource::Command(command) => format!("{} {}", self.name(), command.fingerprint()),
            _ => self.name().into(),
        }
    }
}

/// The mechanisms of an experiment file that are commands. Reads no data.
pub fn commands_of(source: &Source) -> Result<Vec<PlannedMechanism>, PlanError> {
    let mut mechanisms = resolve(source, &source.parse()?.expanded(source)?)?;
    mechanisms.retain(|mechanism| mechanism.command.is_some());
    Ok(mechanisms)
}

/// The mechanisms of the file.
pub(super) fn resolve(
    source: &Source,
    experiment: &Experiment,
) -> Result<Vec<PlannedMechanism>, PlanError> {
    let estimators = commands::estimators(source, experiment)?;
    let planned = |named: &config::Mechanism| match &named.command {
        Some(command) => commands::mechanism(source, experiment, (named, command), &estimators),
        None => planned(source, experiment, named, &estimators),
    };
    experiment.mechanisms.iter().map(planned).collect()
}

fn planned(
    source: &Source,
    experiment: &Experiment,
    named: &config::Mechanism,
    estimators: &[Arc<EstimatorCommand>],
) -> Result<PlannedMechanism, PlanError> {
    let kind = mechanism::find(named.name.as_ref()).ok_or_else(|| {
        let names = MECHANISMS.iter().map(|kind| kind.name);
        unknown(source, "mechanism", &named.name, &names.collect::<Vec<_>>())
    })?;
    let delta = delta(source, experiment, named, (kind.guarantee, kind.title))?;
    let parameters = parameters(source, kind, &named.parameters)?;
    let mechanism = (kind.build)(&parameters)
        .map_err(|error| source.error(named.name.span(), error.message, None))?;
    if mechanism.needs_public_total() && experiment.neighbours == Neighbours::AddRemove {
        let message = format!(
            "{} needs to know the number of records, which \"add-remove\" hides",
            kind.title
        );
        let help = "leave the mechanism out, or say neighbours = \"replace\"";
        return Err(source.error(named.name.span(), message, Some(help)).into());
    }
    let arms = arms_or_default(source, kind.extra_estimators, named, estimators)?;
    Ok(PlannedMechanism {
        name: kind.name.into(),
        label: named.label.as_ref().clone(),
        title: kind.title.into(),
        parameters: toml::to_string(&parameters).unwrap_or_default(),
        command: None,
        workload_dependence: kind.workload_dependence,
        has_rounds: kind.has_rounds,
        cost_model: mechanism.cost_model(kind.cost_model),
        guarantee: kind.guarantee,
        delta,
        arms,
        mechanism,
    })
}

/// The delta of the file, if the guarantee has one.
pub(super) fn delta(
    source: &Source,
    experiment: &Experiment,
    named: &config::Mechanism,
    (guarantee, title): (GuaranteeKind, &str),
) -> Result<Option<f64>, PlanError> {
    match (guarantee, named.delta.as_ref().or(experiment.delta.as_ref())) {
        (GuaranteeKind::Pure, _) => Ok(None),
        (_, Some(delta)) => Ok(Some(*delta.as_ref())),
        (_, None) => {
            let message = format!("{title} needs a delta");
            let help = "say for example delta = 0.001 at the top of the file";
            Err(source.error(named.name.span(), message, Some(help)).into())
        }
    }
}

/// The arms of a mechanism; default: its own estimator and PGM.
pub(super) fn arms_or_default(
    source: &Source,
    extra_estimators: &'static [ExtraEstimator],
    named: &config::Mechanism,
    estimators: &[Arc<EstimatorCommand>],
) -> Result<Vec<PlannedArm>, PlanError> {
    let arms = arms(source, extra_estimators, &named.arms, estimators)?;
    if !arms.is_empty() {
        return Ok(arms);
    }
    let default = config::DEFAULT_ARMS.iter().filter_map(|name| find_arm(name));
    let planned = |kind: &'static ArmKind| PlannedArm {
        name: kind.name.into(),
        source: ArmSource::Listed(kind),
        estimation: named.estimation.clone(),
    };
    Ok(default.map(planned).collect())
}

/// The arms of the file.
pub(in crate::experiment) fn arms(
    source: &Source,
    extra_estimators: &'static [ExtraEstimator],
    arms: &[config::Arm],
    estimators: &[Arc<EstimatorCommand>],
) -> Result<Vec<PlannedArm>, PlanError> {
    let planned = |arm: &config::Arm| {
        let name = arm.estimator.as_ref();
        let listed = || find_arm(name).map(ArmSource::Listed);
        let extra =
            || extra_estimators.iter().find(|extra| extra.name == *name).map(ArmSource::Extra);
        let command = || {
            let found = estimators.iter().find(|command| command.name() == name);
            found.cloned().map(ArmSource::Command)
        };
        let found = listed().or_else(extra).or_else(command).ok_or_else(|| {
            let names =
                ARMS.iter().map(|kind| kind.name).chain(extra_estimators.iter().map(|o| o.name));
            let names: Vec<&str> = names.chain(estimators.iter().map(|c| c.name())).collect();
            unknown(source, "estimator", &arm.estimator, &names)
        })?;
        let (name, estimation) = (arm.name.as_ref().clone(), arm.estimation.clone());
        Ok(PlannedArm { name, source: found, estimation })
    };
    arms.iter().map(planned).collect()
}

pub(super) fn find_arm(name: &str) -> Option<&'static ArmKind> {
    ARMS.iter().find(|kind| kind.name == name)
}

/// The parameters as a table, after checks of their names and values.
fn parameters(
    source: &Source,
    kind: &mechanism::MechanismSpec,
    written: &config::Parameters,
) -> Result<Table, PlanError> {
    let mut table = Table::new();
    for (name, value) in written {
        if !kind.parameters.iter().any(|known| known.name == name.as_ref()) {
            let known: Vec<&str> = kind.parameters.iter().map(|known| known.name).collect();
            let what = format!("parameter of {}", kind.title);
            return Err(unknown(source, &what, name, &known));
        }
        // Built with this parameter alone, so that an error points at it.
        let alone = Table::from_iter([(name.as_ref().clone(), value.as_ref().clone())]);
        (kind.build)(&alone).map_err(|error| source.error(value.span(), error.message, None))?;
        table.extend(alone);
    }
    Ok(table)
}

fn unknown(source: &Source, what: &str, name: &Spanned<String>, known: &[&str]) -> PlanError {
    let help = match closest(name.as_ref(), known.iter().copied()) {
        Some(close) => format!("did you mean \"{close}\"?"),
        None if known.is_empty() => "there are none".into(),
        None => format!("there are {}", known.join(", ")),
    };
    let message = format!("there is no {what} \"{}\"", name.as_ref());
    source.error(name.span(), message, Some(&help)).into()
}
