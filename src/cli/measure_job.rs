//! What `pgmbench measure` releases: from its arguments, or from an experiment file.

use std::path::Path;

use dp::{Delta, Epsilon, Guarantee, Neighbours};
use pgmbench::config::{Overrides, Source};
use pgmbench::data::{Entry, Registry};
use pgmbench::experiment::{
    Filter, GuaranteeKind, MECHANISMS, Mechanism, MechanismSpec, Plan, Workload, kept_by,
};
use private_pgm::model::Projectable;

use super::failure::{Failure, ResultExt};

/// Mechanisms whose releases are no noisy answers to linear queries.
const NOT_ANSWERS: [&str; 1] = ["dualquery"];

pub(crate) struct MeasureJob {
    pub(crate) entry: Entry,
    /// The dataset in messages.
    pub(crate) dataset: String,
    pub(crate) mechanism_name: &'static str,
    pub(crate) mechanism: Box<dyn Mechanism>,
    pub(crate) workload: Workload,
    pub(crate) epsilon: Epsilon,
    /// `None` for pure differential privacy.
    pub(crate) delta: Option<Delta>,
    pub(crate) neighbours: Neighbours,
    /// What the mechanism keeps to imply epsilon and delta.
    pub(crate) kept: Guarantee,
}

impl MeasureJob {
    /// The only release of an experiment file: one dataset, one mechanism, one epsilon.
    pub(crate) fn from_config(path: &Path) -> Result<Self, Failure> {
        let refuse = |why: String| Failure::input(format!("{}: {why}", path.display()));
        let source = Source::read(path).map_err(|error| Failure::Input(error.into()))?;
        let registry = Registry::default();
        let plan = Plan::new(source, &Overrides::default(), &registry, &Filter::default());
        let mut plan = plan.input()?;
        for (what, count) in [
            ("dataset", plan.datasets.len()),
            ("mechanism", plan.mechanisms.len()),
            ("epsilon", plan.experiment.epsilon.len()),
        ] {
            if count != 1 {
                let why = format!("a release has one {what}, this experiment has {count}");
                return Err(refuse(why));
            }
        }
        let Some(trial) = plan.trials.first().cloned() else {
            return Err(refuse("the experiment has no trial".into()));
        };
        let named = &plan.experiment.datasets[0];
        let dataset = match &named.schema {
            Some(schema) => plan.source.resolve(schema.as_ref()).to_string_lossy().into_owned(),
            None => named.name.as_ref().clone(),
        };
        let entry = registry.entry(&dataset).input()?;
        if plan.data(&trial).data.domain() != entry.schema().domain() {
            return Err(refuse("the dataset is not measured as its schema describes it".into()));
        }
        let case = &plan.data(&trial).cases[trial.case];
        if case.public.is_some() {
            return Err(refuse("public marginals are for experiments, not for releases".into()));
        }
        let workload = case.workload.clone();
        let kept = plan.guarantee(&trial).input_at(path.display())?;
        let planned = plan.mechanisms.swap_remove(0);
        if planned.command.is_some() {
            let why = "is a command, whose guarantee nothing verifies: it is for experiments";
            return Err(refuse(format!("the mechanism \"{}\" {why}", planned.name)));
        }
        let spec = mechanism(&planned.name);
        let spec = spec.map_err(|why| refuse(format!("{}: {why}", planned.name)))?;
        let delta = planned.delta.map(Delta::new).transpose().input_at(path.display())?;
        Ok(Self {
            entry,
            dataset,
            mechanism_name: spec.name,
            mechanism: planned.mechanism,
            workload,
            epsilon: Epsilon::requested(trial.epsilon).input_at(path.display())?,
            delta,
            neighbours: plan.experiment.neighbours,
            kept,
        })
    }

    /// What the release states.
    pub(crate) fn promised(&self) -> Guarantee {
        match self.delta {
            Some(delta) => (self.epsilon, delta).into(),
            None => self.epsilon.into(),
        }
    }
}

/// The guarantee that a mechanism keeps, if the arguments suit it.
pub(crate) fn kept_guarantee(
    spec: &MechanismSpec,
    epsilon: Epsilon,
    delta: Option<Delta>,
) -> Result<Guarantee, Failure> {
    let name = spec.name;
    let needed = match (spec.guarantee, delta) {
        (GuaranteeKind::Pure, Some(_)) => Err(format!(
            "--delta: {name} is pure differential privacy, without a delta; omit the option"
        )),
        (GuaranteeKind::Pure, None) | (_, Some(_)) => Ok(()),
        (_, None) => {
            Err(format!("--delta: {name} needs one, far below 1/n for n records, such as 1e-9"))
        }
    };
    needed.map_err(Failure::input)?;
    let delta = || delta.map_or_else(|| Delta::new(0.0), Ok);
    kept_by(spec.guarantee, epsilon, delta).input_at("--delta")
}

/// The mechanism with this name, if its releases are noisy answers.
pub(crate) fn mechanism(name: &str) -> Result<&'static MechanismSpec, String> {
    refuse_others(name)?;
    MECHANISMS.iter().copied().find(|spec| spec.name == name).ok_or_else(|| {
        let known = MECHANISMS.iter().map(|spec| spec.name);
        let known: Vec<&str> = known.filter(|name| !NOT_ANSWERS.contains(name)).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn refuse_others(name: &str) -> Result<(), String> {
    match NOT_ANSWERS.contains(&name) {
        true => {
            Err("it publishes no noisy answers to linear queries, so that there is no problem \
                     file of its release"
                .into())
        }
        false => Ok(()),
    }
}
