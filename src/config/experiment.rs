use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::byte_size::ByteSize;
use super::claim::Claim;
use super::estimation::Estimation;
use super::metric::Metric;
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

/// Data: a name alone is one of those that `pgmbench datasets list` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dataset {
    /// The name.
    pub name: Spanned<String>,
    /// The schema of the user's own data, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Spanned<PathBuf>>,
    /// For histograms: so many bins, neighbours of the original ones taken together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Spanned<u64>>,
    /// Records that are drawn here, in place of data by that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Spanned<Chain>>,
}

/// Binary records drawn from a Markov chain: the first attribute is 1 with probability `ones`, and each
/// further one repeats the one before it, except with probability `flips`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { attributes = 10, records = 1000 }")]
pub struct Chain {
    /// Their number.
    pub attributes: u64,
    /// Their number.
    pub records: u64,
    /// How likely the first attribute is 1; 0.1 if left out.
    #[serde(default = "Chain::default_ones")]
    pub ones: f64,
    /// How likely an attribute differs from the one before it; 0.1 if left out.
    #[serde(default = "Chain::default_flips")]
    pub flips: f64,
    /// Another seed draws other records. Fewer records with the same seed are the first of more.
    #[serde(default)]
    pub seed: u64,
}

impl Chain {
    fn default_ones() -> f64 {
        0.1
    }

    fn default_flips() -> f64 {
        0.1
    }
}

/// What is asked of the data: for each of some sets of attributes, the product of one query matrix
/// for each attribute. The sets are those of the data's schema unless others are given here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Workload {
    /// The sets of attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginals: Option<Spanned<Vec<AttributeNames>>>,
    /// All sets of so many attributes. Never together with `marginals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Spanned<u64>>,
    /// Sets drawn at random. Never together with `marginals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Spanned<RandomMarginals>>,
    /// The attributes that are asked by prefix; by default those of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Vec<Spanned<String>>>,
    /// Queries on the table of all attributes; each kind is a case of its own. Never together with the
    /// others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<Spanned<Vec<Spanned<Queries>>>>,
}

/// Queries on the cells of the table of all attributes, in the order of the table: for a histogram,
/// its bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queries {
    /// Every cell.
    Identity,
    /// Every range of neighbouring cells.
    AllRanges,
    /// Random ranges of neighbouring cells.
    Ranges(RandomRanges),
    /// Rows of random zeros and ones, so many.
    Predicates(u64),
    /// Rows of random signs, so many.
    Signs(u64),
}

/// Random ranges: so many for each size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { size = 16, count = 1000 }")]
pub struct RandomRanges {
    /// The size; when left out 2, 4, 8 and so on, up to a quarter of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How many of each size.
    pub count: u64,
}

/// A set of attributes, by name.
pub type AttributeNames = Spanned<Vec<Spanned<String>>>;

/// Sets of attributes to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { marginals = 15, size = 3, seed = 1 }")]
pub struct RandomMarginals {
    /// How many, all different.
    pub marginals: Spanned<u64>,
    /// The number of attributes of each.
    pub size: Spanned<u64>,
    /// Another seed draws other sets.
    #[serde(default)]
    pub seed: u64,
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

/// How results are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The kind of figure.
    pub kind: FigureKind,
    /// The column that it shows; unless told, `max_error` for records and `workload_error` for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Bars by data set, a panel for each mechanism.
    Bars,
    /// Error against epsilon.
    Epsilon,
    /// Time against the number of attributes.
    Scaling,
    /// Error against the size of queries, a row of panels for each epsilon.
    Sizes,
    /// Bars by case, a panel for each data set.
    Cases,
    /// Error against the number of records.
    Records,
    /// Rounds that were used against those that there could have been.
    Rounds,
    /// Losses and error over the iterations.
    Traces,
    /// Text only.
    Table,
}

impl FigureKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            FigureKind::Bars => "bars",
            FigureKind::Epsilon => "epsilon",
            FigureKind::Scaling => "scaling",
            FigureKind::Sizes => "sizes",
            FigureKind::Cases => "cases",
            FigureKind::Records => "records",
            FigureKind::Rounds => "rounds",
            FigureKind::Traces => "traces",
            FigureKind::Table => "table",
        }
    }
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
