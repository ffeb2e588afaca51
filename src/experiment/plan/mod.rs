//! The validated plan: everything that an experiment file names exists and is consistent.

mod cases;
mod chain;
mod claims;
pub(super) mod commands;
mod data;
mod draws;
mod figure;
mod mechanisms;
mod origin;
mod sets;
mod sizes;

pub use cases::Case;
pub use data::PlannedData;
pub(super) use mechanisms::arms;
pub use mechanisms::{ArmSource, PlannedArm, PlannedMechanism, commands_of};
pub use origin::Origin;

use std::path::PathBuf;

use thiserror::Error;

use super::key::block;
use super::measurement::kept_by;
use super::scaling;
use crate::config::{Changes, ConfigError, Experiment, Kind, Overrides, Source};
use crate::data::{DataError, Registry};
use crate::mechanism::WorkloadDependence;
use crate::results::schedule::{Block, row_key};
use dp::{Delta, Epsilon, Guarantee, ParameterError, SeedPath};
use private_pgm::junction_tree::{JunctionTree, TreeSize};

/// An experiment with its data, ready to run.
pub struct Plan {
    /// The file with defaults and overrides.
    pub experiment: Experiment,
    /// For messages and the manifest.
    pub source: Source,
    /// In the order of the file.
    pub datasets: Vec<PlannedData>,
    /// In the order of the file.
    pub mechanisms: Vec<PlannedMechanism>,
    /// The trials that the filter keeps, ordered by dataset, mechanism, epsilon, repetition.
    pub trials: Vec<Trial>,
    /// All trials of the experiment, in the same order.
    pub all_trials: Vec<Trial>,
    pub filter: Filter,
    /// The largest number of iterations of an estimate in the file, before overrides.
    pub full_iterations: usize,
}

/// One run of a mechanism, and the arms that estimate from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its position in the list of trials.
    pub index: usize,
    /// Index into [`Plan::datasets`].
    pub data: usize,
    /// Index into [`Plan::mechanisms`].
    pub mechanism: usize,
    pub epsilon: f64,
    /// Counted from 0.
    pub repetition: usize,
    /// Index of the case whose workload the mechanism receives.
    pub case: usize,
    /// The key of the release.
    pub release: String,
    /// One per arm and case. The rows of an arm are adjacent.
    pub rows: Vec<PlannedRow>,
}

/// A row of the results before its arm has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRow {
    /// Index into [`PlannedMechanism::arms`].
    pub arm: usize,
    /// Index into [`PlannedData::cases`].
    pub case: usize,
    pub key: String,
}

/// A part of an experiment, as in `--only dataset=adult,mechanism=hdmm`. Empty lists keep all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub datasets: Vec<String>,
    pub mechanisms: Vec<String>,
    pub arms: Vec<String>,
    pub epsilons: Vec<f64>,
}

impl Filter {
    pub fn keeps_dataset(&self, name: &String) -> bool {
        self.datasets.is_empty() || self.datasets.contains(name)
    }

    fn keeps_mechanism(&self, label: &String) -> bool {
        self.mechanisms.is_empty() || self.mechanisms.contains(label)
    }
}

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum PlanError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file has no table `[quick]`.
    #[error(
        "--quick: {} does not say what a quick run leaves out; add a table [quick], as \
         docs/experiments.md describes it, or leave the option out",
        .path.display()
    )]
    NoQuick { path: PathBuf },
    #[error("{setting}: expected a whole number from 1, found 0")]
    Zero { setting: &'static str },
    #[error("the figure \"{kind}\" has nothing to show: {why}")]
    NothingToShow { kind: &'static str, why: &'static str },
    /// The filter names something that the experiment does not have.
    #[error("--only {what}={name}: this experiment has {known}")]
    Filter {
        /// `dataset`, `mechanism`, `arm` or `epsilon`.
        what: &'static str,
        name: String,
        known: String,
    },
}

