use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::byte_size::ByteSize;
use super::claim::Claim;
use super::command::{EstimatorCommand, MechanismCommand};
use super::dataset::Dataset;
use super::estimation::Estimation;
use super::evaluation::Evaluation;
use super::figure::{Figure, FigureKind};
use super::metric::Metric;
use super::sweep::Sweep;
use super::workload::Workload;
use crate::mechanism::Noise;
use dp::Neighbours;
use private_pgm::fit::{Algorithm, Choice};

/// An experiment, with all defaults filled in.
///
/// Values that the file alone cannot validate (names of data sets, attributes, mechanisms and
/// estimators, and parameters) carry their span in the file. It serialises to an equivalent
/// experiment file with a fixed order of keys, for manifests and hashes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Lower-case letters, digits and hyphens. Also the name of the results folder.
    pub name: Spanned<String>,
    /// For figures and reports.
    pub title: String,
    /// The document whose statements the claims are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    pub kind: Kind,
    /// Repetitions of each measurement, with independent noise.
    pub trials: usize,
    /// All random numbers of the experiment are derived from it.
    pub seed: u64,
    /// The privacy budgets, distinct, in the order of the file. Empty for [`Kind::Datasets`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epsilon: Vec<Spanned<f64>>,
    /// For mechanisms with approximate differential privacy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Spanned<f64>>,
    /// Empty for [`Kind::Scaling`], which generates its own data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<Dataset>,
    /// The orders of the marginals that are public; each is a separate case. Empty if nothing is
    /// public.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub public: Vec<usize>,
    pub neighbours: Neighbours,
    pub noise: Noise,
    #[serde(skip_serializing_if = "is_default")]
    pub workload: Workload,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Defaults for mechanisms and arms.
    pub estimation: Estimation,
    pub limits: Limits,
    #[serde(skip_serializing_if = "is_default")]
    pub evaluation: Evaluation,
    /// Their labels are distinct. Empty except for [`Kind::Mechanisms`].
    #[serde(rename = "mechanism", skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<Mechanism>,
    /// Commands that arms may name.
    #[serde(rename = "estimator", skip_serializing_if = "Vec::is_empty")]
    pub estimators: Vec<EstimatorCommand>,
    /// `Some` exactly for [`Kind::Scaling`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    pub figure: Figure,
    #[serde(skip_serializing_if = "is_default")]
    pub quick: Changes,
    #[serde(rename = "claim", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Spanned<Claim>>,
}

impl Experiment {
    /// The experiment with the given settings replaced.
    pub fn changed(mut self, changes: &Changes) -> Self {
        if let Some(trials) = changes.trials {
            self.trials = trials;
        }
        for estimation in self.estimations_mut() {
            let settings = &mut estimation.settings;
            // The same algorithm keeps its settings.
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

    /// The experiment with the options of a command line applied.
    pub fn overridden(mut self, overrides: &Overrides) -> Self {
        if overrides.quick {
            let quick = self.quick.clone();
            self = self.changed(&quick);
        }
        let Overrides { trials, iterations, .. } = *overrides;
        self.changed(&Changes { trials, iterations, ..Changes::default() })
    }

    /// The largest iteration limit of any estimate.
    pub fn most_iterations(&self) -> usize {
        let of_mechanisms = self.mechanisms.iter().map(|mechanism| &mechanism.estimation);
        let of_arms = self.arms().map(|arm| &arm.estimation);
        let all = of_mechanisms.chain(of_arms).map(Estimation::iterations);
        all.chain([self.estimation.iterations()]).max().unwrap_or_default()
    }

    /// The primary metric: the one that the figure shows. Figures of scaling and of rounds have a
    /// fixed metric; for the others the file may name an error.
    pub fn metric(&self) -> Metric {
        match (self.figure.kind, self.figure.metric) {
            (FigureKind::Scaling, _) => Metric::SecondsPerIteration,
            (FigureKind::Rounds, _) => Metric::Rounds,
            (FigureKind::Records, None) => Metric::MaxError,
            (_, named) => named.unwrap_or_default(),
        }
    }

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
    /// The time of estimators against the number of attributes.
    Scaling,
    /// Nothing is run: a table of the data.
    Datasets,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Memory for tables. Default: 4 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// Time for an estimate. Default: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Settings by name, each with its span in the file.
/// The arms of a mechanism that lists none.
pub const DEFAULT_ARMS: [&str; 2] = ["own", "pgm"];

pub type Parameters = BTreeMap<Spanned<String>, Spanned<Value>>;

/// A mechanism, and the estimators that use its measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mechanism {
    pub name: Spanned<String>,
    /// Its name in the results. Default: `name`; a mechanism that is listed twice needs two labels.
    pub label: Spanned<String>,
    /// Empty means [`DEFAULT_ARMS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// Defaults for its arms.
    pub estimation: Estimation,
    /// Validated by the mechanism, or passed to the command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: Parameters,
    /// Default: that of the experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Spanned<f64>>,
    /// `None` for a mechanism of the program.
    #[serde(flatten)]
    pub command: Option<MechanismCommand>,
}

/// An estimator to compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Its name in the results, distinct within its mechanism.
    pub name: Spanned<String>,
    pub estimator: Spanned<String>,
    pub estimation: Estimation,
}

/// Chains of attributes; each triple of consecutive attributes is measured (ICML 2019, section
/// 5.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// The lengths of the chains, each at least 3.
    pub attributes: Vec<usize>,
    /// The number of values of each attribute.
    pub values: usize,
    pub records: usize,
    pub arms: Vec<Arm>,
}

/// Settings that a quick run replaces.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Replaces [`Experiment::trials`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// For every estimate. An estimate that already uses this algorithm keeps its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Replaces [`Experiment::datasets`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<Dataset>>,
    /// Replaces [`Scaling::attributes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<usize>>,
}

/// Settings that a command line replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Whether to apply [`Experiment::quick`].
    pub quick: bool,
    /// Replaces [`Experiment::trials`].
    pub trials: Option<usize>,
    pub iterations: Option<usize>,
}
