//! The syntax of an experiment file, before validation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::byte_size::ByteSize;
use super::claim::Claim;
use super::command::EstimatorCommand;
use super::dataset::{Chain, Dataset};
use super::experiment::{Kind, Parameters};
use super::figure::{ArmStyle, FigureKind, Statistic};
use super::form::{self, Form, Numbers};
use super::layers::EstimationLayer;
use super::metric::Metric;
use super::sweep::Sweep;
use super::workload::Workload;
use crate::mechanism::{GuaranteeKind, Noise};
use dp::Neighbours;
use private_pgm::fit::Algorithm;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an experiment")]
pub(super) struct RawExperiment {
    pub(super) name: Spanned<String>,
    pub(super) title: Option<String>,
    pub(super) document: Option<String>,
    #[serde(default)]
    pub(super) kind: Kind,
    pub(super) trials: Option<Spanned<u64>>,
    pub(super) seed: Option<Spanned<u64>>,
    pub(super) epsilon: Option<Spanned<Numbers>>,
    pub(super) delta: Option<Spanned<f64>>,
    pub(super) datasets: Option<Spanned<Vec<Dataset>>>,
    pub(super) public: Option<Spanned<Vec<Spanned<u64>>>>,
    pub(super) neighbours: Option<Spanned<Neighbours>>,
    pub(super) noise: Option<Spanned<Noise>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) workload: Option<Spanned<Workload>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) sweep: Option<Spanned<Sweep>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) estimation: Option<Spanned<EstimationLayer>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) limits: Option<Spanned<RawLimits>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) evaluation: Option<Spanned<RawEvaluation>>,
    pub(super) mechanism: Option<Spanned<Vec<Spanned<RawMechanism>>>>,
    pub(super) estimator: Option<Spanned<Vec<Spanned<EstimatorCommand>>>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    pub(super) scaling: Option<Spanned<RawScaling>>,
    #[serde(default, deserialize_with = "form::optional_table")]
    pub(super) figure: Option<RawFigure>,
    #[serde(default, deserialize_with = "form::optional_table")]
    pub(super) quick: Option<RawChanges>,
    #[serde(default)]
    pub(super) claim: Vec<Spanned<Claim>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawLimits {
    pub(super) memory: Option<ByteSize>,
    pub(super) seconds: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawEvaluation {
    pub(super) coverage: Option<Spanned<f64>>,
    pub(super) replicates: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawMechanism {
    pub(super) name: Spanned<String>,
    pub(super) label: Option<Spanned<String>>,
    pub(super) arms: Option<Spanned<Vec<RawArm>>>,
    #[serde(default, deserialize_with = "form::table")]
    pub(super) estimation: EstimationLayer,
    #[serde(default)]
    pub(super) parameters: Parameters,
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) files: Option<Spanned<Vec<PathBuf>>>,
    pub(super) guarantee: Option<Spanned<GuaranteeKind>>,
    pub(super) delta: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawScaling {
    pub(super) attributes: Spanned<Vec<Spanned<u64>>>,
    pub(super) values: Option<Spanned<u64>>,
    pub(super) records: Option<Spanned<u64>>,
    pub(super) arms: Spanned<Vec<RawArm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawFigure {
    pub(super) kind: Spanned<FigureKind>,
    pub(super) metric: Option<Spanned<Metric>>,
    #[serde(default)]
    pub(super) statistic: Statistic,
    #[serde(default)]
    pub(super) arms: BTreeMap<Spanned<String>, ArmStyle>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawChanges {
    pub(super) trials: Option<Spanned<u64>>,
    pub(super) algorithm: Option<Spanned<Algorithm>>,
    pub(super) iterations: Option<Spanned<u64>>,
    pub(super) gap: Option<Spanned<f64>>,
    pub(super) datasets: Option<Spanned<Vec<Dataset>>>,
    pub(super) attributes: Option<Spanned<Vec<Spanned<u64>>>>,
}

/// `"pgm"`, or a table with a name and settings.
pub(super) struct RawArm {
    pub(super) name: Spanned<String>,
    pub(super) estimator: Spanned<String>,
    pub(super) estimation: EstimationLayer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmTable {
    name: Option<Spanned<String>>,
    estimator: Spanned<String>,
    #[serde(default, deserialize_with = "form::table")]
    estimation: EstimationLayer,
}

impl<'de> Deserialize<'de> for RawArm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<NameOr<ArmTable>>::deserialize(deserializer)?;
        let span = written.span();
        let table = match written.into_inner() {
            NameOr::Table(table) => table,
            NameOr::Name(name) => ArmTable {
                name: None,
                estimator: Spanned::new(span, name),
                estimation: EstimationLayer::default(),
            },
        };
        Ok(Self {
            name: table.name.unwrap_or_else(|| table.estimator.clone()),
            estimator: table.estimator,
            estimation: table.estimation,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetTable {
    name: Spanned<String>,
    schema: Option<Spanned<PathBuf>>,
    bins: Option<Spanned<u64>>,
    #[serde(default)]
    without: Vec<Spanned<String>>,
    only: Option<Spanned<Vec<Spanned<String>>>>,
    attributes: Option<Spanned<u64>>,
    records: Option<Spanned<u64>>,
    label: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "form::spanned_table")]
    chain: Option<Spanned<Chain>>,
    sizes: Option<Spanned<Vec<u64>>>,
}

impl<'de> Deserialize<'de> for Dataset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<NameOr<DatasetTable>>::deserialize(deserializer)?;
        let span = written.span();
        Ok(match written.into_inner() {
            NameOr::Table(table) => {
                let DatasetTable { name, schema, bins, without, chain, .. } = table;
                let DatasetTable { only, attributes, records, label, sizes, .. } = table;
                Self { name, label, schema, bins, without, only, attributes, records, chain, sizes }
            }
            NameOr::Name(name) => Self::named(Spanned::new(span, name)),
        })
    }
}

/// A name, or a table.
enum NameOr<T> {
    Name(String),
    Table(T),
}

impl<'de, T: Deserialize<'de>> Form<'de> for NameOr<T> {
    const EXPECTED: &'static str = "a name or a table";

    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        Ok(Self::Name(text))
    }

    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        form::fields(table).map(Self::Table)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        form::deserialize(deserializer)
    }
}
