//! Sweeps: an experiment whose datasets, mechanisms or arms are repeated with several values of one
//! setting.

use serde::{Deserialize, Serialize};
use toml::{Spanned, Table, Value};

use super::dataset::Dataset;
use super::error::ConfigError;
use super::experiment::{Arm, Experiment, Mechanism};
use super::layers::EstimationLayer;
use super::source::Source;
use crate::did_you_mean::in_words;
use crate::mechanism::{self, GuaranteeKind};

/// `{ parameter = "delta", values = [1e-9, 1e-6] }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { parameter = \"delta\", values = [] }")]
pub struct Sweep {
    pub parameter: Spanned<String>,
    /// Distinct, at least one.
    pub values: Spanned<Vec<Spanned<Value>>>,
}

/// Settings of datasets.
const OF_DATASETS: [&str; 2] = ["attributes", "records"];
/// Settings of estimates.
const OF_ESTIMATES: [&str; 7] =
    ["algorithm", "constant", "gap", "iterations", "loss", "oracle", "step"];
/// The estimators that use settings of estimates.
const WITH_SETTINGS: [&str; 3] = ["pgm", "lsmr", "mw"];

impl Sweep {
    /// The name in the results of what was called `base`: `pgm (iterations 100)`.
    pub fn label(&self, base: &str, value: &Value) -> String {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Float(number) if *number != 0.0 && number.abs() < 1e-3 => format!("{number:e}"),
            other => other.to_string(),
        };
        format!("{base} ({} {text})", self.parameter.as_ref())
    }

    /// The base and the value of a name in the results. `None` for what is not swept.
    pub fn base_of<'a>(&self, label: &'a str) -> Option<(&'a str, f64)> {
        let (base, _) = label.split_once(" (")?;
        let values = self.values.as_ref().iter().map(Spanned::as_ref);
        let value = values.into_iter().find(|value| self.label(base, value) == label)?;
        Some((base, number(value)?))
    }

    /// Whether a figure can have the values on a logarithmic axis.
    pub(super) fn is_positive(&self) -> bool {
        let values = self.values.as_ref().iter();
        values.map(Spanned::as_ref).all(|value| number(value).is_some_and(|value| value > 0.0))
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|value| value as f64))
}

impl Experiment {
    /// The experiment with everything that the sweep repeats, under names of its own.
    pub fn expanded(&self, source: &Source) -> Result<Self, ConfigError> {
        let Some(sweep) = &self.sweep else { return Ok(self.clone()) };
        let parameter = sweep.parameter.as_ref().as_str();
        let mut expanded = self.clone();
        let repeated = match parameter {
            name if OF_DATASETS.contains(&name) => {
                expanded.datasets = repeat(&self.datasets, sweep, |dataset, value| {
                    let dataset = swept_dataset(source, sweep, dataset, value)?;
                    Ok(Some(dataset))
                })?;
                !self.datasets.is_empty()
            }
            name if OF_ESTIMATES.contains(&name) => {
                let mut any = false;
                for mechanism in &mut expanded.mechanisms {
                    let arms = std::mem::take(&mut mechanism.arms);
                    let arms = if arms.is_empty() { default_arms(mechanism) } else { arms };
                    any |= arms.iter().any(has_settings);
                    mechanism.arms = repeat(&arms, sweep, |arm, value| {
                        has_settings(arm).then(|| swept_arm(source, sweep, arm, value)).transpose()
                    })?;
                }
                any
            }
            _ => {
                let is_swept = |mechanism: &Mechanism| has_parameter(mechanism, parameter);
                expanded.mechanisms = repeat(&self.mechanisms, sweep, |mechanism, value| {
                    let swept = || swept_mechanism(source, sweep, mechanism, value);
                    is_swept(mechanism).then(swept).transpose()
                })?;
                self.mechanisms.iter().any(is_swept)
            }
        };
        match repeated {
            true => Ok(expanded),
            false => Err(self.nothing_to_sweep(source, sweep)),
        }
    }

    fn nothing_to_sweep(&self, source: &Source, sweep: &Sweep) -> ConfigError {
        let of_mechanisms = self
            .mechanisms
            .iter()
            .filter_map(|named| mechanism::find(named.name.as_ref()).map(|spec| spec.parameters));
        let names = of_mechanisms.flatten().map(|parameter| parameter.name);
        let mut names: Vec<&str> = names.chain(OF_DATASETS).chain(OF_ESTIMATES).collect();
        names.push("delta");
        names.sort_unstable();
        names.dedup();
        let message = format!("nothing here has a setting \"{}\" to sweep", sweep.parameter);
        let help = format!("there are {}", names.join(", "));
        source.error(sweep.parameter.span(), message, Some(&help))
    }
}

