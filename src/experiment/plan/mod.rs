//! The validated plan: everything that an experiment file names is there and fits together.

mod cases;
mod chain;
mod claims;
mod data;
mod mechanisms;

pub use cases::Case;
pub use data::PlannedData;
pub(super) use mechanisms::arms;
pub use mechanisms::{ArmSource, PlannedArm, PlannedMechanism};

use thiserror::Error;

use super::key::arm_key;
use super::scaling;
use crate::config::{ConfigError, Experiment, Kind, Source};
use crate::data::{DataError, Registry};
use crate::mechanism::{GuaranteeKind, WorkloadDependence};
use crate::results::claims::Claim;
use dp::{Delta, Epsilon, Guarantee, ParameterError, Rho, SeedPath};
use private_pgm::junction_tree::{JunctionTree, TreeSize};

/// An experiment with its data, ready to run.
pub struct Plan {
    /// What the file says, with defaults and changes.
    pub experiment: Experiment,
    /// The file, for messages and the manifest.
    pub source: Source,
    /// The data, in the order of the file.
    pub datasets: Vec<PlannedData>,
    /// The mechanisms, in the order of the file.
    pub mechanisms: Vec<PlannedMechanism>,
    /// The trials that are asked for: by data, mechanism, epsilon, repetition.
    pub trials: Vec<Trial>,
    /// The trials of the whole experiment, in the same order.
    pub all_trials: Vec<Trial>,
    /// Which part was asked for.
    pub filter: Filter,
    /// What the paper says, to be checked in the end.
    pub claims: Vec<Claim>,
}

/// One run of a mechanism, and the arms that estimate from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its place in the plan.
    pub index: usize,
    /// Which data.
    pub data: usize,
    /// Which mechanism.
    pub mechanism: usize,
    /// The budget.
    pub epsilon: f64,
    /// Which repetition, counted from 0.
    pub repetition: usize,
    /// The case of the data that the mechanism is given.
    pub case: usize,
    /// For each arm of the mechanism that takes part, and each case that it is judged by: the key of
    /// its row. The rows of an arm are next to each other.
    pub rows: Vec<PlannedRow>,
}

/// A row of the results to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRow {
    /// The place of the arm among those of the mechanism.
    pub arm: usize,
    /// The case of the data.
    pub case: usize,
    /// Its key.
    pub key: String,
}

/// A part of an experiment, as in `--only dataset=adult,mechanism=hdmm`. Empty lists keep all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Names of data.
    pub datasets: Vec<String>,
    /// Labels of mechanisms.
    pub mechanisms: Vec<String>,
    /// Names of arms.
    pub arms: Vec<String>,
    /// Budgets.
    pub epsilons: Vec<f64>,
}