impl Plan {
    /// Parses and validates an experiment file, loads the data, and lists the trials.
    pub fn new(
        source: Source,
        overrides: &Overrides,
        registry: &Registry,
        filter: &Filter,
    ) -> Result<Self, PlanError> {
        for (setting, number) in
            [("trials", overrides.trials), ("iterations", overrides.iterations)]
        {
            if number == Some(0) {
                return Err(PlanError::Zero { setting });
            }
        }
        let written = source.parse()?;
        if overrides.quick && written.quick == Changes::default() {
            return Err(PlanError::NoQuick { path: source.path });
        }
        let experiment = written.clone().overridden(overrides);
        let plan = Self::of(source, experiment, registry, filter)?;
        claims::check_written(&plan.source, &written.expanded(&plan.source)?)?;
        Ok(Self { full_iterations: written.most_iterations(), ..plan })
    }

    /// The plan of a parsed experiment. The source is for messages only.
    pub(super) fn of(
        source: Source,
        experiment: Experiment,
        registry: &Registry,
        filter: &Filter,
    ) -> Result<Self, PlanError> {
        for epsilon in &experiment.epsilon {
            let invalid =
                |error: ParameterError| source.error(epsilon.span(), error.to_string(), None);
            Epsilon::requested(*epsilon.as_ref()).map_err(invalid)?;
        }
        let expanded = experiment.expanded(&source)?;
        let mechanisms = match experiment.kind {
            Kind::Mechanisms => mechanisms::resolve(&source, &expanded)?,
            Kind::Scaling => scaling::mechanisms(&source, &experiment)?,
            Kind::Datasets => Vec::new(),
        };
        let datasets: Vec<PlannedData> = match experiment.kind {
            Kind::Scaling => scaling::datasets(&source, &experiment)?,
            _ => data::resolve(&source, &expanded, registry)?,
        };
        claims::check(&source, &experiment, &mechanisms)?;
        figure::check(&experiment, &datasets, &mechanisms)?;
        let mut plan = Self {
            full_iterations: experiment.most_iterations(),
            experiment,
            source,
            datasets,
            mechanisms,
            trials: Vec::new(),
            all_trials: Vec::new(),
            filter: filter.clone(),
        };
        plan.check(filter)?;
        plan.trials = plan.list_trials(filter);
        plan.all_trials = plan.list_trials(&Filter::default());
        Ok(plan)
    }

