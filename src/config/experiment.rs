use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::byte_size::ByteSize;
use super::claim::Claim;
use super::dataset::Dataset;
use super::estimation::Estimation;
use super::figure::{Figure, FigureKind};
use super::metric::Metric;
use super::workload::Workload;
use crate::mechanism::Noise;
use dp::Neighbours;
use private_pgm::fit::{Algorithm, Choice};

/// An experiment, with all defaults filled in.
///
/// Values that only others can judge (names of data sets, attributes, mechanisms, estimators, and
/// parameters) carry their place in the file. Serialised, it has the shape of an experiment file
/// that means the same, in a fixed order: for manifests and hashes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Lower-case letters, digits and hyphens; the folder of its results.
    pub name: Spanned<String>,
    /// For figures and reports.
    pub title: String,
    /// What is compared.
    pub kind: Kind,
    /// How often each measurement is repeated, with fresh noise.
    pub trials: usize,
    /// What the random numbers start from.
    pub seed: u64,
    /// The privacy budgets, all different, in the order of the file. Empty for
    /// [`Kind::Datasets`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epsilon: Vec<Spanned<f64>>,
    /// For mechanisms that cannot do without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Spanned<f64>>,
    /// The data. Empty for [`Kind::Scaling`], which makes its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<Dataset>,
    /// The orders of the marginals that are public anyway; each is a case of its own. Empty when
    /// nothing is public.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub public: Vec<usize>,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// How noise is drawn.
    pub noise: Noise,
    /// What is asked of the data.
    #[serde(skip_serializing_if = "is_default")]
    pub workload: Workload,
    /// How graphical models are estimated where nothing else is said.
    pub estimation: Estimation,
    /// What an arm may use.
    pub limits: Limits,
    /// The mechanisms, with all different labels. Empty unless [`Kind::Mechanisms`].
    #[serde(rename = "mechanism", skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<Mechanism>,
    /// There for [`Kind::Scaling`], and for no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// How the results are drawn.
    pub figure: Figure,
    /// What a quick run changes.
    #[serde(skip_serializing_if = "is_default")]
    pub quick: Changes,
    /// The statements to check.
    #[serde(rename = "claim", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Spanned<Claim>>,
}

impl Experiment {
    /// The same experiment with some settings replaced.
    pub fn changed(mut self, changes: &Changes) -> Self {
        if let Some(trials) = changes.trials {
            self.trials = trials;
        }
        for estimation in self.estimations_mut() {
            let settings = &mut estimation.settings;
            // An algorithm that stays keeps its own settings.
            settings.algorithm = match changes.algorithm {
                Some(other) if other.name() != settings.algorithm.name() => other,
                _ => settings.algorithm,
            };
            settings.iterations = changes.iterations.or(settings.iterations);
            settings.gap = changes.gap.or(settings.gap);
        }
        if let Some(datasets) = &changes.datasets {
            self.datasets.clone_from(datasets);
        }
        if let (Some(scaling), Some(attributes)) = (&mut self.scaling, &changes.attributes) {
            scaling.attributes.clone_from(attributes);
        }
        self
    }

    /// The same experiment as a command line asks for it.
    pub fn overridden(mut self, overrides: &Overrides) -> Self {
        if overrides.quick {
            let quick = self.quick.clone();
            self = self.changed(&quick);
        }
        let Overrides { trials, iterations, .. } = *overrides;
        self.changed(&Changes { trials, iterations, ..Changes::default() })
    }

    /// The largest number of iterations that an estimate may take.
    pub fn most_iterations(&self) -> usize {
        let of_mechanisms = self.mechanisms.iter().map(|mechanism| &mechanism.estimation);
        let of_arms = self.arms().map(|arm| &arm.estimation);
        let all = of_mechanisms.chain(of_arms).map(Estimation::iterations);
        all.chain([self.estimation.iterations()]).max().unwrap_or_default()
    }

    /// What the experiment is about: the error that the file names for the figure, and what the
    /// figure shows where that is nothing else: the time of an iteration, the rounds.
    pub fn metric(&self) -> Metric {
        match (self.figure.kind, self.figure.metric) {
            (FigureKind::Scaling, _) => Metric::SecondsPerIteration,
            (FigureKind::Rounds, _) => Metric::Rounds,
            (FigureKind::Records, None) => Metric::MaxError,
            (_, named) => named.unwrap_or_default(),
        }
    }

    /// The arms that the file names.
    fn arms(&self) -> impl Iterator<Item = &Arm> {
        let of_mechanisms = self.mechanisms.iter().flat_map(|mechanism| &mechanism.arms);
        of_mechanisms.chain(self.scaling.iter().flat_map(|scaling| &scaling.arms))
    }

    fn estimations_mut(&mut self) -> impl Iterator<Item = &mut Estimation> {
        let of_mechanisms = self.mechanisms.iter_mut().flat_map(|mechanism| {
            let of_arms = mechanism.arms.iter_mut().map(|arm| &mut arm.estimation);
            std::iter::once(&mut mechanism.estimation).chain(of_arms)
        });
        let of_scaling = self.scaling.iter_mut().flat_map(|scaling| &mut scaling.arms);
        let of_scaling = of_scaling.map(|arm| &mut arm.estimation);
        std::iter::once(&mut self.estimation).chain(of_mechanisms).chain(of_scaling)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What an experiment compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Mechanisms and their estimators on data.
    #[default]
    Mechanisms,
    /// The time that estimators take on more and more attributes.
    Scaling,
    /// Nothing: a table of the data.
    Datasets,
}

/// What an arm may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Memory for tables; 4 GiB by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// Time for an estimate; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Settings by name, each with its place in the file.
pub type Parameters = BTreeMap<Spanned<String>, Spanned<Value>>;

/// A mechanism, and the estimators that are given its measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mechanism {
    /// Which mechanism.
    pub name: Spanned<String>,
    /// What it is called in the results: its name, unless it takes part twice.
    pub label: Spanned<String>,
    /// The estimators; none means `own` and `pgm`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// How arms estimate that say nothing else.
    pub estimation: Estimation,
    /// For the mechanism to check.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: Parameters,
}

/// An estimator that takes part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// What it is called in the results; different from its mechanism's other arms.
    pub name: Spanned<String>,
    /// Which estimator.
    pub estimator: Spanned<String>,
    /// How it estimates.
    pub estimation: Estimation,
}

/// Chains of attributes, each triple of neighbours measured (ICML 2019, section 5.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// The numbers of attributes, each at least 3.
    pub attributes: Vec<usize>,
    /// The number of values of each attribute.
    pub values: usize,
    /// The number of records.
    pub records: usize,
    /// The estimators.
    pub arms: Vec<Arm>,
}

/// Settings to replace, for a quick run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Other than [`Experiment::trials`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// For every estimate. An estimate that has this algorithm already keeps its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// For every estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// For every estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Other than [`Experiment::datasets`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<Dataset>>,
    /// Other than [`Scaling::attributes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<usize>>,
}

/// What a command line replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Whether [`Experiment::quick`] is asked for.
    pub quick: bool,
    /// Other than [`Experiment::trials`].
    pub trials: Option<usize>,
    /// For every estimate.
    pub iterations: Option<usize>,
}