impl Filter {
    /// Whether trials on this data are asked for.
    pub fn keeps_dataset(&self, name: &String) -> bool {
        self.datasets.is_empty() || self.datasets.contains(name)
    }
}

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Something in the file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something in the data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A part that there is not.
    #[error("--only {what}={name}: this experiment has {known}")]
    Filter {
        /// `dataset`, `mechanism`, `arm` or `epsilon`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Plan {
    /// Checks everything, loads the data, and lists the trials.
    pub fn new(
        source: Source,
        experiment: Experiment,
        registry: &Registry,
        filter: &Filter,
    ) -> Result<Self, PlanError> {
        let claims = source.claims::<Claim>()?;
        for epsilon in &experiment.epsilon {
            let refused =
                |error: ParameterError| source.error(epsilon.span(), error.to_string(), None);
            Epsilon::requested(*epsilon.as_ref()).map_err(refused)?;
        }
        let mechanisms = match experiment.kind {
            Kind::Mechanisms => mechanisms::resolve(&source, &experiment)?,
            Kind::Scaling => scaling::mechanisms(&source, &experiment)?,
            Kind::Datasets => Vec::new(),
        };
        let datasets: Vec<PlannedData> = match experiment.kind {
            Kind::Scaling => scaling::datasets(&source, &experiment)?,
            _ => data::resolve(&source, &experiment, registry)?,
        };
        claims::check(&source, &experiment, &mechanisms, &claims)?;
        let mut plan = Self {
            experiment,
            source,
            datasets,
            mechanisms,
            trials: Vec::new(),
            all_trials: Vec::new(),
            filter: filter.clone(),
            claims: claims.into_iter().map(|claim| claim.into_inner()).collect(),
        };
        plan.check(filter)?;
        plan.trials = plan.list_trials(filter);
        plan.all_trials = plan.list_trials(&Filter::default());
        Ok(plan)
    }

    /// Refuses filters that name what is not there.
    fn check(&self, filter: &Filter) -> Result<(), PlanError> {
        let missing = |what, asked: &[String], known: Vec<String>| match asked
            .iter()
            .find(|name| !known.contains(name))
        {
            Some(name) => {
                Err(PlanError::Filter { what, name: name.clone(), known: known.join(", ") })
            }
            None => Ok(()),
        };
        let names = self.datasets.iter().map(|data| data.name.clone());
        missing("dataset", &filter.datasets, names.collect())?;
        let labels = self.mechanisms.iter().map(|mechanism| mechanism.label.clone());
        missing("mechanism", &filter.mechanisms, labels.collect())?;
        let arms = self.mechanisms.iter().flat_map(|mechanism| &mechanism.arms);
        missing("arm", &filter.arms, arms.map(|arm| arm.name.clone()).collect())?;
        let text = |epsilon: &f64| epsilon.to_string();
        let asked: Vec<String> = filter.epsilons.iter().map(text).collect();
        let known = self.experiment.epsilon.iter().map(|epsilon| text(epsilon.as_ref()));
        missing("epsilon", &asked, known.collect())
    }

    fn list_trials(&self, filter: &Filter) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (data, planned) in self.datasets.iter().enumerate() {
            if !filter.keeps_dataset(&planned.name) {
                continue;
            }
            for (mechanism, planned) in self.mechanisms.iter().enumerate() {
                let kept =
                    filter.mechanisms.is_empty() || filter.mechanisms.contains(&planned.label);
                for epsilon in self.experiment.epsilon.iter().map(|epsilon| *epsilon.as_ref()) {
                    if !kept || !(filter.epsilons.is_empty() || filter.epsilons.contains(&epsilon))
                    {
                        continue;
                    }
                    for cases in self.cases_together(data, planned) {
                        for repetition in 0..self.experiment.trials {
                            let index = trials.len();
                            let case = cases[0];
                            let mut trial = Trial {
                                index,
                                data,
                                mechanism,
                                epsilon,
                                repetition,
                                case,
                                rows: Vec::new(),
                            };
                            trial.rows = self.list_rows(&trial, &cases, filter);
                            trials.push(trial);
                        }
                    }
                }
            }
        }
        trials
    }

    /// The cases that one release of the mechanism answers.
    fn cases_together(&self, data: usize, planned: &PlannedMechanism) -> Vec<Vec<usize>> {
        let cases = &self.datasets[data].cases;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (place, case) in cases.iter().enumerate() {
            let same = groups.iter_mut().find(|group| {
                let first = &cases[group[0]];
                planned.workload_dependence == WorkloadDependence::Cliques
                    && first.public == case.public
                    && first.workload.cliques() == case.workload.cliques()
            });
            match same {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups
    }

    fn list_rows(&self, trial: &Trial, cases: &[usize], filter: &Filter) -> Vec<PlannedRow> {
        let mut rows = Vec::new();
        for (at, arm) in self.mechanism(trial).arms.iter().enumerate() {
            if filter.arms.is_empty() || filter.arms.contains(&arm.name) {
                rows.extend(cases.iter().map(|&case| {
                    let key = arm_key(self, trial, case, arm);
                    PlannedRow { arm: at, case, key }
                }));
            }
        }
        rows
    }

    /// The data of a trial.
    pub fn data(&self, trial: &Trial) -> &PlannedData {
        &self.datasets[trial.data]
    }

    /// The data that is asked for, in the order of the file.
    pub fn asked_datasets(&self) -> impl Iterator<Item = &PlannedData> {
        self.datasets.iter().filter(|data| self.filter.keeps_dataset(&data.name))
    }

    /// The mechanism of a trial.
    pub fn mechanism(&self, trial: &Trial) -> &PlannedMechanism {
        &self.mechanisms[trial.mechanism]
    }

    /// What a trial may spend: pure epsilon, epsilon with delta, or the rho that implies them.
    pub fn guarantee(&self, trial: &Trial) -> Result<Guarantee, ParameterError> {
        let epsilon = Epsilon::new(trial.epsilon)?;
        let PlannedMechanism { guarantee, delta, .. } = self.mechanism(trial);
        let delta = || Delta::new(delta.unwrap_or(0.0));
        Ok(match guarantee {
            GuaranteeKind::Pure => epsilon.into(),
            GuaranteeKind::Approximate => (epsilon, delta()?).into(),
            GuaranteeKind::Concentrated => Rho::implying(epsilon, delta()?)?.into(),
        })
    }

    /// The coordinates of a trial, from which its random numbers come.
    pub fn seed_path(&self, trial: &Trial) -> SeedPath {
        SeedPath::new("seed", self.experiment.seed)
            .with("dataset", &self.data(trial).name)
            .with("mechanism", self.mechanism(trial).name)
            .with("epsilon", trial.epsilon)
            .with("trial", trial.repetition)
    }

    /// A trial in a few words.
    pub fn describe(&self, trial: &Trial) -> String {
        format!(
            "{} on {}, epsilon {}, trial {}",
            self.mechanism(trial).title,
            self.data(trial).name,
            trial.epsilon,
            trial.repetition + 1
        )
    }

    /// The junction tree of measuring the whole workload, for each data set: what arms that
    /// estimate a graphical model from all of its marginals work with.
    pub fn trees(&self) -> Vec<TreeSize> {
        let size = |data: &PlannedData| {
            let workload = &data.cases[0].workload;
            JunctionTree::new(workload.domain(), &workload.cliques()).size()
        };
        self.datasets.iter().map(size).collect()
    }
}