/// Each item once per value, or as it is if it is not swept.
fn repeat<T: Clone>(
    items: &[T],
    sweep: &Sweep,
    with: impl Fn(&T, &Spanned<Value>) -> Result<Option<T>, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    let mut all = Vec::new();
    for item in items {
        let values = sweep.values.as_ref().iter();
        let swept = values.map(|value| with(item, value)).collect::<Result<Option<Vec<T>>, _>>()?;
        all.extend(swept.unwrap_or_else(|| vec![item.clone()]));
    }
    Ok(all)
}

fn has_settings(arm: &Arm) -> bool {
    WITH_SETTINGS.contains(&arm.estimator.as_ref().as_str())
}

fn has_parameter(mechanism: &Mechanism, name: &str) -> bool {
    match (&mechanism.command, mechanism::find(mechanism.name.as_ref())) {
        (Some(command), _) if name == "delta" => command.guarantee != GuaranteeKind::Pure,
        (None, Some(spec)) if name == "delta" => spec.guarantee != GuaranteeKind::Pure,
        (Some(_), _) => mechanism.parameters.keys().any(|known| known.as_ref() == name),
        (None, Some(spec)) => spec.parameters.iter().any(|known| known.name == name),
        (None, None) => false,
    }
}

/// `own` and `pgm`, as if the file had listed them.
fn default_arms(mechanism: &Mechanism) -> Vec<Arm> {
    let arm = |name: &str| {
        let name = Spanned::new(mechanism.name.span(), name.to_string());
        Arm { name: name.clone(), estimator: name, estimation: mechanism.estimation.clone() }
    };
    ["own", "pgm"].map(arm).into()
}

fn renamed(sweep: &Sweep, name: &Spanned<String>, value: &Spanned<Value>) -> Spanned<String> {
    Spanned::new(name.span(), sweep.label(name.as_ref(), value.as_ref()))
}

fn swept_arm(
    source: &Source,
    sweep: &Sweep,
    arm: &Arm,
    value: &Spanned<Value>,
) -> Result<Arm, ConfigError> {
    let at_value = |message: &str, help: Option<&str>| source.error(value.span(), message, help);
    let setting = (sweep.parameter.as_ref().clone(), value.as_ref().clone());
    let text = Table::from_iter([setting]).to_string();
    let layer: EstimationLayer = toml::from_str(&text).map_err(|error| {
        let (message, help) = in_words(error.message());
        at_value(&message, help.as_deref())
    })?;
    // Places in the text of the layer say nothing to a reader of the file.
    let estimation = layer.over(source, &arm.estimation).map_err(|error| match error {
        ConfigError::Invalid(mistake) => at_value(&mistake.message, mistake.help.as_deref()),
        other => other,
    })?;
    Ok(Arm { name: renamed(sweep, &arm.name, value), estimation, ..arm.clone() })
}

fn swept_mechanism(
    source: &Source,
    sweep: &Sweep,
    mechanism: &Mechanism,
    value: &Spanned<Value>,
) -> Result<Mechanism, ConfigError> {
    let mut swept = mechanism.clone();
    swept.label = renamed(sweep, &mechanism.label, value);
    if sweep.parameter.as_ref() == "delta" {
        let delta = number(value.as_ref()).filter(|delta| *delta > 0.0 && *delta < 1.0);
        let help = "delta is a number between 0 and 1, such as 0.001";
        let wrong = || source.error(value.span(), "a delta is out of range", Some(help));
        swept.delta = Some(Spanned::new(value.span(), delta.ok_or_else(wrong)?));
        return Ok(swept);
    }
    swept.parameters.retain(|name, _| name.as_ref() != sweep.parameter.as_ref());
    swept.parameters.insert(sweep.parameter.clone(), value.clone());
    Ok(swept)
}

fn swept_dataset(
    source: &Source,
    sweep: &Sweep,
    dataset: &Dataset,
    value: &Spanned<Value>,
) -> Result<Dataset, ConfigError> {
    let count = value.as_ref().as_integer().and_then(|count| u64::try_from(count).ok());
    let wrong = || {
        let message = format!("{} is a whole number of at least 1", sweep.parameter);
        source.error(value.span(), message, None)
    };
    let count = count.filter(|count| *count > 0).ok_or_else(wrong)?;
    let mut swept = dataset.clone();
    let label = dataset.label.as_ref().unwrap_or(&dataset.name);
    swept.label = Some(renamed(sweep, label, value));
    let count = Some(Spanned::new(value.span(), count));
    match sweep.parameter.as_ref().as_str() {
        "records" => swept.records = count,
        _ => swept.attributes = count,
    }
    Ok(swept)
}