    /// Refuses names in a filter that the experiment does not have.
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
                if filter.keeps_mechanism(&planned.label) {
                    self.list_trials_of(data, mechanism, filter, &mut trials);
                }
            }
        }
        trials
    }

    fn list_trials_of(
        &self,
        data: usize,
        mechanism: usize,
        filter: &Filter,
        trials: &mut Vec<Trial>,
    ) {
        let groups = self.cases_by_release(data, &self.mechanisms[mechanism]);
        let block = |cases: Vec<usize>| (block(self, data, mechanism, &cases), cases);
        let blocks: Vec<(Block, Vec<usize>)> = groups.into_iter().map(block).collect();
        let kept = |epsilon: &f64| filter.epsilons.is_empty() || filter.epsilons.contains(epsilon);
        for epsilon in self.experiment.epsilon.iter().map(|e| *e.as_ref()).filter(kept) {
            for (block, cases) in &blocks {
                for repetition in 0..self.experiment.trials {
                    let release = block.release_key(epsilon, repetition);
                    trials.push(Trial {
                        index: trials.len(),
                        data,
                        mechanism,
                        epsilon,
                        repetition,
                        case: cases[0],
                        rows: list_rows(block, cases, &release, filter),
                        release,
                    });
                }
            }
        }
    }

    /// Groups the cases of a dataset that share one release: those with the same cliques, if the
    /// mechanism does not depend on the queries.
    fn cases_by_release(&self, data: usize, planned: &PlannedMechanism) -> Vec<Vec<usize>> {
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

    /// The blocks of the whole experiment in its order, with predicted times.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let costs = self.costs();
        let epsilon = self.experiment.epsilon.first().map(|epsilon| *epsilon.as_ref());
        let is_first = |t: &&Trial| t.repetition == 0 && Some(t.epsilon) == epsilon;
        let with_costs = |trial: &Trial| {
            let cases = self.cases_by_release(trial.data, self.mechanism(trial));
            let cases = cases.into_iter().find(|cases| cases[0] == trial.case).unwrap_or_default();
            let mut block = block(self, trial.data, trial.mechanism, &cases);
            let shared = costs.release(trial) / trial.rows.len().max(1) as f64;
            for row in &trial.rows {
                block.arms[row.arm].predicted_seconds = shared + costs.row(trial, row);
            }
            block
        };
        self.all_trials.iter().filter(is_first).map(with_costs).collect()
    }

    pub fn data(&self, trial: &Trial) -> &PlannedData {
        &self.datasets[trial.data]
    }

    /// The datasets that the filter keeps.
    pub fn asked_datasets(&self) -> impl Iterator<Item = &PlannedData> {
        self.datasets.iter().filter(|data| self.filter.keeps_dataset(&data.name))
    }

    pub fn mechanism(&self, trial: &Trial) -> &PlannedMechanism {
        &self.mechanisms[trial.mechanism]
    }

    /// The budget of a trial: epsilon, (epsilon, delta), or the rho that implies (epsilon, delta).
    pub fn guarantee(&self, trial: &Trial) -> Result<Guarantee, ParameterError> {
        let epsilon = Epsilon::new(trial.epsilon)?;
        let PlannedMechanism { guarantee, delta, .. } = self.mechanism(trial);
        kept_by(*guarantee, epsilon, || Delta::new(delta.unwrap_or(0.0)))
    }

    /// The coordinates of a trial, which seed its random numbers.
    pub fn seed_path(&self, trial: &Trial) -> SeedPath {
        SeedPath::new("seed", self.experiment.seed)
            .with("dataset", &self.data(trial).name)
            .with("mechanism", &self.mechanism(trial).name)
            .with("epsilon", trial.epsilon)
            .with("trial", trial.repetition)
    }

    /// For progress messages.
    pub fn describe(&self, trial: &Trial) -> String {
        format!(
            "{} on {}, epsilon {}, trial {}",
            self.mechanism(trial).title,
            self.data(trial).name,
            trial.epsilon,
            trial.repetition + 1
        )
    }

    /// The size of the junction tree of each dataset if all marginals of the workload are measured.
    pub fn trees(&self) -> Vec<TreeSize> {
        let size = |data: &PlannedData| {
            let workload = &data.cases[0].workload;
            JunctionTree::new(workload.domain(), &workload.cliques()).size()
        };
        self.datasets.iter().map(size).collect()
    }
}

/// The rows of a release: each kept arm with each case.
fn list_rows(block: &Block, cases: &[usize], release: &str, filter: &Filter) -> Vec<PlannedRow> {
    let mut rows = Vec::new();
    for (at, arm) in block.arms.iter().enumerate() {
        if filter.arms.is_empty() || filter.arms.contains(&arm.name) {
            rows.extend(cases.iter().zip(&block.cases).map(|(&case, named)| {
                let key = row_key(release, &named.hash, &arm.hash);
                PlannedRow { arm: at, case, key }
            }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_zero_are_refused_before_anything_is_read() {
        for overrides in [
            Overrides { trials: Some(0), ..Overrides::default() },
            Overrides { iterations: Some(0), ..Overrides::default() },
        ] {
            let source = Source::shipped("smoke").unwrap();
            let planned = Plan::new(source, &overrides, &Registry::default(), &Filter::default());
            let message = planned.map(drop).unwrap_err().to_string();
            assert!(message.contains("expected a whole number from 1, found 0"), "{message}");
        }
    }
}
