use toml::{Spanned, Table};

use super::PlanError;
use crate::config::{self, Estimation, Experiment, Source, closest};
use crate::experiment::arm::{ARMS, ArmKind};
use crate::mechanism::{
    self, CostModel, ExtraEstimator, GuaranteeKind, MECHANISMS, Mechanism, WorkloadDependence,
};
use dp::Neighbours;

/// A mechanism of the experiment with its arms.
pub struct PlannedMechanism {
    /// As in [`MECHANISMS`].
    pub name: &'static str,
    /// Its name in the results.
    pub label: String,
    /// For display.
    pub title: &'static str,
    pub mechanism: Box<dyn Mechanism>,
    /// As TOML, for the key.
    pub parameters: String,
    pub workload_dependence: WorkloadDependence,
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

#[derive(Clone, Copy)]
pub enum ArmSource {
    /// Listed in [`ARMS`].
    Listed(&'static ArmKind),
    /// Specific to the mechanism.
    Extra(&'static ExtraEstimator),
}

impl ArmSource {
    /// As in configurations.
    pub fn name(self) -> &'static str {
        match self {
            ArmSource::Listed(kind) => kind.name,
            ArmSource::Extra(extra) => extra.name,
        }
    }

    /// One sentence.
    pub fn summary(self) -> &'static str {
        match self {
            ArmSource::Listed(kind) => kind.summary,
            ArmSource::Extra(extra) => extra.summary,
        }
    }
}

/// The mechanisms of the file.
pub(super) fn resolve(
    source: &Source,
    experiment: &Experiment,
) -> Result<Vec<PlannedMechanism>, PlanError> {
    experiment.mechanisms.iter().map(|named| planned(source, experiment, named)).collect()
}

fn planned(
    source: &Source,
    experiment: &Experiment,
    named: &config::Mechanism,
) -> Result<PlannedMechanism, PlanError> {
    let kind = mechanism::find(named.name.as_ref()).ok_or_else(|| {
        let names = MECHANISMS.iter().map(|kind| kind.name);
        unknown(source, "mechanism", &named.name, &names.collect::<Vec<_>>())
    })?;
    let delta = match (kind.guarantee, &experiment.delta) {
        (GuaranteeKind::Pure, _) => None,
        (_, Some(delta)) => Some(*delta.as_ref()),
        (_, None) => {
            let message = format!("{} needs a delta", kind.title);
            let help = "say for example delta = 0.001 at the top of the file";
            return Err(source.error(named.name.span(), message, Some(help)).into());
        }
    };
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
    let mut arms = arms(source, kind.extra_estimators, &named.arms)?;
    if arms.is_empty() {
        let default = config::DEFAULT_ARMS.iter().filter_map(|name| find_arm(name));
        arms = default
            .map(|kind| PlannedArm {
                name: kind.name.into(),
                source: ArmSource::Listed(kind),
                estimation: named.estimation.clone(),
            })
            .collect();
    }
    Ok(PlannedMechanism {
        name: kind.name,
        label: named.label.as_ref().clone(),
        title: kind.title,
        mechanism,
        parameters: toml::to_string(&parameters).unwrap_or_default(),
        workload_dependence: kind.workload_dependence,
        cost_model: kind.cost_model,
        guarantee: kind.guarantee,
        delta,
        arms,
    })
}

/// The arms of the file.
pub(in crate::experiment) fn arms(
    source: &Source,
    extra_estimators: &'static [ExtraEstimator],
    arms: &[config::Arm],
) -> Result<Vec<PlannedArm>, PlanError> {
    let planned = |arm: &config::Arm| {
        let name = arm.estimator.as_ref();
        let listed = || find_arm(name).map(ArmSource::Listed);
        let extra =
            || extra_estimators.iter().find(|extra| extra.name == *name).map(ArmSource::Extra);
        let found = listed().or_else(extra).ok_or_else(|| {
            let names =
                ARMS.iter().map(|kind| kind.name).chain(extra_estimators.iter().map(|o| o.name));
            unknown(source, "estimator", &arm.estimator, &names.collect::<Vec<_>>())
        })?;
        let (name, estimation) = (arm.name.as_ref().clone(), arm.estimation.clone());
        Ok(PlannedArm { name, source: found, estimation })
    };
    arms.iter().map(planned).collect()
}

fn find_arm(name: &str) -> Option<&'static ArmKind> {
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
